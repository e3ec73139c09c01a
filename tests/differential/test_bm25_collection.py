"""Several BM25 indexes as one, against one twin (and one index) of all visible documents: equal bits."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite.core.bm25_collection import BM25Collection
from pincite.errors import InvalidInputError
from reference.bm25 import BM25, ascii_tokens, parse

WORDS = ["a", "ab", "abc", "b", "ba", "x1"]
RUNS = ["run", "runs", "running", "runner", "runners", "runt", "she", "hers", "is", "be"]
CLAUSES = ["a*", "b*", '"a b"', '"ab a', '"a a"', "*", "zz"]


def texts_of(words):
    return st.lists(st.sampled_from(words), max_size=8).map(" ".join)


def queries_of(words):
    return st.lists(st.sampled_from(words), max_size=6).map(" ".join)


@st.composite
def splits(draw, words):
    """Documents of 1 to 3 fields in up to 5 parts (some empty), and which of them are visible and allowed."""
    n_fields = draw(st.integers(1, 3))
    document = st.lists(texts_of(words), min_size=n_fields, max_size=n_fields)
    parts = draw(st.lists(st.lists(document, max_size=5), max_size=5))
    mask = [st.one_of(st.none(), st.lists(st.booleans(), min_size=len(p), max_size=len(p))) for p in parts]
    visible, allowed = [draw(m) for m in mask], [draw(m) for m in mask]
    params = {
        "boosts": draw(st.lists(st.floats(0.1, 5), min_size=n_fields, max_size=n_fields)),
        "k1": draw(st.one_of(st.just(1.2), st.just(0.0), st.floats(0, 5))),
        "b": draw(st.one_of(st.just(0.75), st.floats(0, 1))),
    }
    return parts, visible, allowed, params


def built(documents, *, boosts, **params):
    names = [f"field{f}" for f in range(len(boosts))]
    columns = {name: [document[f] for document in documents] for f, name in enumerate(names)}
    return pincite.BM25Index.build_fields(columns, boosts=dict(zip(names, boosts, strict=True)), **params)


def as_filter(mask, random):
    """The mask as a bool array or as document numbers."""
    if mask is None:
        return None
    return np.array(mask, dtype=bool) if random.random() < 0.5 else [i for i, there in enumerate(mask) if there]


def rows_of(parts, *masks):
    """(part, row) of every document that is in all masks."""
    return [
        (p, row)
        for p, documents in enumerate(parts)
        for row in range(len(documents))
        if all(mask[p] is None or mask[p][row] for mask in masks)
    ]


def by_part(found, places, n_parts, k):
    """The k best of each part, none below the k-th of all, from a ranking of all; document i is at `places[i]`."""
    ids, scores = map(list, found)
    cut = scores[k - 1] if k <= len(scores) else 0.0
    out = [([], []) for _ in range(n_parts)]
    for at, score in zip(ids, scores, strict=True):
        part, row = places[at]
        if len(out[part][0]) < k and score >= cut:
            out[part][0].append(row)
            out[part][1].append(score)
    return out


def listed(found):
    return [(ids.tolist(), scores.tolist()) for ids, scores in found]


@given(
    split=splits(WORDS),
    query=queries_of([*WORDS, *CLAUSES]),
    operators=st.booleans(),
    k=st.integers(1, 6),
    random=st.randoms(),
)
def test_as_one_twin_of_all_visible_documents(split, query, operators, k, random):
    parts, visible, allowed, params = split
    views = [
        built(documents, analyzer="ascii", **params).view(as_filter(mask, random))
        for documents, mask in zip(parts, visible, strict=True)
    ]
    collection = BM25Collection(views)
    places = rows_of(parts, visible)
    tokens = [[ascii_tokens(text) for text in parts[p][row]] for p, row in places]
    twin = BM25(tokens, **params)
    clauses = parse(query, operators=operators)
    there = set(rows_of(parts, visible, allowed))
    wanted = {i for i, place in enumerate(places) if place in there}
    filters = [as_filter(mask, random) for mask in allowed]
    for given_filters, ids in ((None, None), (filters, wanted)):
        expected = by_part(twin.search(clauses, k=99, allowed=ids), places, len(parts), k)
        for _ in range(2):  # the second time from the views' caches
            found = collection.search(query, k=k, allowed=given_filters, operators=operators)
            assert listed(found) == expected
            assert all((i.dtype, s.dtype) == (np.int64, np.float64) for i, s in found)
    assert len(collection) == len(places)
    for text in (*WORDS, "a b", "zz", ""):
        phrase = parse(f'"{text}"', operators=True)
        expected_df = twin.explain(phrase, 0)[0][1] if phrase and tokens else 0
        assert collection.document_frequency(text) == expected_df


@given(split=splits(RUNS), query=queries_of([*RUNS, "run*", "sh*", '"she is"', "runny", "b*"]), random=st.randoms())
def test_as_one_index_with_a_stemmer(split, query, random):
    """One part knows words that another has only other forms of; a prefix means the stems of all parts."""
    parts, visible, _, params = split
    views = [
        built(documents, stemmer="english", **params).view(as_filter(mask, random))
        for documents, mask in zip(parts, visible, strict=True)
    ]
    collection = BM25Collection(views)
    everything = [document for documents in parts for document in documents]
    places = [(p, row) for p, documents in enumerate(parts) for row in range(len(documents))]
    there = set(rows_of(parts, visible))
    seen = [i for i, place in enumerate(places) if place in there]
    one = built(everything, stemmer="english", **params).view(seen)
    for operators in (False, True):
        expected = by_part(one.search(query, k=99, operators=operators), places, len(parts), 99)
        assert listed(collection.search(query, k=99, operators=operators)) == expected
    for word in RUNS:
        assert collection.document_frequency(word) == (one.explain(word, seen[0])[0].df if seen else 0)


def test_forms_that_only_another_part_knows():
    indexes = [pincite.BM25Index.build(t, stemmer="english") for t in (["he was running"], ["she runs", "no"])]
    collection = BM25Collection([index.view(None) for index in indexes])
    for query in ("running", "runs", "run", "runni*"):
        assert [ids.tolist() for ids, _ in collection.search(query, operators=True)] == [[0], [0]]
    assert collection.document_frequency("run") == 2
    assert collection.document_frequency("she run") == 1


@pytest.mark.parametrize("views", [[], [[]], [["a b"]], [[], ["a"], []]], ids=str)
def test_parts_without_documents(views):
    indexes = [pincite.BM25Index.build(texts) for texts in views]
    nothing = BM25Collection([index.view(np.zeros(len(index), dtype=bool)) for index in indexes])
    assert len(nothing) == nothing.document_frequency("a") == 0
    for query in ("", "a", '"a b" b*'):
        assert listed(nothing.search(query, operators=True)) == [([], [])] * len(views)
    some = BM25Collection([index.view(None) for index in indexes])
    assert len(some) == sum(map(len, views))
    assert some.document_frequency("a") == sum(map(len, views))


def test_a_question_over_many_documents_is_pruned_alike():
    """More documents than a window of the pruned pass holds, frequent terms with tables in some parts only."""
    random = np.random.default_rng(4)
    words = np.array([f"w{i}" for i in range(400)])
    weights = 1 / (np.arange(400) + 2.0)
    texts = [" ".join(random.choice(words, random.integers(1, 25), p=weights / weights.sum())) for _ in range(9000)]
    one = pincite.BM25Index.build(texts)
    cuts = [0, 100, 101, 5500, 9000]
    collection = BM25Collection([pincite.BM25Index.build(texts[a:b]).view(None) for a, b in itertools.pairwise(cuts)])
    for _ in range(40):
        query = " ".join(random.choice(words, random.integers(1, 9), p=weights / weights.sum()))
        for k in (1, 10, 200):
            found = collection.search(query, k=k)
            merged = [
                (-score, start + row)
                for start, (ids, scores) in zip(cuts, found, strict=False)
                for row, score in zip(ids.tolist(), scores.tolist(), strict=True)
            ]
            expected = [(-s, i) for i, s in zip(*(x.tolist() for x in one.search(query, k=k)), strict=True)]
            assert sorted(merged)[:k] == expected


def part(texts=("a",), **params):
    return pincite.BM25Index.build(texts, **params).view(None)


FIELDS = pincite.BM25Index.build_fields({"title": ["a"], "body": ["b"]}, boosts={"title": 2}).view(None)


@pytest.mark.parametrize(
    ("work", "given_value", "wanted"),
    [
        (lambda: BM25Collection([part(), part(k1=0.9)]), "part 1 has k1 0.9", "part 0 has 1.2"),
        (lambda: BM25Collection([part(b=0.5), part(), part()]), "part 1 has b 0.75", "part 0 has 0.5"),
        (lambda: BM25Collection([part(), part(analyzer="ascii")]), "analyzer ascii", "unicode"),
        (lambda: BM25Collection([part(), part(stemmer="english")]), "stemmer 'english'", "''"),
        (lambda: BM25Collection([part(), FIELDS]), "'title' of boost 2, 'body' of boost 1", "'text' of boost 1"),
        (lambda: BM25Collection([part(), pincite.BM25Index.build(["a"])]), "part 1 is of type BM25Index", "view"),
        (lambda: BM25Collection(3), "parts is of type int", "sequence"),
        (lambda: BM25Collection([part()]).search("a", k=0), "k is 0", "at least 1"),
        (lambda: BM25Collection([part()]).search(3), "query is of type int", "str"),
        (lambda: BM25Collection([part()]).search("\ud800"), "surrogate", "code point 0"),
        (lambda: BM25Collection([part()]).search("a", allowed=[None] * 2), "2 filters", "1 parts"),
        (lambda: BM25Collection([part()]).search("a", allowed=[]), "0 filters", "1 parts"),
        (lambda: BM25Collection([part(), part()]).search("a", allowed=[None, [1]]), "allowed[1] names row 1", "0 to 0"),
        (lambda: BM25Collection([part()]).search("a", allowed=[[True, True]]), "allowed[0] is a mask of 2", "1 rows"),
        (lambda: BM25Collection([part()]).document_frequency(None), "text is of type NoneType", "str"),
    ],
)
def test_bad_arguments_are_named(work, given_value, wanted):
    with pytest.raises(InvalidInputError) as caught:
        work()
    assert given_value in str(caught.value)
    assert wanted in str(caught.value)


def test_threads_share_a_collection():
    texts = [f"running word{i % 7} runs{i % 11}" for i in range(300)]
    queries = [f"word{i % 7} runner{i}s run" for i in range(40)]

    def collection():
        views = [pincite.BM25Index.build(texts[p::3], stemmer="english").view(np.arange(0, 100, 2)) for p in range(3)]
        return BM25Collection(views)

    alone = collection()
    expected = [(listed(alone.search(q)), alone.document_frequency(q)) for q in queries]
    fresh = collection()
    found = [None] * 4

    def work(t):
        found[t] = [(listed(fresh.search(q)), fresh.document_frequency(q)) for q in queries]

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
