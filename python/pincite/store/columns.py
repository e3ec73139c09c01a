"""What columns of numbers in a segment's files have to be before one of them is used as a place."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ordered", "rises", "within"]


def rises(column: npt.NDArray[Any], last: int) -> bool:
    """Return whether a column begins at 0, never falls and ends at `last`: where runs of something begin."""
    return bool(len(column) and column[0] == 0 and column[-1] == last) and ordered(column[:-1], column[1:])


def within(column: npt.NDArray[Any], limit: int) -> bool:
    """Return whether all values are at least 0 and below `limit`."""
    return not len(column) or bool(column.min() >= 0 and column.max() < limit)


def ordered(*columns: npt.NDArray[Any] | int) -> bool:
    """Return whether no value of a column is above that of the next one; a number stands for a column of it."""
    # Compared, not subtracted: the difference of two forged values can overflow.
    return all(bool(np.all(low <= high)) for low, high in pairwise(columns))
