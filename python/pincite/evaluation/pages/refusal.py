"""The pages of a sweep over thresholds, and of a calibrated one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pincite.config import DEFAULT_MAX_DISTANCE
from pincite.evaluation.calibration import Calibration
from pincite.evaluation.outcome import ANSWER_K
from pincite.evaluation.pages.distances import ANSWERABLE, UNANSWERABLE, distances_figure
from pincite.evaluation.pages.elements import (
    Markup,
    estimate,
    figure,
    flat,
    measured,
    page,
    paragraph,
    section,
    table,
    tiles,
    verdict,
)
from pincite.evaluation.pages.plots import Series, curves_plot, key_of, span_of
from pincite.evaluation.pages.reports import asked_of, footer
from pincite.evaluation.refusal import SweepRow, distances_of, separability, sweep
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval
from pincite.evaluation.table import sweep_columns

__all__ = ["calibration_page", "sweep_page"]


def sweep_page(report: Report, rows: Sequence[SweepRow]) -> str:
    """Return a page about what is answered and refused at each threshold.

    Parameters
    ----------
    report : Report
        Made without a threshold.
    rows : sequence of SweepRow
        Of its distances.
    """
    parts = [tiles({"separability": separability(distances_of(report), seed=report.seed), **_best_tiles(rows)})]
    if rows:
        parts += _sweep(report, rows)
    else:
        parts.append(
            paragraph("No question has a distance: there is nothing to sweep. Does this pipeline measure any?")
        )
    return page("Thresholds", report.name, asked_of(report), [*parts, footer([report])])


def calibration_page(report: Report, calibration: Calibration) -> str:
    """Return a page about a threshold that was set, or why none was.

    Parameters
    ----------
    report : Report
    calibration : Calibration
        Of it.
    """
    threshold, bound = calibration.threshold, calibration.bluff_bound
    said = "Set" if threshold is not None else f"Not set, {calibration.verdict}"
    numbers: dict[str, str | Interval | None] = {"threshold": "none" if threshold is None else f"{threshold:.3f}"}
    if threshold is not None and bound is not None:
        numbers |= {"answered": calibration.answered, "bluffs": calibration.bluffs, "bluffs, at most": f"{bound:.3f}"}
    numbers["separability"] = calibration.separability
    wanted = f"At most {calibration.max_bluffs:.3g} of the unanswerable questions answered, with confidence "
    wanted += f"{calibration.confidence:g}"
    stamp = table(
        ["stamp", "value"], flat(calibration.stamp).items(), label="What the threshold depends on", numbers=False
    )
    parts = [
        verdict(f"{said}: {calibration.reason}", "bad" if threshold is None else "good"),
        tiles(numbers),
        section("Distances", distances_figure(report, {} if threshold is None else {"threshold": threshold})),
        section("At this threshold", *_at(report, threshold)),
        section(
            "What the threshold depends on",
            paragraph("It lapses when one of these changes, and it holds for questions like those that were asked."),
            stamp,
        ),
        footer([report]),
    ]
    return page("Calibration", report.name, f"{wanted}. {asked_of(report)}", parts)


def _sweep(report: Report, rows: Sequence[SweepRow]) -> list[Markup]:
    thresholds = [row.threshold for row in rows]
    best = _best(rows)
    marks = {} if best is None else {"separates them best": best.threshold}
    marks["default"] = DEFAULT_MAX_DISTANCE
    span = span_of(thresholds, list(marks.values()))
    columns = sweep_columns(rows)
    asked = [
        Series(name, style, columns[name])
        for name, style in (("answered correctly", ANSWERABLE), ("answered wrongly", 4), ("given up wrongly", 5))
    ]
    families = [name for name in columns if name.startswith("bluffs, ")]
    styles = {name: UNANSWERABLE[i % len(UNANSWERABLE)] for i, name in enumerate(families)}
    bluffs = [Series(name, styles.get(name, 5 if families else 1), columns[name]) for name in ["bluffs", *families]]
    pairs = zip(thresholds, zip(*columns.values(), strict=True), strict=True)
    cells = ([f"{threshold:.3f}", *map(estimate, values)] for threshold, values in pairs)
    best_note = (
        " Where the two separate best was seen on these questions: on others expect less." if best is not None else ""
    )
    return [
        section(
            "Questions with an answer",
            figure(
                curves_plot(thresholds, asked, "Questions with an answer, by threshold", span=span, marks=marks),
                "Shares of the questions that have an answer; correctly means by one of the first "
                f"{ANSWER_K} passages. Bands are 95 % intervals.",
                key_of(asked, kind="curve"),
            ),
        ),
        section(
            "Questions without",
            figure(
                curves_plot(thresholds, bluffs, "Bluffs, by threshold", span=span, marks=marks),
                "Bluffs: the shares of the questions without an answer that are answered all the same.",
                key_of(bluffs, kind="curve"),
            ),
        ),
        section("Distances", distances_figure(report, marks, span=span), paragraph(
            f"The greatest distance of an answer is {DEFAULT_MAX_DISTANCE} by default.{best_note}")),
        section(
            "By threshold",
            table(["threshold", *columns], cells, label="What becomes of questions, by threshold"),
        ),
    ]  # fmt: skip


def _at(report: Report, threshold: float | None) -> list[Markup]:
    if threshold is None:
        return []
    shares = sweep_columns(sweep(distances_of(report), thresholds=[threshold]))
    numbers = {name: share for name, (share,) in shares.items()}
    return [measured("of the questions", {"share": numbers}, label="What becomes of questions at this threshold")]


def _best(rows: Sequence[SweepRow]) -> SweepRow | None:
    """Return the row where the answerable questions are answered the most above the others (Youden's index)."""
    known = [row for row in rows if not math.isnan(row.given_up_wrongly.value + row.bluffs.value)]
    return min(known, key=lambda row: row.given_up_wrongly.value + row.bluffs.value, default=None)


def _best_tiles(rows: Sequence[SweepRow]) -> dict[str, str | Interval | None]:
    if (best := _best(rows)) is None:
        return {}
    return {
        "separates them best": f"{best.threshold:.3f}",
        "answered correctly there": best.answered_correctly,
        "bluffs there": best.bluffs,
    }
