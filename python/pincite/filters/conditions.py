"""Conditions on what is known of a document, as a tree of comparisons."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from pincite.errors import InvalidInputError

__all__ = ["OPERATORS", "ORDERED", "And", "Compare", "Condition", "F", "Not", "Or", "from_json", "moment"]

Scalar = str | int | float | bool | date | datetime

ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*ORDERED, "in", "prefix", "exists")
DEPTH = 64
"""How deeply conditions may be nested."""


class Condition:
    """What a document has to fulfil; see `F`."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        """Return the condition that both hold."""
        return And((self, _checked(other)))

    def __or__(self, other: Condition) -> Condition:
        """Return the condition that one of them holds."""
        return Or((self, _checked(other)))

    def __invert__(self) -> Condition:
        """Return the condition that this one does not hold."""
        return Not(self)

    def __bool__(self) -> bool:
        """Refuse to be taken for true: ``and`` and ``or`` would lose one side."""
        raise TypeError("a condition is neither true nor false; join conditions with &, | and ~, in parentheses")

    @property
    def key(self) -> str:
        """A text that equal conditions share, and no others: to ``==`` of Python, 1, 1.0 and True are one."""
        return json.dumps(self.to_dict(), sort_keys=True)

    def fields(self) -> frozenset[str]:
        """Return the names of the fields that it is about."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON has it; `condition_of` reads it back."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """A comparison of one field.

    Attributes
    ----------
    field : str
    op : {"==", "!=", "<", "<=", ">", ">=", "in", "prefix", "exists"}
    value : scalar, tuple of scalars for "in", True or False for "exists"
    """

    field: str
    op: str
    value: Any

    def __post_init__(self) -> None:
        """Refuse what can never be compared."""
        if not isinstance(self.field, str) or not self.field:
            raise InvalidInputError(f"the field is {self.field!r}, wanted its name")
        if self.op not in OPERATORS:
            raise InvalidInputError(f"the operator is {self.op!r}, wanted one of: {', '.join(OPERATORS)}")
        values = self.value if self.op == "in" else (self.value,)
        if not isinstance(values, tuple):
            raise InvalidInputError(f"{self.field!r} in {values!r}: wanted a list of values")
        for value in values:
            if not isinstance(value, (str, int, float, bool, date)) or value != value:
                raise InvalidInputError(
                    f"{self.field!r} is compared with {value!r} of type {type(value).__name__}, wanted a str, int, "
                    "float, bool, date or datetime"
                )
        wanted = {"prefix": str, "exists": bool}.get(self.op)
        if wanted is not None and not isinstance(self.value, wanted):
            raise InvalidInputError(f"{self.op} of {self.field!r} takes a {wanted.__name__}, given was {self.value!r}")

    def holds(self, value: Any) -> bool:
        """Return whether a field's value fulfils it; None: the document has no such field.

        A value of another type is unequal, and neither less nor greater. Without a value, nothing holds but that it
        does not exist. A list fulfils what one of its items does. A date is compared with what a text says in ISO 8601,
        or with seconds since 1970.
        """
        if self.op == "exists":
            return (value is not None) is self.value
        if value is None:
            return False
        if isinstance(value, list):
            return any(self.holds(item) for item in value)
        if self.op == "in":
            return any(_compared("==", value, each) for each in self.value)
        if self.op == "prefix":
            return isinstance(value, str) and value.startswith(self.value)
        return _compared(self.op, value, self.value)

    def fields(self) -> frozenset[str]:
        """Return the field."""
        return frozenset([self.field])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        value = [_as_json(each) for each in self.value] if self.op == "in" else _as_json(self.value)
        return {"field": self.field, "op": self.op, "value": value}


