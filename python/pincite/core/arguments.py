"""The checks of scalar arguments that the core's modules share."""

from __future__ import annotations

import operator
import os
from typing import Any

from pincite.errors import InvalidInputError

__all__ = ["integer", "path_text"]

LARGEST = 2**63 - 1
"""What the core's sizes hold; a larger k or ef means "all" just as well."""


def integer(value: Any, name: str, *, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an int that the core can take.

    Without `at_most`, values beyond the core's range are lowered to its end.

    Raises
    ------
    InvalidInputError
        If it is no integer (a bool is none), below `at_least` or above `at_most`.
    """
    if type(value) is not int:
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or isinstance(value, bool):
            raise InvalidInputError(f"{name} is {value!r}, wanted an integer of at least {at_least}")
        value = number
    if value < at_least:
        raise InvalidInputError(f"{name} is {value}, wanted at least {at_least}")
    if at_most is not None and value > at_most:
        raise InvalidInputError(f"{name} is {value}, wanted at most {at_most}")
    return min(int(value), LARGEST)


def path_text(path: Any) -> str:
    """Return a path as the core takes it.

    Raises
    ------
    InvalidInputError
        If it is no path, or has a NUL character or a name that is not Unicode.
    """
    try:
        text: str | bytes = os.fspath(path)
    except TypeError:
        raise InvalidInputError(f"path is of type {type(path).__name__}, wanted a str or a Path") from None
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if not text or "\0" in text:
        raise InvalidInputError(f"path is {text!r}, wanted the name of a file")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"path is {text!r}, which is not Unicode; rename the file") from None
    return text
