"""Each measure on cases whose answer is written out."""

from __future__ import annotations

import json
import math

import pytest

import pincite
from pincite.errors import InvalidInputError
from pincite.evaluation import (
    Excerpt,
    GoldSet,
    Question,
    Retrieval,
    Retrieved,
    evaluate,
)
from pincite.types import Document

TEXT = "0123456789" * 10
DOCUMENTS = [Document("d", TEXT, markup="plain"), Document("e", TEXT, markup="plain")]


def excerpt(start: int, end: int, document: str = "d") -> Excerpt:
    return Excerpt(document, start, end, TEXT[start:end])


def passage(start: int, end: int, document: str = "d", *, covered: int | None = None, distance: float | None = None):
    return Retrieved(document, start, end, start if covered is None else covered, distance)


def asked(answers: dict[str, list[Retrieved]], *questions: Question, **options) -> pincite.evaluation.Report:
    """Evaluate a retriever that gives the same passages for a question as are written here."""
    return evaluate(lambda text: answers.get(text, []), GoldSet("gold", questions), documents=DOCUMENTS, **options)


def values(report) -> dict[str, float]:
    return {name: interval.value for name, interval in report.measures.items()}


def test_a_passage_answers_if_it_covers_the_excerpt_whole():
    question = Question("1", "q", (excerpt(10, 20),))
    for given, rank in [
        ([passage(10, 20)], 1),
        ([passage(11, 30), passage(0, 19), passage(5, 25)], 3),
        ([passage(12, 30, covered=10)], 1),  # the overlap was searched
        ([passage(12, 30, covered=11)], None),
        ([passage(10, 20, "e")], None),
        ([passage(10, 15), passage(15, 20)], None),  # two halves are no whole
        ([], None),
    ]:
        (outcome,) = asked({"q": given}, question).outcomes
        assert outcome.rank == rank, given
        assert outcome.refused == (not given)


def test_any_excerpt_answers_or_all_of_them():
    question = Question("1", "q", (excerpt(0, 5), excerpt(50, 60)))
    both = {"q": [passage(90, 99), passage(50, 70), passage(80, 90), passage(0, 10)]}
    one = {"q": [passage(0, 10)]}
    assert [asked(answers, question).outcomes[0].rank for answers in (both, one)] == [2, 1]
    assert [asked(answers, question, excerpts="all").outcomes[0].rank for answers in (both, one)] == [4, None]
    with pytest.raises(InvalidInputError, match="excerpts is 'some', wanted one of 'any', 'all'"):
        asked(both, question, excerpts="some")


def test_every_measure_of_excerpts():
    """Answered at rank 1, at rank 3 (one excerpt of two; its other at 5), and not at all."""
    noise = [passage(90, 95), passage(95, 99)]
    report = asked(
        {"a": [passage(10, 20)], "b": [*noise, passage(0, 12), passage(1, 12), passage(40, 60)], "c": noise},
        Question("1", "a", (excerpt(10, 20),)),
        Question("2", "b", (excerpt(0, 10), excerpt(45, 50))),
        Question("3", "c", (excerpt(30, 31),)),
    )
    found = values(report)
    assert [found[f"R@{k}"] for k in (1, 4, 8, 20)] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert report.measures["R@4"] == pincite.evaluation.statistics.wilson(2, 3)
    assert found["MRR"] == pytest.approx((1 + 1 / 3) / 3)
    ndcg = (1 / math.log2(4) + 1 / math.log2(6)) / (1 + 1 / math.log2(3))
    assert found["nDCG@10"] == pytest.approx((1 + ndcg) / 3)
    assert found["MAP"] == pytest.approx((1 + (1 / 3 + 2 / 5) / 2) / 3)
    assert [found[f"recall@{k}"] for k in (1, 4, 8)] == pytest.approx([1 / 3, 1.5 / 3, 2 / 3])
    assert found["failure rate@20"] == pytest.approx(1 / 3)
    assert "destroyed" not in found
    assert report.destroyed is None
    assert [outcome.destroyed for outcome in report.outcomes] == [None] * 3
    # characters of the first five: 10 of 10 retrieved; 15 of 15 excerpted, 52 retrieved; none of 9
    assert found["character recall@5"] == pytest.approx(2 / 3)
    assert found["character precision@5"] == pytest.approx((1 + 15 / (5 + 4 + 12 + 11 + 20)) / 3)
    assert found["character iou@5"] == pytest.approx((1 + 15 / 52) / 3)


