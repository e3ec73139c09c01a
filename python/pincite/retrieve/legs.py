"""The ranked lists that a search fuses, each over all segments as if they were one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.core.fusion import rrf
from pincite.store.snapshot import RowKey, Snapshot

__all__ = ["Leg", "bm25_leg", "dense_leg", "fuse", "measure_distances"]

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Leg:
    """One ranked list, best first."""

    name: str
    path: str
    scores: dict[RowKey, float]

    @property
    def keys(self) -> list[RowKey]:
        """The chunks, best first."""
        return list(self.scores)


def bm25_leg(snapshot: Snapshot, question: str, k: int) -> Leg:
    """Rank by the words of the question."""
    found = snapshot.bm25.search(question, k=k)
    return Leg("bm25", "inverted index", _best(snapshot, _keyed(found), k))


def dense_leg(snapshot: Snapshot, vector: FloatArray, k: int) -> Leg:
    """Rank by cosine; every row is compared."""
    found: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [
        segment.vectors.search(vector, k=k, allowed=rows)
        for segment, rows in zip(snapshot.segments, snapshot.visible, strict=True)
    ]
    return Leg("dense", "exact scan", _best(snapshot, _keyed(found), k))


def fuse(snapshot: Snapshot, legs: Iterable[Leg], *, rrf_k: int) -> dict[RowKey, float]:
    """Fuse ranked lists by reciprocal rank; best first."""
    lists = [np.array([_number(key) for key in leg.keys], dtype=np.int64) for leg in legs]
    ids, scores = rrf(lists, k=rrf_k)
    fused = [((id >> 32, id & 0xFFFFFFFF), score) for id, score in zip(ids.tolist(), scores.tolist(), strict=True)]
    return _in_order(snapshot, fused)


def measure_distances(
    snapshot: Snapshot, keys: Iterable[RowKey], vector: FloatArray, dense: Leg
) -> dict[RowKey, float]:
    """Return 1 - cosine of every candidate: those that the dense leg did not find are measured now."""
    missing: dict[int, list[int]] = {}
    cosine = dict(dense.scores)
    for segment, row in keys:
        if (segment, row) not in cosine:
            missing.setdefault(segment, []).append(row)
    for segment, rows in missing.items():
        wanted = np.array(sorted(rows), dtype=np.int64)
        ids, scores = snapshot.segments[segment].vectors.search(vector, k=len(wanted), allowed=wanted)
        cosine.update(((segment, row), score) for row, score in zip(ids.tolist(), scores.tolist(), strict=True))
    return {key: max(0.0, 1.0 - cosine[key]) for key in keys}


def _number(key: RowKey) -> int:
    segment, row = key
    return segment << 32 | row


def _keyed(found: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> list[tuple[RowKey, float]]:
    return [
        ((segment, row), score)
        for segment, (rows, scores) in enumerate(found)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
    ]


def _best(snapshot: Snapshot, found: list[tuple[RowKey, float]], k: int) -> dict[RowKey, float]:
    """Merge what the segments found. Each gave its k best, so the k best of all are among them."""
    found.sort(key=lambda item: (-item[1], item[0]))
    if len(snapshot.segments) == 1:  # rows are in the order of documents: ties are broken already
        return dict(found[:k])
    return dict(list(_in_order(snapshot, found).items())[:k])


def _in_order(snapshot: Snapshot, ranked: list[tuple[RowKey, float]]) -> dict[RowKey, float]:
    """Order equal scores by document and start."""
    ordered: list[tuple[RowKey, float]] = []
    for _, run in groupby(ranked, key=lambda item: item[1]):
        equal = list(run)
        ordered += equal if len(equal) == 1 else sorted(equal, key=lambda item: snapshot.order(item[0]))
    return dict(ordered)
