"""Cases V01 and V04 at every door where vectors come in: refused with row and reason, or taken for what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from pincite import FlatIndex, HnswIndex
from pincite.errors import IncompatibleIndexError, InvalidInputError
from small_index import answers, document, opened
from stub_models import StubEncoder, StubReranker

DIM = 384
ROWS = np.random.default_rng(1).standard_normal((5, DIM)).astype(np.float32)
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)


def last_row(*, times=1.0, **component):
    def spoil(rows):
        rows = rows * np.float32(1)
        rows[-1] *= np.float32(times)
        rows[-1, 3:4] = list(component.values()) or rows[-1, 3]
        return rows

    return spoil


NO_STAMP = {
    "none": None,
    "a list": ["model"],
    "no finite number": {"model": "x", "scale": float("nan")},
    "a tuple": {"model": "x", "shape": (1, 2)},
    "a number for a name": {1: "x"},
    "an object": {"model": object()},
    "an array": {"model": np.arange(3)},
}
NO_DIRECTION = {
    "zero": last_row(times=0),
    "NaN": last_row(component=np.nan),
    "infinite": last_row(component=np.inf),
    "minus infinite": last_row(component=-np.inf),
    "not of norm 1": last_row(times=3),
}
NO_MATRIX = {
    "one axis": np.ravel,
    "three axes": lambda rows: rows[None],
    "texts": lambda rows: rows.astype(str),
    "complex": lambda rows: rows.astype(complex),
    "bool": lambda rows: rows.astype(bool),
    "objects": lambda rows: rows.astype(object),
    "nothing": lambda rows: None,
}
OTHER_DIMENSION = {
    "one less": lambda rows: rows[:, :-1],
    "one more": lambda rows: np.pad(rows, ((0, 0), (0, 1))),
    "twice": lambda rows: np.tile(rows, 2),
    "one": lambda rows: rows.reshape(-1, 1),
}
OTHER_NUMBER = {
    "too few": lambda rows: rows[:-1],
    "too many": lambda rows: np.concatenate([rows, rows[:1]]),
}
THE_SAME = {
    "float64": lambda rows: rows.astype(np.float64),
    "big-endian": lambda rows: rows.astype(">f4"),
    "Fortran's order": np.asfortranarray,
    "strided": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "backwards": lambda rows: np.ascontiguousarray(rows[:, ::-1])[:, ::-1],
    "read-only": lambda rows: np.frombuffer(rows.tobytes(), np.float32).reshape(rows.shape),
    "list": lambda rows: rows.tolist(),
}
INDEXES = {"flat": FlatIndex, "hnsw": HnswIndex}


def each(spoilt):
    return pytest.mark.parametrize("spoil", list(spoilt.values()), ids=list(spoilt))


@pytest.fixture(params=list(INDEXES.values()), ids=list(INDEXES))
def kind(request):
    return request.param


def test_the_case_as_written(kind):
    """V01."""
    with pytest.raises(InvalidInputError, match="vector 1 is all zeros"):
        kind.build([[1, 0, 0], [0, 0, 0], [0.9, 0.1, 0]], normalize=True)
    index = kind.build([[1, 0, 0], [0.9, 0.1, 0]], normalize=True)
    for query in ([0, 0, 0], [np.nan, 0, 0], [np.inf, 0, 0]):
        with pytest.raises(InvalidInputError, match="query"):
            index.search(query, normalize=True)
    ids, scores = index.search([1, 0, 0])[:2]
    assert ids.tolist() == [0, 1]
    assert np.isfinite(scores).all()


@each(NO_DIRECTION)
def test_an_index_names_the_row_that_has_no_direction(kind, spoil):
    with pytest.raises(InvalidInputError, match="vector 4 "):
        kind.build(spoil(ROWS))
    index = kind.build(ROWS)
    with pytest.raises(InvalidInputError, match="query 4 "):
        index.search_batch(spoil(ROWS))
    with pytest.raises(InvalidInputError, match="query "):
        index.search(spoil(ROWS)[-1])


@each(NO_MATRIX)
def test_an_index_refuses_what_is_no_matrix_of_numbers(kind, spoil):
    with pytest.raises(InvalidInputError, match=r"vectors has (shape|dtype)"):
        kind.build(spoil(ROWS))
    with pytest.raises(InvalidInputError, match=r"has (shape|dtype)"):
        kind.build(ROWS).search_batch(spoil(ROWS))


@each(OTHER_DIMENSION)
def test_an_index_refuses_a_query_of_another_dimension_with_both(kind, spoil):
    index, given = kind.build(ROWS), spoil(ROWS)
    wanted = f"query 0 has {given.shape[1]} values, the index has {DIM}"
    with pytest.raises(ValueError, match=wanted):
        index.search_batch(given)
    with pytest.raises(ValueError, match=wanted.replace(" 0", "")):
        index.search(given[0])


@each(THE_SAME)
def test_an_index_takes_other_layouts_for_what_they_mean(kind, spoil):
    def found(index, queries):
        ids, scores, counts = index.search_batch(queries, k=5)[:3]
        return ids.tolist(), scores.tobytes(), counts.tolist()

    plain = kind.build(ROWS)
    assert found(kind.build(spoil(ROWS)), ROWS) == found(plain, ROWS)
    assert found(plain, spoil(ROWS)) == found(plain, ROWS)


class SpoiltEncoder(StubEncoder):
    """Returns something else, once it is told to."""

    spoil = None
    texts_with = ""

    def encode_batch(self, texts, *, progress=None):
        encoded = super().encode_batch(texts, progress=progress)
        if self.spoil is None or not any(self.texts_with in text for text in texts):
            return encoded
        return encoded._replace(vectors=self.spoil(encoded.vectors))


def search_anew(path, encoder):
    with opened(path, encoder=encoder) as kb:
        kb.search("ship mast")


@pytest.fixture
def spoilt(memory_path):
    """An index of two documents, and its encoder."""
    encoder = SpoiltEncoder()
    with opened(memory_path / "kb", encoder=encoder) as kb:
        kb.add([document(0), document(1)], progress=False)
        yield kb, encoder


@each(NO_DIRECTION | NO_MATRIX | OTHER_DIMENSION | OTHER_NUMBER)
@pytest.mark.parametrize(
    ("texts_with", "named", "attempt"),
    [
        ("number 1", "'d001'", lambda kb: kb.add([document(2), document(1, version=1), document(3)], progress=False)),
        ("number 1", "'d001'", lambda kb: kb.rebuild(progress=False)),
        ("ship mast", "the question", lambda kb: kb.search("ship mast")),
        ("answer", "the probe texts", lambda kb: search_anew(kb._path, kb.encoder())),
    ],
    ids=["add", "rebuild", "search", "open"],
)
def test_an_index_of_documents_refuses_them_and_stays_as_it_was(spoilt, spoil, texts_with, named, attempt):
    kb, encoder = spoilt
    before = answers(kb)
    encoder.spoil, encoder.texts_with = spoil, texts_with
    with pytest.raises(InvalidInputError, match=f"the encoder returned .*{named}"):
        attempt(kb)
    encoder.spoil = None
    assert (answers(kb), kb.status().documents) == (before, 2)
    kb.add([document(2), document(3)], progress=False)
    assert kb.status().documents == 4


def test_the_error_has_both_dimensions_or_the_row(spoilt):
    kb, encoder = spoilt
    encoder.spoil = OTHER_DIMENSION["one less"]
    with pytest.raises(ValueError, match="2 vectors of 63 dimensions for 2 texts of 'd005', wanted one a text, of 64"):
        kb.add(document(5), progress=False)
    encoder.spoil = NO_DIRECTION["NaN"]
    with pytest.raises(ValueError, match="norm nan for text 1 of 'd005'"):
        kb.add(document(5), progress=False)


def test_an_encoder_that_has_another_dimension_by_now_is_another(spoilt, memory_path):
    encoder = StubEncoder(dim=63)
    encoder.stamp = spoilt[1].stamp
    with opened(memory_path / "kb", encoder=encoder) as kb, pytest.raises(IncompatibleIndexError, match="inf apart"):
        kb.search("ship mast")


@each(THE_SAME)
def test_an_index_of_documents_takes_other_layouts_for_what_they_mean(memory_path, spoil):
    encoder = SpoiltEncoder()
    encoder.spoil = spoil
    with opened(memory_path / "kb", encoder=encoder) as kb, opened(memory_path / "plain") as plain:
        for index in (kb, plain):
            index.add([document(number) for number in range(4)], progress=False)
        assert answers(kb) == answers(plain)


class SpoiltReranker(StubReranker):
    """Returns something else."""

    def __init__(self, spoil):
        super().__init__()
        self._spoil = spoil

    def score_batch(self, query, passages):
        scored = super().score_batch(query, passages)
        return scored._replace(scores=self._spoil(scored.scores))


@pytest.mark.parametrize("order", ["fused", "pure"])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda scores: scores * np.nan, "4 scores, 4 of them no finite number, for 4 passages"),
        (lambda scores: np.append(scores[:-1], np.float32(np.inf)), "4 scores, 1 of them"),
        (lambda scores: scores[:-1], "3 scores, 0 of them"),
        (lambda scores: np.append(scores, scores), "8 scores, 0 of them"),
        (lambda scores: scores[None], r"shape \(1, 4\)"),
        (lambda scores: scores.astype(str), "dtype <U32"),
    ],
    ids=["NaN", "one infinite", "too few", "too many", "two axes", "texts"],
)
def test_scores_of_a_reranker_are_one_finite_number_each(memory_path, spoil, said, order):
    """V01: never NaN in a result."""
    with opened(memory_path / "kb", reranker=SpoiltReranker(spoil)) as kb:
        kb.add([document(0), document(1)], progress=False)
        with pytest.raises(InvalidInputError, match=f"the reranker returned.*{said}"):
            kb.search("ship mast", max_distance=None, rerank=order)


@pytest.mark.parametrize("what", NO_STAMP)
def test_a_stamp_that_no_file_can_keep_binds_no_index(memory_path, what):
    odd = StubEncoder()
    odd.stamp = NO_STAMP[what]
    with opened(memory_path / "kb", encoder=odd) as kb, pytest.raises(InvalidInputError, match="stamp"):
        kb.add(document(0), progress=False)
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
        with opened(memory_path / "kb", encoder=odd) as wrong, pytest.raises(InvalidInputError, match="stamp"):
            wrong.rebuild(progress=False)
        assert kb.status().documents == 1
