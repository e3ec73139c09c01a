"""The ranked lists that a search fuses, each over all segments as if they were one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.core.fusion import rrf
from pincite.store.snapshot import RowKey, Snapshot

__all__ = ["Leg", "bm25_leg", "dense_leg", "fuse", "measure_distances"]

FloatArray = npt.NDArray[np.float32]
Rows = Sequence[npt.NDArray[np.bool_]]


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


def bm25_leg(snapshot: Snapshot, question: str, k: int, *, rows: Rows | None = None) -> Leg:
    """Rank by the words of the question; `rows` are those of each segment that may be found, statistics are of all."""
    return Leg("bm25", "inverted index", _best(snapshot, snapshot.bm25.search(question, k=k, allowed=rows), k))


def dense_leg(snapshot: Snapshot, vector: FloatArray, k: int, *, rows: Rows | None = None) -> Leg:
    """Rank by cosine; every row that may be found is compared."""
    found = [
        segment.vectors.search(vector, k=k, allowed=each)
        for segment, each in zip(snapshot.segments, snapshot.visible if rows is None else rows, strict=True)
    ]
    return Leg("dense", "exact scan", _best(snapshot, found, k))


def fuse(snapshot: Snapshot, legs: Iterable[Leg], *, rrf_k: int) -> dict[RowKey, float]:
    """Fuse ranked lists by reciprocal rank; best first."""
    keys, scores = rrf([np.array(leg.keys, dtype=np.int64) for leg in legs], k=rrf_k)
    return _in_order(snapshot, keys, scores)


def measure_distances(
    snapshot: Snapshot, keys: Iterable[RowKey], vector: FloatArray, dense: Leg
) -> dict[RowKey, float]:
    """Return 1 - cosine of every candidate: those that the dense leg did not find are measured now."""
    cosine = dict(dense.scores)
    missing = sorted(key for key in keys if key not in cosine)
    for segment, first in zip(snapshot.segments, snapshot.first_keys, strict=True):
        here = missing[bisect_left(missing, first) : bisect_left(missing, first + len(segment))]
        if here:
            rows = np.array(here, dtype=np.int64) - first
            ids, scores = segment.vectors.search(vector, k=len(rows), allowed=rows)
            cosine.update(zip((ids + first).tolist(), scores.tolist(), strict=True))
    return {key: max(0.0, 1.0 - cosine[key]) for key in keys}


def _best(
    snapshot: Snapshot, found: Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]], k: int
) -> dict[RowKey, float]:
    """Merge what the segments found. Each gave its k best, so the k best of all are among them."""
    of_segments = list(found)
    keys = np.concatenate([rows + first for (rows, _), first in zip(of_segments, snapshot.first_keys, strict=True)])
    scores = np.concatenate([scores for _, scores in of_segments])
    best = np.argsort(-scores, kind="stable")
    return dict(islice(_in_order(snapshot, keys[best], scores[best]).items(), k))


def _in_order(snapshot: Snapshot, keys: npt.NDArray[np.int64], scores: npt.NDArray[Any]) -> dict[RowKey, float]:
    """Order equal scores, which are in the order of keys, by document and start."""
    ordered: list[RowKey] = keys.tolist()
    if len(snapshot.segments) > 1:  # the rows of one are in the order of documents already
        changes = np.flatnonzero(scores[1:] != scores[:-1]) + 1
        for start, end in pairwise([0, *changes.tolist(), len(ordered)]):
            if end - start > 1:
                ordered[start:end] = sorted(ordered[start:end], key=snapshot.order)
    return dict(zip(ordered, scores.tolist(), strict=True))
