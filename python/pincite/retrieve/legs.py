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

GRAPH_EF = 200
"""How many candidates a graph's search keeps, or four times as many as are wanted where that is more. With only as many
as are wanted, one question in ten lost more than a fifth of its nearest 50 (docs/adr/012-graphs-in-segments.md)."""

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
    """Rank by cosine: by the graphs of the segments that have one, elsewhere by comparing every row that may be found.

    A graph leads through rows that may not be found, so what it finds owes something to them. Therefore only a search
    of everything that is alive goes by graphs.
    """
    by_graph = 0
    found = []
    best = np.empty(0, dtype=np.float32)
    for segment, each in zip(snapshot.segments, snapshot.visible if rows is None else rows, strict=True):
        if segment.graph is None or rows is not None or snapshot.restricted:
            # What scores less than the k best of the segments before cannot be among the k best of all.
            least = float(best[-k]) if len(best) >= k else None
            found.append(segment.vectors.search(vector, k=k, allowed=each, min_score=least))
        else:
            answer = segment.graph.search_batch(vector[np.newaxis], k=k, ef=max(GRAPH_EF, 4 * k), allowed=each)
            filled = int(answer.counts[0])
            found.append((answer.ids[0, :filled], answer.scores[0, :filled]))
            by_graph += not answer.exact[0]
        best = np.sort(np.concatenate([best, found[-1][1]]))[-k:]
    return Leg("dense", _path(by_graph, len(snapshot.segments)), _best(snapshot, found, k))


def _path(by_graph: int, segments: int) -> str:
    if not by_graph:
        return "exact scan"
    return "graph" if by_graph == segments else f"graph in {by_graph} of {segments} segments, exact scan in the others"


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
    """Merge what the segments found, which the k best of all are among."""
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
