"""Commits in a catalog's write-ahead log that SQLite passes over, because something in front of them is damaged.

SQLite reads a log up to the first frame whose checksum does not fit, and says nothing: what a crash leaves behind looks
the same. But a crash tears no more than the last commit, as each is synced before the next begins. So where one commit
follows on another behind the last frame that SQLite takes, the first of the two was acknowledged. That it follows is
told by the checksums, which run on from frame to frame; what failed commits left has no such order.

The log's file alone is read. To open SQLite's other files and to close them again would drop, by the rules of POSIX,
every lock that this process holds on them. The format: SQLite's documentation, "Database File Format", section 4.
"""

from __future__ import annotations

import struct
import time
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["lost_commits"]

HEADER, FRAME_HEADER = 32, 24
PAGE = 4096
"""Of our catalogs: SQLite's default. Told by the header, which may be what is damaged."""

MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
"""The order of bytes in which words are summed up."""

LOOKS, BETWEEN_S = 3, 0.01
"""How often damage has to be seen before it is told of: a writer may have been at it."""

_Words = npt.NDArray[np.uint32]


def lost_commits(catalog: Path) -> int:
    """Return how many commits SQLite passes over that no crash explains; 0 where there is no log."""
    before = None
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_S)
        try:
            content = catalog.with_name(f"{catalog.name}-wal").read_bytes()
        except OSError:
            return 0  # there is none, or it cannot be read, which opening it says
        found = _Log(content).lost() if len(content) >= HEADER else ()
        if not found or found != (before or found):
            return 0
        before = found
    return len(before or ())


class _Log:
    """The bytes of a log: a header, and frames of a header and a page each."""

    def __init__(self, content: bytes) -> None:
        magic, _, page, _, *self._salts = struct.unpack_from(">6I", content)
        self._order = MAGIC.get(magic, "<")
        step = FRAME_HEADER + (page if page in {1 << bits for bits in range(9, 17)} else PAGE)
        self._n = (len(content) - HEADER) // step
        frames = np.frombuffer(content, np.uint8, self._n * step, HEADER).reshape(self._n, step)
        self._headers = np.ascontiguousarray(frames[:, :FRAME_HEADER]).view(">u4").reshape(self._n, 6)
        summed = np.concatenate([frames[:, :8], frames[:, FRAME_HEADER:]], axis=1)
        self._words = np.ascontiguousarray(summed).view(f"{self._order}u4").astype(np.uint32)
        start = np.frombuffer(content, f"{self._order}u4", 6).astype(np.uint32)
        self._begun = _run_on(np.zeros((1, 2), dtype=np.uint32), start[None])
        self._sound = magic in MAGIC and self._begun[0].tolist() == list(struct.unpack_from(">2I", content, 24))

    def lost(self) -> tuple[int, ...]:
        """Return the frames that end commits which SQLite passes over, if one of these was acknowledged."""
        if not self._n:
            return ()
        stored = self._headers[:, 4:].astype(np.uint32)
        before = np.concatenate([self._begun, stored[:-1]])
        now = _run_on(before, self._words)
        fits = (now == stored).all(axis=1)
        same = self._headers[:, 2:4] == self._salts
        taken = int(np.argmin([*(fits & same.all(axis=1)), False])) if self._sound else 0
        # One of the salts may be what is damaged. Of an earlier log, which was begun over, neither is the same.
        behind = [
            int(frame) for frame in np.flatnonzero(same.any(axis=1) & (self._headers[:, 1] > 0)) if frame >= taken
        ]

        def follows(one: int, other: int) -> bool:
            """Whether the frames behind `one`, whose sums may be what is damaged, run on from it."""
            after = _run_on(now[one : one + 1], self._words[one + 1 : one + 2])
            return bool(fits[one + 2 : other + 1].all() and (fits[one + 1] or (after == stored[one + 1]).all()))

        acknowledged = not self._sound or any(follows(one, other) for one, other in pairwise(behind))
        return tuple(behind) if acknowledged else ()


# The sums s and t take in two words a and b at a time: s += a + t, then t += b + s, modulo 2^32. That is linear, so a
# frame's own part is a weighted sum of its words, and what came before goes through one matrix.


@lru_cache(maxsize=8)
def _powers(pairs: int) -> _Words:
    """Return the power of the matrix that goes before a row of pairs, and then the one for each pair."""
    power = np.array([[1, 0], [0, 1]], dtype=np.uint32)
    step = np.array([[1, 1], [1, 2]], dtype=np.uint32)
    found = [power]
    for _ in range(pairs):
        power = step @ power
        found.append(power)
    return np.array(found[::-1], dtype=np.uint32)


def _run_on(before: _Words, words: _Words) -> _Words:
    """Return the two sums behind each row of words, of those in front of it."""
    first, second = words[:, ::2], words[:, 1::2]
    powers = _powers(first.shape[1])
    own = np.stack([first, first + second], axis=2).reshape(len(words), -1)
    # One weight for each of the two numbers of each pair: uint32, which wraps around as the sums do.
    weights = powers[1:].transpose(0, 2, 1).reshape(-1, 2)
    found: _Words = own @ weights + before @ powers[0].T
    return found
