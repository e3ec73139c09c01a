"""Intervals and tests, from first principles: what a number of questions can and cannot show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from pincite.errors import InvalidInputError

__all__ = [
    "Interval",
    "bootstrap_mean",
    "holm",
    "least_wins",
    "questions_needed",
    "sign_test",
    "upper_bound",
    "wilson",
]

Z_95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "no question"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_dict(self) -> dict[str, float | None]:
        """Return it as JSON has it: None for what no observation says."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(end) else end for name, end in ends.items()}


def wilson(successes: int, n: int, *, z: float = Z_95) -> Interval:
    """Return a proportion with its Wilson score interval.

    It keeps its coverage for small n and near 0 and 1, where the normal interval does not. Wilson, "Probable inference,
    the law of succession, and statistical inference", JASA 1927; recommended by Brown, Cai and DasGupta, "Interval
    estimation for a binomial proportion", Statistical Science 2001.

    Parameters
    ----------
    successes, n : int
        ``0 <= successes <= n``. Without any observation the interval is all of [0, 1].
    z : float
        The quantile of the normal distribution; by default that of a two-sided 95 %.

    Examples
    --------
    >>> str(wilson(38, 64))
    '0.594 [0.471, 0.705]'
    """
    _check_counts(successes, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    p = successes / n
    scale = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # The ends are exactly 0 and 1 there; rounding must not say otherwise.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Interval(p, low, high)


def bootstrap_mean(values: Sequence[float], *, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Return a mean with its percentile bootstrap interval of 95 %.

    Questions are drawn with replacement; the same seed gives the same interval. Efron and Tibshirani, "An introduction
    to the bootstrap", 1993, chapter 13. For paired differences, give the differences.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise InvalidInputError("values holds something that is no finite number, wanted one number a question")
    if not sample.size:
        return Interval(math.nan, math.nan, math.nan)
    random = np.random.default_rng(seed)
    means = np.empty(draws)
    for draw in range(draws):
        means[draw] = sample[random.integers(0, sample.size, sample.size)].mean()
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(sample.mean()), float(low), float(high))


def sign_test(wins: int, losses: int) -> float:
    """Return the p-value of the two-sided exact sign test on discordant pairs.

    Under the null hypothesis each pair that differs is a win with probability 1/2; ties say nothing. (On right and
    wrong answers it is McNemar's exact test.) Computed in integers.

    Examples
    --------
    >>> round(sign_test(18, 3), 4), round(sign_test(8, 6), 2)
    (0.0015, 0.79)
    """
    _check_counts(wins, wins + losses)
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def least_wins(losses: int, *, alpha: float = 0.05) -> int:
    """Return the fewest wins that `sign_test` finds significant beside a number of losses.

    Less what is lost, they are the smallest difference that can be seen, of however many questions.

    Examples
    --------
    >>> least_wins(0), least_wins(3)
    (6, 12)
    """
    wins = losses
    while sign_test(wins, losses) > alpha:
        wins += 1
    return wins


def questions_needed(wins: int, losses: int, n: int, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Return how many questions `sign_test` needs to find a difference, if its rates are those that n questions showed.

    The sample size of McNemar's test by Connor, "Sample size for testing differences in proportions for the
    paired-sample design", Biometrics 1987, with the continuity correction that brings it to the exact test: as in
    Fleiss, Tytun and Ury, "A simple approximation to the power for comparing two independent proportions", Biometrics
    1980, with the pairs that differ in place of the two samples. A rate that few questions showed is itself uncertain,
    and so is the answer: it says an order of magnitude.

    Parameters
    ----------
    wins, losses, n : int
        Of n questions, those that one and the other configuration does better.
    alpha : float, default 0.05
        Of the two-sided test.
    power : float, default 0.8
        How often so many questions find the difference.

    Returns
    -------
    int or None
        None where wins and losses are equal: then no number is enough.

    Examples
    --------
    >>> questions_needed(50, 20, 100)
    66
    """
    _check_counts(wins, n)
    _check_counts(losses, n)
    _check_counts(wins + losses, n)
    if wins == losses:
        return None
    differing, net = (wins + losses) / n, abs(wins - losses) / n
    quantile = NormalDist().inv_cdf
    spread = quantile(1 - alpha / 2) * math.sqrt(differing) + quantile(power) * math.sqrt(differing - net * net)
    uncorrected = (spread / net) ** 2
    return math.ceil(uncorrected / 4 * (1 + math.sqrt(1 + 4 / (uncorrected * net))) ** 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for several comparisons.

    Rejecting what is at most alpha afterwards keeps the chance of any false rejection at alpha, whatever the
    dependence. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics,
    1979.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def upper_bound(failures: int, n: int, *, confidence: float = 0.95) -> float:
    """Return the one-sided exact upper bound of a proportion.

    The largest p at which so few failures, or fewer, still have a probability of 1 - `confidence`. Clopper and Pearson,
    "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 1934.

    Examples
    --------
    >>> round(upper_bound(0, 59), 3)  # the rule of three
    0.05
    """
    _check_counts(failures, n)
    if failures == n:
        return 1.0
    return _bisect(lambda p: _binomial_cdf(failures, n, p) - (1 - confidence), low=failures / n, high=1.0)


def _binomial_cdf(k: int, n: int, p: float) -> float:
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return float(k >= n)
    logs = [
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p)
        for i in range(k + 1)
    ]
    return min(1.0, math.fsum(math.exp(value) for value in logs))


def _bisect(decreasing: Callable[[float], float], *, low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        if decreasing(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low < 1e-12:
            break
    return high


def _check_counts(part: int, n: int) -> None:
    if type(part) is not int or type(n) is not int or not 0 <= part <= n:
        raise InvalidInputError(f"given were {part!r} of {n!r}, wanted integers with 0 <= part <= all")
