"""The one place where arrays are cast on their way into the core.

The core takes C-contiguous ``float32`` rows and ``int64`` ids and nothing else. What loses nothing by the cast
(another byte order, float64 values, strides, a list) is cast here; what is no number, or has the wrong shape,
is refused here with both shapes in the message.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.errors import InvalidInputError

__all__ = ["ByteArray", "FloatArray", "IdArray", "RowFilter", "as_allowed", "as_ids", "as_vectors", "axes"]

ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.int64]
RowFilter = npt.NDArray[np.bool_] | IdArray | None

FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)
"""Compared by identity, which takes no time; where another object says the same, the cast copies nothing."""


def as_vectors(values: npt.ArrayLike, *, name: str = "vectors", ndim: int = 2) -> FloatArray:
    """Return `values` as C-contiguous float32 with `ndim` axes.

    Raises
    ------
    InvalidInputError
        If the values are no real numbers, have another number of axes, or do not fit float32.
    """
    if type(values) is np.ndarray and values.dtype is FLOAT32 and values.ndim == ndim and values.flags.c_contiguous:
        return values
    array = _as_array(values, name)
    if array.ndim == 1 and array.size == 0 and ndim == 2:
        array = array.reshape(0, 0)
    if array.ndim != ndim:
        wanted = "(n, dim)" if ndim == 2 else "(dim,)"
        raise InvalidInputError(f"{name} has shape {array.shape}, wanted {wanted}")
    if array.dtype.kind not in "fiu":
        raise InvalidInputError(f"{name} has dtype {array.dtype}, wanted float32 (or another real number type)")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def axes(values: npt.ArrayLike) -> int:
    """Return the number of axes of `values`; 1 for what is no array (`as_vectors` says what it is)."""
    if isinstance(values, np.ndarray):
        return values.ndim
    try:
        return np.ndim(values)
    except ValueError:  # a ragged list
        return 1


def as_ids(values: npt.ArrayLike, *, name: str) -> IdArray:
    """Return `values` as a C-contiguous int64 array with one axis.

    Raises
    ------
    InvalidInputError
        If the values are no integers, have more than one axis, or do not fit int64.
    """
    if type(values) is np.ndarray and values.dtype is INT64 and values.ndim == 1 and values.flags.c_contiguous:
        return values
    array = _as_array(values, name)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} has shape {array.shape} and dtype {array.dtype}, wanted integers with one axis"
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InvalidInputError(f"{name} holds {array.max()}, wanted at most {np.iinfo(np.int64).max}")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_allowed(allowed: npt.ArrayLike | None, *, name: str = "allowed") -> RowFilter:
    """Return a row filter as the core takes it: None, a bool mask, or int64 row ids.

    Raises
    ------
    InvalidInputError
        If it is none of these. (The core compares it with the number of rows.)
    """
    if allowed is None:
        return None
    array = _as_array(allowed, name)
    if array.dtype == np.bool_:
        if array.ndim != 1:
            raise InvalidInputError(f"{name} has shape {array.shape}, wanted a mask with one axis")
        return np.ascontiguousarray(array)
    return as_ids(array, name=name)


def _as_array(values: Any, name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} is no array of numbers: {error}") from error
