"""Conditions as a line of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from pincite.errors import InvalidInputError
from pincite.filters.conditions import DATE, DEPTH, OPERATORS, ORDERED, And, Compare, Condition, Not, Or, moment

__all__ = ["parse_condition"]

DIGITS = 40
"""Of a number; one that is longer is no number that anything has."""

# FIELD OP VALUE, joined by "and", "or", "not" and parentheses. A value is a quoted text, a number, true, false, or a
# date; "in" takes a list in brackets, "exists" nothing.
_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<date>\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?)"
    r"|(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<mark>==|!=|<=|>=|[<>()\[\],])|(?P<word>[^\W\d][\w.-]*))"
)


def parse_condition(text: str) -> Condition:
    """Read a condition from a line of text.

    Parameters
    ----------
    text : str
        Such as ``lang == "de" and (modified >= 2024-01-01 or id prefix "handbook/") and not draft exists``.

    Raises
    ------
    InvalidInputError
        If it cannot be read; the message says from where on.

    Examples
    --------
    >>> parse_condition('year in [2023, 2024]')
    Compare(field='year', op='in', value=(2023, 2024))
    """
    reader = _Reader(text)
    found = reader.either(DEPTH)
    if reader.kind:
        raise reader.unexpected("and, or, or the end")
    return found


class _Reader:
    """Reads one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._start = 0
        self.kind = self.value = ""
        self.advance()

    def advance(self) -> str:
        taken, self._start = self.value, self._at
        rest = self._text[self._at :]
        if not rest.strip():
            self.kind = self.value = ""
            return taken
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.lastgroup is None:
            self.kind, self.value = "nothing", rest.strip()[:20]
            return taken
        self.kind, self.value, self._at = found.lastgroup, found[found.lastgroup], found.end()
        return taken

    def unexpected(self, wanted: str) -> InvalidInputError:
        here = self._text[self._start :].strip()[:40] or "the end"
        return InvalidInputError(f"the condition {self._text!r} cannot be read at {here!r}, wanted {wanted}")

    def takes(self, *values: str) -> bool:
        if self.kind in {"mark", "word"} and self.value in values:
            self.advance()
            return True
        return False

    def either(self, depth: int) -> Condition:
        parts = [self.both(depth)]
        while self.takes("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self, depth: int) -> Condition:
        parts = [self.single(depth)]
        while self.takes("and"):
            parts.append(self.single(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def single(self, depth: int) -> Condition:
        if depth == 0:
            raise InvalidInputError(f"the condition is nested more than {DEPTH} deep")
        if self.takes("not"):
            return Not(self.single(depth - 1))
        if self.takes("("):
            found = self.either(depth - 1)
            if not self.takes(")"):
                raise self.unexpected("')'")
            return found
        if self.kind not in {"word", "text"} or self.value in {"and", "or", "in", "exists", "prefix"}:
            raise self.unexpected("a field's name")
        field = _unquoted(self.advance())
        if self.takes("exists"):
            return Compare(field, "exists", True)
        if self.takes("in"):
            return Compare(field, "in", tuple(self.listed()))
        if self.takes("prefix"):
            return Compare(field, "prefix", self.scalar())
        if self.kind == "mark" and self.value in ORDERED:
            return Compare(field, self.advance(), self.scalar())
        raise self.unexpected(f"one of: {', '.join(OPERATORS)}")

    def listed(self) -> Iterator[Any]:
        if not self.takes("["):
            raise self.unexpected("'['")
        while not self.takes("]"):
            yield self.scalar()
            if not self.takes(",") and self.value != "]":
                raise self.unexpected("',' or ']'")

    def scalar(self) -> Any:
        kind, value = self.kind, self.value
        if kind == "text":
            self.advance()
            return _unquoted(value)
        if kind == "number" and len(value) <= DIGITS:
            self.advance()
            return int(value) if re.fullmatch(r"[+-]?\d+", value) else float(value)
        if kind == "date" and (when := moment(value)) is not None:
            self.advance()
            return date.fromisoformat(value) if DATE.fullmatch(value) else when
        if kind == "word" and value in {"true", "false"}:
            self.advance()
            return value == "true"
        raise self.unexpected('a value: "text", a number, true, false or a date such as 2024-01-31')


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL) if value[:1] in {'"', "'"} else value
