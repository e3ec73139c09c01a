"""Measures of one ranking against graded judgements, as trec_eval defines them.

A ranking is a sequence of document ids, best first; judgements map ids to grades, of which those above 0 are relevant.
Each measure is that of trec_eval 9 (and so of ir-measures): nDCG with the grade as gain and 1 / log2(rank + 1) as
discount (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["average_precision", "dcg", "ndcg", "recall"]


def dcg(gains: Sequence[float]) -> float:
    """Return the discounted cumulative gain of gains in the order of their ranks."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain > 0)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], *, k: int) -> float:
    """Return nDCG@k: the ranking's gain as a share of the best possible one; 0 where nothing is relevant."""
    best = dcg(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k])
    return dcg([grades.get(id, 0) for id in ranking[:k]]) / best if best else 0.0


def average_precision(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return the mean, over all relevant documents, of the precision at their ranks (0 for those not ranked)."""
    n_relevant = sum(grade > 0 for grade in grades.values())
    found, total = 0, 0.0
    for rank, id in enumerate(ranking, start=1):
        if grades.get(id, 0) > 0:
            found += 1
            total += found / rank
    return total / n_relevant if n_relevant else 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], *, k: int) -> float:
    """Return the share of the relevant documents among the first `k`; 0 where nothing is relevant."""
    relevant = {id for id, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0
