"""An index that may be read and not written: on a read-only mount, and without the right to write to its folder."""

from __future__ import annotations

import codecs
import os
import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

import disks
import pincite
from pincite.errors import InvalidInputError, StorageError
from small_index import WORDS, answers, document, opened
from soaks.crashes import in_a_child

NOBODY = 65534
WRITING = {
    "add": lambda kb: kb.add(document(9), progress=False),
    "update": lambda kb: kb.update(document(1, version=2), progress=False),
    "delete": lambda kb: kb.delete("d001"),
    "grant": lambda kb: kb.grant("d001", groups=["a"]),
    "merge": lambda kb: kb.merge(),
    "sync": lambda kb: kb.sync(progress=False),
    "retry": lambda kb: kb.retry(progress=False),
    "rebuild": lambda kb: kb.rebuild(progress=False),
    "swap": lambda kb: kb.swap(progress=False),
    "rollback": lambda kb: kb.rollback(progress=False),
    "discard": lambda kb: kb.discard(1),
}


@pytest.fixture(params=["mount", "rights"])
def forbidding(request):
    """Runs something where a folder may not be written to; skips where that cannot be had."""
    if request.param == "mount" and disks.missing():
        pytest.skip(disks.missing())
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root can become somebody else")

    def run(index, act):
        def child():
            codecs.lookup("cp437")  # zipfile wants it, and the interpreter's own folder may be root's alone
            if request.param == "rights":
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            act()

        with disks.mounted_read_only(index) if request.param == "mount" else nullcontext():
            code, said = in_a_child(child)
        assert code == 0, said

    return run


@pytest.fixture
def place():
    """A folder that anybody may read, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(params=["closed", "unclean"])
def index(request, place):
    """An index of three segments, one with a dead document; or what a writer that was killed leaves of it."""
    with opened(place / "made") as kb:
        for number in range(8):
            kb.add(document(number), progress=False)
        kb.delete("d003")
        kb.add(document(3, version=1), progress=False)
        if request.param == "unclean":
            shutil.copytree(place / "made", place / "kb")
    if request.param == "closed":
        shutil.copytree(place / "made", place / "kb")
    assert (place / "kb/catalog.sqlite-wal").exists() == (request.param == "unclean")
    return place / "kb"


def contents(index):
    return {
        path.relative_to(index).as_posix(): None if path.is_dir() else (path.read_bytes(), path.stat().st_mtime_ns)
        for path in index.rglob("*")
        if path.name != "catalog.sqlite-shm"  # SQLite's shared memory; it holds nothing that counts
    }


def test_everything_that_reads_works_and_nothing_is_written(index, place, forbidding):
    with opened(place / "made", read_only=True, create=False) as kb:
        wanted = answers(kb)
    before = contents(index)

    def read():
        with opened(index, read_only=True, create=False) as kb:
            assert answers(kb) == wanted
            result = kb.search(WORDS[3], max_distance=None)
            assert {pincite.resolve(each.uri, kb).integrity for each in kb.citations(result)} == {"ok"}
            assert kb.status().documents == 8
            assert kb.ledger().balanced
            with tempfile.TemporaryDirectory() as elsewhere:
                kb.snapshot(Path(elsewhere, "kb.snapshot"))
                pincite.restore(Path(elsewhere, "kb.snapshot"), Path(elsewhere, "kb"))
                with opened(Path(elsewhere, "kb")) as copy:
                    assert answers(copy) == wanted

    forbidding(index, read)
    assert contents(index) == before


def test_everything_that_writes_says_why_not_and_what_to_do(index, forbidding):
    before = contents(index)

    def write():
        with opened(index, read_only=True, create=False) as kb:
            for act in WRITING.values():
                with pytest.raises(InvalidInputError, match="opened with read_only=True"):
                    act(kb)
        for act in (lambda: opened(index), lambda: pincite.restore(__file__, index)):
            with pytest.raises(StorageError, match=r"may not be written to.*open the index with read_only=True"):
                act()
        with pytest.raises(StorageError, match="cannot make an index"):
            opened(index / "another")

    forbidding(index, write)
    assert contents(index) == before


def test_a_log_that_cannot_be_read_there_is_named(place, forbidding):
    """A copy without SQLite's shared memory: what was committed last is in the log, and would be missed without."""
    with opened(place / "made") as kb:
        kb.add(document(1), progress=False)
        shutil.copytree(place / "made", place / "kb")
    (place / "kb/catalog.sqlite-shm").unlink()

    def read():
        with pytest.raises(StorageError, match=r"catalog\.sqlite-wal.*open the index there once"):
            opened(place / "kb", read_only=True, create=False)

    forbidding(place / "kb", read)
    with opened(place / "kb") as kb:
        assert kb.status().documents == 1


def test_an_index_that_is_written_elsewhere_is_followed(place):
    """The mount that is read only need not be the only one: what others commit is seen with the next question."""
    if disks.missing():
        pytest.skip(disks.missing())
    with opened(place / "kb") as kb:
        kb.add(document(1), progress=False)
    (place / "view").mkdir()
    with (
        disks.mounted_read_only(place / "kb", place / "view"),
        opened(place / "view", read_only=True, create=False) as reader,
    ):
        for number in range(2, 6):
            with opened(place / "kb") as kb:
                kb.add(document(number), progress=False)
                wanted = answers(kb)
            assert answers(reader) == wanted
