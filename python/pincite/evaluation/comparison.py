"""Two configurations on the same questions: what was gained and lost, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pincite.core.arguments import integer, one_of
from pincite.errors import InvalidInputError, counted
from pincite.evaluation.outcome import ANSWER_K
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval, bootstrap_mean, holm, least_wins, sign_test

__all__ = ["Comparison", "compare", "compare_all"]

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a new configuration changes on the questions that have an answer.

    Attributes
    ----------
    old, new : str
        The names of the reports.
    by : str
        The measure that the pairs were held against: "R@4", "MRR", "nDCG@10" or "MAP".
    n : int
        Questions that were compared.
    gained, lost : tuple of str
        The questions on which the new one is better, and worse, by id. By R@4, those that only one of them answers.
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
    by: str
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
            return (
                f"not distinguishable by {self.by}: {self.new} and {self.old} ({counts}, {p}); {self.least_detectable}"
            )
        better = "better" if len(self.gained) > len(self.lost) else "worse"
        return f"{self.new} is {better} than {self.old} by {self.by} ({counts}, {p})"

    @property
    def least_detectable(self) -> str:
        """The smallest difference that so many questions can show, in words."""
        fewest = least_wins(0, alpha=ALPHA)
        asked = counted(self.n, "question")
        if self.n < fewest:
            return f"with {asked} no difference can be seen, wanted at least {fewest}"
        beside = min(len(self.gained), len(self.lost))
        words = f"with {asked} you cannot see less than {fewest} of them ({fewest / self.n:.1%})"
        if not beside:
            return words
        net = least_wins(beside, alpha=ALPHA) - beside
        return f"{words}, and while {beside} go the other way less than {net} more ({net / self.n:.1%})"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return {
            "old": self.old,
            "new": self.new,
            "by": self.by,
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


def compare(old: Report, new: Report, *, k: int = ANSWER_K, by: str | None = None) -> Comparison:
    """Compare two reports on the same questions, pair by pair.

    Parameters
    ----------
    old, new : Report
        Of one gold set.
    k : int, default 4
        A question is answered where one of the first `k` passages answers it; at most the depth of either.
    by : {"R@k", "MRR", "nDCG@10", "MAP"}, optional
        What makes a question a win or a loss; by default R@k, with `k` as given ("R@4"). Choose before you look: of
        several tests, some are significant by chance.

    Raises
    ------
    InvalidInputError
        If they are not of one gold set, count answers differently, do not reach to `k`, or `by` is no such measure.
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
    values = {
        f"R@{k}": [float(after.within(k)) - float(before.within(k)) for before, after in pairs],
        "MRR": [after.reciprocal_rank - before.reciprocal_rank for before, after in pairs],
        "nDCG@10": [after.ndcg - before.ndcg for before, after in pairs],
        "MAP": [after.average_precision - before.average_precision for before, after in pairs],
    }
    by = one_of(f"R@{k}" if by is None else by, "by", values)
    gained = tuple(before.id for (before, _), change in zip(pairs, values[by], strict=True) if change > 0)
    lost = tuple(before.id for (before, _), change in zip(pairs, values[by], strict=True) if change < 0)
    p = sign_test(len(gained), len(lost))
    return Comparison(
        old=old.name,
        new=new.name,
        by=by,
        n=len(pairs),
        gained=gained,
        lost=lost,
        destroyed=tuple(before.id for before, after in pairs if after.destroyed and not before.destroyed),
        p=p,
        adjusted_p=p,
        differences={name: bootstrap_mean(each, seed=old.seed) for name, each in values.items()},
    )


def compare_all(old: Report, others: Sequence[Report], *, k: int = ANSWER_K, by: str | None = None) -> list[Comparison]:
    """Compare several reports with one, their p-values corrected by Holm's method.

    Raises
    ------
    InvalidInputError
        As `compare` does.
    """
    comparisons = [compare(old, other, k=k, by=by) for other in others]
    adjusted = holm([comparison.p for comparison in comparisons])
    return [replace(comparison, adjusted_p=p) for comparison, p in zip(comparisons, adjusted, strict=True)]
