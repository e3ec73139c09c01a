"""The core's reciprocal rank fusion against its pure-Python twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite.errors import InvalidInputError
from reference.fusion import rrf as reference_rrf

ids = st.one_of(st.integers(0, 12), st.integers(-(2**63), 2**63 - 1))
ranked_lists = st.lists(st.lists(ids, max_size=25), max_size=6)


@given(
    lists=ranked_lists,
    k=st.one_of(st.floats(0, 1000, allow_nan=False), st.sampled_from([1e17, 1e300])),  # these make all ranks equal
    limit=st.one_of(st.none(), st.integers(1, 40)),
    data=st.data(),
)
def test_same_ids_and_scores(lists, k, limit, data):
    weight = st.floats(0, 100, allow_nan=False)
    weights = data.draw(st.one_of(st.none(), st.lists(weight, min_size=len(lists), max_size=len(lists))))
    expected_ids, expected_scores = reference_rrf(lists, k=k, weights=weights, limit=limit)
    found_ids, found_scores = pincite.rrf(lists, k=k, weights=weights, limit=limit)
    assert found_ids.tolist() == expected_ids
    assert found_scores.tolist() == expected_scores
    assert found_ids.dtype == np.int64
    assert found_scores.dtype == np.float64


def test_repeated_id_counts_once_at_its_best_rank():
    _, scores = pincite.rrf([[5, 5, 5]])
    assert scores.tolist() == [1 / 61]


def test_ties_go_to_the_smaller_id():
    found, _ = pincite.rrf([[9], [2], [5]])
    assert found.tolist() == [2, 5, 9]


@pytest.mark.parametrize(
    ("arguments", "given_value", "wanted"),
    [
        ({"k": -1.0}, "k is -1", "at least 0"),
        ({"k": math.nan}, "k is nan", "finite"),
        ({"k": math.inf}, "k is inf", "finite"),
        ({"weights": [1.0]}, "1 weights given for 2 lists", "one weight a list"),
        ({"weights": [1.0, -2.0]}, "weight 1 is -2", "at least 0"),
        ({"weights": [math.nan, 1.0]}, "weight 0 is nan", "finite"),
        ({"limit": 0}, "limit is 0", "at least 1"),
        ({"limit": 1.5}, "limit is 1.5", "an integer"),
        ({"limit": True}, "limit is True", "an integer"),
        ({"k": "60"}, "k is '60'", "a number"),
        ({"weights": 5}, "weights is of type int", "a sequence"),
        ({"weights": [None, 1.0]}, "weight 0 is None", "a number"),
    ],
)
def test_bad_arguments_are_named(arguments, given_value, wanted):
    with pytest.raises(InvalidInputError) as caught:
        pincite.rrf([[1], [2]], **arguments)
    assert given_value in str(caught.value)
    assert wanted in str(caught.value)


def test_padding_is_no_document():
    found, scores = pincite.rrf([[3, -1, -1], [-1, 4]])
    assert found.tolist() == [3, 4]
    assert scores.tolist() == [1 / 61, 1 / 62]


@pytest.mark.parametrize("bad", [[1.5], ["a"], [[1], [2]], [2**64], [None]])
def test_lists_that_are_no_integers_are_refused(bad):
    with pytest.raises(InvalidInputError, match="list 1"):
        pincite.rrf([[1], bad])
