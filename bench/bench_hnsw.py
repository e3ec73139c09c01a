"""Graph search against its pure-Python twin on the same graph; run as a script, also recall against time.

python bench/bench_hnsw.py [rows [dim]]      with hnswlib beside it where that is installed (its source release
                                             compiles for the machine it is built on; ours for any x86-64)
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import pincite
from harness import Row, compare, print_table, seconds
from reference.hnsw import Graph
from reference.hnsw import search as reference_search


def clustered(n: int, dim: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors around n / 200 centres, and queries of the same kind."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((max(1, n // 200), dim)).astype(np.float32)
    rows = centres[random.integers(0, len(centres), n + queries)]
    rows += 0.7 * random.standard_normal(rows.shape).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[:n].copy(), rows[n:].copy()


def recall(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, truth, strict=True)]))


def rows() -> list[Row]:
    vectors, queries = clustered(20_000, 64, 50)
    index = pincite.HnswIndex.build(vectors)
    graph = Graph.of(index._index.graph())
    truth = index._search(queries, path="exact")[0]
    out = []
    for ef in (40, 200):
        found = index.search(queries, ef=ef)[0]
        expected = [reference_search(graph, vectors, query, k=10, ef=ef)[0] for query in queries[:5]]
        same = found[:5].tolist() == expected
        out.append(
            compare(
                "hnsw",
                f"20,000 x 64, ef {ef}, recall@10 {recall(found, truth):.3f}",
                lambda ef=ef: index.search(queries[0], ef=ef),
                lambda ef=ef: reference_search(graph, vectors, queries[0], k=10, ef=ef),
                agreement="ids equal" if same else "DIFFERS",
                inner=200,
            )
        )
    return out


def side_by_side(n: int, dim: int) -> None:
    """Print build times, then recall@10 and latency of single queries from Python."""
    vectors, queries = clustered(n, dim, 500)
    start = time.perf_counter()
    index = pincite.HnswIndex.build(vectors)
    print(f"Pincite built {n} x {dim} in {time.perf_counter() - start:.1f} s")
    truth = index._search(queries, path="exact")[0]

    peer = None
    try:
        import hnswlib
    except ImportError:
        print("hnswlib is not installed")
    else:
        peer = hnswlib.Index("ip", dim)
        peer.init_index(n, M=16, ef_construction=64)
        start = time.perf_counter()
        peer.add_items(vectors, num_threads=1)
        print(f"hnswlib built it in {time.perf_counter() - start:.1f} s")
        peer.set_num_threads(1)

    for ef in (40, 100, 200):
        ours_s = seconds(lambda ef=ef: [index.search(query, ef=ef) for query in queries]) / len(queries)
        line = f"ef {ef}: Pincite {recall(index.search(queries, ef=ef)[0], truth):.4f} in {ours_s * 1e6:.0f} us"
        if peer is not None:
            peer.set_ef(ef)
            peer_s = seconds(lambda: [peer.knn_query(query, k=10) for query in queries]) / len(queries)
            line += f", hnswlib {recall(peer.knn_query(queries, k=10)[0], truth):.4f} in {peer_s * 1e6:.0f} us"
        print(line)
    random = np.random.default_rng(3)
    for share in (0.5, 0.1, 0.01, 0.001):
        allowed = random.random(n) < share
        exact = index._search(queries, allowed=allowed, path="exact")[0]
        for path in ("automatic", "graph", "exact"):
            found = index._search(queries, allowed=allowed, path=path)
            time_s = seconds(lambda a=allowed, p=path: index._search(queries, allowed=a, path=p)) / len(queries)
            print(f"filter {share}, {path}: {recall(found[0], exact):.4f} in {time_s * 1e6:.0f} us")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        side_by_side(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 384)
    else:
        print_table(rows())
