"""Flat search against its pure-Python twin, and against itself in every storage, split and batch."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite import FlatIndex
from pincite.core.kernels import available_kernels
from pincite.errors import InvalidInputError
from reference.flat import search as reference_search

STORAGES = ["float32", "float16", "int8"]
# The twin sums without rounding; float32 sums of dim <= 384 stay this close to it.
TOLERANCE = 1e-5


def unit(vectors: np.ndarray) -> np.ndarray:
    exact = vectors.astype(np.float64)
    return (exact / np.linalg.norm(exact, axis=-1, keepdims=True)).astype(np.float32)


def make_rows(seed: int, n: int, dim: int, kind: str) -> np.ndarray:
    """Rows that are spread out, in tight clusters, partly equal, or one step of float32 apart."""
    random = np.random.default_rng(seed)
    if kind == "spread":
        return unit(random.standard_normal((n, dim)))
    centres = unit(random.standard_normal((max(1, n // 8), dim)))
    rows = centres[random.integers(0, len(centres), n)]
    if kind == "clustered":
        return unit(rows + 0.01 * random.standard_normal((n, dim)))
    if kind == "near ties":
        return np.nextafter(rows, random.choice(np.float32([-2, 2]), (n, dim))).astype(np.float32)
    return rows


cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.one_of(st.integers(1, 80), st.just(384)),
    st.sampled_from(["spread", "clustered", "near ties", "duplicates"]),
)


def draw_allowed(random: np.random.Generator, n: int):
    kind = random.integers(4)
    mask = random.random(n) < random.choice([0.0, 0.02, 0.5, 1.0])
    return [None, mask, np.flatnonzero(mask), random.permutation(np.flatnonzero(mask))][kind]


def as_set(allowed, n: int):
    if allowed is None:
        return None
    return set(np.arange(n)[allowed].tolist())


@given(cases, st.integers(1, 400), st.integers(1, 9), st.integers(1, 5))
def test_storage_threads_and_batches_change_nothing(case, k, threads, n_queries):
    seed, n, dim, kind = case
    rows = make_rows(seed, n, dim, kind)
    random = np.random.default_rng(seed + 1)
    queries = unit(rows[random.integers(0, n, n_queries)] + random.choice([0, 0.05]) * make_rows(1, 1, dim, "spread"))
    allowed = draw_allowed(random, n)
    plain = FlatIndex.build(rows)
    expected = [plain.search(q, k=k, allowed=allowed) for q in queries]
    for storage in STORAGES:
        index = FlatIndex.build(rows, storage=storage)
        for q, (ids, scores) in zip(queries, expected, strict=True):
            found_ids, found_scores = index.search(q, k=k, allowed=allowed, threads=threads)
            assert found_ids.tolist() == ids.tolist()
            assert found_scores.tobytes() == scores.tobytes()
        batch = index.search_batch(queries, k=k, allowed=allowed, threads=threads)
        for i, (ids, scores) in enumerate(expected):
            count = len(ids)
            assert batch.counts[i] == count
            assert batch.ids[i].tolist() == ids.tolist() + [-1] * (k - count)
            assert batch.scores[i].tolist() == scores.tolist() + [-np.inf] * (k - count)


@given(cases, st.integers(1, 400), st.integers(1, 9), st.floats(-1.25, 1.25, width=32) | st.none())
def test_a_least_score_leaves_out_what_scores_less_and_nothing_else(case, k, threads, least):
    seed, n, dim, kind = case
    rows = make_rows(seed, n, dim, kind)
    random = np.random.default_rng(seed + 1)
    queries = unit(rows[random.integers(0, n, 2)] + random.choice([0, 0.05]) * make_rows(1, 1, dim, "spread"))
    allowed = draw_allowed(random, n)
    for storage in STORAGES:
        index = FlatIndex.build(rows, storage=storage)
        for query in queries:
            ids, scores = index.search(query, k=k, allowed=allowed)
            # A score that a row has, half of the time: it is not left out.
            wanted = float(scores[len(scores) // 2]) if least is None and len(scores) else least
            found = index.search(query, k=k, allowed=allowed, threads=threads, min_score=wanted)
            kept = scores >= (-np.inf if wanted is None else np.float32(wanted))
            assert found[0].tolist() == ids[kept].tolist()
            assert found[1].tobytes() == scores[kept].tobytes()
            batch = index.search_batch(query[np.newaxis], k=k, allowed=allowed, min_score=wanted)
            assert (batch.ids[0, : batch.counts[0]].tolist(), batch.counts[0]) == (ids[kept].tolist(), kept.sum())


def test_a_least_score_is_a_number():
    index = FlatIndex.build([[1.0, 0.0]])
    for wrong in (np.nan, "high", True):
        with pytest.raises(InvalidInputError, match=r"min_score is .*, wanted a number"):
            index.search([1.0, 0.0], min_score=wrong)


@given(cases, st.integers(1, 40))
def test_same_answer_as_the_twin(case, k):
    seed, n, dim, kind = case
    n, dim = min(n, 60), min(dim, 48)
    rows = make_rows(seed, n, dim, kind)
    random = np.random.default_rng(seed + 1)
    query = unit(random.standard_normal(dim))
    allowed = draw_allowed(random, n)
    ids, scores = FlatIndex.build(rows).search(query, k=k, allowed=allowed)
    wanted = as_set(allowed, n)
    expected_ids, expected_scores = reference_search(rows.tolist(), query.tolist(), k=k, allowed=wanted)
    assert len(ids) == len(expected_ids)
    np.testing.assert_allclose(scores, expected_scores, rtol=0, atol=TOLERANCE)
    exact = dict(zip(*reference_search(rows.tolist(), query.tolist(), k=n), strict=True))
    for place, (found, expected) in enumerate(zip(ids.tolist(), expected_ids, strict=True)):
        assert wanted is None or found in wanted
        if found != expected:  # only where the twin's scores are nearly equal
            assert abs(exact[found] - expected_scores[place]) < TOLERANCE
    order = sorted(range(len(ids)), key=lambda i: (-scores[i], ids[i]))
    assert order == list(range(len(ids)))
    assert len(set(ids.tolist())) == len(ids)


@pytest.mark.parametrize("storage", STORAGES)
def test_ids_and_scores_of_a_row_do_not_depend_on_its_place(storage):
    rows = make_rows(1, 5000, 50, "clustered")
    query = rows[17]
    order = np.random.default_rng(2).permutation(5000)
    ids, scores = FlatIndex.build(rows, storage=storage).search(query, k=5000)
    moved_ids, moved_scores = FlatIndex.build(rows[order], storage=storage).search(query, k=5000)
    by_id = np.empty(5000, np.float32)
    by_id[ids] = scores
    moved = np.empty(5000, np.float32)
    moved[order[moved_ids]] = moved_scores
    assert moved.tobytes() == by_id.tobytes()


@pytest.mark.parametrize("storage", STORAGES)
def test_blocks_and_threads_over_many_rows(storage):
    rows = make_rows(3, 9001, 64, "clustered")
    index = FlatIndex.build(rows, storage=storage)
    queries = make_rows(4, 7, 64, "spread")
    mask = np.zeros(9001, bool)
    mask[[5, 63, 64, 4096, 9000]] = True
    for allowed in (None, mask, np.arange(9001) % 3 == 0):
        expected = FlatIndex.build(rows).search(queries, k=20, allowed=allowed)
        for threads in (1, 2, 3, 7, 100_000):
            ids, scores = index.search(queries, k=20, allowed=allowed, threads=threads)
            assert ids.tolist() == expected[0].tolist()
            assert scores.tobytes() == expected[1].tobytes()
            one = index.search(queries[0], k=20, allowed=allowed, threads=threads)
            assert one[0].tolist() == [i for i in ids[0].tolist() if i >= 0]


PRINT_ANSWER = """
import hashlib, numpy as np
from pincite import FlatIndex
random = np.random.default_rng(0)
rows = random.standard_normal((3000, 100)).astype(np.float32)
digest = hashlib.sha256()
for storage in ("float32", "float16", "int8"):
    index = FlatIndex.build(rows, normalize=True, storage=storage)
    for array in index.search(rows[:5], k=50, normalize=True):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_every_kernel_gives_the_same_answer():
    answers = set()
    for kernel in available_kernels():
        env = {**os.environ, "PINCITE_KERNEL": kernel, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", PRINT_ANSWER], env=env, capture_output=True, text=True, check=True)
        answers.add(done.stdout)
    assert len(answers) == 1


def test_distance_of_unit_vectors_is_their_cosine():
    """Half the squared Euclidean distance is 1 - cosine; float32 rows have norm 1 within 1e-7, hence 1e-6."""
    rows = make_rows(6, 200, 384, "spread")
    index = FlatIndex.build(rows)
    exact = rows.astype(np.float64)
    for i in range(200):
        ids, scores = index.search(rows[i], k=200)
        half_squared = ((exact[ids] - exact[i]) ** 2).sum(axis=1) / 2
        np.testing.assert_allclose(half_squared, 1 - scores.astype(np.float64), rtol=0, atol=1e-6)


ROW = np.float32([1, 0, 0])


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([0, 0, 0], "all zeros"),
        ([-0.0, 0, 0], "all zeros"),
        ([np.nan, 0, 1], "NaN at component 0"),
        ([0, np.inf, 1], "an infinity at component 1"),
        ([0, 0, 1e39], "an infinity at component 2"),
        ([0, 0, -1e300], "an infinity at component 2"),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_unusable_vectors_are_refused_by_name(bad, says, normalize):
    """Case V01."""
    with pytest.raises(InvalidInputError, match=f"vector 2 .*{says}"):
        FlatIndex.build(np.array([ROW, ROW, bad, [np.nan] * 3]), normalize=normalize)
    index = FlatIndex.build([ROW])
    with pytest.raises(InvalidInputError, match=f"query .*{says}"):
        index.search(np.array(bad), normalize=normalize)
    with pytest.raises(InvalidInputError, match=f"query 1 .*{says}"):
        index.search_batch(np.array([ROW, bad]), normalize=normalize)


def test_norms_are_checked_or_made():
    """Case V01: 1e-3 is the line, at build and at the query."""
    index = FlatIndex.build(np.float32([[1.0009, 0], [0.9991, 0]]))
    assert index.vectors[0, 0] == np.float32(1.0009)
    for norm in (1.002, 0.998, 70000.0, 1e-44):
        with pytest.raises(InvalidInputError, match=r"vector 0 has norm .*normalize=True"):
            FlatIndex.build([[norm, 0.0]])
        with pytest.raises(InvalidInputError, match="query has norm"):
            index.search([norm, 0.0])
        assert FlatIndex.build([[norm, 0.0]], normalize=True).vectors.tolist() == [[1.0, 0.0]]
    np.testing.assert_allclose(FlatIndex.build([[3e-42, 4e-42]], normalize=True).vectors, [[0.6, 0.8]], atol=1e-3)
    np.testing.assert_allclose(FlatIndex.build([[3e38, 3e38]], normalize=True).vectors, [[0.5**0.5] * 2], rtol=1e-6)


@pytest.mark.parametrize("storage", STORAGES)
def test_70000_has_no_place_in_a_half_and_never_gives_minus_one(storage):
    """Case V03."""
    with pytest.raises(InvalidInputError, match="vector 1 has norm 70000"):
        FlatIndex.build([[1.0, 0.0], [70000.0, 0.0]], storage=storage)
    index = FlatIndex.build([[1.0, 1.0], [70000.0, 0.0]], storage=storage, normalize=True)
    ids, scores = index.search([1.0, 0.0])
    assert ids.tolist() == [1, 0]
    assert scores[0] == 1.0


@pytest.mark.parametrize("dim", [383, 385, 768, 1])
def test_a_query_of_another_dimension_is_refused_with_both(dim):
    """Case V04."""
    index = FlatIndex.build(make_rows(1, 3, 384, "spread"))
    query = unit(np.ones(dim))
    with pytest.raises(ValueError, match=rf"query has {dim} values, the index has 384"):
        index.search(query)
    with pytest.raises(ValueError, match=rf"query 0 has {dim} values, the index has 384"):
        index.search(query[None])
    with pytest.raises(ValueError, match="query 0 has 1 values, the index has 384"):
        index.search(np.ones((384, 1)))
    with pytest.raises(InvalidInputError, match=r"shape \(1, 1, 384\)"):
        index.search(np.ones((1, 1, 384)))


def test_other_array_layouts_mean_the_same():
    """Case V04: float64, strides, read-only, big-endian, lists."""
    rows = make_rows(2, 40, 24, "spread")
    query = rows[3]
    ids, scores = FlatIndex.build(rows).search(query, k=40)
    read_only = rows.copy()
    read_only.flags.writeable = False
    wide = np.zeros((80, 48), np.float32)
    wide[::2, ::2] = rows
    for same in (rows.astype(np.float64), read_only, wide[::2, ::2], np.asfortranarray(rows), rows.astype(">f4"),
                 rows.tolist()):  # fmt: skip
        index = FlatIndex.build(same)
        assert index.vectors.tobytes() == rows.tobytes()
        found = index.search(np.asarray(same)[3], k=40)
        assert found[0].tolist() == ids.tolist()
        assert found[1].tobytes() == scores.tobytes()


@pytest.mark.parametrize(
    "bad",
    [[["a", "b"]], [[1j, 0]], [[True, False]], [[None, 1]], [[1, 0], [1]], 1.0, [[[1.0, 0.0]]], [1.0, 0.0]],
)
def test_what_is_no_matrix_of_numbers_is_refused(bad):
    with pytest.raises(InvalidInputError):
        FlatIndex.build(bad)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"k": 0}, "k is 0, wanted at least 1"),
        ({"k": -3}, "k is -3, wanted at least 1"),
        ({"k": 1.5}, "k is 1.5, wanted an integer"),
        ({"threads": 0}, "threads is 0, wanted at least 1"),
        ({"threads": -1}, "threads is -1, wanted at least 1"),
        ({"allowed": [2]}, "allowed names row 2, the index has rows 0 to 1"),
        ({"allowed": [-1]}, "allowed names row -1"),
        ({"allowed": [True]}, "allowed is a mask of 1 values, the index has 2 rows"),
    ],
)
def test_bad_arguments_are_named(arguments, says):
    index = FlatIndex.build([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(InvalidInputError, match=says):
        index.search([1.0, 0.0], **arguments)
    with pytest.raises(InvalidInputError, match=says):
        index.search_batch([[1.0, 0.0]], **arguments)


def test_unknown_storage_is_refused():
    with pytest.raises(InvalidInputError, match="storage is 'f64', wanted 'float32', 'float16' or 'int8'"):
        FlatIndex.build([[1.0]], storage="f64")


@pytest.mark.parametrize("storage", STORAGES)
def test_an_empty_index_and_an_empty_batch_answer_nothing(storage):
    index = FlatIndex.build(np.empty((0, 4)), storage=storage)
    assert (len(index), index.dim) == (0, 4)
    ids, scores = index.search([1.0, 0, 0, 0], threads=3)
    assert (ids.shape, scores.shape) == ((0,), (0,))
    batch = index.search_batch([[1.0, 0, 0, 0]], k=2)
    assert batch.ids.tolist() == [[-1, -1]]
    assert batch.counts.tolist() == [0]
    assert index.search_batch(np.empty((0, 4)), k=2).ids.shape == (0, 2)


def test_k_beyond_the_index_is_fine():
    index = FlatIndex.build([[1.0, 0.0], [0.0, 1.0]])
    assert index.search([1.0, 0.0], k=2**70)[0].tolist() == [0, 1]


def test_the_index_keeps_nothing_of_its_input_and_its_vectors_keep_the_index():
    rows = make_rows(5, 10, 8, "spread")
    query = rows[4].copy()
    index = FlatIndex.build(rows)
    rows[:] = 0
    assert index.search(query, k=1)[0].tolist() == [4]
    view = index.vectors
    del index
    gc.collect()
    assert view[4].tobytes() == query.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True


def test_searches_from_many_python_threads_agree():
    rows = make_rows(7, 4000, 32, "clustered")
    index = FlatIndex.build(rows, storage="int8")
    expected = [index.search(q, k=7)[0].tolist() for q in rows[:40]]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda q: index.search(q, k=7, threads=2)[0].tolist(), rows[:40]))
    assert found == expected
