"""Ctrl-C and a kill at every line of a rebuild, a swap and a restore: the index answers as before or as after."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

import pincite
import pincite.store
from pincite.store import ingest, sweeping
from small_index import document, opened
from tracing import trace_lines

pytestmark = [
    pytest.mark.slow,
    # What closes a file that an interruption left open says so.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

STORE = Path(pincite.store.__file__).parent
WATCHED = {
    str(STORE / f"{name}.py")
    for name in ("archive", "connection", "restoring", "segment", "sweeping", "versions", "writer")
}
OURS = {str(STORE / f"{name}.py") for name in ("restoring", "versions")}
"""What test_interrupted_commit does not watch."""
OTHER = pincite.IndexConfig(target=40, stemmer=None)


def rebuild(folder):
    with opened(folder) as kb:
        kb.rebuild(config=OTHER, progress=False)


def swap(folder):
    with opened(folder) as kb:
        if kb.config != OTHER:  # a kill may have come right after the commit
            kb.swap(progress=False)


def restore(folder):
    pincite.restore(folder.with_name("saved"), folder)


@pytest.fixture
def base(memory_path, monkeypatch):
    """An index with a built version that lacks a change, and a snapshot from before it."""
    monkeypatch.setattr(ingest, "BATCH_CHUNKS", 2)
    monkeypatch.setattr(sweeping, "GRACE_S", -1.0)
    with opened(memory_path / "base") as kb:
        kb.add([document(number) for number in range(3)], progress=False)
        kb.grant(["d000", "d001", "d002"], ["crew"])
        kb.snapshot(memory_path / "saved")
        kb.rebuild(config=OTHER, progress=False)
        kb.add(document(1, version=1), progress=False)
        kb.delete("d002")
        kb.grant("d000", [])
    return memory_path / "base"


def state(folder):
    with opened(folder) as kb:
        assert kb.ledger().balanced
        found = kb.search("number", groups=["crew"], max_distance=None, k=9)
        assert {hit.document_id for hit in found} <= {"d001"}, "what was deleted or revoked came back"
        return (
            repr(kb.config),
            [(hit.document_id, hit.start, hit.content, hit.bm25, hit.distance) for hit in found],
            kb.status().documents,
        )


@pytest.mark.parametrize("change", [rebuild, swap, restore])
def test_a_kill_at_every_line(base, change):
    before = state(base)
    change(Path(shutil.copytree(base, base.with_name("after"))))
    after = state(base.with_name("after"))
    assert (before == after) == (change is rebuild)
    copy = Path(shutil.copytree(base, base.with_name("copy")))
    left = {}

    def keep(place, times):
        files = {path.relative_to(copy): path.read_bytes() for path in copy.rglob("*") if path.is_file()}
        left.setdefault(frozenset(files.items()), place)

    trace_lines(lambda: change(copy), keep, files=WATCHED)
    assert len(left) > 5
    for files, place in left.items():
        shutil.rmtree(copy)
        (copy / "segments").mkdir(parents=True)
        for path, content in files:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
        try:
            assert state(copy) in (before, after)
            change(copy)
            assert state(copy) == after
            with opened(copy) as kb:
                kb.add(document(1, version=1), progress=False)  # sweeps
                segments = {each["id"] for each in kb._folder.catalog.rows("SELECT id FROM segments")}
            assert {entry.name for entry in (copy / "segments").iterdir()} <= segments
            assert not list(copy.glob(".restoring*"))
            with opened(copy, create=False) as kb:
                assert [v.state for v in kb.status().versions].count("building") == 0, "half a version is left"
        except Exception as error:
            error.add_note(f"after a kill at {place}")
            raise


@pytest.mark.parametrize("change", [rebuild, swap, restore])
def test_ctrl_c_at_every_line(base, change):
    before = state(base)
    traced = Path(shutil.copytree(base, base.with_name("after")))
    moments = sorted(trace_lines(lambda: change(traced), lambda place, times: None, files=OURS))
    after = state(traced)
    for place in moments:
        copy = Path(shutil.copytree(base, base.with_name("copy")))

        def interrupt(at, times, place=place):
            if (at, times) == (place, 1):
                raise KeyboardInterrupt

        try:
            with contextlib.suppress(KeyboardInterrupt):
                trace_lines(lambda copy=copy: change(copy), interrupt, files=OURS)
            assert state(copy) in (before, after)
            change(copy)
            assert state(copy) == after
        except Exception as error:
            error.add_note(f"after an interruption at {place}")
            raise
        shutil.rmtree(copy)
