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
from pincite.evaluation.refusal import Score, SweepRow, distances_of, separability, sign_of, sweep
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval
from pincite.evaluation.table import sweep_columns

__all__ = ["calibration_page", "sweep_page"]


def sweep_page(report: Report, rows: Sequence[SweepRow], *, score: Score = "distance") -> str:
    """Return a page about what is answered and refused at each threshold.

    Parameters
    ----------
    report : Report
        Made without a threshold.
    rows : sequence of SweepRow
        Of `distances_of` it.
    score : {"distance", "logit", "absent"}
        By which. Logits are shown as they are, not with their sign changed.
    """
    apart = separability(distances_of(report, score=score), seed=report.seed)
    numbers: dict[str, str | Interval | None] = {"separability": apart}
    if (best := _best(rows)) is not None:
        numbers["separates them best"] = f"{sign_of(score) * best.threshold:.3f}"
        numbers |= {"answered correctly there": best.answered_correctly, "bluffs there": best.bluffs}
    parts = [tiles(numbers)]
    if rows:
        parts += _sweep(report, rows, score)
    else:
        parts.append(paragraph(f"No question has a {score}: there is nothing to sweep. Does this pipeline measure it?"))
    return page(f"Thresholds, {score}", report.name, asked_of(report), [*parts, footer([report])])


def calibration_page(report: Report, calibration: Calibration) -> str:
    """Return a page about a threshold that was set, or why none was.

    Parameters
    ----------
    report : Report
    calibration : Calibration
        Of it.
    """
    threshold, bound, score = calibration.threshold, calibration.bluff_bound, calibration.score
    marks = {} if threshold is None else {"threshold": threshold}
    numbers: dict[str, str | Interval | None] = {"threshold": "none" if threshold is None else f"{threshold:.3f}"}
    if threshold is not None and bound is not None:
        numbers |= {"answered": calibration.answered, "bluffs": calibration.bluffs, "bluffs, at most": f"{bound:.3f}"}
    numbers["separability"] = calibration.separability
    said = "Set" if threshold is not None else f"Not set, {calibration.verdict}"
    wanted = (
        f"Wanted: at most {calibration.max_bluffs:.3g} of the unanswerable questions answered, with confidence "
        f"{calibration.confidence:g}. {asked_of(report)}"
    )
    stamp = flat(calibration.stamp).items()
    parts = [
        verdict(f"{said}: {calibration.reason}", "bad" if threshold is None else "good"),
        tiles(numbers),
        section("Distributions", distances_figure(report, marks, score=score)),
        section("At this threshold", *_at(report, threshold, score)),
        section(
            "What the threshold depends on",
            paragraph("It lapses when one of these changes, and it holds for questions like those that were asked."),
            table(["stamp", "value"], stamp, label="What the threshold depends on", numbers=False),
        ),
        footer([report]),
    ]
    return page(f"Calibration, {score}", report.name, wanted, parts)


def _sweep(report: Report, rows: Sequence[SweepRow], score: Score) -> list[Markup]:
    thresholds = [sign_of(score) * row.threshold for row in rows]
    best = _best(rows)
    marks = {} if best is None else {"separates them best": sign_of(score) * best.threshold}
    note = "Where the two separate best was seen on these questions: on others expect less."
    notes = [paragraph(note)] if marks else []
    if score == "distance":
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
        section("Distributions", distances_figure(report, marks, score=score, span=span), *notes),
        section(
            "By threshold",
            table(["threshold", *columns], cells, label="What becomes of questions, by threshold"),
        ),
    ]


def _at(report: Report, threshold: float | None, score: Score) -> list[Markup]:
    if threshold is None:
        return []
    rows = sweep(distances_of(report, score=score), thresholds=[sign_of(score) * threshold])
    shares = {name: share for name, (share,) in sweep_columns(rows).items()}
    return [measured("of the questions", [("share", shares)], label="What becomes of questions at this threshold")]


def _best(rows: Sequence[SweepRow]) -> SweepRow | None:
    """Return the row where the answerable questions are answered the most above the others (Youden's index)."""
    known = [row for row in rows if not math.isnan(row.given_up_wrongly.value + row.bluffs.value)]
    return min(known, key=lambda row: row.given_up_wrongly.value + row.bluffs.value, default=None)
