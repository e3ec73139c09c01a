"""Reciprocal rank fusion, straight from the paper.

Source: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", SIGIR 2009. A repeated id counts once a list, at its best rank, ties go to the smaller id, and -1 is
padding.
"""

from __future__ import annotations

from collections.abc import Sequence


def rrf(
    lists: Sequence[Sequence[int]],
    *,
    k: float = 60.0,
    weights: Sequence[float] | None = None,
    limit: int | None = None,
) -> tuple[list[int], list[float]]:
    scores: dict[int, float] = {}
    for number, ids in enumerate(lists):
        weight = 1.0 if weights is None else weights[number]
        counted = set()
        for rank, item in enumerate(ids, start=1):
            if item != -1 and item not in counted:
                counted.add(item)
                scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    order = sorted(scores, key=lambda item: (-scores[item], item))[:limit]
    return order, [scores[item] for item in order]
