"""What an evaluation found: every question's outcome, and what they come to, with intervals."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pincite.evaluation.chunks import IndexCost
from pincite.evaluation.outcome import ANSWER_K, CUTOFFS, OVERLAP_K, Outcome
from pincite.evaluation.statistics import Interval, bootstrap_mean, wilson

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """What an evaluation found. Two runs over the same documents, questions and settings give the same `to_dict`.

    Attributes
    ----------
    name : str
        Of what was evaluated.
    gold : dict
        The gold set's name, its number of questions, the hash of its lines, and whether its excerpts were held
        against the documents.
    configuration : dict
        All that the outcomes depend on beside the documents and the questions.
    generation : int or None
        Of the index; None for a callable.
    documents_sha256 : str or None
        A hash of the documents that the index holds.
    outcomes : tuple of Outcome
        One a question, in the order of the gold set.
    cost : IndexCost or None
    milliseconds : tuple of dict of str to float
        How long each question took by stage, as far as the retriever tells, and in "total". No part of `to_dict`: see
        `timings`.
    """

    name: str
    gold: Mapping[str, Any]
    configuration: Mapping[str, Any]
    generation: int | None
    documents_sha256: str | None
    outcomes: tuple[Outcome, ...]
    cost: IndexCost | None = None
    milliseconds: tuple[Mapping[str, float], ...] = field(default=(), compare=False)

    @property
    def seed(self) -> int:
        """Of the bootstrap."""
        return int(self.configuration["seed"])

    @property
    def depth(self) -> int:
        """How many passages were looked at."""
        return int(self.configuration["depth"])

    @property
    def configuration_hash(self) -> str:
        """Equal where the configuration is."""
        return hashlib.sha256(json.dumps(self.configuration, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def answerable(self) -> tuple[Outcome, ...]:
        """The outcomes of the questions that have an answer: what all measures but those of refusal are about."""
        return tuple(outcome for outcome in self.outcomes if outcome.answerable)

    @cached_property
    def unanswerable(self) -> tuple[Outcome, ...]:
        """The outcomes of the questions to refuse, forbidden ones included."""
        return tuple(outcome for outcome in self.outcomes if not outcome.answerable)

    @cached_property
    def measures(self) -> dict[str, Interval]:
        """Every measure by name: proportions with Wilson intervals, means with bootstrap intervals."""
        asked = self.answerable
        cutoffs = self._cutoffs
        found = _answered_within(asked, cutoffs)
        last = cutoffs[-1]
        found["MRR"] = self._mean([outcome.reciprocal_rank for outcome in asked])
        found["nDCG@10"] = self._mean([outcome.ndcg for outcome in asked])
        found["MAP"] = self._mean([outcome.average_precision for outcome in asked])
        for k in cutoffs:
            found[f"recall@{k}"] = self._mean([outcome.recalls[k] for outcome in asked])
        found[f"failure rate@{last}"] = _share(asked, lambda outcome: not outcome.within(last))
        if self.cost is not None:
            found["destroyed"] = _share(asked, lambda outcome: bool(outcome.destroyed))
        overlaps = [outcome.overlap for outcome in asked if outcome.overlap is not None]
        if overlaps:
            for name in ("recall", "precision", "iou"):
                values = [getattr(overlap, name) for overlap in overlaps]
                found[f"character {name}@{OVERLAP_K}"] = self._mean(values)
        return found

    @cached_property
    def refusal(self) -> dict[str, Interval]:
        """What became of answers and refusals, at the retriever's own threshold.

        Of the answerable questions, those answered correctly (by one of the first 4 passages), answered wrongly, and
        given up wrongly; of the others, bluffs (answered all the same), and of the forbidden ones, leaks (bluffs that
        show what is forbidden). Empty for a gold set without a question to refuse.
        """
        asked, unanswerable = self.answerable, self.unanswerable
        if not unanswerable:
            return {}
        forbidden = [outcome for outcome in unanswerable if outcome.forbidden]
        found = {
            "answered correctly": _share(asked, lambda outcome: outcome.within(ANSWER_K)),
            "answered wrongly": _share(asked, lambda outcome: not outcome.refused and not outcome.within(ANSWER_K)),
            "given up wrongly": _share(asked, lambda outcome: outcome.refused),
            "bluffs": _share(unanswerable, lambda outcome: not outcome.refused),
        }
        if forbidden:
            found["leaks"] = _share(forbidden, lambda outcome: outcome.leaked)
        return found

    @property
    def destroyed(self) -> tuple[str, ...] | None:
        """The questions whose answer no chunk holds, by id; None where the chunks are unknown."""
        if self.cost is None:
            return None
        return tuple(outcome.id for outcome in self.answerable if outcome.destroyed)

    @property
    def families(self) -> dict[str, dict[str, Interval]]:
        """R@k by family, where there is more than one."""
        of_family: dict[str, list[Outcome]] = {}
        for outcome in self.answerable:
            of_family.setdefault(outcome.family, []).append(outcome)
        if len(of_family) < 2:
            return {}
        return {family: _answered_within(of_family[family], self._cutoffs) for family in sorted(of_family)}

    def latency(self, stage: str = "total") -> dict[str, float]:
        """Return the milliseconds a question took: median, 95th percentile and mean; empty where none is known."""
        took = [stages[stage] for stages in self.milliseconds if stage in stages]
        if not took:
            return {}
        p50, p95 = np.quantile(took, [0.5, 0.95]).tolist()
        return {"p50_ms": p50, "p95_ms": p95, "mean_ms": math.fsum(took) / len(took)}

    def timings(self) -> dict[str, Any]:
        """Return how long questions took by stage, as JSON has it; `n` is how many came to that stage.

        Apart from `to_dict`, because no two runs take equally long.
        """
        counts = Counter(stage for stages in self.milliseconds for stage in stages)
        return {
            "name": self.name,
            "configuration_hash": self.configuration_hash,
            "stages": {stage: {"n": n, **self.latency(stage)} for stage, n in counts.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it, without timings: the same bytes from every run."""
        return {
            "name": self.name,
            "gold": dict(self.gold),
            "configuration": dict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "generation": self.generation,
            "documents_sha256": self.documents_sha256,
            "measures": {name: interval.to_dict() for name, interval in self.measures.items()},
            "refusal": {name: interval.to_dict() for name, interval in self.refusal.items()},
            "families": {
                family: {name: interval.to_dict() for name, interval in measures.items()}
                for family, measures in self.families.items()
            },
            "destroyed": None if self.destroyed is None else list(self.destroyed),
            "cost": None if self.cost is None else self.cost.to_dict(),
            "questions": [outcome.to_dict() for outcome in self.outcomes],
        }

    def table(self) -> str:
        """Return the report as a Markdown table, with what its measures mean below it."""
        from pincite.evaluation.table import report_table

        return report_table(self)

    @property
    def _cutoffs(self) -> list[int]:
        return [k for k in CUTOFFS if k <= self.depth]

    def _mean(self, values: Sequence[float]) -> Interval:
        return bootstrap_mean(values, seed=self.seed)


def _share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> Interval:
    return wilson(sum(map(holds, outcomes)), len(outcomes))


def _answered_within(outcomes: Sequence[Outcome], cutoffs: Sequence[int]) -> dict[str, Interval]:
    return {f"R@{k}": wilson(sum(outcome.within(k) for outcome in outcomes), len(outcomes)) for k in cutoffs}
