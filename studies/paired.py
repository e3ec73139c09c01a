"""Comparisons and tables as the studies show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pincite.evaluation import Comparison, Report, compare
from pincite.evaluation.statistics import holm

__all__ = ["compare_by", "corrected", "markdown", "signed"]


def compare_by(old: Report, new: Report, by: str) -> Comparison:
    """Compare by a measure, "R@k" included."""
    return compare(old, new, k=int(by[2:])) if by.startswith("R@") else compare(old, new, by=by)


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with their p-values corrected for all of them, by Holm's method."""
    adjusted = holm([comparison.p for comparison in comparisons])
    return [replace(comparison, adjusted_p=p) for comparison, p in zip(comparisons, adjusted, strict=True)]


def signed(comparison: Comparison) -> str:
    """Return the mean difference with its sign and its interval."""
    difference = comparison.differences[comparison.by]
    return f"{difference.value:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """Return a table; the columns named in `right` are flush right."""
    rule = ["---:" if name in right else "---" for name in head]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows])
