"""K01: a disk that is full: the error names the path, the old index answers, and with room the same work passes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys

import pytest

import disks
import fsfault
import pincite
from pincite.errors import StorageError
from small_index import answers, document, opened

WORKS = {
    "add": lambda kb: kb.add([document(50), document(51)], progress=False),
    "update": lambda kb: kb.update([document(1, version=1)], progress=False),
    "delete": lambda kb: kb.delete("d002"),
    "rebuild": lambda kb: kb.rebuild(config=pincite.IndexConfig(target=64), progress=False),
    "merge": lambda kb: kb.merge(),
}


@pytest.mark.slow
@pytest.mark.skipif(bool(fsfault.missing()), reason=fsfault.missing() or "-")
def test_an_index_saved_over_another_is_whole_or_the_old_one():
    """Killed at every call, on a disk of 1 MiB as well; what was left beside it is gone after the next save."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [sys.executable, "-m", "soaks.survival", "saves"], env=environment, text=True, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-6000:]
    assert int(ended.stdout.split()[1]) > 80


@pytest.fixture
def disk(tmp_path):
    if disks.missing():
        pytest.skip(disks.missing())
    with disks.tiny_disk(tmp_path / "disk", 3 << 20) as folder:
        yield folder


def lying(index):
    """What is in an index's folder beside what every index has, once nobody has it open."""
    with opened(index) as kb:
        kb.add(document(60), progress=False)  # sweeps
        listed = {row["id"] for row in kb._folder.catalog.rows("SELECT id FROM segments")}
    known = {"catalog.sqlite", "segments", "writer.lock", "readers"}
    segments = {entry.name for entry in (index / "segments").iterdir()}
    return ({entry.name for entry in index.iterdir()} - known) | (segments - listed)


def fill(disk, *, room):
    """Leave so many bytes free."""
    state = os.statvfs(disk)
    with (disk / "full").open("wb") as full:
        os.posix_fallocate(full.fileno(), 0, state.f_bavail * state.f_frsize - room)


@pytest.mark.parametrize("room", [0, 12 << 10])
@pytest.mark.parametrize("work", WORKS)
def test_work_on_a_full_disk_changes_nothing_and_passes_when_there_is_room(disk, tmp_path, work, room):
    index = disk / "kb"
    with opened(index) as kb:
        for number in range(6):
            kb.add(document(number), progress=False)
        kb.delete("d005")
    shutil.copytree(index, tmp_path / "roomy")
    with opened(index) as kb:
        before, generation = answers(kb), kb.generation
        fill(disk, room=room)
        with pytest.raises(StorageError, match=str(index)) as refused:
            WORKS[work](kb)
        assert refused.value.errno == errno.ENOSPC or "full" in str(refused.value)
        assert (answers(kb), kb.generation) == (before, generation)
    with opened(index, read_only=True, create=False) as kb:
        assert answers(kb) == before
    (disk / "full").unlink()
    with opened(index) as kb, opened(tmp_path / "roomy") as wanted:
        assert answers(kb) == before
        for each in (kb, wanted):
            WORKS[work](each)
        assert answers(kb) == answers(wanted)
    assert lying(index) == set()


def test_an_index_that_cannot_be_made_for_want_of_room_is_made_later(disk):
    subprocess.run(["mount", "-o", "remount,size=16k", str(disk)], check=True)
    with pytest.raises(StorageError, match=str(disk / "kb")):
        opened(disk / "kb")
    subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
    with opened(disk / "kb") as kb:
        kb.add(document(1), progress=False)
    assert lying(disk / "kb") == set()
