"""Ctrl-C and a kill at every line of a commit: the old generation or the new one, and the next call goes on."""

from __future__ import annotations

import contextlib
import gc
import linecache
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

import pincite.knowledge_base
import pincite.store
from pincite.store import writer
from small_index import answers, document, opened

pytestmark = [
    pytest.mark.slow,
    # What closes a file that an interruption left open says so; that it is closed is what is tested here.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

STORE = Path(pincite.store.__file__).parent
WATCHED = (str(STORE), sys.modules["pincite.knowledge_base"].__file__, contextlib.__file__)
CHANGE = [document(1, version=1), document(9)]


@pytest.fixture
def base(tmp_path, monkeypatch):
    """An index whose next commit replaces a document, adds one and merges."""
    monkeypatch.setattr(writer, "FANOUT", 2)
    with opened(tmp_path / "base") as kb:
        for number in range(2):
            kb.add([document(number)], progress=False)
    return tmp_path / "base"


def trace_lines(work, act):
    """Run `work`; call `act` with each line of the store that it comes to, and how often it has been there."""
    seen: dict[tuple[str, int], int] = {}

    def on_line(frame, event, argument):
        if event == "line":
            place = (frame.f_code.co_filename, frame.f_lineno)
            seen[place] = seen.get(place, 0) + 1
            act(place, seen[place])
        return on_line

    def on_call(frame, event, argument):
        if not frame.f_code.co_filename.startswith(WATCHED):
            return None
        entered = set()
        resumed = frame.f_lineno != frame.f_code.co_firstlineno  # a generator, which has entered its blocks

        def on_line_but_no_end(frame, event, argument):
            # A `with` is seen again at its end, where no signal can come: CPython looks for them after calls.
            if linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with "):
                if resumed or frame.f_lineno in entered:
                    return on_line_but_no_end
                entered.add(frame.f_lineno)
            on_line(frame, event, argument)
            return on_line_but_no_end

        return on_line_but_no_end

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        work()
    finally:
        sys.settrace(before)
    return seen


def moments(folder):
    """Every line of one call of `add` when it is reached first; those of the catalog the last time, too."""
    with opened(shutil.copytree(folder, f"{folder}-traced")) as kb:
        seen = trace_lines(lambda: kb.add(CHANGE, progress=False), lambda place, times: None)
        assert kb.status().segments == 1
    last = {(place, count) for place, count in seen.items() if place[0].endswith(("catalog.py", "contextlib.py"))}
    return sorted({(place, 1) for place in seen} | last)


def states(folder):
    with opened(folder) as old, opened(shutil.copytree(folder, f"{folder}-new")) as new:
        new.add(CHANGE, progress=False)
        return {old.generation: answers(old), new.generation: answers(new)}


def check(folder, expected):
    """The index is in one of two states, and the same call ends in the second."""
    with opened(folder) as kb:
        assert answers(kb) == expected[kb.generation]
        assert kb.ledger().balanced
        kb.add(CHANGE, progress=False)
        assert kb.generation == max(expected)
        assert answers(kb) == expected[kb.generation]
        assert kb.status().segments == 1
        with kb._folder.catalog.transaction() as connection:
            listed = {row["id"] for row in connection.execute("SELECT id FROM segments")}
    assert {entry.name for entry in (folder / "segments").iterdir()} <= listed


def open_files():
    gc.collect()
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_ctrl_c_at_every_line(base, tmp_path):
    expected = states(base)
    before = open_files()
    for moment in moments(base):
        folder = shutil.copytree(base, tmp_path / "copy")

        def interrupt(place, times, moment=moment):
            if (place, times) == moment:
                raise KeyboardInterrupt

        with opened(folder) as kb:
            with contextlib.suppress(KeyboardInterrupt):
                trace_lines(lambda kb=kb: kb.add(CHANGE, progress=False), interrupt)
                pytest.fail(f"not interrupted at {moment}")
            try:
                assert answers(kb) == expected[kb.generation]
                check(folder, expected)
                assert kb.generation == max(expected)
                assert answers(kb) == expected[kb.generation]
            except Exception as error:
                error.add_note(f"after an interruption at {moment}")
                raise
        shutil.rmtree(folder)
        assert open_files() == before, moment


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_kill_at_every_line(base, tmp_path):
    expected = states(base)
    for moment in moments(base):
        folder = shutil.copytree(base, tmp_path / "copy")
        child = os.fork()
        if child == 0:

            def end(place, times, moment=moment):
                if (place, times) == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

            try:
                trace_lines(lambda: opened(folder).add(CHANGE, progress=False), end)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, moment
        try:
            check(folder, expected)
        except Exception as error:
            error.add_note(f"after a kill at {moment}")
            raise
        shutil.rmtree(folder)
