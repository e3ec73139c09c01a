"""What is answered and what is refused at each threshold, and how well the two can be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pincite.core.arguments import number, one_of
from pincite.errors import InvalidInputError
from pincite.evaluation.outcome import ANSWER_K, Outcome
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import DRAWS, Interval, wilson

__all__ = ["Distances", "Score", "SweepRow", "distances_of", "separability", "sign_of", "sweep"]

Score = Literal["distance", "logit", "absent"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distances:
    """How far questions are from what was found for them: below a threshold they are answered.

    Any score that is smaller for a better answer will do: see `distances_of`.

    Attributes
    ----------
    answerable, unanswerable : sequence of float
        The nearest candidate's, a question each; infinite where there was none.
    answers : sequence of float, optional
        That of the passage that holds the answer, for each answerable question; infinite where it is not among those
        that are shown. Without, whatever is answered counts as answered correctly.
    families : sequence of str, optional
        Of each unanswerable question, such as "far" or "near": a threshold that keeps the ones may not keep the others.
    """

    answerable: Sequence[float]
    unanswerable: Sequence[float]
    answers: Sequence[float] | None = None
    families: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be ordered."""
        for name in ("answerable", "unanswerable", "answers"):
            values = getattr(self, name)
            if values is not None and any(math.isnan(number(value, name)) for value in values):
                raise InvalidInputError(f"{name} holds a NaN, wanted distances (math.inf where there is none)")
        for name, of in (("answers", "answerable"), ("families", "unanswerable")):
            values, wanted = getattr(self, name), len(getattr(self, of))
            if values is not None and len(values) != wanted:
                raise InvalidInputError(f"{name} has {len(values)} values, {of} has {wanted}; give one a question")


def distances_of(report: Report, *, score: Score = "distance") -> Distances:
    """Return the distances of a report's questions, by one of the scores that an answer can be refused by.

    An answer counts if it is among the first 4 passages. Take a report that was made without a threshold, or passages
    beyond it are missing.

    Parameters
    ----------
    report : Report
    score : {"distance", "logit", "absent"}
        The distance of the nearest candidate; or the reranker's highest logit, its sign changed; or the least share of
        the question's words, by weight, that one of the first 4 passages lacks.
    """
    sign = sign_of(score)

    def of(outcome: Outcome, name: str) -> float:
        value = getattr(outcome, name)
        return math.inf if value is None else sign * value

    return Distances(
        answerable=[of(outcome, score) for outcome in report.answerable],
        unanswerable=[of(outcome, score) for outcome in report.unanswerable],
        answers=[
            of(outcome, f"answer_{score}") if outcome.within(ANSWER_K) else math.inf for outcome in report.answerable
        ],
        families=[outcome.family for outcome in report.unanswerable],
    )


def sign_of(score: Score) -> float:
    """Return what a score is multiplied by so that it is smaller for a better answer: -1 for logits, else 1."""
    return -1.0 if one_of(score, "score", get_args(Score)) == "logit" else 1.0


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What becomes of questions at a threshold; proportions with Wilson intervals.

    Attributes
    ----------
    threshold : float
    answered_correctly, answered_wrongly, given_up_wrongly : Interval
        Of the answerable questions; they add up to 1.
    bluffs : Interval
        Of the unanswerable ones, those that are answered.
    bluffs_of : dict of str to Interval
        The same by family; empty where there is one family, or none is known.
    """

    threshold: float
    answered_correctly: Interval
    answered_wrongly: Interval
    given_up_wrongly: Interval
    bluffs: Interval
    bluffs_of: Mapping[str, Interval] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON has it."""
        return {
            "threshold": self.threshold,
            "answered_correctly": self.answered_correctly.to_dict(),
            "answered_wrongly": self.answered_wrongly.to_dict(),
            "given_up_wrongly": self.given_up_wrongly.to_dict(),
            "bluffs": self.bluffs.to_dict(),
            "bluffs_of": {family: bluffs.to_dict() for family, bluffs in self.bluffs_of.items()},
        }


def sweep(distances: Distances, *, thresholds: Sequence[float] | None = None) -> list[SweepRow]:
    """Return what becomes of the questions at each threshold.

    Parameters
    ----------
    distances : Distances
    thresholds : sequence of float, optional
        By default 21 that divide the range of the distances evenly, its ends included.
    """
    near, far = _array(distances.answerable), _array(distances.unanswerable)
    answers = near if distances.answers is None else _array(distances.answers)
    if thresholds is None:
        finite = np.concatenate([near, far])
        finite = finite[np.isfinite(finite)]
        thresholds = np.linspace(finite.min(), finite.max(), 21).tolist() if finite.size else []
    of_family = _by_family(distances)
    rows = []
    for threshold in thresholds:
        answered, right = int((near <= threshold).sum()), int((answers <= threshold).sum())
        rows.append(
            SweepRow(
                threshold=threshold,
                answered_correctly=wilson(right, near.size),
                answered_wrongly=wilson(answered - right, near.size),
                given_up_wrongly=wilson(near.size - answered, near.size),
                bluffs=_within(far, threshold),
                bluffs_of={family: _within(values, threshold) for family, values in of_family.items()},
            )
        )
    return rows


def _within(values: FloatArray, threshold: float) -> Interval:
    return wilson(int((values <= threshold).sum()), values.size)


def _by_family(distances: Distances) -> dict[str, FloatArray]:
    families = distances.families or ()
    if len(set(families)) < 2:
        return {}
    values = _array(distances.unanswerable)
    return {family: values[[each == family for each in families]] for family in sorted(set(families))}


def separability(distances: Distances, *, seed: int = 0) -> Interval:
    """Return how often an answerable question is nearer than an unanswerable one: the area under the ROC curve.

    0.5 means that distances say nothing, 1 that a threshold parts them without error; ties count half (it is the
    Mann-Whitney statistic over its maximum: Hanley and McNeil, Radiology 1982). The interval is a bootstrap over the
    questions of either kind; NaN where one kind is missing.
    """
    near, far = _array(distances.answerable), _array(distances.unanswerable)
    if not near.size or not far.size:
        return Interval(math.nan, math.nan, math.nan)
    in_order = (near[:, None] < far) + 0.5 * (near[:, None] == far)
    random = np.random.default_rng(seed)
    drawn_near, drawn_far = (random.multinomial(n, np.full(n, 1 / n), size=DRAWS) / n for n in in_order.shape)
    low, high = np.quantile(((drawn_near @ in_order) * drawn_far).sum(axis=1), [0.025, 0.975]).tolist()
    return Interval(float(in_order.mean()), low, high)


def _array(values: Sequence[float]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)
