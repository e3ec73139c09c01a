"""Answers of a language model, held against what it was given and what it cites."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import InvalidInputError
from pincite.evaluation.generation import Answer, Claim, claims_of, evaluate_answers
from pincite.evaluation.judge import WordsAndReranker
from pincite.evaluation.statistics import wilson
from stub_models import StubReranker


def holds(claim: str, passage: str) -> bool:
    return claim.rstrip(".") in passage


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("", []),
        (" \n", []),
        ("One [1]. Two. [2]", [("One.", (1,)), ("Two.", (2,))]),
        ("One [1][3], and more [1, 2]!", [("One, and more!", (1, 3, 2))]),
        ("Version 3.5 of e.g. it [1]", [("Version 3.5 of e.g.", ()), ("it", (1,))]),
        ('"Really?" [4] Yes', [('"Really?"', (4,)), ("Yes", ())]),
        ("- first [1]\n- second [2]\n", [("- first", (1,)), ("- second", (2,))]),
        ("See [a] and [12345678].", [("See [a] and [12345678].", ())]),
        ("[1]. Two.", [("Two.", ())]),
    ],
)
def test_an_answer_falls_into_claims_with_their_marks(text, claims):
    assert claims_of(text) == [Claim(words, marks) for words, marks in claims]


@given(st.text(alphabet="ab .!\n[]1,2", max_size=60))
def test_no_word_is_lost_between_claims(text):
    letters = [character for character in text if character in "ab"]
    assert [character for claim in claims_of(text) for character in claim.text if character in "ab"] == letters


def test_every_measure_of_answers():
    passages = ["It is red. It is dry.", "It is old."]
    report = evaluate_answers(
        [
            # three claims of four are supported; six marks, two right; two claims cite what supports them
            Answer("1", "It is red [1]. It is dry [2]. It is old [1][2][0]. It is new [9].", passages),
            Answer("2", "It is old.", passages),  # faithful, cites nothing
            Answer("3", "", passages, answerable=False),
            Answer("4", " ", passages),
            Answer("5", "It is blue [1].", passages, answerable=False),
        ],
        holds,
    )
    assert report.faithfulness.value == pytest.approx((3 / 4 + 1 + 0) / 3)
    assert report.citation_precision.value == pytest.approx((2 / 6 + 0) / 2)
    assert report.citation_recall.value == pytest.approx((2 / 4 + 0 + 0) / 3)
    assert report.refusal_precision == wilson(1, 2)
    assert report.refusal_recall == wilson(1, 2)
    assert report.unsupported == (("1", "It is new."), ("5", "It is blue."))
    assert report.unknown_marks == (("1", 0), ("1", 9))
    assert report.judge == "holds"
    stored = json.loads(json.dumps(report.to_dict()))
    assert stored["unknown_marks"] == [["1", 0], ["1", 9]]
    assert stored["citation_recall"]["value"] == report.citation_recall.value


def test_nothing_to_judge_is_no_number():
    report = evaluate_answers([], holds)
    assert {report.to_dict()[name]["value"] for name in ("faithfulness", "citation_precision", "refusal_recall")} == {
        None
    }
    with pytest.raises(InvalidInputError, match=r"the judge said 0\.7, wanted True or False"):
        evaluate_answers([Answer("1", "It is red.", ["x"])], lambda claim, passage: 0.7)


def test_the_built_in_judge_wants_words_numbers_and_the_reranker():
    passage = "The pumps stop at 80 degrees and the valve closes."
    judge = WordsAndReranker(StubReranker(), least_logit=0.1)  # the stub gives the share of equal words
    assert judge("The pump stops at 80 degrees.", passage)
    assert not judge("The pump stops at 90 degrees.", passage)
    assert not judge("The crew sleeps in four watches.", passage)
    assert not judge("...", passage)
    assert not WordsAndReranker(StubReranker(), least_logit=1.1)("The pump stops at 80 degrees.", passage)
    assert not WordsAndReranker(StubReranker(), least_share=1.0)("The red pump stops at 80 degrees.", passage)
    assert "no entailment" in evaluate_answers([], judge).judge