@dataclass(frozen=True, slots=True)
class And(Condition):
    """All of some conditions."""

    parts: tuple[Condition, ...]

    def fields(self) -> frozenset[str]:
        """Return those of all parts."""
        return frozenset().union(*(part.fields() for part in self.parts))

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON has it."""
        return {"and": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """One of some conditions."""

    parts: tuple[Condition, ...]

    def fields(self) -> frozenset[str]:
        """Return those of all parts."""
        return frozenset().union(*(part.fields() for part in self.parts))

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON has it."""
        return {"or": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """What a condition rules out."""

    part: Condition

    def fields(self) -> frozenset[str]:
        """Return those of the part."""
        return self.part.fields()

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON has it."""
        return {"not": self.part.to_dict()}


class F:
    """A field of a document, to be compared.

    Fields are "id", "title", "uri", "source", "media_type" and "modified", and those of the document's metadata by
    their names; "metadata.title" is one of the metadata where the name alone is taken.

    Examples
    --------
    >>> (F("lang") == "de") & ~F("draft").exists()
    And(parts=(Compare(field='lang', op='==', value='de'), Not(part=Compare(field='draft', op='exists', value=True))))
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        """Return the condition that the field is equal to a value."""
        return Compare(self._name, "==", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        """Return the condition that the field has another value."""
        return Compare(self._name, "!=", value)

    def __lt__(self, value: Scalar) -> Condition:
        """Return the condition that the field is less than a value."""
        return Compare(self._name, "<", value)

    def __le__(self, value: Scalar) -> Condition:
        """Return the condition that the field is at most a value."""
        return Compare(self._name, "<=", value)

    def __gt__(self, value: Scalar) -> Condition:
        """Return the condition that the field is greater than a value."""
        return Compare(self._name, ">", value)

    def __ge__(self, value: Scalar) -> Condition:
        """Return the condition that the field is at least a value."""
        return Compare(self._name, ">=", value)

    def in_(self, values: Iterable[Scalar]) -> Condition:
        """Return the condition that the field is one of some values."""
        if isinstance(values, str):
            raise InvalidInputError(f"in_ takes a list of values, given was the text {values!r}; wanted [{values!r}]?")
        return Compare(self._name, "in", tuple(values))

    def startswith(self, prefix: str) -> Condition:
        """Return the condition that the field is a text that begins so."""
        return Compare(self._name, "prefix", prefix)

    def exists(self) -> Condition:
        """Return the condition that the document has the field."""
        return Compare(self._name, "exists", True)


def from_json(value: Any, depth: int = DEPTH) -> Condition:
    """Return the condition that `Condition.to_dict` gave."""
    if depth == 0:
        raise InvalidInputError(f"the condition is nested more than {DEPTH} deep")
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"a condition is {value!r}, wanted F(...), a dict of to_dict, or a text")
    keys = set(value)
    if keys == {"not"}:
        return Not(from_json(value["not"], depth - 1))
    if keys in ({"and"}, {"or"}):
        (name,) = keys
        parts = value[name]
        if not isinstance(parts, (list, tuple)) or not parts:
            raise InvalidInputError(f"{name!r} holds {parts!r}, wanted a list of conditions")
        return (And if name == "and" else Or)(tuple(from_json(part, depth - 1) for part in parts))
    if keys != {"field", "op", "value"}:
        raise InvalidInputError(
            f"a condition has {sorted(map(str, keys))}, wanted field, op and value; or and, or, not"
        )
    given = value["value"]
    if value["op"] == "in" and isinstance(given, list):
        return Compare(value["field"], "in", tuple(_from_scalar(each) for each in given))
    return Compare(value["field"], value["op"], _from_scalar(given))


def _as_json(value: Any) -> Any:
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _from_scalar(value: Any) -> Any:
    if isinstance(value, Mapping):
        when = moment(value.get("date")) if set(value) == {"date"} else None
        if when is None:
            raise InvalidInputError(
                f"a value is {dict(value)!r}, wanted text, number, true, false or {{'date': ISO 8601}}"
            )
        return date.fromisoformat(value["date"]) if DATE.fullmatch(value["date"]) else when
    return value


DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _compared(op: str, value: Any, wanted: Any) -> bool:
    if isinstance(wanted, date):
        value, wanted = moment(value), moment(wanted)
    elif _kind(value) != _kind(wanted):
        value = None
    if value is None:
        return op == "!="
    return bool(ORDERED[op](value, wanted))


def _kind(value: Any) -> type | None:
    """Return which values one can be compared with; a dict, or what else metadata may hold, with none."""
    return next((kind for kind in (bool, str, float) if isinstance(value, kind)), float if type(value) is int else None)


def moment(value: Any) -> datetime | None:
    """Return a time; one without a zone is in UTC, a date is its midnight."""
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, date):
            found = datetime(value.year, value.month, value.day, tzinfo=UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, tz=UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _checked(value: Any) -> Condition:
    if not isinstance(value, Condition):
        raise InvalidInputError(f"a condition is joined with {value!r}, wanted another condition")
    return value
