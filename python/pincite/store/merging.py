"""Which segments a commit folds into the one that it writes."""

from __future__ import annotations

from collections.abc import Mapping

from pincite.store.records import DocumentRecord
from pincite.store.segment import Segment
from pincite.store.snapshot import Snapshot

__all__ = ["segments_to_merge"]

FANOUT = 4
"""So many segments of one size are merged into one."""

SMALLEST_TIER = 256
"""Segments below this many chunks are all of one size."""

LARGEST_MERGE = 16_384
"""No commit merges more chunks than this: what a commit costs has a bound. `KnowledgeBase.merge` has none."""


def segments_to_merge(before: Snapshot, dead: Mapping[int, DocumentRecord], size: int) -> list[Segment]:
    """Choose what is folded into a segment of `size` new chunks, when documents, by the catalog's rows, are dead.

    Sizes go up by tiers of FANOUT, so every chunk is rewritten a number of times that grows with the logarithm of the
    index. Segments that are half dead are folded away as well.
    """
    alive = {segment.id: chunks for segment, chunks in zip(before.segments, before.living, strict=True)}
    for row, record in dead.items():
        place = before.place(row)
        if place is not None:
            alive[place[0].id] -= record.n_chunks
    chosen: list[Segment] = []
    for segment in before.segments:
        if (2 * alive[segment.id] < len(segment) or not len(segment)) and size + alive[segment.id] <= LARGEST_MERGE:
            chosen.append(segment)
            size += alive[segment.id]
    while True:
        peers = [
            segment for segment in before.segments if segment not in chosen and _tier(alive[segment.id]) <= _tier(size)
        ]
        more = sum(alive[segment.id] for segment in peers)
        if len(peers) + 1 < FANOUT or size + more > LARGEST_MERGE:
            return chosen
        chosen += peers
        size += more


def _tier(chunks: int) -> int:
    tier = 0
    while chunks > SMALLEST_TIER * FANOUT**tier:
        tier += 1
    return tier