def test_characters_of_overlaps_are_not_quoted_and_repeated_ones_cost_precision():
    question = Question("1", "q", (excerpt(10, 20), excerpt(15, 30)))
    (outcome,) = asked({"q": [passage(20, 40, covered=5), passage(35, 45), passage(0, 10, "e")]}, question).outcomes
    assert outcome.overlap == (10 / 20, 10 / 40, 10 / 50)
    assert asked({}, question).outcomes[0].overlap == (0.0, 0.0, 0.0)


def test_only_the_first_five_passages_are_compared_by_characters():
    question = Question("1", "q", (excerpt(10, 20),))
    (outcome,) = asked({"q": [passage(0, 5)] * 5 + [passage(10, 20)]}, question).outcomes
    assert (outcome.rank, outcome.overlap) == (6, (0.0, 0.0, 0.0))


def test_a_passage_that_covers_two_excerpts_finds_both():
    question = Question("1", "q", (excerpt(0, 5), excerpt(5, 9)))
    (outcome,) = asked({"q": [passage(0, 10)]}, question).outcomes
    assert (outcome.ndcg, outcome.average_precision, outcome.recalls[1]) == (1.0, 1.0, 1.0)


def test_graded_documents_rank_by_their_best_passage():
    question = Question("1", "q", grades={"d": 1, "e": 3, "gone": 2, "x": 0})
    given = [passage(0, 1, "x"), passage(0, 1, "x"), passage(0, 1), passage(5, 9), passage(3, 4, "e")]
    report = asked({"q": given}, question)
    (outcome,) = report.outcomes
    assert outcome.rank == 2
    assert outcome.ndcg == pytest.approx(
        (1 / math.log2(3) + 3 / math.log2(4)) / (3 + 2 / math.log2(3) + 1 / math.log2(4))
    )
    assert outcome.average_precision == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert outcome.recalls == {1: 0.0, 4: 2 / 3, 8: 2 / 3, 20: 2 / 3}
    assert outcome.overlap is None
    assert "by a document that is graded above 0" in report.table()


def test_what_is_beyond_the_depth_does_not_count():
    question = Question("1", "q", (excerpt(0, 5),))
    given = {"q": [passage(50, 60)] * 4 + [passage(0, 9)]}
    assert asked(given, question, depth=5).outcomes[0].rank == 5
    report = asked(given, question, depth=4)
    assert report.outcomes[0].rank is None
    assert "R@8" not in report.measures
    assert values(report)["failure rate@4"] == 1.0


def test_refusals_are_counted_both_ways():
    report = asked(
        {"right": [passage(0, 9)], "wrong": [passage(9, 19)], "bluff": [passage(0, 9)], "leak": [passage(2, 3)]},
        Question("1", "right", (excerpt(0, 9),)),
        Question("2", "wrong", (excerpt(0, 9),)),
        Question("3", "given up", (excerpt(0, 9),)),
        Question("4", "refused", answerable=False),
        Question("5", "bluff", answerable=False),
        Question("6", "leak", (excerpt(0, 9),), answerable=False, forbidden=True),
        Question("7", "kept", (excerpt(0, 9),), answerable=False, forbidden=True),
    )
    assert {name: interval.value for name, interval in report.refusal.items()} == pytest.approx(
        {"answered correctly": 1 / 3, "answered wrongly": 1 / 3, "given up wrongly": 1 / 3, "bluffs": 0.5, "leaks": 0.5}
    )
    assert values(report)["R@1"] == pytest.approx(1 / 3)  # of those that have an answer
    assert "| bluffs | 0.500 |" in report.table()
    assert asked({}, Question("1", "q", (excerpt(0, 9),))).refusal == {}


def test_a_bluff_about_a_forbidden_question_that_shows_nothing_of_it_is_no_leak():
    question = Question("1", "q", (excerpt(0, 9),), answerable=False, forbidden=True)
    report = asked({"q": [passage(9, 19), passage(0, 9, "e")]}, question)
    assert (report.refusal["bluffs"].value, report.refusal["leaks"].value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("start", "end", "covered", "leaks"),
    [
        (0, 10, 0, False),
        (0, 11, 0, True),
        (20, 30, 20, False),
        (19, 30, 19, True),
        (25, 30, 19, True),
        (12, 13, 12, True),
    ],
)
def test_one_character_of_what_is_forbidden_is_a_leak(start, end, covered, leaks):
    question = Question("1", "q", (excerpt(10, 20),), answerable=False, forbidden=True)
    (outcome,) = asked({"q": [passage(start, end, covered=covered)]}, question).outcomes
    assert outcome.leaked == leaks


