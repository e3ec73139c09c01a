"""Ten indexes searched as one, against one index of the same documents: what it costs to have segments."""

from __future__ import annotations

import heapq

import numpy as np

import pincite
from bench_bm25 import N_DOCS, N_QUERIES, passages, queries_like
from harness import Row, compare
from pincite.core.bm25_collection import BM25Collection

N_PARTS = 10


def merged(collection: BM25Collection, starts: list[int], query: str) -> list[tuple[float, int]]:
    """Return the ten best of all parts as (-score, id)."""
    return heapq.nsmallest(
        10,
        (
            (-score, start + row)
            for start, (ids, scores) in zip(starts, collection.search(query), strict=True)
            for row, score in zip(ids.tolist(), scores.tolist(), strict=True)
        ),
    )


def rows() -> list[Row]:
    random = np.random.default_rng(3)
    texts = passages(random, N_DOCS)
    held_out = passages(random, N_QUERIES)
    one = pincite.BM25Index.build(texts, analyzer="ascii")
    starts = list(range(0, N_DOCS, N_DOCS // N_PARTS))
    views = [
        pincite.BM25Index.build(texts[start : start + N_DOCS // N_PARTS], analyzer="ascii").view(None)
        for start in starts
    ]
    collection = BM25Collection(views)
    out = [
        compare(
            f"bm25_collection of {N_PARTS} views",
            f"{N_DOCS:,} passages",
            lambda: BM25Collection(views),
            lambda: one.view(np.ones(N_DOCS, dtype=bool)),
            agreement="as many documents" if len(BM25Collection(views)) == len(one) else "DIFFERS",
            other_name="view of one index",
        )
    ]
    for kind in ("short", "long"):
        queries = queries_like(held_out, random, question=kind == "long")
        same = sum(
            merged(collection, starts, query)
            == [(-score, i) for i, score in zip(*(x.tolist() for x in one.search(query)), strict=True)]
            for query in queries
        )
        out.append(
            compare(
                f"bm25_collection, {N_QUERIES} {kind} queries",
                f"{N_DOCS:,} passages in {N_PARTS} parts",
                lambda queries=queries: [collection.search(query) for query in queries],
                lambda queries=queries: [one.search(query) for query in queries],
                agreement=f"ids and scores equal in {same} of {N_QUERIES}",
                other_name="one index",
            )
        )
    return out


if __name__ == "__main__":
    from harness import print_table

    print_table(rows())
