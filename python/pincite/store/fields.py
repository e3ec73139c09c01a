"""What is known of each document as columns, so that a condition is decided once a value and not once a document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.filters.conditions import And, Compare, Condition, Not, Or
from pincite.store.records import DocumentRecord

__all__ = ["Fields"]

Mask = npt.NDArray[np.bool_]

_OWN = ("id", "title", "uri", "source", "media_type", "modified")
_REMEMBERED = 64
"""Conditions whose documents are kept."""


class Fields:
    """The fields of documents, each a column of codes over the catalog's rows. Immutable but for what it remembers.

    Parameters
    ----------
    documents : iterable of (int, DocumentRecord)
        With the catalog's rows.
    before : Fields, optional
        Of an earlier generation, whose columns go on: `documents` are those that came since.
    """

    def __init__(self, documents: Iterable[tuple[int, DocumentRecord]], before: Fields | None = None) -> None:
        self._masks: dict[str, Mask] = {}
        self._columns: dict[str, _Column] = {}
        rows = list(documents)
        self.last_row: int = max([0 if before is None else before.last_row, *(row for row, _ in rows)])
        if before is not None:
            self._columns = {name: column.copy() for name, column in before._columns.items()}
        for row, record in rows:
            for name, value in _values_of(record).items():
                self._columns.setdefault(name, _Column()).set(row, value)
        for column in self._columns.values():
            column.close(self.last_row + 1)

    def those(self, keep: Callable[[str], bool]) -> Mask:
        """Return the catalog's rows of the documents whose ids are to be kept."""
        column = self._columns.get("id", _Column())
        return np.array([*map(keep, column.values), False], dtype=np.bool_)[column.codes]

    def mask(self, condition: Condition) -> Mask:
        """Return which of the catalog's rows fulfil a condition, those of dead documents included."""
        key = condition.key
        found = self._masks.get(key)
        if found is None:
            found = self._decide(condition)
            self._masks = {**(self._masks if len(self._masks) < _REMEMBERED else {}), key: found}
        return found

    def _decide(self, condition: Condition) -> Mask:
        match condition:
            case Compare():
                return self._compare(condition)
            case And(parts):
                return np.asarray(np.logical_and.reduce([self._decide(part) for part in parts]))
            case Or(parts):
                return np.asarray(np.logical_or.reduce([self._decide(part) for part in parts]))
            case Not(part):
                return ~self._decide(part)
            case _:
                raise AssertionError(condition)

    def _compare(self, comparison: Compare) -> Mask:
        name = comparison.field.removeprefix("metadata.")
        own = name in _OWN and name == comparison.field
        column = self._columns.get(name if own else f"metadata.{name}")
        if column is None:
            return np.full(self.last_row + 1, comparison.holds(None))
        # The last place is for documents without the field, whose code is -1.
        decided = np.array([comparison.holds(value) for value in (*column.values, None)], dtype=np.bool_)
        return decided[column.codes]


class _Column:
    """Codes by row; a value's code is its place in `values`, -1 is no value."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.codes: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._code_of: dict[str, int] = {}
        self._new: dict[int, int] = {}

    def copy(self) -> _Column:
        other = _Column()
        other.values, other.codes, other._code_of = list(self.values), self.codes, dict(self._code_of)
        return other

    def set(self, row: int, value: Any) -> None:
        key = json.dumps(value, sort_keys=True)
        code = self._code_of.setdefault(key, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        self._new[row] = code

    def close(self, size: int) -> None:
        codes = np.full(size, -1, dtype=np.int32)
        codes[: len(self.codes)] = self.codes
        if self._new:
            codes[np.fromiter(self._new, dtype=np.int64)] = np.fromiter(self._new.values(), dtype=np.int32)
        self.codes, self._new = codes, {}


def _values_of(record: DocumentRecord) -> dict[str, Any]:
    own = {name: getattr(record, name) for name in _OWN}
    given = {f"metadata.{name}": value for name, value in record.metadata.items()}
    return {name: value for name, value in (own | given).items() if value is not None}
