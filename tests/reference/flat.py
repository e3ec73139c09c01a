"""Exact search in plain lists: every dot product summed without rounding (math.fsum), then one sort."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def search(
    vectors: Sequence[Sequence[float]],
    query: Sequence[float],
    *,
    k: int,
    allowed: Collection[int] | None = None,
) -> tuple[list[int], list[float]]:
    hits = [
        (-math.fsum(a * b for a, b in zip(query, row, strict=True)), i)
        for i, row in enumerate(vectors)
        if allowed is None or i in allowed
    ]
    hits.sort()
    return [i for _, i in hits[:k]], [-score for score, _ in hits[:k]]


def normalized(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(math.fsum(x * x for x in vector))
    return [x / norm for x in vector]
