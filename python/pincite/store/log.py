"""Commits in a catalog's write-ahead log that SQLite passes over, because something in front of them is damaged.

SQLite reads a log up to the first frame whose checksum does not fit, and says nothing: what a crash leaves behind looks
the same. But a crash tears no more than the last commit, as each is synced before the next begins. So where one commit
follows on another behind the last frame that SQLite takes, the first of the two was acknowledged. That it follows is
told by the checksums, which run on from frame to frame; what failed commits left has no such order.

The format: SQLite's documentation, "Database File Format", section 4, and "WAL-mode File Format", section 2.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

__all__ = ["lost_commits"]

HEADER, FRAME_HEADER = 32, 24
PAGE = 4096
"""Of our catalogs: SQLite's default. Told by the header, which may be what is damaged."""

MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
"""The order of bytes in which words are summed up."""

LAST_FRAME_AT = 16  # in the header of the -shm file, in the machine's order of bytes
_ATTEMPTS = 5


def lost_commits(catalog: Path) -> int:
    """Return how many commits SQLite passes over that no crash explains; 0 where there is no log."""
    path = catalog.with_name(f"{catalog.name}-wal")
    for _ in range(_ATTEMPTS):
        try:
            log = _Log(path.read_bytes())
            taken = _frames_taken(catalog)
            if path.read_bytes()[:HEADER] != log.content[:HEADER]:
                continue  # a writer began it anew meanwhile
        except (OSError, sqlite3.Error, UnicodeDecodeError):  # the last where a message quotes what is damaged
            return 0  # there is none, or the catalog cannot be read, which opening it says
        behind = [frame for frame in log.commits() if frame >= taken]
        acknowledged = any(log.follows(one, other) for one, other in pairwise(behind))
        return len(behind) if acknowledged or not log.has_sound_header() else 0
    return 0


def _frames_taken(catalog: Path) -> int:
    """Return how many frames SQLite takes; it keeps the number in the memory that its users share."""
    uri = f"{catalog.absolute().as_uri()}?mode=ro"  # one that only reads moves nothing out of the log when it closes
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with catalog.with_name(f"{catalog.name}-shm").open("rb") as shared:
            shared.seek(LAST_FRAME_AT)
            return int(struct.unpack("=I", shared.read(4))[0])


class _Log(NamedTuple):
    """The bytes of a log: a header, and frames of a header and a page each."""

    content: bytes

    def has_sound_header(self) -> bool:
        """Return whether the header, if there is one, has its checksum."""
        if len(self.content) < HEADER:
            return True
        return self._words(0, 1)[0] in MAGIC and _summed(self.content[:24], (0, 0), self._order()) == self._words(24, 2)

    def commits(self) -> Iterator[int]:
        """Yield the frames that end a commit, as far as they are of this log."""
        if len(self.content) < HEADER:
            return
        salts = self._words(16, 2)
        for frame in range((len(self.content) - HEADER) // self._step()):
            _, pages, *own = self._words(self._at(frame), 4)
            # One of the two may be what is damaged. Of an earlier log, which was begun over, neither is the same.
            if pages and any(one == other for one, other in zip(salts, own, strict=True)):
                yield frame

    def follows(self, one: int, other: int) -> bool:
        """Return whether the frames behind `one`, up to and with `other`, were written when `one` was."""
        begun = [self._sums(one)]
        if one:  # the sums of that frame may be what is damaged
            begun.append(self._with_frame(self._sums(one - 1), one))
        return any(self._runs_on(sums, one + 1, other) for sums in begun)

    def _runs_on(self, sums: tuple[int, ...], first: int, last: int) -> bool:
        for frame in range(first, last + 1):
            sums = self._with_frame(sums, frame)
            if sums != self._sums(frame):
                return False
        return True

    def _sums(self, frame: int) -> tuple[int, ...]:
        return self._words(self._at(frame) + 16, 2)

    def _with_frame(self, sums: tuple[int, ...], frame: int) -> tuple[int, ...]:
        at = self._at(frame)
        sums = _summed(self.content[at : at + 8], sums, self._order())
        return _summed(self.content[at + FRAME_HEADER : at + self._step()], sums, self._order())

    def _order(self) -> str:
        return MAGIC.get(self._words(0, 1)[0], "<")

    def _step(self) -> int:
        (page,) = self._words(8, 1)
        return FRAME_HEADER + (page if page in {1 << bits for bits in range(9, 17)} else PAGE)

    def _at(self, frame: int) -> int:
        return HEADER + frame * self._step()

    def _words(self, at: int, number: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{number}I", self.content, at)


def _summed(content: bytes, sums: tuple[int, ...], order: str) -> tuple[int, ...]:
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}2I", content):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
