"""Intervals and tests: known answers, and the identities that define them, computed exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pincite.errors import InvalidInputError
from pincite.evaluation.statistics import (
    Z_95,
    Interval,
    bootstrap_mean,
    holm,
    least_wins,
    questions_needed,
    sign_test,
    upper_bound,
    wilson,
)

counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
p_values = st.lists(st.floats(0.0, 1.0), max_size=12)


def test_wilson_has_its_known_answer():
    interval = wilson(38, 64)
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.471, 0.705)
    assert str(interval) == "0.594 [0.471, 0.705]"


@given(counts)
def test_the_ends_of_wilson_are_where_the_score_test_turns(pair):
    """An end p solves (p_hat - p)^2 = z^2 p (1 - p) / n."""
    successes, n = pair
    interval = wilson(successes, n)
    assert 0.0 <= interval.low <= interval.value <= interval.high <= 1.0
    for end in (interval.low, interval.high):
        assert (interval.value - end) ** 2 == pytest.approx(Z_95**2 * end * (1 - end) / n, abs=1e-12)
    mirrored = wilson(n - successes, n)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((interval.low, interval.high))


def test_an_interval_without_observations_says_so():
    nothing = wilson(0, 0)
    assert math.isnan(nothing.value)
    assert (nothing.low, nothing.high) == (0.0, 1.0)
    assert nothing.to_dict() == {"value": None, "low": 0.0, "high": 1.0}
    assert bootstrap_mean([]).to_dict() == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(("part", "n"), [(3, 2), (-1, 2), (1.0, 2), (True, 2)])
def test_counts_that_are_none_are_refused(part, n):
    for function in (wilson, upper_bound):
        with pytest.raises(InvalidInputError, match=r"given were .* wanted integers"):
            function(part, n)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(18, 3, 0.0015), (12, 2, 0.0129), (8, 6, 0.79), (9, 7, 0.80), (10, 3, 0.09), (10, 6, 0.45)],
)
def test_the_sign_test_has_its_known_answers(wins, losses, p):
    digits = 4 if p < 0.05 else 2
    assert round(sign_test(wins, losses), digits) == p
    assert sign_test(losses, wins) == sign_test(wins, losses)


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_sums_what_is_at_least_as_lopsided(wins, losses):
    n = wins + losses
    extreme = [i for i in range(n + 1) if abs(2 * i - n) >= abs(wins - losses)]
    assert sign_test(wins, losses) == float(Fraction(sum(math.comb(n, i) for i in extreme), 2**n))


@given(st.integers(0, 60), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_fewest_wins_are_significant_and_one_less_is_not(losses, alpha):
    wins = least_wins(losses, alpha=alpha)
    assert sign_test(wins, losses) <= alpha < sign_test(wins - 1, losses)


def power_of_the_sign_test(p_win: float, p_loss: float, n: int) -> float:
    """Return how often n questions are significant, summed over all that can come of them."""
    differing = p_win + p_loss
    total = 0.0
    for d in range(n + 1):
        rate = math.comb(n, d) * differing**d * (1 - differing) ** (n - d)
        fewest = next((wins for wins in range(d // 2 + 1, d + 1) if sign_test(wins, d - wins) <= 0.05), None)
        if fewest is not None:
            share = p_win / differing
            found = sum(math.comb(d, w) * share**w * (1 - share) ** (d - w) for w in range(fewest, d + 1))
            total += rate * found
    return total


@pytest.mark.parametrize(("wins", "losses", "n"), [(50, 20, 100), (30, 10, 100), (20, 5, 100), (25, 10, 100)])
def test_as_many_questions_as_are_needed_give_the_power(wins, losses, n):
    needed = questions_needed(wins, losses, n)
    assert 0.8 <= power_of_the_sign_test(wins / n, losses / n, needed) <= 0.84
    assert questions_needed(losses, wins, n) == needed


def test_the_questions_needed_have_their_known_answer():
    """59 before the continuity correction: Chow, Shao and Wang, "Sample size calculations in clinical research", 6.4.3.

    With the rates .5 and .2, n = 58.6, and 58.6 / 4 (1 + sqrt(1 + 4 / (58.6 * .3)))^2 = 65.1.
    """
    assert questions_needed(50, 20, 100) == questions_needed(5, 2, 10) == 66
    assert questions_needed(7, 7, 100) is None
    assert questions_needed(0, 0, 100) is None
    with pytest.raises(InvalidInputError, match="given were 11 of 10"):
        questions_needed(5, 6, 10)


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_upper_bound_inverts_the_binomial_distribution(pair, confidence):
    """At the bound, so few failures or fewer have a probability of 1 - confidence; computed in fractions."""
    failures, n = pair
    assume(failures < n)
    bound = upper_bound(failures, n, confidence=confidence)
    p = Fraction(bound)
    below = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(failures + 1))
    assert float(below) == pytest.approx(1 - confidence, abs=1e-8)
    assert failures / n < bound <= 1.0


def test_the_upper_bound_has_its_known_answers():
    assert upper_bound(0, 59) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert upper_bound(3, 3) == 1.0


@given(p_values)
def test_holm_is_monotone_and_never_lowers(values):
    adjusted = holm(values)
    assert all(p <= q <= 1.0 for p, q in zip(values, adjusted, strict=True))
    in_order = [q for _, q in sorted(zip(values, adjusted, strict=True))]
    assert in_order == sorted(in_order)
    if values:
        assert min(adjusted) == min(1.0, len(values) * min(values))


@given(p_values.flatmap(lambda values: st.tuples(st.just(values), st.permutations(range(len(values))))))
def test_holm_does_not_depend_on_the_order(pair):
    values, order = pair
    assert holm([values[i] for i in order]) == [holm(values)[i] for i in order]


def test_the_bootstrap_repeats_itself():
    values = [math.sqrt(i) for i in range(9)]
    assert bootstrap_mean(values, seed=7) == bootstrap_mean(values, seed=7)
    assert bootstrap_mean(values, seed=7) != bootstrap_mean(values, seed=8)
    assert bootstrap_mean([0.25] * 9) == Interval(0.25, 0.25, 0.25)


def test_the_bootstrap_is_near_the_normal_interval_of_many_values():
    values = [i % 10 / 10 for i in range(1000)]
    interval = bootstrap_mean(values)
    half = Z_95 * math.sqrt(0.0825 / 1000)
    assert interval.value == pytest.approx(0.45)
    assert interval.low == pytest.approx(0.45 - half, abs=0.15 * half)
    assert interval.high == pytest.approx(0.45 + half, abs=0.15 * half)


@pytest.mark.parametrize("values", [[0.1, math.nan], [math.inf], [[0.1], [0.2]]])
def test_the_bootstrap_refuses_what_is_no_number(values):
    with pytest.raises(InvalidInputError, match="finite number"):
        bootstrap_mean(values)
