"""Case K03 and its neighbours: writers in several processes, and readers beside them."""

from __future__ import annotations

import shutil

import pytest

import pincite
from pincite.errors import IndexLockedError, PinciteError
from pincite.store import connection
from pincite.store.staging import Staged
from small_index import answers, document, opened, start

HELD = """
import sys, time
from small_index import opened
with opened(sys.argv[1]) as kb, kb._folder.writer():
    print("held", flush=True)
    time.sleep(600)
"""

ADDS = """
import sys, time
from pincite.errors import IndexLockedError, PinciteError
from small_index import document, opened
with opened(sys.argv[1]) as kb:
    for number in range(int(sys.argv[2]), 30, 2):
        while True:
            try:
                kb.add(document(number), progress=False)
                break
            except IndexLockedError:
                time.sleep(0.002)
"""

COMMITS = """
import sys
from pincite.store import merging
from small_index import document, opened
merging.SMALLEST_TIER = 4
with opened(sys.argv[1]) as kb:
    for version in range(1, 51):
        kb.add([document(number, version) for number in range(version % 5 + 1)], progress=False)
"""


def finish(process):
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out


def test_a_second_process_is_refused_at_once_and_a_killed_one_holds_nothing(memory_path):
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
        other = start(HELD, memory_path / "kb")
        assert other.stdout.readline() == "held\n"
        with pytest.raises(IndexLockedError, match=f"by process {other.pid};"):
            kb.add(document(1), progress=False)
        assert answers(kb)
        other.kill()
        other.communicate()
        kb.add(document(1), progress=False)
        assert kb.status().documents == 2


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("second", ["sweeps", "adds"])
def test_a_lock_that_was_taken_away_costs_one_writer_his_work_and_no_more(memory_path, monkeypatch, replaced, second):
    """Somebody takes the lock's file for a stale one, and removes it, while a segment is written."""
    path, write = memory_path / "kb", Staged.write
    with opened(path) as kb:
        kb.add([document(number) for number in range(3)], progress=False)

    def interrupted(self, *arguments):
        id = write(self, *arguments)
        monkeypatch.setattr(Staged, "write", write)
        (path / "writer.lock").unlink()
        if replaced:
            (path / "writer.lock").touch()
        with opened(path) as other:
            other.delete([]) if second == "sweeps" else other.add(document(4), progress=False)
        return id

    monkeypatch.setattr(Staged, "write", interrupted)
    with opened(path) as kb:
        with pytest.raises(IndexLockedError, match=r"writer\.lock"):
            kb.add(document(5), progress=False)
        assert kb.status().documents == (3 if second == "sweeps" else 4)
        kb.add(document(5), progress=False)
    assert pincite.verify(path).sound


def test_an_index_that_is_exchanged_while_a_segment_is_written_loses_nothing(memory_path, monkeypatch):
    """Its folder is moved, and another index put in its place: what was written for the one lies in the other."""
    path, write = memory_path / "kb", Staged.write
    for name in ("kb", "other"):
        with opened(memory_path / name) as kb:
            kb.add([document(number) for number in range(3)], progress=False)

    def exchanged(self, *arguments):
        path.rename(memory_path / "moved")
        (memory_path / "other").rename(path)
        return write(self, *arguments)

    with opened(path) as kb:
        monkeypatch.setattr(Staged, "write", exchanged)
        with pytest.raises(PinciteError):
            kb.add(document(5), progress=False)
    monkeypatch.setattr(Staged, "write", write)
    for name in ("kb", "moved"):
        assert pincite.verify(memory_path / name).sound
        with opened(memory_path / name, create=False) as kb:
            assert kb.status().documents == 3
            kb.add(document(6), progress=False)


def test_a_segment_that_was_swept_before_it_was_listed_is_missed(memory_path, monkeypatch):
    path, write = memory_path / "kb", Staged.write

    def swept(self, *arguments):
        id = write(self, *arguments)
        shutil.rmtree(path / "segments" / id)
        return id

    with opened(path) as kb:
        kb.add(document(1), progress=False)
        monkeypatch.setattr(Staged, "write", swept)
        with pytest.raises(IndexLockedError, match="swept"):
            kb.add(document(5), progress=False)
    assert pincite.verify(path).sound


def test_a_commit_that_another_process_does_not_end_is_named(memory_path, monkeypatch):
    """A process that was stopped in the middle of a grant: SQLite's own lock is held."""
    monkeypatch.setattr(connection, "BUSY_S", 0.05)
    with opened(memory_path / "kb") as kb, opened(memory_path / "kb") as other:
        kb.add(document(0), progress=False)
        with kb._folder.catalog.transaction():
            for change in (lambda: other.grant("d000", ["crew"]), lambda: other.add(document(1), progress=False)):
                with pytest.raises(IndexLockedError, match="another process has been writing"):
                    change()
            assert answers(other)
        other.add(document(1), progress=False)


def test_a_generation_that_another_thread_has_looked_up_meanwhile_is_not_passed_over(memory_path, monkeypatch):
    """Or what is read of the old one would be seen by whom the new one is for."""
    with opened(memory_path / "kb") as kb, opened(memory_path / "kb") as other:
        kb.add(document(0), progress=False)
        folder = kb._folder
        look = folder.catalog.data_version

        def disturbed():
            monkeypatch.setattr(folder.catalog, "data_version", look)
            other.add(document(1), progress=False)
            assert folder.refresh().generation == 2  # as another thread does
            return look()

        monkeypatch.setattr(folder.catalog, "data_version", disturbed)
        assert folder.snapshot().generation == 2


def test_two_processes_that_take_turns_lose_nothing(memory_path):
    """Also where both make the index: neither replaces the other's."""
    writers = [start(ADDS, memory_path / "kb", first) for first in (0, 1)]
    for process in writers:
        finish(process)
    with opened(memory_path / "kb") as kb, opened(memory_path / "fresh") as fresh:
        fresh.add([document(number) for number in range(30)], progress=False)
        assert (kb.status().documents, kb.generation) == (30, 30)
        assert kb.ledger().balanced
        assert [[hit[1:] for hit in found] for found in answers(kb)] == [
            [hit[1:] for hit in found] for found in answers(fresh)
        ]


def test_a_reader_sees_one_generation_at_a_time(memory_path):
    """A search beside 50 commits with merges gives what its generation gave."""
    with opened(memory_path / "kb") as kb:
        kb.add([document(number) for number in range(5)], progress=False)
        seen = {}
        other = start(COMMITS, memory_path / "kb")
        while other.poll() is None:
            result = kb.search("ship rope version", max_distance=None, k=20)
            found = [(hit.document_id, hit.start, hit.content, hit.distance, hit.bm25) for hit in result]
            assert seen.setdefault(result.generation, found) == found
            assert [citation.quote for citation in kb.citations(result)] == [hit.content for hit in result]
            versions = {hit.document.metadata["version"] for hit in result}
            assert max(versions) == result.generation - 1
        finish(other)
        assert len(seen) > 3
    with opened(memory_path / "fresh") as fresh:
        for generation in range(1, 52):
            first = generation - 1
            batch = range(5) if generation == 1 else range(first % 5 + 1)
            fresh.add([document(number, first) for number in batch], progress=False)
            if generation in seen:
                result = fresh.search("ship rope version", max_distance=None, k=20)
                found = [(hit.document_id, hit.start, hit.content, hit.distance, hit.bm25) for hit in result]
                assert found == seen[generation]
