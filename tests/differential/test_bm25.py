"""The core's BM25 against its pure-Python twin: ids, scores to the bit, order, counts."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite.core.highlights import highlights
from pincite.errors import InvalidInputError
from reference.bm25 import BM25, ascii_tokens, parse

WORDS = ["a", "ab", "abc", "b", "ba", "x1", "A", "é"]
texts = st.lists(st.sampled_from([*WORDS, "-", "."]), max_size=9).map(" ".join)
pieces = st.sampled_from([*WORDS, '"', "*", " ", "a*", '"a b"', '"ab a', "-"])
queries = st.lists(pieces, max_size=8).flatmap(lambda p: st.sampled_from([" ".join(p), "".join(p)]))


@st.composite
def collections(draw):
    """Documents of 1 to 3 fields, boosts, k1, b."""
    n_fields = draw(st.integers(1, 3))
    documents = draw(st.lists(st.lists(texts, min_size=n_fields, max_size=n_fields), max_size=10))
    boosts = draw(st.lists(st.floats(0.1, 5), min_size=n_fields, max_size=n_fields))
    k1 = draw(st.one_of(st.just(1.2), st.just(0.0), st.floats(0, 5)))
    return documents, boosts, k1, draw(st.one_of(st.just(0.75), st.floats(0, 1)))


def built(documents, boosts, k1, b):
    names = [f"field{f}" for f in range(len(boosts))]
    columns = {name: [document[f] for document in documents] for f, name in enumerate(names)}
    return pincite.BM25Index.build_fields(
        columns, boosts=dict(zip(names, boosts, strict=True)), analyzer="ascii", k1=k1, b=b
    )


def tokenized(documents):
    return [[ascii_tokens(text) for text in document] for document in documents]


def test_stars_among_single_letters():
    """Each star counts for the word before it, also where CPython shares the strings."""
    for query in ("b*b", "b*b*", "a*a*a", "b**b", "*b", "b*"):
        documents = [["ba"], ["b"], ["a b a"], ["ab"]]
        found, scores = built(documents, [1.0], 1.2, 0.75).search(query, operators=True)
        twin = BM25(tokenized(documents), boosts=[1.0])
        assert (found.tolist(), scores.tolist()) == twin.search(parse(query, operators=True), k=10)


@given(collection=collections(), query=queries, operators=st.booleans(), k=st.integers(1, 12), data=st.data())
def test_same_ids_and_scores(collection, query, operators, k, data):
    documents, boosts, k1, b = collection
    n = len(documents)
    mask = st.one_of(st.none(), st.lists(st.booleans(), min_size=n, max_size=n))
    visible, allowed = data.draw(mask), data.draw(mask)
    sets = [None if m is None else {i for i in range(n) if m[i]} for m in (visible, allowed)]
    twin = BM25(tokenized(documents), boosts=boosts, k1=k1, b=b, visible=sets[0])
    expected = twin.search(parse(query, operators=operators), k=k, allowed=sets[1])
    index = built(documents, boosts, k1, b)
    as_mask = [None if m is None else np.array(m, dtype=bool) for m in (visible, allowed)]
    ids, scores = index.search(query, k=k, visible=as_mask[0], allowed=as_mask[1], operators=operators)
    assert (ids.tolist(), scores.tolist()) == expected
    assert (ids.dtype, scores.dtype) == (np.int64, np.float64)
    batch_ids, batch_scores, counts = index.search_batch(
        [query, "", query], k=k, visible=as_mask[0], allowed=as_mask[1], operators=operators, threads=2
    )
    assert counts.tolist() == [len(ids), 0, len(ids)]
    assert batch_ids[2].tolist() == ids.tolist() + [-1] * (k - len(ids))
    assert batch_scores[2].tolist() == scores.tolist() + [-math.inf] * (k - len(ids))


@given(collection=collections(), query=queries, operators=st.booleans())
def test_contributions_are_those_of_the_twin_and_add_up_to_the_score(collection, query, operators):
    documents, boosts, k1, b = collection
    index = built(documents, boosts, k1, b)
    twin = BM25(tokenized(documents), boosts=boosts, k1=k1, b=b)
    clauses = parse(query, operators=operators)
    found = dict(zip(*[a.tolist() for a in index.search(query, k=20, operators=operators)], strict=True))
    for i in range(len(documents)):
        terms = index.explain(query, i, operators=operators)
        assert [(t.term, t.df, t.idf, t.contribution) for t in terms] == twin.explain(clauses, i)
        total = 0.0
        for term in terms:
            total += term.contribution
            assert {name: len(at) for name, at in term.positions.items()} == term.tf
        assert total == found.get(i, 0.0)


@given(collection=collections(), query=queries, data=st.data())
def test_a_view_equals_an_index_of_the_visible_documents(collection, query, data):
    documents, boosts, k1, b = collection
    rows = sorted(data.draw(st.sets(st.sampled_from(range(len(documents))))) if documents else [])
    view = built(documents, boosts, k1, b).view(np.array(rows, dtype=np.int64))
    fresh = built([documents[i] for i in rows], boosts, k1, b)
    for _ in range(2):  # the second time from the view's cache
        ids, scores = view.search(query, operators=True)
        fresh_ids, fresh_scores = fresh.search(query, operators=True)
        assert ids.tolist() == [rows[i] for i in fresh_ids]
        assert scores.tolist() == fresh_scores.tolist()
    assert len(view) == len(fresh)


@given(collection=collections(), query=queries)
def test_one_field_of_boost_1_is_plain_bm25(collection, query):
    documents, _, k1, b = collection
    tokens = [ascii_tokens(document[0]) for document in documents]
    ids, scores = built([[document[0]] for document in documents], [1.0], k1, b).search(query, k=20)
    mean = sum(map(len, tokens)) / max(1, len(tokens))
    for i, score in zip(ids, scores, strict=True):
        expected = 0.0
        for word in ascii_tokens(query):
            n, tf = sum(word in t for t in tokens), tokens[i].count(word)
            idf = math.log(1 + (len(tokens) - n + 0.5) / (n + 0.5))
            if tf:
                expected += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(tokens[i]) / mean))
        assert score == pytest.approx(expected, rel=1e-12)


@given(collection=collections(), query=st.text(max_size=30), operators=st.booleans())
def test_no_text_is_a_malformed_query(collection, query, operators):
    """Nothing a user types raises, except a lone surrogate, which cannot be encoded."""
    index = built(*collection)
    if any("\ud800" <= c <= "\udfff" for c in query):
        with pytest.raises(InvalidInputError, match="surrogate"):
            index.search(query, operators=operators)
    else:
        index.search(query, operators=operators)


@given(text=texts, query=queries, operators=st.booleans())
def test_highlights_are_what_the_terms_match(text, query, operators):
    """Cases T01, T06: spans are code points of the text, and there are some just when it matches."""
    spans = highlights(text, query, analyzer="ascii", operators=operators)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    index = pincite.BM25Index.build([text], analyzer="ascii")
    assert bool(spans) == bool(len(index.search(query, operators=operators)[0]))
    assert index.highlights(text, query, operators=operators) == spans
    if not operators:
        matched = {word for start, end in spans for word in ascii_tokens(text[start:end])}
        assert matched == set(ascii_tokens(text)) & set(ascii_tokens(query))


def test_golden(shared):
    """The reference's 12 queries: ids in order, scores within 1e-5."""
    lines = (shared / "golden" / "mdcourse_chunks.jsonl").read_text(encoding="utf-8").splitlines()
    index = pincite.BM25Index.build([json.loads(line)["text"] for line in lines], analyzer="ascii")
    cases = (shared / "golden" / "mdcourse_bm25.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(cases) == 12
    for line in cases:
        golden = json.loads(line)
        ids, scores = index.search(golden["query"], k=20)
        assert ids.tolist() == golden["top"]
        np.testing.assert_allclose(scores, golden["scores"], rtol=1e-5)
