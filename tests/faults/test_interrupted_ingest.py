"""Ctrl-C, a request to end and a kill amid `kb.add`: whole batches stay, and the same call does the rest."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from pincite.store.segment import UNFINISHED
from small_index import answers, document, opened, start
from stub_models import StubEncoder

pytestmark = pytest.mark.slow
if sys.platform == "win32":
    pytest.skip("signals of POSIX", allow_module_level=True)

N_DOCUMENTS, BATCH = 60, 16
"""Documents of two chunks: eight of them make a batch."""

SLOW = """
import sys, time
from stub_models import StubEncoder, StubReranker
class SlowEncoder(StubEncoder):
    def encode_batch(self, texts, *, progress=None):
        print(self.n_encoded, flush=True)
        time.sleep(0.002)
        return super().encode_batch(texts, progress=progress)
from pincite.store import ingest
ingest.BATCH_CHUNKS = int(sys.argv[3])
"""

ADD = (
    SLOW
    + """
from small_index import document, opened
with opened(sys.argv[1], encoder=SlowEncoder()) as kb:
    print("ready", flush=True)
    kb.add([document(number) for number in range(int(sys.argv[2]))], progress=False)
"""
)

CHANGE = (
    SLOW
    + """
class Waiting(SlowEncoder):
    def encode_batch(self, texts, *, progress=None):
        if any(sys.argv[2] in text for text in texts):
            print("reached", flush=True)
            time.sleep(60)
        return super().encode_batch(texts, progress=progress)
from small_index import opened
with opened(sys.argv[1] + "/kb", create=False, encoder=Waiting()) as kb:
    kb.add(sys.argv[1] + "/docs", progress=False)
"""
)

COMMAND = (
    SLOW
    + """
import pincite.knowledge_base
pincite.models.encoder.Encoder.load = lambda *arguments, **options: SlowEncoder()
from pincite.cli import main
print("ready", flush=True)
sys.exit(main(["index", sys.argv[2], "--into", sys.argv[1]]))
"""
)


def interrupt(process, how, after, pause=0.0):
    """Send a signal when so many chunks have been embedded; return what the program said, and its exit code."""
    for line in process.stdout:
        if line.strip().isdigit() and int(line) >= after:
            break
    time.sleep(pause)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    return err, process.returncode


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fresh") / "kb") as kb:
        kb.add([document(number) for number in range(N_DOCUMENTS)], progress=False)
        return contents(kb)


def contents(kb):
    """The answers, but for the generation that each document came with."""
    return [[(hit, hash_, metadata) for hit, hash_, metadata, _ in found] for found in answers(kb)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
@pytest.mark.parametrize(("after", "pause"), [(0, 0), (16, 0), (34, 0.01), (100, 0.002)])
def test_an_interrupted_add_keeps_whole_batches(memory_path, fresh, how, after, pause):
    process = start(ADD, memory_path / "kb", N_DOCUMENTS, BATCH)
    err, code = interrupt(process, how, after, pause)
    assert code == -how, err
    encoder = StubEncoder()
    with opened(memory_path / "kb", create=False, encoder=encoder) as kb:
        status = kb.status()
        assert status.documents == status.chunks / 2
        assert status.documents % (BATCH // 2) == 0 or status.documents == N_DOCUMENTS
        assert [account.id for account in kb.ledger()] == [document(n).id for n in range(status.documents)]
        assert kb.ledger().balanced
        kb.encoder()  # embeds the probes, where the index is bound already
        before = encoder.n_encoded
        report = kb.add([document(number) for number in range(N_DOCUMENTS)], progress=False)
        assert (report.count("unchanged"), report.count("added")) == (status.documents, N_DOCUMENTS - status.documents)
        probes = 0 if status.encoder else 2
        assert encoder.n_encoded - before == 2 * N_DOCUMENTS - status.chunks + probes
        assert contents(kb) == fresh
        assert kb.ledger().balanced
    assert not [entry for entry in (memory_path / "kb" / "segments").iterdir() if entry.name.startswith(UNFINISHED)]


@pytest.mark.parametrize("before", [[], ["a"]], ids=["b changed", "a and b changed"])
def test_a_document_that_was_being_changed_is_changed_by_the_same_call(memory_path, before):
    """Case D03: A, B and C are indexed, B changes, a kill after A; then B is new and A is not done again."""
    docs = memory_path / "docs"
    docs.mkdir()
    texts = {name: f"# {name}\n\nAn old {name} rope.\n" for name in "abc"}
    write(docs, texts)
    with opened(memory_path / "kb") as kb:
        kb.add(docs, progress=False)
    texts |= {name: f"# {name}\n\nA new {name} sail.\n" for name in [*before, "b"]}
    write(docs, texts)
    process = start(CHANGE, memory_path, "new b", 1)
    assert "reached\n" in iter(process.stdout.readline, "")
    process.kill()
    process.communicate(timeout=60)
    encoder = StubEncoder()
    with opened(memory_path / "kb", create=False, encoder=encoder) as kb:
        assert kb.resolve("docs/b.md").quote == "# b\n\nAn old b rope.\n"
        assert kb.resolve("docs/a.md").quote == texts["a"]
        kb.encoder()
        encoded = encoder.n_encoded
        report = kb.add(docs, progress=False)
        assert [outcome.state for outcome in report.documents] == ["unchanged", "updated", "unchanged"]
        assert encoder.n_encoded - encoded == 1
        assert {name: kb.resolve(f"docs/{name}.md").quote for name in texts} == texts
        assert "old b" not in str([hit.content for hit in kb.search("old b rope", max_distance=None, k=9)])
        assert kb.ledger().balanced


def write(folder, texts):
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_an_interrupted_command_says_how_to_go_on(memory_path):
    docs = memory_path / "docs"
    docs.mkdir()
    for number in range(N_DOCUMENTS):
        (docs / f"{document(number).id}.md").write_text(document(number).text, encoding="utf-8")
    process = start(COMMAND, memory_path / "kb", docs, BATCH)
    err, code = interrupt(process, signal.SIGINT, 40)
    assert code == 130, err
    with opened(memory_path / "kb", create=False) as kb:
        n = kb.status().documents
        assert 16 <= n < N_DOCUMENTS
        state = f"{n} documents are in (generation {kb.generation})"
        assert err == f"pincite: interrupted; {state}. The same command does the rest.\n"
    process = start(COMMAND, memory_path / "kb", docs, BATCH)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert f"{N_DOCUMENTS - n} added, 0 updated, {n} unchanged, 0 failed" in out


def test_an_interrupted_creation_is_made_good(memory_path):
    """What is left of a catalog that was not finished does not make the folder another's."""
    folder = memory_path / "kb"
    (folder / "segments").mkdir(parents=True)
    for name in (".catalog.sqlite", ".catalog.sqlite-wal", ".catalog.sqlite-shm"):
        (folder / name).write_bytes(b"half")
    (folder / "writer.lock").write_bytes(b"1")
    with opened(folder) as kb:
        kb.add(document(0), progress=False)
        assert kb.status().documents == 1
    assert not list(folder.glob(".catalog*"))
