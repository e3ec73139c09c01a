"""A segment's vectors searched by its graph as the dense leg does, beside the exact scan; what a graph costs to build.

python bench/bench_graphs.py                                clustered vectors, which flatter a graph
python bench/bench_graphs.py chunks.npy questions.npy       vectors of yours: (n, dim) unit rows
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from itertools import cycle
from pathlib import Path

import numpy as np

from bench_hnsw import clustered
from harness import Row, compare, print_table, seconds
from pincite.core.flat import FlatIndex
from pincite.core.hnsw import HnswIndex
from pincite.retrieve.legs import GRAPH_EF
from pincite.retrieve.pipeline import CANDIDATES
from pincite.store.segment import EF_CONSTRUCTION

SIZES = tuple(int(n) for n in os.environ.get("PINCITE_BENCH_SIZES", "10000 50000 100000").split())
QUESTIONS = 400
EF = max(GRAPH_EF, 4 * CANDIDATES)


def shares(found: np.ndarray, truth: np.ndarray) -> list[float]:
    """Return the share of its true nearest that each question found."""
    return [len(set(a) & set(b)) / len(b) for a, b in zip(found.tolist(), truth.tolist(), strict=True)]


def measured(vectors: np.ndarray, questions: np.ndarray) -> list[Row]:
    """Return a row on searching and one on building."""
    flat = FlatIndex.build(vectors, storage="int8")
    built: list[HnswIndex] = []
    building_s = seconds(lambda: built.append(HnswIndex.over(flat, ef_construction=EF_CONSTRUCTION)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.pin"
        built[0].save_graph(file)
        nbytes = file.stat().st_size
        graph = HnswIndex.load_graph(file, flat)
        opening_s = statistics.median(seconds(lambda: HnswIndex.load_graph(file, flat)) for _ in range(5))
    truth = flat.search(questions, k=CANDIDATES)[0]
    found = graph.search(questions, k=CANDIDATES, ef=EF)[0]
    at_10, at_all = shares(found[:, :10], truth[:, :10]), shares(found, truth)
    asked, again = cycle(questions), cycle(questions)
    searching = compare(
        "dense leg by graph",
        f"{len(vectors):,} chunks, k {CANDIDATES}, ef {EF}",
        lambda: graph.search_batch(next(asked)[np.newaxis], k=CANDIDATES, ef=EF),
        lambda: flat.search(next(again), k=CANDIDATES),
        other_name="exact scan",
        agreement=f"recall@10 {np.mean(at_10):.3f}, @{CANDIDATES} {np.mean(at_all):.3f}, "
        f"of {len(questions)} questions {sum(share < 0.8 for share in at_all)} below .8, the least {min(at_all):.2f}",
        repeats=21,
        inner=QUESTIONS // 20,
        other_inner=QUESTIONS // 20,
    )
    said = f"{nbytes:,} bytes, {nbytes / len(vectors):.0f} a chunk"
    building = Row(
        "build a graph", f"{len(vectors):,} chunks", building_s, "open it", opening_s, opening_s / building_s, said
    )
    return [searching, building]


def rows(vectors: np.ndarray | None = None, questions: np.ndarray | None = None) -> list[Row]:
    """Return the rows of the table."""
    out: list[Row] = []
    for n in SIZES:
        if vectors is None or questions is None:
            out += measured(*clustered(n, 384, QUESTIONS))
        elif n <= len(vectors):
            out += measured(vectors[:n], questions[:QUESTIONS])
    return out


if __name__ == "__main__":
    print_table(rows(*map(np.load, sys.argv[1:3])))
