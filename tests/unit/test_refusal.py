"""Thresholds: what is answered at each, and one that is only set where the questions can carry it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pincite.errors import InvalidInputError
from pincite.evaluation import (
    Distances,
    Excerpt,
    GoldSet,
    Question,
    Retrieval,
    Retrieved,
    calibrate,
    distances_of,
    evaluate,
    separability,
    sweep,
)
from pincite.evaluation.calibration import stamp_of
from pincite.evaluation.statistics import upper_bound, wilson

some = st.lists(st.integers(0, 20).map(lambda i: i / 10), min_size=1, max_size=30)


def test_a_sweep_counts_all_four_ends():
    distances = Distances([0.1, 0.2, 0.3, 0.4], [0.25, 0.5], answers=[0.1, math.inf, 0.35, 0.4])
    low, high, all_ = sweep(distances, thresholds=[0.2, 0.3, 0.5])
    assert (low.answered_correctly, low.answered_wrongly) == (wilson(1, 4), wilson(1, 4))
    assert (low.given_up_wrongly, low.bluffs) == (wilson(2, 4), wilson(0, 2))
    # at 0.3 the third is answered, but the passage that answers it is farther
    assert (high.answered_correctly, high.answered_wrongly) == (wilson(1, 4), wilson(2, 4))
    assert (high.given_up_wrongly, high.bluffs) == (wilson(1, 4), wilson(1, 2))
    assert (all_.answered_correctly, all_.answered_wrongly) == (wilson(3, 4), wilson(1, 4))
    assert (all_.given_up_wrongly, all_.bluffs) == (wilson(0, 4), wilson(2, 2))
    assert json.loads(json.dumps(low.to_dict()))["bluffs"]["value"] == 0.0


@given(some, some)
def test_a_sweep_goes_one_way_and_adds_up(near, far):
    rows = sweep(Distances(near, far))
    assert len(rows) == 21
    assert rows[0].threshold == min(near + far)
    assert rows[-1].bluffs.value == rows[-1].answered_correctly.value == 1.0
    for before, row in itertools.pairwise(rows):
        assert row.bluffs.value >= before.bluffs.value
        assert row.given_up_wrongly.value <= before.given_up_wrongly.value
    for row in rows:
        parts = (row.answered_correctly, row.answered_wrongly, row.given_up_wrongly)
        assert sum(part.value for part in parts) == pytest.approx(1.0)


def test_bluffs_are_counted_by_family_where_there_are_several():
    distances = Distances([0.1], [0.2, 0.4, 0.3, 0.1], families=["near", "far", "far", "near"])
    (row,) = sweep(distances, thresholds=[0.3])
    assert row.bluffs_of == {"far": wilson(1, 2), "near": wilson(2, 2)}
    assert list(row.to_dict()["bluffs_of"]) == ["far", "near"]
    (row,) = sweep(Distances([0.1], [0.2, 0.4], families=["far", "far"]), thresholds=[0.3])
    assert row.bluffs_of == {}


def test_questions_without_a_candidate_are_never_answered():
    (row,) = sweep(Distances([math.inf, 0.1], [math.inf]), thresholds=[2.0])
    assert (row.given_up_wrongly, row.bluffs) == (wilson(1, 2), wilson(0, 1))
    assert sweep(Distances([math.inf], [])) == []


@given(some, some)
def test_separability_is_the_share_of_pairs_in_order(near, far):
    pairs = [(a < b) + 0.5 * (a == b) for a in near for b in far]
    assert separability(Distances(near, far)).value == pytest.approx(sum(pairs) / len(pairs))


def test_separability_has_its_ends():
    assert separability(Distances([0.1, 0.2], [0.3, 0.4])).value == 1.0
    assert separability(Distances([0.3, 0.4], [0.1, 0.2])).value == 0.0
    equal = separability(Distances([0.3] * 5, [0.3] * 5))
    assert (equal.value, equal.low, equal.high) == pytest.approx((0.5, 0.5, 0.5))
    assert math.isnan(separability(Distances([0.3], [])).value)


NEAR = [0.2 + i / 500 for i in range(100)]  # to 0.4
FAR = [0.5 + i / 500 for i in range(100)]


def test_a_threshold_that_parts_the_two():
    found = calibrate(Distances(NEAR, FAR))
    # one bluff of 100 keeps the bound of 5 % and two do not: the threshold is between the first two, less the second
    assert upper_bound(1, 100) < 0.05 < upper_bound(2, 100)
    assert found.verdict == "set"
    assert FAR[0] < found.threshold < FAR[1]
    assert found.threshold == pytest.approx((FAR[0] + FAR[1]) / 2)
    assert (found.answered.value, found.bluffs.value) == (1.0, 0.01)
    assert found.bluff_bound == upper_bound(1, 100)
    assert found.separability.value == 1.0
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "set"


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60),
    st.lists(st.floats(0.3, 1.3), min_size=1, max_size=120),
    st.sampled_from([0.05, 0.1, 0.3]),
)
@example([0.0, 0.0], [0.3, math.nextafter(0.3, 1), *[1.0] * 12], 0.3)
@example([0.0, 0.0], [0.3, *[math.inf] * 13], 0.3)
def test_the_bound_holds_and_no_larger_threshold_keeps_it(near, far, max_bluffs):
    found = calibrate(Distances(near, far), max_bluffs=max_bluffs)
    if found.threshold is None:
        assert found.verdict in {"too few questions", "not separable"}
        return
    bluffs = sum(distance <= found.threshold for distance in far)
    assert upper_bound(bluffs, len(far)) <= found.bluff_bound <= max_bluffs
    reached = min(distance for distance in far if distance > found.threshold)
    assert upper_bound(sum(distance <= reached for distance in far), len(far)) > max_bluffs


def test_too_few_questions_set_nothing():
    found = calibrate(Distances(NEAR, FAR[:58]))
    assert (found.verdict, found.threshold) == ("too few questions", None)
    assert "100 answerable and 58 unanswerable questions" in found.reason
    assert "needs at least 1 and 59" in found.reason
    assert calibrate(Distances(NEAR, FAR[:59])).verdict == "set"
    assert calibrate(Distances([], FAR)).verdict == "too few questions"
    assert calibrate(Distances(NEAR, [])).to_dict()["separability"]["value"] is None


def test_what_cannot_be_told_apart_sets_nothing():
    for far in (NEAR, [0.1 + i / 500 for i in range(100)]):
        found = calibrate(Distances(NEAR, far))
        assert (found.verdict, found.threshold) == ("not separable", None)
        assert "by distance, these questions do not show that more of them would be answered than 0.05" in found.reason
        assert json.loads(json.dumps(found.to_dict()))["threshold"] is None


def test_answers_must_be_more_often_than_bluffs_may_be():
    """At the threshold 8 of 100 are answered, which may be as few as 4.1 %: that is no better than the bluffs."""
    few = Distances([0.1] * 8 + [0.7] * 92, [0.5 + i / 200 for i in range(100)])
    assert calibrate(few).verdict == "not separable"
    some = calibrate(Distances([0.1] * 20 + [2.0] * 80, FAR))
    assert some.verdict == "set"  # whatever the others do, these 20 can be answered
    assert some.separability.value < 0.5
    assert some.answered.value == 0.2


def test_some_overlap_costs_answers():
    found = calibrate(Distances(NEAR, [0.3 + i / 500 for i in range(100)]))
    assert found.verdict == "set"
    assert 0.3 < found.threshold < 0.304
    assert found.answered.value == pytest.approx(0.51, abs=0.011)


def test_distances_are_checked():
    for arguments, message in [
        (([math.nan], []), "answerable holds a NaN"),
        (([], ["far"]), "unanswerable is 'far', wanted a number"),
        (([0.1], [], [0.1, 0.2]), "answers has 2 values, answerable has 1"),
        (([0.1], [0.2, 0.3], None, ["far"]), "families has 1 values, unanswerable has 2"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            Distances(*arguments)
    for options in ({"max_bluffs": 0.0}, {"confidence": 1.0}):
        with pytest.raises(InvalidInputError, match="wanted more than 0 and less than 1"):
            calibrate(Distances(NEAR, FAR), **options)


def measured(distance_of):
    questions = [Question(f"n{i}", f"near {i}", (Excerpt("d", 0, 1, "x"),)) for i in range(5)]
    questions += [Question(f"f{i}", f"far {i}", answerable=False) for i in range(60)]

    def retriever(text):
        distance = distance_of(*text.split())
        found = [Retrieved("d", 7, 9, 7, distance)] * 2 + [Retrieved("d", 0, 9, 0, distance + 0.05)]
        return Retrieval(tuple(found), distance)

    return evaluate(retriever, GoldSet("gold", tuple(questions)))


def test_a_report_gives_its_distances():
    report = measured(lambda kind, i: 0.1 if kind == "near" else 0.9)
    distances = distances_of(report)
    assert (distances.answerable, distances.unanswerable) == ([0.1] * 5, [0.9] * 60)
    assert distances.answers == pytest.approx([0.15] * 5)
    far_down = dataclasses.replace(report.outcomes[0], rank=5)
    unfound = dataclasses.replace(report.outcomes[1], distance=None, rank=None)
    changed = dataclasses.replace(report, outcomes=(far_down, unfound, *report.outcomes[2:]))
    assert distances_of(changed).answers[:2] == [math.inf, math.inf]
    assert distances_of(changed).answerable[:2] == [0.1, math.inf]


def test_a_report_gives_its_logits_the_same_way():
    """The smaller the better, as with distances."""
    question = Question("1", "q", (Excerpt("d", 0, 1, "x"),))
    passages = [Retrieved("d", 7, 9, 7, 0.1, 3.5), Retrieved("d", 0, 9, 0, 0.2, -1.0), Retrieved("d", 8, 9, 8, 0.2)]
    gold = GoldSet("gold", (question, Question("2", "f", answerable=False), Question("3", "n", answerable=False)))
    answers = {"q": passages, "f": passages[1:], "n": passages[2:]}
    distances = distances_of(evaluate(answers.get, gold), score="logit")
    assert (distances.answerable, distances.answers) == ([-3.5], [1.0])
    assert distances.unanswerable == [1.0, math.inf]
    with pytest.raises(InvalidInputError, match="score is 'bm25', wanted one of"):
        distances_of(evaluate(answers.get, gold), score="bm25")


def test_a_report_gives_its_absent_words_the_same_way():
    """Of the first 4 passages: as many as make an answer."""
    absent = [0.5, 0.7, 0.25, 0.4, 0.0]
    passages = [Retrieved("d", i, i + 1, i, absent=share) for i, share in enumerate(absent)]
    gold = GoldSet("gold", (Question("1", "q", (Excerpt("d", 1, 2, "x"),)), Question("2", "n", answerable=False)))
    distances = distances_of(evaluate({"q": passages, "n": passages[3:]}.get, gold), score="absent")
    assert (distances.answerable, distances.answers, distances.unanswerable) == ([0.25], [0.7], [0.0])


def test_few_questions_are_not_said_to_be_alike():
    found = calibrate(Distances([0.1] * 4, [0.9] * 10), max_bluffs=0.9, confidence=0.5)
    assert (found.verdict, found.threshold) == ("not separable", None)
    assert found.reason.endswith("than 0.9; ask more questions, or allow fewer bluffs")


def test_where_nothing_was_found_nothing_is_set():
    found = calibrate(Distances([math.inf] * 3, [math.inf] * 60))
    assert (found.verdict, found.threshold) == ("not separable", None)
    assert found.reason == "none of 3 answerable questions has any distance"


def test_a_threshold_on_logits_is_the_least_of_them():
    def retriever(text):
        logit = 4.0 + int(text.split()[1]) / 100 if text.startswith("near") else -1.0
        return [Retrieved("d", 0, 9, 0, 0.5, logit)]

    questions = [Question(f"n{i}", f"near {i}", (Excerpt("d", 2, 4, "xy"),)) for i in range(20)]
    questions += [Question(f"f{i}", f"far {i}", answerable=False) for i in range(60)]
    report = evaluate(retriever, GoldSet("gold", tuple(questions)))
    found = calibrate(report, score="logit")
    assert (found.verdict, found.score) == ("set", "logit")
    assert -1.0 < found.threshold <= 4.0
    assert found.answered.value == 1.0
    assert f"at {found.threshold:.3f}, " in found.reason
    assert calibrate(report, score="distance").verdict == "not separable"


def test_a_calibration_lapses_when_what_it_was_set_on_changes():
    report = measured(lambda kind, i: 0.1 if kind == "near" else 0.9)
    found = calibrate(report)
    assert found.verdict == "set"
    assert found.lapsed(stamp_of(report)) == []
    configuration = {**report.configuration, "encoder": {"model": "other"}}
    changed = dataclasses.replace(report, configuration=configuration, documents_sha256="new")
    assert found.lapsed(stamp_of(changed)) == ["documents_sha256", "encoder"]
    reseeded = dataclasses.replace(report, configuration={**report.configuration, "seed": 9, "depth": 8})
    assert found.lapsed(stamp_of(reseeded)) == []
