"""Bad scalars end in an InvalidInputError that names the argument, whatever their type."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import pincite
from pincite.core.arguments import flag, integer, number, one_of, path_text, word
from pincite.core.word_pieces import piece_ends_of
from pincite.errors import InvalidInputError

ODD = [None, "5", b"5", 2.5, math.nan, [3], (), {}, np.array([1, 2]), np.float32(2), object()]


@pytest.mark.parametrize("value", [*ODD, True, np.True_])
def test_no_integer(value):
    with pytest.raises(InvalidInputError, match="k is "):
        integer(value, "k", at_least=1)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_an_integer(value):
    found = integer(value, "k", at_least=1, at_most=3)
    assert found == 3
    assert type(found) is int


def test_an_integer_out_of_range():
    with pytest.raises(InvalidInputError, match="k is 0, wanted at least 1"):
        integer(0, "k", at_least=1)
    with pytest.raises(InvalidInputError, match="k is 5, wanted at most 4"):
        integer(5, "k", at_least=1, at_most=4)
    assert integer(10**30, "k", at_least=1) == 2**63 - 1


@pytest.mark.parametrize("value", [None, "1", b"1", True, [1, 2], object(), 10**400])
def test_no_number(value):
    with pytest.raises(InvalidInputError, match="b is "):
        number(value, "b")


@pytest.mark.parametrize("value", [*ODD, 0, 1, "yes"])
def test_no_flag(value):
    with pytest.raises(InvalidInputError, match="operators is "):
        flag(value, "operators")


def test_a_flag():
    assert flag(True, "x") is True
    assert flag(np.False_, "x") is False


@pytest.mark.parametrize("value", [None, 5, b"a", ["a"], np.array(["a", "b"])])
def test_no_word(value):
    with pytest.raises(InvalidInputError, match="analyzer is of type"):
        word(value, "analyzer")


@pytest.mark.parametrize("value", [None, 5, ["a"], "", "a\0b", "a\ud800", b"a\0b"])
def test_no_path(value):
    with pytest.raises(InvalidInputError, match="path is "):
        path_text(value)
    for index in (pincite.FlatIndex, pincite.HnswIndex, pincite.BM25Index):
        with pytest.raises(InvalidInputError, match="path is "):
            index.load(value)


def test_a_path():
    assert path_text(Path("a")) == path_text(b"a") == "a"


@pytest.mark.parametrize("value", [5, "abc", b"abc", [], object()])
def test_no_word_pieces(value):
    with pytest.raises(InvalidInputError, match="word_pieces is of type"):
        piece_ends_of(value)


@pytest.mark.parametrize("ends", [None, 7, "abc", iter([1]), [0.5], [None], [-1], [99], [[1]]])
@pytest.mark.parametrize("strategy", ["structural", "F"])
def test_word_pieces_that_return_no_ends(ends, strategy):
    with pytest.raises(InvalidInputError, match="word_pieces returned"):
        pincite.chunk("## a\nb", strategy=strategy, window_tokens=12, word_pieces=lambda _: ends)


INDEXES = [
    pincite.FlatIndex.build([[1.0, 0.0]]),
    pincite.HnswIndex.build([[1.0, 0.0]]),
    pincite.BM25Index.build(["a"]),
]


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: type(index).__name__)
def test_an_index_is_immutable_and_lives_in_its_process(index, tmp_path):
    assert copy.copy(index) is index
    assert copy.deepcopy(index) is index
    with pytest.raises(TypeError, match="save it, and load it in the other process"):
        pickle.dumps(index)
    with pytest.raises(TypeError, match=r"make one with \w+\.build or \w+\.load"):
        type(index)()
    assert type(index).__name__ in repr(index)
    index.save(tmp_path / "x")
    assert len(type(index).load(tmp_path / "x")) == len(index) == 1


def test_a_batch_with_a_huge_k_is_refused():
    flat, hnsw, bm25 = INDEXES
    for search, queries in (
        (flat.search_batch, [[1.0, 0.0]]),
        (hnsw.search_batch, [[1.0, 0.0]]),
        (bm25.search_batch, ["a"]),
    ):
        for k in (10**9, 2**40, 10**30):
            with pytest.raises(InvalidInputError, match=r"k is \d+ for 1 queries, the index has 1 rows"):
                search(queries, k=k)
        assert search(queries, k=1000)[0].shape == (1, 1000)
    assert len(flat.search([1.0, 0.0], k=10**30)[0]) == len(bm25.search("a", k=10**30)[0]) == 1


BAD_CALLS = {
    "search(None)": lambda i: i.search(None),
    "search(bytes)": lambda i: i.search(b"a"),
    "k": lambda i: i.search("a", k=2.5),
    "k array": lambda i: i.search("a", k=np.array([1, 2])),
    "operators": lambda i: i.search("a", operators="x"),
    "allowed": lambda i: i.search("a", allowed=[[1], [1, 2]]),
    "visible": lambda i: i.search("a", visible=[[1], [1, 2]]),
    "batch of one str": lambda i: i.search_batch("a"),
    "batch of None": lambda i: i.search_batch(None),
    "batch with an int": lambda i: i.search_batch(["a", 1]),
    "threads": lambda i: i.search_batch(["a"], threads=1.0),
    "explain(None)": lambda i: i.explain(None, 0),
    "explain id": lambda i: i.explain("a", 10**30),
    "highlights": lambda i: i.highlights(None, "a"),
    "build(None)": lambda _: pincite.BM25Index.build(None),
    "build k1": lambda _: pincite.BM25Index.build(["a"], k1="x"),
    "build b": lambda _: pincite.BM25Index.build(["a"], b=None),
    "build analyzer": lambda _: pincite.BM25Index.build(["a"], analyzer=None),
    "build stemmer": lambda _: pincite.BM25Index.build(["a"], stemmer=np.array(["english"])),
    "build_fields(list)": lambda _: pincite.BM25Index.build_fields([["x"]]),
    "build_fields(int)": lambda _: pincite.BM25Index.build_fields({"a": 5}),
    "build_fields name": lambda _: pincite.BM25Index.build_fields({"\ud800": ["x"]}),
    "boosts list": lambda _: pincite.BM25Index.build_fields({"a": ["x"]}, boosts=[2.0]),
    "boost str": lambda _: pincite.BM25Index.build_fields({"a": ["x"]}, boosts={"a": "2"}),
    "rrf(None)": lambda _: pincite.rrf(None),
    "tokenize(None)": lambda _: pincite.tokenize(None),
    "tokenize query": lambda _: pincite.tokenize("a", query="no"),
    "flat normalize": lambda _: pincite.FlatIndex.build([[1.0]], normalize="yes"),
    "flat storage": lambda _: pincite.FlatIndex.build([[1.0]], storage=None),
    "hnsw verify": lambda _: pincite.HnswIndex.load("x", verify=1),
    "chunk strategy": lambda _: pincite.chunk("a", strategy=np.array([1, 0])),
}


@pytest.mark.parametrize("stemmer", [None, "english"])
@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_calls_end_in_our_error(call, stemmer):
    with pytest.raises(InvalidInputError):
        call(pincite.BM25Index.build(["a"], stemmer=stemmer))


@pytest.mark.parametrize("stemmer", [None, "english"])
def test_a_batch_may_be_any_iterable(stemmer):
    index = pincite.BM25Index.build(["a", "b"], stemmer=stemmer)
    expected = index.search_batch(["a", "zz"])
    for queries in (("a", "zz"), iter(["a", "zz"]), (query for query in ["a", "zz"]), np.array(["a", "zz"])):
        found = index.search_batch(queries)
        assert found.ids.tolist() == expected.ids.tolist()
        assert found.counts.tolist() == [1, 0]


@pytest.mark.parametrize("value", [*ODD, "A", "", "ab"])
def test_none_of_the_names(value):
    with pytest.raises(InvalidInputError, match=r"strategy is .*, wanted one of 'a', 'b'"):
        one_of(value, "strategy", iter("ab"))


def test_one_of_the_names():
    assert one_of("b", "strategy", "ab") == "b"
