"""Search over a frozen HNSW graph, and exact search, both in pure Python.

Source: Malkov and Yashunin, IEEE TPAMI 2020, algorithms 2 (search of a layer) and 5 (search of the graph). Ties go
to the smaller id, and rows a filter refuses are walked through but never kept.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Graph:
    entry: int
    links: list[list[list[int]]]  # row, level, neighbours

    @classmethod
    def of(cls, exported) -> Graph:
        """The graph as `_core.HnswIndex.graph` exports it."""
        entry, base_offsets, base_links, lists, upper_offsets, upper_links = (
            part if isinstance(part, int) else part.tolist() for part in exported
        )
        rows = []
        for row in range(len(base_offsets) - 1):
            levels = [base_links[base_offsets[row] : base_offsets[row + 1]]]
            for number in range(lists[row], lists[row + 1]):
                levels.append(upper_links[upper_offsets[number] : upper_offsets[number + 1]])
            rows.append(levels)
        return cls(entry, rows)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Add in float32 and in the kernels' order (kernels.hpp): 32 lanes, folded in halves."""
    lanes = np.zeros(32, np.float32)
    for begin in range(0, len(a), 32):
        products = np.asarray(a[begin : begin + 32], np.float32) * np.asarray(b[begin : begin + 32], np.float32)
        lanes[: len(products)] += products
    for half in (16, 8, 4, 2, 1):
        lanes[:half] += lanes[half : 2 * half]
    return float(lanes[0])


def search(graph: Graph, vectors, query, *, k: int, ef: int, allowed: set[int] | None = None):
    """Return ``(ids, scores, rows scored)``."""
    scored = 0

    def key(row: int) -> tuple[float, int]:  # the smaller, the better
        nonlocal scored
        scored += 1
        return (-dot(query, vectors[row]), row)

    best = key(graph.entry)
    for level in range(len(graph.links[graph.entry]) - 1, 0, -1):
        moved = True
        while moved:
            moved = False
            for row in graph.links[best[1]][level]:
                found = key(row)
                if found < best:
                    best, moved = found, True

    visited = {best[1]}
    frontier: list[tuple[float, int]] = []
    results: list[tuple[float, int]] = []
    size = max(ef, k)

    def take(found: tuple[float, int]) -> None:
        if len(results) == size and found > results[-1]:
            return
        heapq.heappush(frontier, found)
        if allowed is None or found[1] in allowed:
            results.append(found)
            results.sort()
            del results[size:]

    take(best)
    while frontier:
        nearest = heapq.heappop(frontier)
        if len(results) == size and nearest > results[-1]:
            break
        for row in graph.links[nearest[1]][0]:
            if row not in visited:
                visited.add(row)
                take(key(row))
    top = results[:k]
    return [row for _, row in top], [-score for score, _ in top], scored


def exact(vectors, query, *, k: int, allowed: set[int] | None = None):
    """Return ``(ids, scores)`` of all allowed rows' best k."""
    rows = range(len(vectors)) if allowed is None else allowed
    top = sorted((-dot(query, vectors[row]), row) for row in rows)[:k]
    return [row for _, row in top], [-score for score, _ in top]
