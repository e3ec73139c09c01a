"""Two reports on the same questions, pair by pair, and what cannot be told apart."""

from __future__ import annotations

import dataclasses

import pytest

from pincite.errors import InvalidInputError
from pincite.evaluation import Excerpt, GoldSet, Question, Retrieved, compare, compare_all, evaluate
from pincite.evaluation.statistics import bootstrap_mean, holm, sign_test

N = 30
GOLD = GoldSet(
    "gold",
    (
        *(Question(f"q{i}", f"{i}", (Excerpt("d", 0, 1, "x"),)) for i in range(N)),
        Question("none", "none", answerable=False),
    ),
)


def report(name: str, ranks: dict[int, int], **options):
    """Of a retriever that answers question i at the rank given here, and no other."""

    def retriever(text: str) -> list[Retrieved]:
        rank = ranks.get(int(text)) if text != "none" else None
        return [Retrieved("d", 5, 9, 5)] * (rank - 1) + [Retrieved("d", 0, 1, 0)] if rank else []

    return evaluate(retriever, options.pop("gold", GOLD), name=name, **options)


OLD = report("old", dict.fromkeys(range(10), 1))
BETTER = report("better", dict.fromkeys(range(3, 25), 2))  # gains 10 to 24, loses 0 to 2


def test_gains_and_losses_are_listed():
    found = compare(OLD, BETTER)
    assert found.gained == tuple(f"q{i}" for i in range(10, 25))
    assert found.lost == ("q0", "q1", "q2")
    assert found.n == N
    assert found.p == found.adjusted_p == sign_test(15, 3)
    assert found.verdict == "better is better than old by R@4 (15 gained, 3 lost of 30, p = 0.0075)"
    assert compare(BETTER, OLD).verdict == "old is worse than better by R@4 (3 gained, 15 lost of 30, p = 0.0075)"
    assert compare(OLD, BETTER, k=1).lost == tuple(f"q{i}" for i in range(10))


def test_differences_are_paired():
    found = compare(OLD, BETTER, k=1)
    assert found.differences["R@1"].value == pytest.approx(-10 / N)
    reciprocal = [-1.0] * 3 + [-0.5] * 7 + [0.5] * 15 + [0.0] * 5
    assert found.differences["MRR"] == bootstrap_mean(reciprocal, seed=0)
    assert found.differences["MAP"].value == pytest.approx(sum(reciprocal) / N)
    assert set(found.differences) == {"R@1", "MRR", "nDCG@10", "MAP"}


def test_questions_can_be_won_by_another_measure():
    found = compare(OLD, BETTER, by="MRR")
    assert found.lost == tuple(f"q{i}" for i in range(10))
    assert found.gained == tuple(f"q{i}" for i in range(10, 25))
    assert found.p == sign_test(15, 10)
    assert found.verdict.startswith("not distinguishable by MRR")
    assert compare_all(OLD, [BETTER], by="MRR") == [found]


def test_what_is_not_significant_is_not_distinguishable():
    found = compare(OLD, report("new", dict.fromkeys(range(1, 13), 1)))
    assert (len(found.gained), len(found.lost)) == (3, 1)
    assert not found.distinguishable
    assert found.verdict == (
        "not distinguishable by R@4: new and old (3 gained, 1 lost of 30, p = 0.62); with 30 questions you cannot see "
        "less than 6 of them (20.0%), and while 1 go the other way less than 7 more (23.3%)"
    )
    assert compare(OLD, OLD).verdict.startswith(
        "not distinguishable by R@4: old and old (0 gained, 0 lost of 30, p = 1)"
    )


def test_a_few_questions_show_nothing():
    gold = GoldSet("few", GOLD.questions[:5])
    found = compare(report("old", {}, gold=gold), report("new", dict.fromkeys(range(5), 1), gold=gold))
    assert len(found.gained) == 5
    assert found.verdict.endswith("with 5 questions no difference can be seen, wanted at least 6")


def test_several_comparisons_are_corrected():
    others = [BETTER, report("third", dict.fromkeys(range(1, 19), 1)), OLD]
    alone = [compare(OLD, other) for other in others]
    together = compare_all(OLD, others)
    assert [found.adjusted_p for found in together] == holm([found.p for found in alone])
    assert [found.p for found in together] == [found.p for found in alone]
    assert alone[1].distinguishable  # nine gained, one lost: p = 0.021
    assert together[1].adjusted_p == pytest.approx(2 * sign_test(9, 1))
    assert compare_all(OLD, []) == []


def test_correction_can_take_a_difference_away():
    third = report("third", dict.fromkeys(range(1, 19), 1))
    assert compare(OLD, third).distinguishable
    assert [found.distinguishable for found in compare_all(OLD, [third, third, third])] == [False] * 3


def test_answers_that_the_new_index_destroys_are_listed():
    def marked(found, destroyed):
        outcomes = [dataclasses.replace(o, destroyed=o.id in destroyed) for o in found.outcomes]
        return dataclasses.replace(found, outcomes=tuple(outcomes))

    assert compare(marked(OLD, {"q1"}), marked(BETTER, {"q1", "q2", "q7"})).destroyed == ("q2", "q7")
    assert compare(OLD, BETTER).destroyed == ()


def test_it_can_be_stored():
    stored = compare(OLD, BETTER).to_dict()
    assert stored["verdict"] == compare(OLD, BETTER).verdict
    assert stored["lost"] == ["q0", "q1", "q2"]
    assert set(stored["differences"]["MRR"]) == {"value", "low", "high"}


def test_reports_that_do_not_fit_are_refused():
    other = GoldSet("other", GOLD.questions[1:])
    for new, options, message in [
        (report("new", {}, gold=other), {}, "about the gold sets 'gold' and 'other'"),
        (report("new", {}, excerpts="all"), {}, "one report counts 'any' excerpts as an answer, the other 'all'"),
        (report("new", {}, depth=3), {}, "k is 4, wanted at most 3"),
        (OLD, {"by": "R@8"}, "by is 'R@8', wanted one of 'R@4', 'MRR'"),
        (OLD, {"k": 0}, "k is 0, wanted at least 1"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            compare(OLD, new, **options)
