"""Measures of a ranking: written-out cases, an independent twin, and trec_eval's own where it is installed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.evaluation import metrics
from reference import metrics as twin

IDS = [f"d{i}" for i in range(12)]
rankings = st.lists(st.sampled_from(IDS), unique=True, max_size=12)
judgements = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 4), max_size=12)


def test_a_ranking_that_is_written_out():
    ranking, grades = ["a", "x", "b", "y"], {"a": 1, "b": 3, "c": 2, "y": 0}
    assert metrics.recall(ranking, grades, k=2) == pytest.approx(1 / 3)
    assert metrics.recall(ranking, grades, k=3) == pytest.approx(2 / 3)
    assert metrics.average_precision(ranking, grades) == pytest.approx((1 / 1 + 2 / 3) / 3)
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert metrics.ndcg(ranking, grades, k=10) == pytest.approx((1 + 3 / 2) / ideal)
    assert metrics.ndcg(ranking, grades, k=2) == pytest.approx(1 / (3 + 2 / math.log2(3)))


def test_nothing_relevant_scores_zero():
    for grades in ({}, {"a": 0}, {"a": -1}):
        assert metrics.ndcg(["a"], grades, k=10) == 0.0
        assert metrics.average_precision(["a"], grades) == 0.0
        assert metrics.recall(["a"], grades, k=10) == 0.0


@given(ranking=rankings, grades=judgements, k=st.integers(1, 12))
def test_equals_the_twin(ranking, grades, k):
    assert metrics.ndcg(ranking, grades, k=k) == pytest.approx(twin.ndcg(ranking, grades, k), abs=1e-12)
    assert metrics.average_precision(ranking, grades) == pytest.approx(twin.average_precision(ranking, grades))
    assert metrics.recall(ranking, grades, k=k) == pytest.approx(twin.recall(ranking, grades, k))


@given(grades=judgements, k=st.integers(1, 12))
def test_the_best_ranking_scores_one(grades, k):
    best = sorted(grades, key=lambda id: -grades[id])
    wanted = float(any(grade > 0 for grade in grades.values()))
    assert metrics.ndcg(best, grades, k=k) == pytest.approx(wanted)
    assert metrics.average_precision(best, grades) == pytest.approx(wanted)


def test_equals_ir_measures():
    """On 300 random runs, question by question."""
    ir_measures = pytest.importorskip("ir_measures")
    import numpy as np

    random = np.random.default_rng(4)
    runs, qrels = {}, {}
    for number in range(300):
        length = random.integers(1, 60)
        runs[f"q{number}"] = [f"d{i}" for i in random.choice(80, length, replace=False)]
        judged = random.choice(80, random.integers(1, 40), replace=False)
        qrels[f"q{number}"] = {f"d{i}": int(random.integers(0, 5)) for i in judged}
    # trec_eval keeps scores in single precision and orders ties by id: whole numbers that differ leave no doubt
    scores = {query: {id: 1000 - rank for rank, id in enumerate(run)} for query, run in runs.items()}
    wanted = {
        "nDCG@10": lambda run, grades: metrics.ndcg(run, grades, k=10),
        "AP": metrics.average_precision,
        "R@20": lambda run, grades: metrics.recall(run, grades, k=20),
    }
    for name, measure in wanted.items():
        compared = 0
        for found in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, scores):
            query = found.query_id
            assert measure(runs[query], qrels[query]) == pytest.approx(found.value, abs=1e-6), (name, query)
            compared += 1
        assert compared == 300
