"""Exact search over 100,000 x 384 vectors against numpy, and over fewer rows against the pure-Python twin."""

from __future__ import annotations

import os

import numpy as np

from harness import Row, compare, print_table
from pincite import FlatIndex
from reference.flat import search as reference_search

N, DIM, K, BATCH = 100_000, 384, 10, 32


def clustered(n: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = random.standard_normal((200, DIM), dtype=np.float32)[random.integers(0, 200, n)]
    rows += 0.7 * random.standard_normal((n, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def numpy_search(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    scores = vectors @ query
    best = np.argpartition(scores, -K)[-K:]
    return best[np.lexsort((best, -scores[best]))]


def numpy_batch(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    scores = queries @ vectors.T
    best = np.argpartition(scores, -K, axis=1)[:, -K:]
    return np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable"), 1)


def rows() -> list[Row]:
    vectors = clustered(N, 7)
    queries = clustered(BATCH, 8)
    out = []
    blas = f"numpy, {os.environ.get('OPENBLAS_NUM_THREADS', 'all')} BLAS threads"
    for storage in ("float32", "float16", "int8"):
        index = FlatIndex.build(vectors, storage=storage)
        for name, query, other in (
            ("one query", queries[0], numpy_search),
            (f"{BATCH} queries", queries, numpy_batch),
        ):
            same = np.array_equal(index.search(query, k=K)[0], other(vectors, query))
            out.append(
                compare(
                    f"flat {storage}, {name}, 1 thread",
                    f"{N:,} x {DIM}, k={K}",
                    lambda index=index, query=query: index.search(query, k=K),
                    lambda query=query, other=other: other(vectors, query),
                    other_name=blas,
                    agreement="ids equal" if same else "DIFFERS",
                    repeats=5,
                    inner=5 if query.ndim == 1 else 1,
                    other_inner=5 if query.ndim == 1 else 1,
                )
            )
            nbytes = vectors.nbytes // {"float32": 1, "float16": 2, "int8": 4}[storage]
            rate = nbytes / out[-1].ours_s / 1e9
            print(f"{storage}, {name}: {out[-1].ours_s * 1e3:.2f} ms, {rate:.1f} GB/s a pass")
    few = vectors[:10_000]
    index = FlatIndex.build(few)
    lists, query_list = few.tolist(), queries[0].tolist()
    same = index.search(queries[0], k=K)[0].tolist() == reference_search(lists, query_list, k=K)[0]
    out.append(
        compare(
            "flat float32, one query, 1 thread",
            f"10,000 x {DIM}, k={K}",
            lambda: index.search(queries[0], k=K),
            lambda: reference_search(lists, query_list, k=K),
            agreement="ids equal" if same else "DIFFERS",
            repeats=3,
            inner=20,
        )
    )
    return out


if __name__ == "__main__":
    print_table(rows())
