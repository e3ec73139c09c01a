"""`pincite.diagnose`: each thing that is wrong, or soon will be, has its line and what to do."""

from __future__ import annotations

import os
import sqlite3
import sys

import pytest

import pincite
from pincite.errors import IndexNotFoundError, ModelFileError
from pincite.models.encoder import Encoder
from pincite.store import diagnosis, merging, stale
from small_index import document, opened
from stub_models import StubEncoder


@pytest.fixture
def path(memory_path):
    with opened(memory_path / "kb") as kb:
        kb.add([document(number) for number in range(4)], progress=False)
    return memory_path / "kb"


def findings(path, **options):
    """Level, what and advice of the last finding of each subject."""
    found = pincite.diagnose(path, **{"encoder": StubEncoder(), **options})
    assert found.healthy == all(each.level != "problem" for each in found.findings)
    assert [each["subject"] for each in found.to_dict()["findings"]] == [each.subject for each in found.findings]
    return {each.subject: (each.level, each.what, each.advice) for each in found.findings}


def test_what_is_well_needs_no_advice(path):
    before = {file: file.read_bytes() for file in path.rglob("*.pin")}
    found = findings(path)
    assert {level for level, _, _ in found.values()} == {"fine"}
    assert not any(advice for _, _, advice in found.values())
    assert found["documents"][1] == "4 in 8 chunks"
    assert {file: file.read_bytes() for file in path.rglob("*.pin")} == before
    assert {entry.name for entry in path.iterdir()} <= {
        "catalog.sqlite", "catalog.sqlite-shm", "catalog.sqlite-wal", "segments", "writer.lock", "readers"
    }  # fmt: skip


def test_no_index_is_an_error(tmp_path):
    with pytest.raises(IndexNotFoundError):
        pincite.diagnose(tmp_path / "nowhere")


def test_a_network_file_system_and_too_little_room_are_said(path, monkeypatch):
    monkeypatch.setattr(diagnosis, "_file_system", lambda path: "nfs4")
    monkeypatch.setattr(diagnosis.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1})())
    found = findings(path)
    assert found["file system"][0] == "problem"
    assert found["space"][0] == "note"


