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

_Sums = tuple[int, int]
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
        start = np.frombuffer(content, f"{self._order}u4", 6).astype(np.uint32)[None]
        self._begun = _run_on((0, 0), *_own(start), start.shape[1] // 2)
        self._sound = magic in MAGIC and self._begun == struct.unpack_from(">2I", content, 24)

    def lost(self) -> tuple[int, ...]:
        """Return the frames that end commits which SQLite passes over, if one of these was acknowledged."""
        own = _own(self._words)
        pairs = self._words.shape[1] // 2
        stored = [(int(one), int(two)) for one, two in self._headers[:, 4:]]
        of_this = (self._headers[:, 2:4] == self._salts).all(axis=1)

        def fits(before: _Sums, frame: int) -> bool:
            return _run_on(before, own[0][frame : frame + 1], own[1][frame : frame + 1], pairs) == stored[frame]

        taken, sums = 0, self._begun
        while self._sound and taken < self._n and of_this[taken] and fits(sums, taken):
            sums = stored[taken]
            taken += 1
        # One of the salts may be what is damaged. Of an earlier log, which was begun over, neither is the same.
        ours = (self._headers[:, 2:4] == self._salts).any(axis=1) & (self._headers[:, 1] > 0)
        behind = [int(frame) for frame in np.flatnonzero(ours) if frame >= taken]

        def follows(one: int, other: int) -> bool:
            begun = [stored[one]]
            if one:  # the sums of that frame may be what is damaged
                begun.append(_run_on(stored[one - 1], own[0][one : one + 1], own[1][one : one + 1], pairs))
            chain = [fits(stored[frame - 1], frame) for frame in range(one + 2, other + 1)]
            return all(chain) and any(fits(sums, one + 1) for sums in begun)

        acknowledged = not self._sound or any(follows(one, other) for one, other in pairwise(behind))
        return tuple(behind) if acknowledged else ()


# The sums s and t take in two words a and b at a time: s += a + t, then t += b + s, modulo 2^32. That is linear, so a
# frame's own part is a weighted sum of its words, and what came before goes through one matrix.


@lru_cache(maxsize=8)
def _powers(pairs: int) -> _Words:
    """Return, for each pair, the power of the matrix that it goes through, and at last the one for what came before."""
    power = np.array([[1, 0], [0, 1]], dtype=np.uint32)
    step = np.array([[1, 1], [1, 2]], dtype=np.uint32)
    found = [power]
    for _ in range(pairs):
        power = step @ power
        found.append(power)
    return np.array(found[::-1], dtype=np.uint32)  # first: of what came before; then of each pair


def _own(words: _Words) -> tuple[_Words, _Words]:
    """Return what each row of words adds to the two sums."""
    first, second = words[:, ::2], words[:, 1::2]
    powers = _powers(first.shape[1])[1:]
    both = first + second
    one = (powers[:, 0, 0] * first + powers[:, 0, 1] * both).sum(axis=1, dtype=np.uint32)
    two = (powers[:, 1, 0] * first + powers[:, 1, 1] * both).sum(axis=1, dtype=np.uint32)
    return one, two


def _run_on(before: _Sums, one: _Words, two: _Words, pairs: int) -> _Sums:
    """Return the sums behind a row of words, of the sums in front of it."""
    matrix = _powers(pairs)[0].astype(object)
    return (
        int((matrix[0, 0] * before[0] + matrix[0, 1] * before[1] + int(one[0])) & 0xFFFFFFFF),
        int((matrix[1, 0] * before[0] + matrix[1, 1] * before[1] + int(two[0])) & 0xFFFFFFFF),
    )
