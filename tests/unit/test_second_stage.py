"""A second look at what a distance lets through: the rerank logit, and the question's words that a passage lacks."""

from __future__ import annotations

import pytest

import pincite
from pincite.errors import InvalidInputError
from pincite.types import Document
from stub_models import StubEncoder, StubReranker

PUMPS = "# Pumps\n\nThe pump stops at eighty degrees.\n\n## Limits\n\nThe red valve closes before the crew sleeps.\n"
SAILS = "# Sails\n\nThe jib is twelve square metres, and the crew sleeps.\n"


@pytest.fixture
def kb(tmp_path):
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder(), reranker=StubReranker()) as made:
        made.add([Document("pumps", PUMPS), Document("sails", SAILS)], progress=False)
        yield made


def test_words_of_the_question_that_a_passage_lacks_are_named_rarest_first(kb):
    hits = {hit.content: hit for hit in kb.search("the Crews sleeping under VIETNAM", max_distance=None)}
    jib = hits[SAILS.strip()]
    assert jib.absent_words == ("under", "VIETNAM")  # "Crews" and "crew" are one word to the stemmer
    pump = next(hit for content, hit in hits.items() if "eighty" in content)
    assert pump.absent_words == ("under", "VIETNAM", "Crews", "sleeping")
    assert 0.0 < jib.absent_weight < pump.absent_weight < 1.0
    assert jib.to_dict()["absent_words"] == ["under", "VIETNAM"]


def test_headings_count_as_words_of_a_passage(kb):
    valve = next(hit for hit in kb.search("valve limits of pumps", max_distance=None) if "valve" in hit.content)
    assert valve.absent_words == ("of",)


def test_nobody_looks_where_nothing_is_reranked(kb):
    hit = kb.search("jib", max_distance=None, rerank=False)[0]
    assert (hit.absent_words, hit.absent_weight) == (None, None)
    assert kb.search("jib", max_distance=None, rerank=False, max_absent=1.0)[0].absent_words == ()


def test_a_question_without_words_lacks_none(kb):
    assert {hit.absent_weight for hit in kb.search("?!", max_distance=None)} == {0.0}


@pytest.mark.parametrize("rerank", ["fused", "pure"])
def test_each_bound_keeps_the_order_and_leaves_out_what_is_beyond_it(kb, rerank):
    question = "red valve crew sleeps twelve"
    everything = kb.search(question, max_distance=None, rerank=rerank, k=9).hits
    for bound in sorted({hit.rerank_logit for hit in everything}):
        kept = kb.search(question, max_distance=None, rerank=rerank, k=9, min_logit=bound)
        assert kept.hits == tuple(hit for hit in everything if hit.rerank_logit >= bound)
        assert kept.plan.min_logit == bound
    for bound in sorted({hit.absent_weight for hit in everything}):
        kept = kb.search(question, max_distance=None, rerank=rerank, k=9, max_absent=bound)
        assert kept.hits == tuple(hit for hit in everything if hit.absent_weight <= bound)
        assert kept.plan.max_absent == bound
        assert kb.search(question, max_distance=None, rerank=rerank, k=1, max_absent=bound)[0] == kept[0]


def test_what_was_not_reranked_has_no_logit_to_pass_with(tmp_path):
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder(), reranker=StubReranker()) as kb:
        kb.add([Document(f"d{i:02}", f"The crew number {i}.") for i in range(40)], progress=False)
        assert len(kb.search("the crew", max_distance=None, k=40)) == 40
        assert len(kb.search("the crew", max_distance=None, k=40, min_logit=-1.0)) == 25


def test_a_refusal_says_which_stage_it_was(kb):
    question = "crew of Vietnam"
    by_logit = kb.search(question, max_distance=None, min_logit=7.0)
    assert (by_logit.refused, by_logit.hits) == (True, ())
    assert by_logit.reason == f'nothing with a rerank logit of 7 or more for "{question}"; the best has 0.33'
    by_words = kb.search(question, max_distance=None, max_absent=0.1)
    assert by_words.refused
    assert f'no passage has enough of the words of "{question}": the best lacks of, Vietnam (' in by_words.reason
    assert by_words.reason.endswith("of their weight, at most 0.1 may be absent)")
    assert "nothing under cosine distance 0 " in kb.search(question, max_distance=0.0, max_absent=0.1).reason
    assert kb.search(question, max_distance=None, max_absent=0.1).nearest_distance is not None
    assert not kb.context(question, max_distance=None, min_logit=7.0)
    assert by_words.to_dict()["plan"]["max_absent"] == 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_logit": 0.0, "rerank": False}, "min_logit is 0.0 where nothing is reranked"),
        ({"min_logit": 0.0, "rerank": "none"}, "only reranking gives logits"),
        ({"min_logit": "high"}, "min_logit"),
        ({"min_logit": float("nan")}, "min_logit is nan, wanted a finite number"),
        ({"max_absent": 1.1}, "max_absent is 1.1, wanted 0 to 1"),
        ({"max_absent": -0.1}, "wanted 0 to 1"),
        ({"max_absent": float("nan")}, "wanted 0 to 1"),
    ],
)
def test_bounds_out_of_range_are_named(kb, options, message):
    with pytest.raises(InvalidInputError, match=message):
        kb.search("crew", **options)


def test_an_empty_index_takes_bounds(tmp_path):
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder(), reranker=StubReranker()) as kb:
        assert "empty" in kb.search("crew", min_logit=1.0, max_absent=0.5).reason
