"""The checks of scalar arguments that the core's modules share."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from pincite.errors import InvalidInputError

__all__ = ["flag", "integer", "listed", "number", "one_of", "path_text", "word"]

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


def number(value: Any, name: str) -> float:
    """Return a real number as a float.

    Raises
    ------
    InvalidInputError
        If it is none; a str or bool is none.
    """
    if isinstance(value, (str, bytes, bool)):
        raise InvalidInputError(f"{name} is {value!r}, wanted a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"{name} is {value!r}, wanted a number") from None


def flag(value: Any, name: str) -> bool:
    """Return a bool (or numpy's) as a bool.

    Raises
    ------
    InvalidInputError
        If it is anything else: what looks like a switch and is none is a mistake.
    """
    if value is True or value is False:
        return bool(value)
    if isinstance(value, np.bool_):
        return bool(value)
    raise InvalidInputError(f"{name} is {value!r}, wanted True or False")


def word(value: Any, name: str) -> str:
    """Return a name of something: a str, without lone surrogates.

    Raises
    ------
    InvalidInputError
        If it is no str, or cannot be encoded.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} is of type {type(value).__name__}, wanted str")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name} holds a lone surrogate at code point {error.start}, which no encoding can store; "
            "decode the source with errors='replace'"
        ) from None
    return value


def one_of(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return one of several names.

    Raises
    ------
    InvalidInputError
        If it is none of them.
    """
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise InvalidInputError(f"{name} is {value!r}, wanted one of {', '.join(map(repr, known))}")
    return value


def listed(values: Any, name: str) -> list[Any]:
    """Return an iterable as a list; its elements are not looked at.

    Raises
    ------
    InvalidInputError
        If it is one str or bytes, or no iterable.
    """
    if isinstance(values, (str, bytes)):
        raise InvalidInputError(f"{name} is one {type(values).__name__}, wanted several in a list")
    try:
        return list(values)
    except TypeError:
        raise InvalidInputError(f"{name} is of type {type(values).__name__}, wanted a sequence") from None


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
