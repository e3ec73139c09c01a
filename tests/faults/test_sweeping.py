"""What commits replaced is removed: whatever the clock said, and whoever looked at it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

import pincite
from pincite.store import sweeping
from small_index import answers, document, opened


def lying(path):
    """Segments on disk, and those that a generation lists as alive."""
    with opened(path) as kb:
        return len(list((path / "segments").iterdir())), len(kb._folder.snapshot().segments)


@pytest.mark.parametrize("days", [-3650, 0, 3650])
def test_a_clock_that_was_wrong_keeps_nothing(memory_path, monkeypatch, days):
    monkeypatch.setattr(sweeping, "GRACE_S", -1.0)
    now = time.time
    with opened(memory_path / "kb") as kb, monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now() + days * 86400)
        for number in range(12):
            kb.add(document(number % 3, version=number), progress=False)
        kb.rebuild(config=pincite.IndexConfig(target=64), progress=False)
        kb.swap(progress=False)
        kb.rebuild(config=pincite.IndexConfig(target=65), progress=False)
        kb.swap(progress=False)
        kb.merge()
    for number in range(2):
        with opened(memory_path / "kb") as kb:
            kb.add(document(number, version=99), progress=False)
            kb.merge()
            for each in kb.status().versions:
                if each.state == "previous":
                    kb.discard(each.number)
    with opened(memory_path / "kb") as kb:
        kb.delete([])  # sweeps
        rows = kb._folder.catalog.rows("SELECT number FROM versions")
        assert [row["number"] for row in rows] == [kb._folder.version.number]
    assert lying(memory_path / "kb") == (1, 1)


def test_what_another_user_looked_at_is_removed_all_the_same(memory_path, monkeypatch):
    """A reader's file that the writer may not remove: held by nobody, it keeps nothing."""
    monkeypatch.setattr(sweeping, "GRACE_S", -1.0)
    unlink = Path.unlink

    def refuse(path, missing_ok=False):
        if path.parent.name == "readers":
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    for number in range(20):
        with opened(memory_path / "kb") as kb:
            kb.add(document(number % 3, version=number), progress=False)
    with opened(memory_path / "kb") as kb:
        kb.merge()
    with opened(memory_path / "kb") as kb:
        kb.delete([])
    assert lying(memory_path / "kb") == (1, 1)


def test_readers_files_lie_in_the_owners_folder(memory_path, tmp_path):
    """Whoever opens an index first, root for example, must not own the folder that its writers tidy."""
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
        kb.snapshot(tmp_path / "saved")
    pincite.restore(tmp_path / "saved", memory_path / "other")
    assert all((memory_path / name / "readers").is_dir() for name in ("kb", "other"))


def test_an_empty_folder_of_segments_that_was_left_out_of_a_copy_is_made(memory_path):
    with opened(memory_path / "kb"):
        pass
    for act in (lambda kb: kb.add(document(0), progress=False), lambda kb: kb.merge(), lambda kb: kb.delete([])):
        copy = shutil.copytree(memory_path / "kb", memory_path / "copy", ignore=lambda *_: ["segments", "readers"])
        assert pincite.verify(copy).sound
        assert pincite.diagnose(copy).healthy
        with opened(copy) as kb:
            act(kb)
            assert len(answers(kb)) == 2
        shutil.rmtree(copy)
