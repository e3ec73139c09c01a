"""A catalog's log, left by a killed writer and then damaged: no acknowledged commit is passed over silently."""

from __future__ import annotations

import random
import shutil

import numpy as np
import pytest

import pincite
from pincite.errors import IndexCorruptError
from pincite.store import write_ahead_log
from pincite.store.write_ahead_log import HEADER, lost_commits
from small_index import document, opened, start

COMMITS = 9


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """An index as a kill leaves it: nine commits, none of them in the catalog's own file."""
    folder = tmp_path_factory.mktemp("killed")
    with opened(folder / "kb"):
        pass
    with opened(folder / "kb") as kb:
        for number in range(COMMITS):
            kb.add(document(number), progress=False)
        shutil.copytree(folder / "kb", folder / "copy")
    return folder / "copy"


@pytest.fixture
def copy(killed, memory_path):
    return shutil.copytree(killed, memory_path / "kb")


def documents(path, **options):
    with opened(path, create=False, **options) as kb:
        return kb.status().documents


def pages_of(content):
    """Where its frames begin."""
    return range(HEADER, len(content), 24 + 4096)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_flipped_bit_costs_no_acknowledged_commit_without_a_word(killed, copy, read_only):
    """But for the last one, whose torn log a crash leaves as well."""
    wal = copy / "catalog.sqlite-wal"
    whole, chance = wal.read_bytes(), random.Random(7)
    places = {*range(HEADER), *(at + i for at in pages_of(whole) for i in (chance.randrange(24),)),
              *chance.sample(range(HEADER, len(whole)), 60)}  # fmt: skip
    ended = {"named": 0, "whole": 0, "without the last": 0}
    for at in sorted(places):
        shutil.rmtree(copy)
        shutil.copytree(killed, copy)
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        wal.write_bytes(damaged)
        try:
            found = documents(copy, read_only=read_only)
        except IndexCorruptError as error:
            assert "catalog.sqlite-wal" in str(error), at  # noqa: PT017
            ended["named"] += 1
            with pytest.raises(IndexCorruptError):  # also when it is opened again
                documents(copy, read_only=read_only)
            assert [damage.file for damage in pincite.verify(copy).damages][:1] == ["catalog.sqlite-wal"]
            continue
        assert found >= COMMITS - 1, at
        ended["whole" if found == COMMITS else "without the last"] += 1
    assert ended["named"] > 60


def test_what_was_left_can_be_used_knowingly(copy):
    wal = copy / "catalog.sqlite-wal"
    damaged = bytearray(wal.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    wal.write_bytes(damaged)
    with opened(copy, create=False, verify=False) as kb:
        left = kb.status().documents
        assert 0 < left < COMMITS - 1
        kb.add(document(20), progress=False)
    assert pincite.verify(copy).sound
    assert documents(copy) == left + 1


def test_commits_that_failed_are_no_lost_ones(memory_path):
    """A long one and a short one that could not be synced lie behind the last good commit; none was acknowledged."""
    with opened(memory_path / "kb") as kb:
        for number in range(3):
            kb.add(document(number), progress=False)
        shutil.copytree(memory_path / "kb", memory_path / "before")
        kb.add([document(number) for number in range(3, 40)], progress=False)
        shutil.copytree(memory_path / "kb", memory_path / "long")
    with opened(shutil.copytree(memory_path / "before", memory_path / "other")) as kb:
        kb.add(document(50), progress=False)
        shutil.copytree(memory_path / "other", memory_path / "short")
    before, long, short = (
        (memory_path / name / "catalog.sqlite-wal").read_bytes() for name in ("before", "long", "short")
    )
    assert before == short[: len(before)] == long[: len(before)]
    assert len(short) < len(long)
    failed = bytearray(short + long[len(short) :])
    failed[len(before) + 40] ^= 1  # as if the short one's first page had not come to the disk
    (memory_path / "before" / "catalog.sqlite-wal").write_bytes(failed)
    assert lost_commits(memory_path / "before" / "catalog.sqlite") == 0
    assert documents(memory_path / "before") == 3


def test_a_log_that_is_in_use_has_lost_nothing(memory_path):
    with opened(memory_path / "kb") as kb:
        for number in range(60):
            kb.add(document(number % 7, version=number), progress=False)
            if number % 20 == 0:
                kb._folder.catalog.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            assert lost_commits(memory_path / "kb" / "catalog.sqlite") == 0


CHECKPOINT = """
import sqlite3, sys
print(sqlite3.connect(sys.argv[1], timeout=0).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
"""


@pytest.mark.parametrize("look", ["verify", "diagnose", "open"])
def test_a_look_at_an_index_drops_no_lock_of_who_reads_it(memory_path, look):
    """By POSIX's rules, closing a file that SQLite has open as well would: another process then takes the log away."""
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
        with kb._folder.catalog.reading() as connection:
            connection.execute("SELECT * FROM meta").fetchall()
            if look == "open":
                opened(memory_path / "kb").close()
            else:
                getattr(pincite, look)(memory_path / "kb")
            busy, _ = start(CHECKPOINT, memory_path / "kb" / "catalog.sqlite").communicate(timeout=60)
    assert busy == "1\n"


def test_sums_are_those_of_the_definition():
    words = np.random.default_rng(3).integers(0, 1 << 32, size=(5, 1026), dtype=np.uint32)
    for row in words:
        one, two = before = (7, 4_000_000_000)
        for first, second in row.reshape(-1, 2).tolist():
            one = (one + first + two) & 0xFFFFFFFF
            two = (two + second + one) & 0xFFFFFFFF
        found = write_ahead_log._run_on(np.array([before], dtype=np.uint32), row[None])
        assert found.tolist() == [[one, two]]
