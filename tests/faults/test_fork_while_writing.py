"""A fork in the middle of `kb.add`: the lock and the writing stay with the parent."""

from __future__ import annotations

import os
import signal
import time

import pytest

from pincite.errors import IndexLockedError
from small_index import document, opened, start

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]


def test_the_lock_is_not_left_to_children(memory_path):
    """A child that is forked while its parent writes neither keeps the lock, nor writes under it."""
    children = []

    def fork(done, total, id):
        if not children:
            children.append(os.fork())
            if not children[0]:
                raise SystemExit  # out of the parent's `add`, into the branch below

    with opened(memory_path / "kb") as kb:
        try:
            kb.add([document(number) for number in range(3)], progress=fork)
        except SystemExit:
            time.sleep(600)
            os._exit(0)
        try:
            with opened(memory_path / "kb") as other:
                other.add(document(4), progress=False)
            assert os.waitpid(children[0], os.WNOHANG) == (0, 0)  # it still lives
        finally:
            os.kill(children[0], signal.SIGKILL)
            os.waitpid(children[0], 0)
        assert kb.status().documents == 4


RESTORES = """
import os, sys, threading
import pincite
from small_index import document, opened
from pathlib import Path

place = Path(sys.argv[1])
with opened(place / "kb") as kb:
    kb.add([document(number) for number in range(3)], progress=False)
    kb.grant(["d000"], ["crew"])
    kb.snapshot(place / "saved")
    done, forks = threading.Event(), 0

    def fork():
        global forks
        while not done.is_set():
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            forks += 1

    forking = threading.Thread(target=fork)
    forking.start()
    for number in range(25):
        pincite.restore(place / "saved", place / "kb")
        kb.rebuild(config=pincite.IndexConfig(target=60 + number), progress=False)
        kb.swap(progress=False)
    done.set()
    forking.join()
    print(forks > 25, kb.status().documents)
"""


def test_no_verb_waits_for_a_fork_that_waits_for_it(memory_path):
    """Verbs that work on two catalogs at once, while another thread forks: neither holds what the other needs."""
    program = start(RESTORES, memory_path)
    try:
        out, err = program.communicate(timeout=120)
    finally:
        program.kill()
    assert out == "True 3\n", err[-2000:]


def test_a_forked_child_does_not_go_on_with_its_parents_writing(memory_path):
    me = os.getpid()
    children = []

    def fork(done, total, id):
        if not children:
            children.append(os.fork())

    with opened(memory_path / "kb") as kb:
        code = 1
        try:
            kb.add(document(0), progress=fork)
        except IndexLockedError as error:
            code = 0 if "parent" in str(error) else 2
        finally:
            if os.getpid() != me:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
        assert (kb.status().documents, kb.generation) == (1, 1)
