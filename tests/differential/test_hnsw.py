"""The core's graph search against its pure-Python twin, and what an index promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pincite
from pincite.errors import InvalidInputError
from reference.hnsw import Graph
from reference.hnsw import exact as reference_exact
from reference.hnsw import search as reference_search


def unit_rows(n: int, dim: int, seed: int, *, distinct: int | None = None, spread: float = 0.3) -> np.ndarray:
    """Clustered unit vectors; with `distinct`, only that many different ones."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, n // 40), dim))
    rows = centres[random.integers(0, len(centres), n)] + spread * random.standard_normal((n, dim))
    if distinct is not None:
        rows = rows[random.integers(0, min(distinct, n), n)]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 120))
    dim = draw(st.sampled_from([2, 3, 8, 33]))
    distinct = draw(st.sampled_from([None, 1, 5]))
    rows = unit_rows(n, dim, draw(st.integers(0, 10**6)), distinct=distinct)
    queries = unit_rows(3, dim, draw(st.integers(0, 10**6)), spread=1.0)
    allowed = draw(st.one_of(st.none(), st.sets(st.integers(0, n - 1))))
    index = pincite.HnswIndex.build(
        rows,
        m=draw(st.integers(2, 6)),
        ef_construction=draw(st.integers(1, 20)),
        seed=draw(st.integers(0, 9)),
    )
    return rows, queries, allowed, index


@settings(max_examples=60)
@given(case=cases(), k=st.integers(1, 140), ef=st.integers(1, 140))
def test_graph_search_equals_its_twin(case, k, ef):
    rows, queries, allowed, index = case
    graph = Graph.of(index._index.graph())
    ids = None if allowed is None else np.array(sorted(allowed), np.int64)
    found = index._search(queries, k=k, ef=ef, allowed=ids, path="graph")
    wanted = min(k, len(rows) if allowed is None else len(allowed))
    for q, query in enumerate(queries):
        expected = reference_search(graph, rows, query, k=wanted, ef=ef, allowed=allowed)
        n_found = found[2][q]
        assert n_found == wanted
        if len(expected[0]) < wanted:  # the graph starved: the scan answered
            assert found[3][q]
            expected = (*reference_exact(rows, query, k=k, allowed=allowed), found[4][q])
        assert found[0][q, :n_found].tolist() == expected[0]
        assert found[1][q, :n_found].tolist() == expected[1]
        assert found[4][q] == expected[2]
        assert (found[0][q, n_found:] == -1).all()
        assert np.isneginf(found[1][q, n_found:]).all()


@settings(max_examples=60)
@given(case=cases(), k=st.integers(1, 140))
def test_with_ef_of_all_rows_the_answer_is_the_exact_one(case, k):
    rows, queries, allowed, index = case
    ids = None if allowed is None else np.array(sorted(allowed), np.int64)
    found = index.search_batch(queries, k=k, ef=len(rows), allowed=ids)
    assert found.exact.all()
    for q, query in enumerate(queries):
        expected = reference_exact(rows, query, k=k, allowed=allowed)
        assert found.ids[q, : found.counts[q]].tolist() == expected[0]
        assert found.scores[q, : found.counts[q]].tolist() == expected[1]


@pytest.mark.parametrize("path", ["automatic", "graph", "exact"])
@pytest.mark.parametrize("ef", [1, 50])
@pytest.mark.parametrize(("n", "kept"), [(10, [3]), (10, [3, 7]), (10, []), (700, [0, 350, 699])])
def test_a_filter_never_starves_k(n, kept, ef, path):
    """Case N01 (hnswlib issue 444): the filter keeps two of ten, one of them goes, k is 5."""
    index = pincite.HnswIndex.build(unit_rows(n, 8, 1))
    query = unit_rows(1, 8, 2)
    found = index._search(query, k=5, ef=ef, allowed=np.array(kept, np.int64), path=path)
    assert sorted(found[0][0, : found[2][0]].tolist()) == kept
    assert found[2][0] == len(kept)


@pytest.mark.parametrize("threads", [1, 10])
@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(42).standard_normal((1000, 128)).astype(np.float32),
        unit_rows(1500, 16, 3, spread=0.02),
        unit_rows(1500, 8, 4, distinct=30),
    ],
    ids=["random", "tight clusters", "duplicates"],
)
def test_every_row_finds_itself(rows, threads):
    """Case N04 (USearch issue 735, hnswlib issue 579); of equal rows, any may come first."""
    index = pincite.HnswIndex.build(rows, threads=threads, normalize=True)
    rows = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    found = index._search(rows, k=1, path="graph")
    own = index._search(rows, k=1, path="exact")
    assert (found[1] == own[1]).all()


