"""The one place that casts: what loses nothing is cast, the rest is refused with its shape (case V04)."""

from __future__ import annotations

import numpy as np
import pytest

from pincite.core.arrays import as_allowed, as_ids, as_vectors
from pincite.errors import InvalidInputError

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "given",
    [
        VALUES,
        VALUES.astype(np.float64),
        VALUES.astype(">f4"),
        VALUES.astype(np.int8),
        VALUES.astype(np.uint64),
        VALUES.astype(np.float16),
        np.asfortranarray(VALUES),
        np.repeat(VALUES, 2, axis=1)[:, ::2],
        read_only(VALUES),
        VALUES.tolist(),
    ],
    ids=[
        "float32",
        "float64",
        "big-endian",
        "int8",
        "uint64",
        "float16",
        "fortran",
        "strided",
        "read-only",
        "list",
    ],
)
def test_what_loses_nothing_is_cast(given):
    array = as_vectors(given)
    assert array.dtype == np.float32
    assert array.dtype.isnative
    assert array.flags.c_contiguous
    assert array.tolist() == VALUES.tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (VALUES[0], r"shape \(4,\), wanted \(n, dim\)"),
        (VALUES[None], r"shape \(1, 3, 4\), wanted \(n, dim\)"),
        (VALUES.astype(complex), "dtype complex128"),
        (VALUES.astype(str), "dtype <U"),
        (VALUES.astype(bool), "dtype bool"),
        (VALUES.astype(object), "dtype object"),
        ([[1.0, 2.0], [3.0]], "no array of numbers"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(given, said):
    with pytest.raises(InvalidInputError, match=said):
        as_vectors(given)


def test_no_vectors_at_all_is_a_matrix_without_rows():
    assert as_vectors([]).shape == (0, 0)


def test_ids_keep_their_values_up_to_the_limits_of_int64():
    limits = [-(2**63), 2**63 - 1]
    assert as_ids(limits, name="x").tolist() == limits
    assert as_ids(np.array([2**63 - 1], dtype=np.uint64), name="x").tolist() == [2**63 - 1]
    with pytest.raises(InvalidInputError, match="x holds 9223372036854775808"):
        as_ids(np.array([2**63], dtype=np.uint64), name="x")


@pytest.mark.parametrize("given", [[0.5], [[1]], ["a"], np.array([True, False])])
def test_what_is_no_list_of_integers_is_refused(given):
    with pytest.raises(InvalidInputError, match="x has shape"):
        as_ids(given, name="x")


def test_a_row_filter_is_nothing_a_mask_or_ids():
    assert as_allowed(None) is None
    assert as_allowed([True, False]).dtype == np.bool_
    assert as_allowed([3, 1]).tolist() == [3, 1]
    assert as_allowed([]).tolist() == []
    assert as_allowed(range(2)).tolist() == [0, 1]
    with pytest.raises(InvalidInputError, match=r"shape \(1, 2\), wanted a mask with one axis"):
        as_allowed([[True, False]])
    with pytest.raises(InvalidInputError, match="allowed has shape"):
        as_allowed([0.5])
