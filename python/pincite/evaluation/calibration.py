"""A threshold that keeps a bound on bluffs, or the reason why none is set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pincite.core.arguments import number
from pincite.errors import InvalidInputError, counted
from pincite.evaluation.refusal import Distances, Score, distances_of, separability, sign_of
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval, upper_bound, wilson

__all__ = ["Calibration", "calibrate", "stamp_of"]

FloatArray = npt.NDArray[np.float64]
_NAMES: dict[Score, str] = {"distance": "distance", "logit": "the rerank logit", "absent": "absent words"}
Verdict = Literal["set", "too few questions", "not separable"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold with what it was set on, or the reason why none was set.

    Attributes
    ----------
    verdict : {"set", "too few questions", "not separable"}
    score : {"distance", "logit", "absent"}
        What the threshold is on: the greatest distance, the least logit, or the greatest share of words that may be
        absent; as `KnowledgeBase.search` takes them.
    threshold : float or None
        None unless the verdict is "set".
    reason : str
        The verdict in a sentence.
    separability : Interval
        See `separability`.
    answered : Interval or None
        The share of the answerable questions that are answered at the threshold.
    bluffs : Interval or None
        The share of the unanswerable ones that are.
    bluff_bound : float or None
        What the rate of bluffs does not exceed, with the confidence that was asked for.
    max_bluffs, confidence : float
    stamp : dict
        The encoder, the pipeline and the documents: see `lapsed`.
    """

    verdict: Verdict
    score: Score
    threshold: float | None
    reason: str
    separability: Interval
    answered: Interval | None
    bluffs: Interval | None
    bluff_bound: float | None
    max_bluffs: float
    confidence: float
    stamp: Mapping[str, Any] = field(default_factory=dict)

    def lapsed(self, stamp: Mapping[str, Any]) -> list[str]:
        """Return the names of what has changed since; an empty list while the threshold holds.

        Compare with `stamp_of` a report of today.
        """
        return sorted(name for name in {*self.stamp, *stamp} if self.stamp.get(name) != stamp.get(name))

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON has it."""
        return {
            "verdict": self.verdict,
            "score": self.score,
            "threshold": self.threshold,
            "reason": self.reason,
            "separability": self.separability.to_dict(),
            "answered": None if self.answered is None else self.answered.to_dict(),
            "bluffs": None if self.bluffs is None else self.bluffs.to_dict(),
            "bluff_bound": self.bluff_bound,
            "max_bluffs": self.max_bluffs,
            "confidence": self.confidence,
            "stamp": dict(self.stamp),
        }


def stamp_of(report: Report) -> dict[str, Any]:
    """Return what a threshold that is set on a report depends on: the models, the pipeline and the documents."""
    names = ("encoder", "reranker", "pipeline", "candidates", "rerank_limit", "index", "retriever", "min_logit",
             "max_absent")  # fmt: skip
    return {
        **{name: report.configuration[name] for name in names if name in report.configuration},
        "documents_sha256": report.documents_sha256,
    }


def calibrate(
    measured: Report | Distances,
    *,
    score: Score = "distance",
    max_bluffs: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """Set the greatest threshold at which bluffs stay below a bound, or say why there is none.

    With n unanswerable questions, let r be the most bluffs for which the one-sided exact binomial bound stays at
    `max_bluffs`. The threshold lies below the (r + 1)-th smallest of their distances. This bound holds although the
    threshold is chosen on the same questions: it is a tolerance limit by order statistics, free of any distribution
    (Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics 1941). It is
    about questions like those that were given: negatives from far domains promise nothing about near ones.

    Parameters
    ----------
    measured : Report or Distances
        A report is taken as by `distances_of`, and stamps the result.
    score : {"distance", "logit", "absent"}
        What to set the threshold on; of `Distances`, what they are, logits with their sign changed.
    max_bluffs : float, default 0.05
        The share of unanswerable questions that may be answered.
    confidence : float, default 0.95
    seed : int, default 0
        Of the bootstrap of the separability.

    Returns
    -------
    Calibration
        Without a threshold if there are too few questions for the bound, or if at the threshold no larger share of the
        answerable questions is answered than may be of the others, as far as the questions can show.

    Raises
    ------
    InvalidInputError
        If `max_bluffs` or `confidence` is not between 0 and 1.
    """
    for value, name in ((max_bluffs, "max_bluffs"), (confidence, "confidence")):
        if not 0.0 < number(value, name) < 1.0:
            raise InvalidInputError(f"{name} is {value!r}, wanted more than 0 and less than 1")
    distances = distances_of(measured, score=score) if isinstance(measured, Report) else measured
    sign = sign_of(score)
    stamp = stamp_of(measured) if isinstance(measured, Report) else {}
    near = np.asarray(distances.answerable, dtype=np.float64)
    far = np.sort(np.asarray(distances.unanswerable, dtype=np.float64))
    apart = separability(distances, seed=seed)

    def refused(verdict: Verdict, reason: str) -> Calibration:
        return Calibration(verdict, score, None, reason, apart, None, None, None, max_bluffs, confidence, stamp)

    allowed = _most_bluffs(far.size, max_bluffs, confidence)
    if allowed is None or not near.size:
        wanted = math.ceil(math.log(1 - confidence) / math.log(1 - max_bluffs))
        return refused(
            "too few questions",
            f"there are {near.size} answerable and {counted(far.size, 'unanswerable question')}; a bound of "
            f"{max_bluffs:.3g} with confidence {confidence:g} needs at least 1 and {wanted}",
        )
    if not np.isfinite(near).any():
        return refused("not separable", f"none of {counted(near.size, 'answerable question')} has any {_NAMES[score]}")
    threshold = _below(far, allowed, near)
    answered = wilson(int((near <= threshold).sum()), near.size)
    if answered.low <= max_bluffs:
        return refused(
            "not separable",
            f"a threshold of {sign * threshold:.3f}, which keeps bluffs at {max_bluffs:.3g}, answers {answered} of the "
            f"answerable questions, separability {apart}: by {_NAMES[score]}, these questions do not show that more of "
            f"them would be answered than {max_bluffs:.3g}; ask more questions, or allow fewer bluffs",
        )
    bound = upper_bound(allowed, far.size, confidence=confidence)
    return Calibration(
        verdict="set",
        score=score,
        threshold=sign * threshold,
        reason=f"at {sign * threshold:.3f}, {answered} of the answerable questions are answered, and with confidence "
        f"{confidence:g} at most {bound:.3f} of the unanswerable ones",
        separability=apart,
        answered=answered,
        bluffs=wilson(int((far <= threshold).sum()), far.size),
        bluff_bound=bound,
        max_bluffs=max_bluffs,
        confidence=confidence,
        stamp=stamp,
    )


def _most_bluffs(n: int, max_bluffs: float, confidence: float) -> int | None:
    """Return the most bluffs of n questions that still keep the bound; None where not even none does."""
    kept = takewhile(lambda r: upper_bound(r, n, confidence=confidence) <= max_bluffs, range(n))
    return max(kept, default=None)


def _below(far: FloatArray, allowed: int, near: FloatArray) -> float:
    """Return a threshold below the distance of the first unanswerable question too many: midway to the one before."""
    limit = float(far[allowed])
    before: list[float] = [value for value in (*near.tolist(), *far.tolist()) if value < limit]
    if not before:
        return float(np.nextafter(limit, -math.inf))
    middle = (max(before) + limit) / 2
    return middle if middle < limit else max(before)  # neighbours have no number between them, nor has infinity
