"""The figure of distances: how far the two kinds of question are from what is nearest to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pincite.evaluation.pages.elements import Markup, figure
from pincite.evaluation.pages.plots import Series, distances_plot, key_of, span_of
from pincite.evaluation.refusal import Distances, distances_of, separability
from pincite.evaluation.report import Report

__all__ = ["ANSWERABLE", "UNANSWERABLE", "by_family", "distances_figure"]

ANSWERABLE, UNANSWERABLE = 0, (1, 3, 4, 2)
"""Styles: of questions with an answer, and of the families of those without."""


def distances_figure(
    report: Report, marks: Mapping[str, float], *, title: str = "", span: tuple[float, float] | None = None
) -> Markup:
    """Return the distances of a report's questions around thresholds; nothing where no distance is known."""
    distances = distances_of(report)
    above = [Series("with an answer, upwards", ANSWERABLE, distances.answerable)]
    below = [
        Series(f"{name}, downwards", style, values)
        for (name, values), style in zip(by_family(distances).items(), _styles(distances), strict=True)
    ]
    plot = distances_plot(
        above,
        below,
        "Histogram of the distances of questions with an answer, upwards, and of those without, downwards",
        span=span or span_of(distances.answerable, distances.unanswerable, [*marks.values()]),
        marks=marks,
    )
    apart = separability(distances, seed=report.seed)
    known = "" if math.isnan(apart.value) else f" Separability {apart}: 0.5 says nothing, 1 parts them without error."
    missing = sum(map(math.isinf, (*distances.answerable, *distances.unanswerable)))
    beyond = f" {missing} questions have no candidate and are not drawn." if missing else ""
    caption = f"Distance of the nearest passage, a question each.{known}{beyond}"
    return figure(plot, f"{title}: {caption}" if title else caption, key_of([*above, *below], kind="bar"))


def by_family(distances: Distances) -> dict[str, Sequence[float]]:
    """Return the distances of the unanswerable questions by what to call them."""
    families = distances.families or [""] * len(distances.unanswerable)
    names = sorted(set(families))
    if len(names) < 2:
        return {"without": distances.unanswerable}
    pairs = list(zip(families, distances.unanswerable, strict=True))
    return {f"without, {name or 'no family'}": [v for family, v in pairs if family == name] for name in names}


def _styles(distances: Distances) -> list[int]:
    return [UNANSWERABLE[i % len(UNANSWERABLE)] for i in range(len(by_family(distances)))]