def test_one_thread_builds_the_same_file_again(tmp_path):
    """Case N04: with one thread, the same bytes."""
    rows = unit_rows(400, 16, 5)
    for name in ("a", "b"):
        pincite.HnswIndex.build(rows, seed=3).save(tmp_path / name)
    pincite.HnswIndex.build(rows, seed=4).save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_threads_do_not_change_the_answers():
    index = pincite.HnswIndex.build(unit_rows(2000, 16, 6))
    queries = unit_rows(50, 16, 7)
    one = index._search(queries, k=20, path="graph")
    four = index._search(queries, k=20, path="graph", threads=4)
    for a, b in zip(one, four, strict=True):
        assert (a == b).all()


def test_a_large_index_takes_the_graph_and_a_narrow_filter_the_scan():
    index = pincite.HnswIndex.build(unit_rows(3000, 8, 8))
    queries = unit_rows(4, 8, 9)
    assert not index.search_batch(queries).exact.any()
    assert index.search_batch(queries, allowed=np.arange(50)).exact.all()
    assert index.search_batch(queries, ef=3000).exact.all()


def test_one_query_and_several_have_their_own_shapes(tmp_path):
    index = pincite.HnswIndex.build([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    ids, scores = index.search([0.0, 1.0], k=9)
    assert ids.tolist() == [2, 1, 0]
    assert (ids.dtype, scores.dtype) == (np.int64, np.float32)
    ids, scores = index.search([[0.0, 1.0]], k=4)
    assert ids.tolist() == [[2, 1, 0, -1]]
    assert np.isneginf(scores[0, 3])
    index.save(tmp_path / "index")
    loaded = pincite.HnswIndex.load(tmp_path / "index")
    assert loaded.search([[0.0, 1.0]], k=4)[1].tolist() == scores.tolist()
    assert repr(loaded) == "<HnswIndex of 3 vectors, dim 2, m 16>"


@pytest.mark.parametrize("storage", ["float32", "int8"])
def test_a_graph_over_an_exact_index_is_that_of_its_rows(tmp_path, storage):
    rows = unit_rows(900, 16, 4)
    whole, flat = pincite.HnswIndex.build(rows, seed=3), pincite.FlatIndex.build(rows, storage=storage)
    pincite.HnswIndex.over(flat, seed=3).save_graph(tmp_path / "graph")
    loaded = pincite.HnswIndex.load_graph(tmp_path / "graph", flat)
    assert loaded.vectors.ctypes.data == flat.vectors.ctypes.data  # shared, not copied
    for ours, theirs in zip(loaded._index.graph(), whole._index.graph(), strict=True):
        assert np.array_equal(ours, theirs)
    for path in ("graph", "exact"):
        for ours, theirs in zip(loaded._search(rows[:20], path=path), whole._search(rows[:20], path=path), strict=True):
            assert np.array_equal(ours, theirs)
    with pytest.raises(InvalidInputError, match="flat is of type ndarray, wanted a FlatIndex"):
        pincite.HnswIndex.over(rows)


def test_an_empty_index_answers_nothing(tmp_path):
    pincite.HnswIndex.build(np.empty((0, 4), np.float32)).save(tmp_path / "index")
    index = pincite.HnswIndex.load(tmp_path / "index")
    assert index.search([1.0, 0, 0, 0])[0].tolist() == []
    assert index.search_batch([[1.0, 0, 0, 0]]).counts.tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"k": 0}, "k is 0, wanted at least 1"),
        ({"ef": 0}, "ef is 0, wanted at least 1"),
        ({"threads": 0}, "threads is 0, wanted at least 1"),
        ({"k": 1.5}, "k is 1.5, wanted an integer"),
        ({"allowed": [3]}, "allowed names row 3"),
        ({"allowed": [True]}, "allowed is a mask of 1 values"),
        ({"queries": [1.0]}, "query has 1 values, the index has 2 dimensions"),
        ({"queries": [np.nan, 1.0]}, "NaN"),
        ({"queries": [2.0, 0.0]}, "norm 2"),
    ],
)
def test_bad_searches_are_named(arguments, said):
    index = pincite.HnswIndex.build([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    with pytest.raises(InvalidInputError, match=said):
        index.search(**{"queries": [1.0, 0.0], **arguments})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"m": 1}, "m is 1, wanted at least 2"),
        ({"m": 129}, "m is 129, wanted 2 to 128"),
        ({"ef_construction": 0}, "ef_construction is 0"),
        ({"ef_construction": 65537}, "ef_construction is 65537, wanted 1 to 65536"),
        ({"threads": 0}, "threads is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**32}, "seed is 4294967296"),
        ({"vectors": [[np.nan, 1.0]]}, "vector 0 holds NaN"),
        ({"vectors": [[3.0, 4.0]]}, "vector 0 has norm 5"),
    ],
)
def test_bad_builds_are_named(arguments, said):
    with pytest.raises(InvalidInputError, match=said):
        pincite.HnswIndex.build(**{"vectors": [[1.0, 0.0]], **arguments})
