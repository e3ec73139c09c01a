"""Ctrl-C and a kill at every line of a commit: the old generation or the new one, and the next call goes on."""

from __future__ import annotations

import contextlib
import gc
import shutil
from pathlib import Path

import pytest

import pincite.knowledge_base
import pincite.store
from pincite.store import merging
from small_index import answers, document, opened
from tracing import trace_lines

pytestmark = [
    pytest.mark.slow,
    # What closes a file that an interruption left open says so; that it is closed is what is tested here.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

STORE = Path(pincite.store.__file__).parent
KEEPERS = ("catalog", "connection", "files", "folder", "lock", "pins", "segment", "sweeping", "writer")
"""What of the store has a state on disk or a lock; the rest computes."""
WATCHED = {contextlib.__file__, *(str(STORE / f"{name}.py") for name in KEEPERS)}
CHANGE = [document(1, version=1), document(9)]


@pytest.fixture
def base(memory_path, monkeypatch):
    """An index whose next commit replaces a document, adds one and merges."""
    monkeypatch.setattr(merging, "FANOUT", 2)
    with opened(memory_path / "base") as kb:
        for number in range(2):
            kb.add([document(number)], progress=False)
    return memory_path / "base"


def moments(folder):
    """Every line of one call of `add` when it is reached first; those of the catalog the last time, too."""
    with opened(shutil.copytree(folder, f"{folder}-traced")) as kb:
        seen = trace_lines(lambda: kb.add(CHANGE, progress=False), lambda place, times: None, files=WATCHED)
        assert kb.status().segments == 1
    last = {(place, count) for place, count in seen.items() if place[0].endswith("connection.py")}
    return sorted({(place, 1) for place in seen} | last)


def states(folder):
    with opened(folder) as old, opened(shutil.copytree(folder, f"{folder}-new")) as new:
        new.add(CHANGE, progress=False)
        return {old.generation: answers(old), new.generation: answers(new)}


def check(folder, expected):
    """The index is in one of two states, and the same call ends in the second."""
    with opened(folder) as kb:
        assert kb.ledger().balanced
        kb.add(CHANGE, progress=False)
        assert kb.generation == max(expected)
        assert answers(kb) == expected[kb.generation]
        assert kb.status().segments == 1
        with kb._folder.catalog.transaction() as connection:
            listed = {row["id"] for row in connection.execute("SELECT id FROM segments")}
    assert {entry.name for entry in Path(folder, "segments").iterdir()} <= listed


def open_files():
    gc.collect()
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_ctrl_c_at_every_line(base):
    expected = states(base)
    before = open_files()
    for moment in moments(base):
        copy = shutil.copytree(base, f"{base}-copy")

        def interrupt(place, times, moment=moment):
            if (place, times) == moment:
                raise KeyboardInterrupt

        with opened(copy) as kb:
            with contextlib.suppress(KeyboardInterrupt):
                trace_lines(lambda kb=kb: kb.add(CHANGE, progress=False), interrupt, files=WATCHED)
                pytest.fail(f"not interrupted at {moment}")
            try:
                assert answers(kb) == expected[kb.generation]
                check(copy, expected)
                assert kb.generation == max(expected)
            except Exception as error:
                error.add_note(f"after an interruption at {moment}")
                raise
        shutil.rmtree(copy)
    # Two of the moments are between the opening of a folder that is to be synced, and its closing.
    assert open_files() <= before + 2


def test_a_kill_at_every_line(base):
    """What a killed process leaves is what its files hold at that moment."""
    expected = states(base)
    copy = Path(shutil.copytree(base, f"{base}-copy"))
    left = {}

    def keep(place, times):
        files = {path.relative_to(copy): path.read_bytes() for path in copy.rglob("*") if path.is_file()}
        left.setdefault(frozenset(files.items()), place)

    with opened(copy) as kb:
        trace_lines(lambda: kb.add(CHANGE, progress=False), keep, files=WATCHED)
    assert len(left) > 5
    generations = set()
    for files, place in left.items():
        shutil.rmtree(copy)
        (copy / "segments").mkdir(parents=True)
        for path, content in files:
            (copy / path).parent.mkdir(exist_ok=True)
            (copy / path).write_bytes(content)
        try:
            with opened(copy) as kb:
                generations.add(kb.generation)
                assert answers(kb) == expected[kb.generation]
            check(copy, expected)
        except Exception as error:
            error.add_note(f"after a kill at {place}")
            raise
    assert generations == set(expected)
