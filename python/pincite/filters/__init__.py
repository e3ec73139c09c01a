"""Conditions on what is known of a document: built in Python, read from JSON or from a line of text. Never executed.

`F("lang") == "de"` is one; ``&``, ``|`` and ``~`` join them.
"""

from __future__ import annotations

from typing import Any

from pincite.filters.conditions import Condition, F, from_json
from pincite.filters.parsing import parse_condition

__all__ = ["Condition", "F", "condition_of", "parse_condition"]


def condition_of(value: Any) -> Condition:
    """Return a condition as it is, or read from JSON or from a line of text.

    Parameters
    ----------
    value : Condition, dict or str
        A dict is what `Condition.to_dict` gives; a str is read by `parse_condition`.

    Raises
    ------
    InvalidInputError
        If it is none of them, or cannot be read.
    """
    if isinstance(value, Condition):
        return value
    if isinstance(value, str):
        return parse_condition(value)
    return from_json(value)