def test_families_are_given_apart():
    report = asked(
        {"a": [passage(0, 9)]},
        Question("1", "a", (excerpt(0, 9),), family="course"),
        Question("2", "b", (excerpt(0, 9),), family="ticket"),
    )
    assert {name: found["R@1"].value for name, found in report.families.items()} == {"course": 1.0, "ticket": 0.0}
    assert "| ticket (1) | value |" in report.table()


def test_distances_are_the_nearest_and_that_of_the_answer():
    question = Question("1", "q", (excerpt(0, 9),))
    given = [passage(50, 60, distance=0.2), passage(0, 9, distance=0.3), passage(0, 20, distance=0.1)]
    (outcome,) = asked({"q": given}, question).outcomes
    assert (outcome.distance, outcome.answer_distance) == (0.1, 0.3)
    gold = GoldSet("gold", (question,))
    (outcome,) = evaluate(lambda text: Retrieval((), 0.7), gold).outcomes
    assert (outcome.distance, outcome.answer_distance, outcome.refused) == (0.7, None, True)


def test_a_gold_set_with_faults_is_refused():
    faulty = [Question(str(i), "q", (Excerpt("d", 1, 3, "ab"),)) for i in range(7)]
    with pytest.raises(InvalidInputError, match=r"gold has 7 faults, wanted none: question '0': .* and 2 more"):
        asked({}, *faulty)
    report = evaluate(lambda text: [], GoldSet("gold", tuple(faulty)))
    assert not report.gold["checked"]
    assert "was not held against the documents" in report.table()


def test_what_is_no_retriever_is_refused(tmp_path):
    gold = GoldSet("gold", (Question("1", "q", answerable=False),))
    for subject, options, message in [
        (7, {}, "given was int, wanted a KnowledgeBase, or a callable"),
        (lambda text: [("d", 0, 1)], {}, r"the retriever gave \('d', 0, 1\) for 'q', wanted Retrieved"),
        (lambda text: [Retrieved("d", 5, 3, 5)], {}, "wanted Retrieved passages with"),
        (lambda text: [], {"pipeline": "bm25"}, "those of a knowledge base; a callable has its own"),
        (lambda text: [], {"threshold": 0.5}, "those of a knowledge base"),
        (lambda text: [], {"depth": 0}, "depth is 0, wanted at least 1"),
        (lambda text: [], {"seed": -1}, "seed is -1"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            evaluate(subject, gold, **options)


def test_progress_is_told():
    told = []
    asked({}, *(Question(str(i), "q", answerable=False) for i in range(3)), progress=lambda *said: told.append(said))
    assert told == [(1, 3, "0"), (2, 3, "1"), (3, 3, "2")]


def test_times_are_kept_by_stage_and_outside_of_what_repeats():
    given = {"a": Retrieval((), timings={"total": 3.0, "encode": 2.0}), "b": Retrieval((), timings={"total": 1.0})}
    gold = GoldSet("gold", tuple(Question(text, text, answerable=False) for text in given))
    report = evaluate(given.get, gold, name="timed")
    assert report.timings() == {
        "name": "timed",
        "configuration_hash": report.configuration_hash,
        "stages": {
            "total": {"n": 2, "p50_ms": 2.0, "p95_ms": pytest.approx(2.9), "mean_ms": 2.0},
            "encode": {"n": 1, "p50_ms": 2.0, "p95_ms": 2.0, "mean_ms": 2.0},
        },
    }
    assert report.latency("rerank") == {}
    assert "_ms" not in json.dumps(report.to_dict())


@pytest.mark.parametrize(
    "given",
    [None, 5, "text", ["text"], [Retrieved("d", "a", 9, 0)], [Retrieved("d", 0, 5.5, 0)], [Retrieved(None, 0, 5, 0)],
     [Retrieved("d", 0, 5, 0, "near")], [Retrieved("d", 0, 5, 0, float("nan"))]],
    ids=str,
)  # fmt: skip
def test_whatever_a_callable_gives_is_named(given):
    gold = GoldSet("g", (Question("1", "q", answerable=False),))
    with pytest.raises(InvalidInputError, match=r"the retriever gave .* for 'q', wanted"):
        evaluate(lambda question: given, gold)
