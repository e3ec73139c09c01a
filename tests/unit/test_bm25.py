"""BM25: hand-computed values, edges, bad arguments, stemming, saved files."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pincite
from pincite.core import stemming
from pincite.errors import IncompatibleIndexError, InvalidInputError

build = pincite.BM25Index.build


@pytest.mark.parametrize("texts", [[], [""], ["", "   "], ["...", "\u2028"]])
@pytest.mark.parametrize("analyzer", ["ascii", "unicode"])
@pytest.mark.parametrize("query", ["", "x", '"x y" z*', "..."])
def test_nothing_to_find(texts, analyzer, query):
    """Case B01: empty indexes and queries give empty results; no mean length divides by 0."""
    index = build(texts, analyzer=analyzer)
    ids, scores = index.search(query, operators=True)
    assert (ids.shape, scores.shape) == ((0,), (0,))
    assert len(index) == len(texts)
    assert index.search("x", visible=np.zeros(len(texts), dtype=bool))[0].size == 0


WEATHER = [
    "hello there good man",
    "it is quite windy in london",
    "its windy in athens",
    "how is the weather today",
]


@pytest.mark.parametrize(
    ("texts", "query", "expected"),
    [
        (WEATHER, "windy", {2: 0.741012, 1: 0.625779}),
        (["a", "a", "a"], "a", {0: 0.133531, 1: 0.133531, 2: 0.133531}),
        (["a b"], "a", {0: 0.287682}),
    ],
)
def test_known_scores(texts, query, expected):
    """Case B02: the idf is positive even where every document holds the term."""
    ids, scores = build(texts).search(query)
    assert ids.tolist() == list(expected)
    np.testing.assert_allclose(scores, list(expected.values()), atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 7, 50])
def test_identical_documents_tie_by_id(k):
    """Case B06: ties, repeated query terms, k beyond the index."""
    index = build(["same words here"] * 7)
    ids, scores = index.search("words words same", k=k)
    assert ids.tolist() == list(range(min(k, 7)))
    assert len(set(scores.tolist())) == 1
    once, twice = index.explain("words", 0)[0], index.explain("words words", 0)[0]
    assert (twice.count, twice.contribution) == (2, 2 * once.contribution)


def test_operators_are_off_unless_asked_for():
    index = build(["new york city", "york new city", "newer"])
    assert index.search('"new york"')[0].tolist() == [0, 1]
    assert index.search('"new york"', operators=True)[0].tolist() == [0]
    assert index.search("new*", operators=True)[0].tolist() == [2, 0, 1]
    assert index.search("new *", operators=True)[0].tolist() == [0, 1]
    assert index.search('"new york', operators=True)[0].tolist() == [0, 1]


def test_words_and_prefixes_of_a_large_dictionary():
    """More words than the core keeps the first bytes of, many of them with the same first bytes."""
    words = [f"{start}{i}" for start in ("a", "abcdefg", "abcdefgh", "abcdefghi", "z", "ß", "ωψ") for i in range(150)]
    index = build(words)
    for i, word in enumerate(words):
        assert index.search(word)[0].tolist() == [i]
    for word in ("0", "a150", "abcdefgh150", "abcdefghh", "abcdefgi", "ωψ150", "ѐ"):
        assert index.search(word)[0].size == 0
    for prefix in ("a", "abcdefgh", "abcdefgh1", "abcdefghi14", "z1", "ωψ", "ω", "b", "ѐ"):
        expected = [i for i, word in enumerate(words) if word.startswith(prefix)]
        assert sorted(index.search(f"{prefix}*", k=9999, operators=True)[0].tolist()) == expected


def test_a_phrase_does_not_cross_fields():
    index = pincite.BM25Index.build_fields({"title": ["new", "x"], "body": ["york", "new york"]})
    assert index.search('"new york"', operators=True)[0].tolist() == [1]
    term = index.explain('"new york"', 1, operators=True)[0]
    assert (term.term, term.tf, term.positions) == (
        '"new york"',
        {"title": 0, "body": 1},
        {"title": (), "body": (0,)},
    )


@pytest.mark.parametrize(
    ("work", "given_value", "wanted"),
    [
        (lambda: build(["a"], k1=-1), "k1 is -1", "from 0 to 1e6"),
        (lambda: build(["a"], k1=float("nan")), "k1 is nan", "from 0"),
        (lambda: build(["a"], b=1.5), "b is 1.5", "from 0 to 1"),
        (lambda: build(["a"], analyzer="none"), "'none'", "'unicode' or 'ascii'"),
        (lambda: build("a text"), "one str", "list"),
        (lambda: build(["a", 3]), "text 1 is of type int", "wanted str"),
        (lambda: build(["a\ud800"]), "lone surrogate", "code point 1"),
        (lambda: build(["a"], stemmer="klingon"), "'klingon'", "english"),
        (lambda: build(["a"]).search("a", k=0), "k is 0", "at least 1"),
        (lambda: build(["a"]).search("a", allowed=[1]), "row 1", "0 to 0"),
        (lambda: build(["a"]).search("a", allowed=np.ones(2, bool)), "2 values", "1 rows"),
        (lambda: build(["a"]).search("a", visible=[1]), "visible names row 1", "0 to 0"),
        (lambda: build(["a"]).view(np.ones(2, bool)), "visible is a mask of 2 values", "1 rows"),
        (lambda: build(["a"]).view(np.ones((1, 1), bool)), "visible has shape (1, 1)", "one axis"),
        (lambda: build(["a"]).view(["x"]), "visible", "integer"),
        (lambda: build(["a"]).search_batch(["a"], threads=0), "threads is 0", "at least 1"),
        (lambda: build(["a"]).explain("a", 1), "id is 1", "1 documents"),
        (lambda: build(["a"]).explain("a", -1), "id is -1", "at least 0"),
        (lambda: build(["a", "a"]).view([1]).explain("a", 0), "id is 0", "1 visible"),
        (lambda: pincite.BM25Index.build_fields({}), "0 fields", "1 to 64"),
        (lambda: pincite.BM25Index.build_fields({"t": ["a"], "u": []}), "1 texts", "another 0"),
        (lambda: pincite.BM25Index.build_fields({"t": ["a"]}, boosts={"u": 2}), "'u'", "'t'"),
        (lambda: pincite.BM25Index.build_fields({"t": ["a"]}, boosts={"t": 0}), "is 0.0", "1e-6"),
    ],
)
def test_bad_arguments_are_named(work, given_value, wanted):
    with pytest.raises(InvalidInputError) as caught:
        work()
    assert given_value in str(caught.value)
    assert wanted in str(caught.value)


@pytest.fixture
def stemmer_calls(monkeypatch):
    """Every call of the Snowball stemmer, as the list of its words."""
    calls = []
    plain = stemming.WordStemmer.stem

    def counted(self, words):
        calls.append(list(words))
        return plain(self, words)

    monkeypatch.setattr(stemming.WordStemmer, "stem", counted)
    return calls


def test_a_word_is_stemmed_once(stemmer_calls, tmp_path):
    index = build(["she runs and runs", "he was running", "a runner"], stemmer="english")
    assert [sorted(words) for words in stemmer_calls] == [["a", "and", "he", "runner", "running", "runs", "she", "was"]]
    stemmer_calls.clear()
    assert index.search("running")[0].tolist() == [0, 1]
    assert index.search("runs she")[0].tolist() == [0, 1]
    assert stemmer_calls == []
    for _ in range(2):
        assert index.search("run")[0].tolist() == [0, 1]
        assert index.search_batch(["run", "runs"])[2].tolist() == [2, 2]
    assert stemmer_calls == [["run"]]
    assert index.explain("running run", 0)[0].term == "run"
    assert index.explain("running run", 0)[0].count == 2
    assert index.search("runn*", operators=True)[0].tolist() == [0, 2, 1]
    assert index.search('"was run"', operators=True)[0].tolist() == [1]
    assert index.highlights("Running, he runs", "run") == [(0, 7), (12, 16)]

    index.save(tmp_path / "index")
    loaded = pincite.BM25Index.load(tmp_path / "index")
    stemmer_calls.clear()
    assert loaded.stemmer == "english"
    assert loaded.search("running")[0].tolist() == [0, 1]
    assert stemmer_calls == []


def test_an_index_with_a_stemmer_that_is_not_installed_is_incompatible(tmp_path, monkeypatch):
    build(["runs"], stemmer="english").save(tmp_path / "index")
    monkeypatch.setattr("Stemmer.algorithms", lambda: ["german"])
    with pytest.raises(IncompatibleIndexError, match=r"index: built with .*'english'.*german.*; install .* or build"):
        pincite.BM25Index.load(tmp_path / "index")


def test_threads_share_an_index_and_its_stemmer():
    index = build([f"running word{i % 7} runs" for i in range(200)], stemmer="english")
    view = index.view(np.arange(0, 200, 2))
    queries = [f"word{i % 7} runner{i}s run" for i in range(60)]
    expected = [(index.search(q)[0].tolist(), view.search(q)[1].tolist()) for q in queries]
    fresh = build([f"running word{i % 7} runs" for i in range(200)], stemmer="english")
    fresh_view = fresh.view(np.arange(0, 200, 2))
    found = [None] * 4

    def work(t):
        found[t] = [(fresh.search(q)[0].tolist(), fresh_view.search(q)[1].tolist()) for q in queries]

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_a_saved_index_is_the_same_index(tmp_path):
    index = pincite.BM25Index.build_fields(
        {"title": ["Zürich", "b"], "body": ["trains to b", "c"]}, boosts={"title": 2.5}, k1=0.9, b=0.4
    )
    index.save(tmp_path / "ü")
    loaded = pincite.BM25Index.load(tmp_path / "ü")
    for name in ("fields", "k1", "b", "analyzer", "stemmer", "n_terms"):
        assert getattr(loaded, name) == getattr(index, name)
    for query in ("b", "c trains", '"trains to"', "tr*"):
        for before, after in zip(
            index.search(query, operators=True), loaded.search(query, operators=True), strict=True
        ):
            assert before.tolist() == after.tolist()
    assert loaded.explain("b", 0) == index.explain("b", 0)


@pytest.mark.parametrize("stemmer", [None, "english"])
@pytest.mark.parametrize("texts", [[], [""], ["", " \n"], ["☃ — …"], ["a", ""], [""] * 300 + ["ship"]], ids=repr)
def test_an_index_without_words_is_saved_and_loaded_like_any_other(tmp_path, texts, stemmer):
    """B01, on disk."""
    index = pincite.BM25Index.build(texts, stemmer=stemmer)
    index.save(tmp_path / "bm25")
    again = pincite.BM25Index.load(tmp_path / "bm25")
    assert (len(again), again.n_terms, again.stemmer) == (len(texts), index.n_terms, stemmer)
    for query in ("ship", "a", "ships*", ""):
        ids, scores = again.search(query, operators=True)
        wanted, wanted_scores = index.search(query, operators=True)
        assert (ids.tolist(), scores.tolist()) == (wanted.tolist(), wanted_scores.tolist())


@pytest.mark.parametrize("n", [0, 1, 1023, 1024, 1025, 3000])
def test_a_stream_of_texts_is_indexed_as_a_list_is(n):
    texts = [f"word{i % 7} number {i}" for i in range(n)]
    listed, streamed = (
        pincite.BM25Index.build(texts, stemmer="english"),
        pincite.BM25Index.build(iter(texts), stemmer="english"),
    )
    assert len(listed) == len(streamed) == n
    for question in ("word3", "number 1024"):
        for one, other in zip(listed.search(question, k=50), streamed.search(question, k=50), strict=True):
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize("bad", [0, 1023, 1024, 2500])
def test_a_bad_text_of_a_stream_is_named_by_its_number(bad):
    with pytest.raises(InvalidInputError, match=f"text {bad} "):
        pincite.BM25Index.build(7 if i == bad else "word" for i in range(2600))
