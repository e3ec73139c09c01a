"""The documents and segments of one version of an index, as the catalog has them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pincite.errors import IndexCorruptError
from pincite.store.catalog_rows import (
    DOCUMENT_FIELDS,
    SELECT_DOCUMENT,
    Sums,
    counted_sums,
    document_checksum,
    generation_checksum,
    living_segments,
)
from pincite.store.records import DocumentRecord

__all__ = ["DocumentCatalog", "Generation", "ListedSegment"]


class ListedSegment(NamedTuple):
    """A segment that is alive: its folder's name, its chunks, and the generation that brought it."""

    id: str
    chunks: int
    born: int


class Generation(NamedTuple):
    """A commit: its number, the sums over the documents that were alive then, and the segments, oldest first."""

    number: int
    sums: Sums
    segments: list[ListedSegment]


class Connected(Protocol):
    """What a catalog gives to read it with."""

    path: Path

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return what a query finds."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Read one state."""

    def damaged(self, what: str) -> IndexCorruptError:
        """Return the error for a damaged catalog."""


class DocumentCatalog:
    """The documents and segments of one version. Safe to use from any thread.

    Attributes
    ----------
    version : int
    path : Path
        The catalog's file.
    """

    def __init__(self, catalog: Connected, version: int) -> None:
        self._catalog = catalog
        self.version = version
        self.path = catalog.path

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Read one state: what others commit meanwhile does not show."""
        return self._catalog.reading()

    def last_generation(self) -> int:
        """Return the number of the last commit to this version, without a look at what it holds; -1 without one."""
        statement = "SELECT coalesce(max(number), -1) AS number FROM generations WHERE version = ?"
        return int(self._catalog.rows(statement, [self.version])[0]["number"])

    def generation(self, *, verify: bool = False) -> Generation:
        """Return the last commit to this version; with `verify`, its sums are added up again.

        Raises
        ------
        IndexCorruptError
            If what is alive is not what it committed.
        """
        with self._catalog.reading() as connection:
            found = connection.execute(
                "SELECT * FROM generations WHERE version = ? ORDER BY number DESC LIMIT 1", [self.version]
            ).fetchone()
            if found is None:
                raise self._catalog.damaged(f"it has no generation of version {self.version}")
            values = list(found)
            sums = Sums(*values[3:-1])
            segments = living_segments(connection, self.version)
            sound = values[-1] == generation_checksum(values[:-1], segments)
            if not sound or (verify and sums != counted_sums(connection, self.version)):
                raise self._catalog.damaged("it is not what its last generation committed")
        return Generation(values[0], sums, [ListedSegment(*segment) for segment in segments])

    def segments(self) -> list[ListedSegment]:
        """Return the segments that are alive, oldest first, whether or not the rest of the catalog is sound."""
        with self._catalog.reading() as connection:
            return [ListedSegment(*segment) for segment in living_segments(connection, self.version)]

    def has_segments(self, ids: Sequence[str]) -> bool:
        """Return whether segments are listed, be it as merged."""
        there = {row["id"] for row in self._catalog.rows("SELECT id FROM segments WHERE version = ?", [self.version])}
        return there.issuperset(ids)

    def dead_rows(self, since: int = -1) -> list[int]:
        """Return the rows of documents that were replaced or deleted after a generation and may lie in a segment."""
        statement = "SELECT row FROM documents WHERE version = ? AND died IS NOT NULL AND died > ?"
        return [row["row"] for row in self._catalog.rows(statement, [self.version, since])]

    def document(self, row: int) -> DocumentRecord:
        """Return the document of a row."""
        found = self._catalog.rows(SELECT_DOCUMENT + "WHERE row = ?", [row])
        if not found:
            raise IndexCorruptError(f"{self.path}: a segment names document {row}, which the catalog lacks")
        return self._record(found[0])

    def _record(self, row: sqlite3.Row) -> DocumentRecord:
        if row["checksum"] != document_checksum(row) or row["version"] != self.version:
            raise self._catalog.damaged(f"the row of the document {row['id']!r} does not have its checksum")
        values = {name: row[name] for name in DOCUMENT_FIELDS}
        for name in ("dropped", "metadata"):
            try:
                values[name] = json.loads(values[name])
            except (ValueError, RecursionError):
                values[name] = None
            if not isinstance(values[name], dict):
                raise self._catalog.damaged(f"{name} of the document {row['id']!r} is no dict in JSON")
        return DocumentRecord(**values, generation=row["born"])

    def live(self, id: str) -> tuple[int, DocumentRecord] | None:
        """Return the row and the live state of a document, if there is one."""
        statement = "SELECT row FROM documents WHERE version = ? AND id = ? AND died IS NULL"
        for row in self._catalog.rows(statement, [self.version, id]):
            record = self.document(row["row"])
            if record.id != id:
                raise self._catalog.damaged(f"its index leads from {id!r} to {record.id!r}")
            return row["row"], record
        return None

    def live_ids(self, uri: str | None = None) -> list[str]:
        """Return the ids of the live documents, of those at a URI if one is given."""
        statement = "SELECT id FROM documents WHERE version = ? AND died IS NULL"
        if uri is None:
            return [row["id"] for row in self._catalog.rows(statement, [self.version])]
        return [row["id"] for row in self._catalog.rows(f"{statement} AND uri = ?", [self.version, uri])]

    def live_files(self) -> list[tuple[str, str]]:
        """Return the source and the id of every live document that was read from a file, by id."""
        found = self._catalog.rows(
            "SELECT source, id FROM documents WHERE version = ? AND died IS NULL AND source IS NOT NULL ORDER BY id",
            [self.version],
        )
        return [(row["source"], row["id"]) for row in found]

    def living(self, generation: int) -> list[tuple[int, DocumentRecord]]:
        """Return the rows and records of all documents that are alive in a generation, by id."""
        found = self._catalog.rows(
            SELECT_DOCUMENT + "WHERE version = ? AND born <= ? AND (died IS NULL OR died > ?) ORDER BY id",
            [self.version, generation, generation],
        )
        return [(row["row"], self._record(row)) for row in found]

    def row_numbers(self) -> list[int]:
        """Return the rows of all documents, dead ones included, whether or not they are sound."""
        found = self._catalog.rows("SELECT row FROM documents WHERE version = ? ORDER BY row", [self.version])
        return [row["row"] for row in found]

    def living_rows(self, generation: int) -> list[tuple[int, str]]:
        """Return the rows and ids of all documents that are alive in a generation, whether or not they are sound."""
        found = self._catalog.rows(
            "SELECT row, id FROM documents WHERE version = ? AND born <= ? AND (died IS NULL OR died > ?) ORDER BY row",
            [self.version, generation, generation],
        )
        return [(row["row"], row["id"]) for row in found]

    def since(self, row: int) -> Iterator[tuple[int, DocumentRecord]]:
        """Yield the rows and records of all documents, dead ones included, that came after a row."""
        statement = SELECT_DOCUMENT + "WHERE version = ? AND row > ? ORDER BY row"
        for found in self._catalog.rows(statement, [self.version, row]):
            yield found["row"], self._record(found)

    def totals(self) -> Sums:
        """Return counts over the live documents, made from what is there."""
        with self._catalog.reading() as connection:
            return counted_sums(connection, self.version)

    def failed(self) -> int:
        """Return how many documents could not be indexed."""
        return int(self._catalog.rows("SELECT count(*) AS n FROM failures")[0]["n"])

    def without_groups(self) -> int:
        """Return how many live documents have no groups."""
        return int(self._catalog.rows(
            "SELECT count(*) AS n FROM documents WHERE version = ? AND died IS NULL AND id NOT IN"
            " (SELECT id FROM access WHERE groups <> '[]')", [self.version]
        )[0]["n"])  # fmt: skip