def test_a_full_disk_is_a_problem_and_questions_are_answered(path, monkeypatch):
    """SQLite cannot make its file of shared memory there: the catalog is taken for one that does not change."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 0})())
    assert findings(path)["space"][0] == "problem"
    with opened(path, create=False, read_only=True) as kb:
        assert kb.search("ship", max_distance=None).hits
        assert kb._folder.catalog._frozen is not None
        with opened(path) as writer:
            writer.add(document(8), progress=False)
        assert kb.status().documents == 5  # the files changed: they are read again


@pytest.mark.skipif(not os.path.exists("/proc/self/mountinfo"), reason="Linux alone says it there")  # noqa: PTH110
def test_the_file_system_is_that_of_the_longest_mount(path):
    assert diagnosis._file_system(path.parents[len(path.parents) - 1])  # the root has one
    assert diagnosis._file_system(diagnosis.Path("/proc/self")) == "proc"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone says it there")
@pytest.mark.parametrize("name", ["plain", "two words", "mnté", "b\udcff", "new\nline", "back\\slash"])
def test_mounts_of_any_name_are_found(tmp_path, monkeypatch, name):
    escaped = f"{tmp_path}/{name}".replace("\\", r"\134").replace(" ", r"\040").replace("\n", r"\012")
    lines = ["25 1 0:23 / / rw - ext4 /dev/vda rw", f"31 25 0:30 / {escaped} rw,noatime shared:1 - nfs4 host:/x rw", ""]
    (tmp_path / "mountinfo").write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    monkeypatch.setattr(diagnosis, "MOUNTS", tmp_path / "mountinfo")
    assert diagnosis._file_system(tmp_path / name / "kb") == "nfs4"
    assert diagnosis._file_system(tmp_path / "elsewhere") == "ext4"


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="Linux alone says it there")  # noqa: PTH110
def test_who_writes_is_named_and_not_disturbed(path):
    assert "writer" not in findings(path)
    with opened(path) as kb, kb._folder.writer():
        assert findings(path)["writer"] == ("note", f"process {os.getpid()} is writing", "")
    assert "writer" not in findings(path)


def test_a_copy_by_links_is_a_problem(path, tmp_path):
    os.link(path / "catalog.sqlite", path.parent / "copy")
    assert findings(path)["copies"][0] == "problem"


def test_strangers_and_leftovers_are_told_apart(path, monkeypatch):
    monkeypatch.setattr(merging, "FANOUT", 2)
    with opened(path) as kb:
        kb.add(document(5), progress=False)  # merges both: the two are kept for a while
    (path / "notes.txt").touch()
    (path / "segments" / "old").mkdir()
    found = findings(path)
    assert found["strangers"][:2] == ("note", "not the index's: notes.txt, segments/old")
    assert found["leftovers"][1].startswith("1 segment of ") or found["leftovers"][1].startswith("2 segments of ")


def test_many_dead_chunks_want_a_merge(path, monkeypatch):
    monkeypatch.setattr(merging, "FANOUT", 9)
    with opened(path) as kb:
        kb.add([document(0, version=1), document(1, version=1)], progress=False)
    found = findings(path)
    assert found["segments"][0] == "note"
    assert "pincite merge" in found["segments"][2]
    with opened(path) as kb:
        kb.merge()
    assert findings(path)["segments"][0] == "fine"


def test_versions_that_wait_are_told_of(path):
    with opened(path) as kb:
        kb.rebuild(config=pincite.IndexConfig(target=64), progress=False)
        assert findings(path)["versions"][1] == "version 2 is built and does not serve"
        with kb._folder.catalog.transaction() as connection:
            connection.execute("UPDATE versions SET level = NULL WHERE number = 2")
            row = list(connection.execute("SELECT * FROM versions WHERE number = 2").fetchone())
            values = [*row[:5], None]
            checksum = pincite.store.catalog_rows.version_checksum(values)
            connection.execute("UPDATE versions SET checksum = ? WHERE number = 2", [checksum])
    level, what, advice = findings(path)["versions"]
    assert (level, what) == ("note", "the rebuild of version 2 was not finished")
    assert "--discard 2" in advice


def test_documents_that_failed_or_nobody_sees_or_are_cut_are_counted(path, tmp_path, monkeypatch):
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    with opened(path, encoder=StubEncoder()) as kb:
        kb.add(tmp_path / "logo.png", progress=False)
        kb.grant("d000", ["crew"])
    found = findings(path)
    assert found["failed"][1] == "1 document could not be indexed: 1 unsupported"
    assert found["groups"][1] == "3 documents that nobody sees"
    assert "stale" not in found
    monkeypatch.setattr(stale, "chunker_of", lambda config: "another/1")
    assert findings(path)["stale"][1] == "documents were made 4 by an older chunker"


def test_what_the_window_cuts_off_is_counted(memory_path):
    encoder = StubEncoder(window_tokens=8)
    with opened(memory_path / "kb", encoder=encoder, config=pincite.IndexConfig(strategy="A")) as kb:
        kb.add(pincite.Document(id="long", text="word " * 300), progress=False)
    assert "behind the encoder's window" in findings(memory_path / "kb", encoder=encoder)["truncated"][1]


def test_a_source_in_trouble_is_a_problem(memory_path, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n")
    with opened(memory_path / "kb") as kb:
        kb.add(folder, progress=False)
        (folder / "a.md").rename(tmp_path / "a.md")
        folder.rmdir()
        kb.sync(progress=False)
    level, what, advice = findings(memory_path / "kb")["source"]
    assert level == "problem"
    assert str(folder) in what
    assert "pincite sync KB docs" in advice


def test_another_encoder_and_one_that_is_not_there_are_problems(path, monkeypatch):
    assert findings(path)["encoder"] == ("fine", "stub, gives the vectors that the index was built with", "")
    assert findings(path, encoder=None)["encoder"][0] == "note"  # no model of that name can be found
    assert findings(path, encoder=StubEncoder(seed=3))["encoder"][0] == "problem"
    assert findings(path, encoder="/nowhere")["encoder"][0] == "problem"

    def absent(name):
        raise ModelFileError(f"{name} is not in the cache")

    with opened(path) as kb, kb._folder.catalog.transaction() as connection:
        version = kb._folder.version
        pincite.store.catalog_rows.put_version(
            connection, 1, config=version.config.to_dict(), encoder={**version.encoder, "model": "all-MiniLM-L6-v2"},
            probes=version.probes, made=version.made, level=version.level,
        )  # fmt: skip
    monkeypatch.setattr("pincite.models.files.verify", absent)
    monkeypatch.setattr(Encoder, "load", lambda name: pytest.fail("it would have been fetched"))
    level, _, advice = findings(path, encoder=None)["encoder"]
    assert (level, advice) == ("problem", "`pincite models pull all-MiniLM-L6-v2`")


def test_an_index_that_cannot_be_opened_is_a_problem(path):
    connection = sqlite3.connect(path / "catalog.sqlite", isolation_level=None)
    connection.execute("DELETE FROM generations")
    connection.close()
    level, what, advice = findings(path)["index"]
    assert level == "problem"
    assert "catalog.sqlite" in what
    assert "pincite verify" in advice


def test_what_fails_on_the_way_is_a_problem(path):
    connection = sqlite3.connect(path / "catalog.sqlite", isolation_level=None)
    connection.execute("UPDATE documents SET title = 'x' WHERE id = 'd001'")
    connection.close()
    assert findings(path)["index"][0] == "problem"
