"""A snapshot's file: whole or not there, nothing left beside it, and none made of what is no file."""

from __future__ import annotations

import os
import shutil

import pytest

import pincite
from pincite.errors import InvalidInputError, PinciteError, StorageError
from pincite.store import archive
from pincite.store.catalog import Catalog
from small_index import answers, document, opened, start

KILLED = """
import os, sys
from pincite.store import archive
from small_index import opened

def die(*arguments):
    os._exit(9)

archive.sync_folder = die
with opened(sys.argv[1]) as kb:
    archive.os.fsync = die
    kb.snapshot(sys.argv[2])
"""


@pytest.fixture
def kb(memory_path):
    with opened(memory_path / "kb") as kb:
        kb.add([document(number) for number in range(4)], progress=False)
        kb.delete("d002")
        yield kb


def beside(path):
    return sorted(entry.name for entry in path.iterdir() if entry.name != "kb")


def test_what_a_killed_snapshot_left_goes_with_the_next_one(kb, memory_path, monkeypatch):
    killed = start(KILLED, memory_path / "kb", memory_path / "saved")
    killed.communicate(timeout=60)
    assert killed.returncode == 9
    assert beside(memory_path)[0].startswith(archive.WORK)
    monkeypatch.setattr(archive, "YOUNG_S", -1.0)
    kb.snapshot(memory_path / "saved")
    assert beside(memory_path) == ["saved"]


def test_one_that_was_killed_before_it_had_a_lock_goes_as_well(kb, memory_path, monkeypatch):
    (memory_path / f"{archive.WORK}0").mkdir()
    kb.snapshot(memory_path / "saved")
    assert beside(memory_path) == [f"{archive.WORK}0", "saved"]  # young: it may be about to take its lock
    monkeypatch.setattr(archive, "YOUNG_S", -1.0)
    kb.snapshot(memory_path / "later")
    assert beside(memory_path) == ["later", "saved"]


def test_one_that_is_being_made_is_left_alone(kb, memory_path, monkeypatch):
    monkeypatch.setattr(archive, "YOUNG_S", -1.0)
    with archive._work_folder(memory_path) as place:
        kb.snapshot(memory_path / "saved")
        assert place.is_dir()
    assert beside(memory_path) == ["saved"]


def test_a_catalog_that_cannot_be_moved_out_of_its_log_is_no_snapshot(kb, memory_path, monkeypatch):
    """SQLite closes a file whose log it could not move into it, and says nothing."""
    monkeypatch.setattr(Catalog, "finish", lambda catalog: (_ for _ in ()).throw(StorageError(None, "cannot be moved")))
    with pytest.raises(StorageError, match="cannot be moved"):
        kb.snapshot(memory_path / "saved")
    assert beside(memory_path) == []


@pytest.mark.parametrize("name", ["x" * 255, "two words", "mnté", "new\nline"])
def test_names_of_any_kind_will_do(kb, memory_path, name):
    kb.snapshot(memory_path / name)
    pincite.restore(memory_path / name, memory_path / "other")
    with opened(memory_path / "other") as other:
        assert answers(other) == answers(kb)


@pytest.mark.parametrize("place", ["missing/saved", "file/saved"])
def test_a_place_that_cannot_be_written_to_is_named(kb, memory_path, place):
    (memory_path / "file").touch()
    with pytest.raises(StorageError, match=place):
        kb.snapshot(memory_path / place)
    assert beside(memory_path) == ["file"]


def test_a_clean_up_that_fails_hides_no_error(kb, memory_path, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(archive.zipfile, "ZipFile", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(PinciteError, match="saved"):
        kb.snapshot(memory_path / "saved")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_what_is_no_file_is_not_restored(memory_path):
    os.mkfifo(memory_path / "pipe")
    for given in (memory_path / "pipe", "/dev/zero", memory_path):
        with pytest.raises(InvalidInputError, match="is no file"):
            pincite.restore(given, memory_path / "other")
    assert not (memory_path / "other").exists()


def test_what_verify_would_name_is_not_restored(kb, memory_path):
    """Numbers that would be given twice: each row has its checksum, and the next addition would fail."""
    kb.snapshot(memory_path / "saved")
    with kb._folder.catalog.transaction() as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'documents'")
    kb.snapshot(memory_path / "forged")
    shutil.rmtree(memory_path / "other", ignore_errors=True)
    with pytest.raises(PinciteError, match="sequence"):
        pincite.restore(memory_path / "forged", memory_path / "other")
    pincite.restore(memory_path / "saved", memory_path / "other")
