"""Two configurations on the same questions: what was gained and lost, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pincite.core.arguments import integer
from pincite.errors import InvalidInputError
from pincite.evaluation.outcome import ANSWER_K
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval, bootstrap_mean, holm, least_detectable, least_wins, sign_test

__all__ = ["Comparison", "compare", "compare_all"]

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a new configuration changes on the questions that have an answer.

    Attributes
    ----------
    old, new : str
        The names of the reports.
    k : int
        A question is answered where one of the first `k` passages answers it.
    n : int
        Questions that were compared.
    gained, lost : tuple of str
        The questions that only the new one answers, and only the old one, by id.
    destroyed : tuple of str
        The questions whose answer some chunk of the old index holds and none of the new one.
    p : float
        Of the two-sided exact sign test on those that differ.
    adjusted_p : float
        `p` after Holm's correction for all comparisons that were made together; equal to it for a single one.
    differences : dict of str to Interval
        New less old, by measure: means of the paired differences with their bootstrap intervals.
    """

    old: str
    new: str
    k: int
    n: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    destroyed: tuple[str, ...]
    p: float
    adjusted_p: float
    differences: Mapping[str, Interval]

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is significant at 5 %."""
        return self.adjusted_p < ALPHA

    @property
    def verdict(self) -> str:
        """What the comparison shows, in words."""
        counts = f"{len(self.gained)} gained, {len(self.lost)} lost of {self.n}"
        p = f"p = {self.adjusted_p:.2g}"
        if not self.distinguishable:
            return f"not distinguishable: {self.new} and {self.old} ({counts}, {p}); {self.least_detectable}"
        better = "better" if len(self.gained) > len(self.lost) else "worse"
        return f"{self.new} is {better} than {self.old} ({counts}, {p})"

    @property
    def least_detectable(self) -> str:
        """The smallest difference that so many questions can show, in words."""
        least = least_detectable(self.n, alpha=ALPHA)
        if least > 1.0:
            return f"with {self.n} questions no difference can be seen, wanted at least {least_wins(0, alpha=ALPHA)}"
        beside = min(len(self.gained), len(self.lost))
        net = least_wins(beside, alpha=ALPHA) - beside
        words = f"with {self.n} questions you cannot see less than {100 * least:.1f} points"
        return words if not beside else f"{words}, and beside {beside} lost ones less than {100 * net / self.n:.1f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return {
            "old": self.old,
            "new": self.new,
            "k": self.k,
            "n": self.n,
            "gained": list(self.gained),
            "lost": list(self.lost),
            "destroyed": list(self.destroyed),
            "p": self.p,
            "adjusted_p": self.adjusted_p,
            "distinguishable": self.distinguishable,
            "differences": {name: interval.to_dict() for name, interval in self.differences.items()},
            "verdict": self.verdict,
        }


def compare(old: Report, new: Report, *, k: int = ANSWER_K) -> Comparison:
    """Compare two reports on the same questions, pair by pair.

    Parameters
    ----------
    old, new : Report
        Of one gold set.
    k : int, default 4
        At most the depth of either.

    Raises
    ------
    InvalidInputError
        If they are not of one gold set, count answers differently, or do not reach to `k`.
    """
    k = integer(k, "k", at_least=1, at_most=min(old.depth, new.depth))
    if old.gold["sha256"] != new.gold["sha256"]:
        raise InvalidInputError(
            f"the reports are about the gold sets {old.gold['name']!r} and {new.gold['name']!r}, whose questions "
            "differ; evaluate both on one"
        )
    if old.configuration["excerpts"] != new.configuration["excerpts"]:
        raise InvalidInputError(
            f"one report counts {old.configuration['excerpts']!r} excerpts as an answer, the other "
            f"{new.configuration['excerpts']!r}; evaluate both alike"
        )
    pairs = list(zip(old.answerable, new.answerable, strict=True))
    gained = tuple(before.id for before, after in pairs if after.within(k) and not before.within(k))
    lost = tuple(before.id for before, after in pairs if before.within(k) and not after.within(k))
    values = {
        f"R@{k}": [float(after.within(k)) - float(before.within(k)) for before, after in pairs],
        "MRR": [after.reciprocal_rank - before.reciprocal_rank for before, after in pairs],
        "nDCG@10": [after.ndcg - before.ndcg for before, after in pairs],
        "MAP": [after.average_precision - before.average_precision for before, after in pairs],
    }
    p = sign_test(len(gained), len(lost))
    return Comparison(
        old=old.name,
        new=new.name,
        k=k,
        n=len(pairs),
        gained=gained,
        lost=lost,
        destroyed=tuple(before.id for before, after in pairs if after.destroyed and not before.destroyed),
        p=p,
        adjusted_p=p,
        differences={name: bootstrap_mean(each, seed=old.seed) for name, each in values.items()},
    )


def compare_all(old: Report, others: Sequence[Report], *, k: int = ANSWER_K) -> list[Comparison]:
    """Compare several reports with one, their p-values corrected by Holm's method.

    Raises
    ------
    InvalidInputError
        As `compare` does.
    """
    comparisons = [compare(old, other, k=k) for other in others]
    adjusted = holm([comparison.p for comparison in comparisons])
    return [replace(comparison, adjusted_p=p) for comparison, p in zip(comparisons, adjusted, strict=True)]
