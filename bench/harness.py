"""How every benchmark here is timed: both sides in one process, in turn, medians over repeats.

A row without a word on agreement is no result, so `compare` takes one. These machines are noisy: read the
ratio, which is the median of the ratios of neighbouring runs, before the seconds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Row", "compare", "print_table", "seconds"]


@dataclass(frozen=True)
class Row:
    """One line of the table; times are seconds, `ratio` is other / ours."""

    work: str
    size: str
    ours_s: float
    other: str
    other_s: float
    ratio: float
    agreement: str


def seconds(work: Callable[[], object], *, inner: int = 1) -> float:
    """Return the seconds of one call of `work`, averaged over `inner` calls in a row."""
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(inner):
            work()
        return (time.perf_counter() - start) / inner
    finally:
        gc.enable()


def compare(
    work: str,
    size: str,
    ours: Callable[[], object],
    other: Callable[[], object],
    *,
    agreement: str,
    other_name: str = "pure Python",
    repeats: int = 5,
    inner: int = 1,
    other_inner: int = 1,
) -> Row:
    """Time `ours` and `other` in turn, after one warm-up of ours, and return the medians."""
    ours()
    pairs = [(seconds(ours, inner=inner), seconds(other, inner=other_inner)) for _ in range(repeats)]
    return Row(
        work=work,
        size=size,
        ours_s=statistics.median(mine for mine, _ in pairs),
        other=other_name,
        other_s=statistics.median(theirs for _, theirs in pairs),
        ratio=statistics.median(theirs / mine for mine, theirs in pairs),
        agreement=agreement,
    )


def _time(value: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def print_table(rows: Sequence[Row]) -> None:
    """Print the rows as a Markdown table."""
    print("| work | size | Pincite | other | its time | ratio | agreement |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(
            f"| {row.work} | {row.size} | {_time(row.ours_s)} | {row.other} | {_time(row.other_s)} "
            f"| {row.ratio:,.3g}x | {row.agreement} |"
        )
