"""The measures of a ranking as their definitions read, position by position."""

from __future__ import annotations

import math


def relevant_at(ranking, grades, rank):
    return rank <= len(ranking) and grades.get(ranking[rank - 1], 0) > 0


def precision(ranking, grades, rank):
    return sum(relevant_at(ranking, grades, r) for r in range(1, rank + 1)) / rank


def average_precision(ranking, grades):
    total = sum(grade > 0 for grade in grades.values())
    terms = [precision(ranking, grades, r) for r in range(1, len(ranking) + 1) if relevant_at(ranking, grades, r)]
    return sum(terms) / total if total else 0.0


def recall(ranking, grades, k):
    wanted = [id for id, grade in grades.items() if grade > 0]
    return sum(id in list(ranking)[:k] for id in wanted) / len(wanted) if wanted else 0.0


def ndcg(ranking, grades, k):
    def gain(ids):
        return sum(max(grades.get(id, 0), 0) * math.log(2) / math.log(r + 1) for r, id in enumerate(ids[:k], 1))

    best = gain(sorted(grades, key=grades.get, reverse=True))
    return gain(list(ranking)) / best if best else 0.0
