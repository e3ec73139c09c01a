"""The figure of distances: how far the two kinds of question are from what is nearest to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pincite.errors import counted
from pincite.evaluation.outcome import ANSWER_K
from pincite.evaluation.pages.elements import Markup, figure
from pincite.evaluation.pages.plots import Series, distances_plot, key_of, span_of
from pincite.evaluation.refusal import Distances, Score, distances_of, separability, sign_of
from pincite.evaluation.report import Report

__all__ = ["ANSWERABLE", "UNANSWERABLE", "by_family", "distances_figure"]

WORDS: dict[Score, str] = {
    "distance": "The distance of the nearest passage, a question each.",
    "logit": "The reranker's highest logit, a question each: the higher, the likelier an answer.",
    "absent": f"The least share of a question's words, by weight, that one of its first {ANSWER_K} passages lacks.",
}
"""What a score is, in words."""

ANSWERABLE, UNANSWERABLE = 0, (1, 3, 4, 2)
"""Styles: of questions with an answer, and of the families of those without."""


def distances_figure(
    report: Report,
    marks: Mapping[str, float],
    *,
    score: Score = "distance",
    title: str = "",
    span: tuple[float, float] | None = None,
) -> Markup:
    """Return the distances of a report's questions, or another score, around thresholds; "" where none is known."""
    distances, sign = distances_of(report, score=score), sign_of(score)
    above = [Series("with an answer, upwards", ANSWERABLE, [sign * value for value in distances.answerable])]
    below = [
        Series(f"{name}, downwards", style, [sign * value for value in values])
        for (name, values), style in zip(by_family(distances).items(), _styles(distances), strict=True)
    ]
    plot = distances_plot(
        above,
        below,
        f"Histogram. {WORDS[score]} Questions with an answer are drawn upwards, those without downwards",
        span=span or span_of(*(each.values for each in (*above, *below)), [*marks.values()]),
        marks=marks,
    )
    apart = separability(distances, seed=report.seed)
    known = "" if math.isnan(apart.value) else f" Separability {apart}: 0.5 says nothing, 1 parts them without error."
    missing = sum(map(math.isinf, (*distances.answerable, *distances.unanswerable)))
    beyond = ""
    if missing:
        beyond = f" {counted(missing, 'question has none and is', 'questions have none and are')} not drawn."
    caption = f"{WORDS[score]}{known}{beyond}"
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
