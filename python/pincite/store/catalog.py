"""The catalog: which documents, segments and failures there are, and in which generation."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pincite.errors import IncompatibleIndexError, IndexCorruptError, IndexNotFoundError, StorageError
from pincite.store.catalog_rows import (
    DOCUMENT_FIELDS,
    FAILURE_FIELDS,
    SCHEMA,
    SELECT_DOCUMENT,
    SOURCE_FIELDS,
    checksum,
    generation_checksum,
    put_generation,
    put_meta,
)
from pincite.store.records import DocumentRecord, FailureRecord, SourceRecord

__all__ = ["FORMAT", "Catalog"]

FORMAT = 2

_open_catalogs: weakref.WeakSet[Catalog] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[Catalog] = []
"""By the fork that is under way."""


class Catalog:
    """The SQLite file of an index, in WAL mode. Safe to use from any thread, and after a fork.

    Every method that writes is called inside `transaction`, which is the commit.
    """

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._writable = writable
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened = 0
        self._transactions = 0
        with _forking:
            _open_catalogs.add(self)

    @classmethod
    def create(cls, path: Path, meta: dict[str, Any]) -> None:
        """Make the catalog of an empty index, generation 0; `meta` is kept as JSON by key."""
        path.unlink(missing_ok=True)
        catalog = cls(path, writable=True)
        with catalog.transaction() as connection:
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            put_meta(connection, {"format": FORMAT, **meta})
            put_generation(connection, 0)
        catalog.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        mode = "rwc" if self._writable else "ro"
        if not self._writable and self._cannot_change():
            mode += "&immutable=1"
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        # isolation_level=None: transactions are opened here and nowhere else.
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=30)
        connection.row_factory = sqlite3.Row
        if self._writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        self._connection = connection
        self._opened += 1
        return connection

    def _cannot_change(self) -> bool:
        """Whether the folder is read-only: SQLite cannot make the files there by which it follows other processes.

        Where a write-ahead log lies beside the catalog, it holds commits that only a writable folder lets be read.
        """
        log = self.path.with_name(self.path.name + "-wal")
        return not os.access(self.path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection, and turn SQLite's errors into named ones."""
        with self._lock:
            try:
                yield self._open()
            except sqlite3.Error as error:
                raise self._named(error) from error

    def _named(self, error: sqlite3.Error) -> Exception:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such" in str(error):
            return self._damaged(str(error))
        if name.startswith("SQLITE_CANTOPEN") and not self.path.exists():
            return IndexNotFoundError(f"{self.path.parent} holds no index: {self.path.name} is missing")
        return StorageError(None, f"{self.path}: {error}")

    def _damaged(self, what: str) -> IndexCorruptError:
        return IndexCorruptError(
            f"{self.path}: the catalog is damaged ({what}); restore the index from a copy, or index the documents again"
        )

    # `with connection` is C: it ends the transaction wherever Ctrl-C comes; lines of Python might not be reached.

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing. Leaving the block commits, with the data on disk."""
        with self._using() as connection:
            self._transactions += 1  # before the commit: an interruption right behind it must not hide it
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state: what others commit meanwhile does not show."""
        with self._using() as connection, connection:
            connection.execute("BEGIN")
            yield

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._using() as connection:
            return connection.execute(statement, values).fetchall()

    def meta(self) -> dict[str, Any]:
        """Return what `create` kept and `set_meta` added.

        Raises
        ------
        IndexCorruptError
            If it is damaged.
        IncompatibleIndexError
            If the catalog was written by a later version.
        """
        rows = self._rows("SELECT key, value, checksum FROM meta")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in rows) or not rows:
            raise self._damaged("its settings do not have their checksums")
        found = {row["key"]: json.loads(row["value"]) for row in rows}
        if found.get("format") != FORMAT:
            raise IncompatibleIndexError(
                f"{self.path}: the catalog has format {found.get('format')}, this version reads {FORMAT}; "
                "use the version that wrote it, or index the documents again"
            )
        return found

    def set_meta(self, values: dict[str, Any]) -> None:
        """Keep values, as JSON by key, in a transaction of their own."""
        with self.transaction() as connection:
            put_meta(connection, values)

    def data_version(self) -> tuple[int, int, int]:
        """Return what changes whenever something may have been committed, by whomever."""
        with self._using():
            # SQLite's number counts the commits of others, and only for one connection.
            version: int = self._rows("PRAGMA data_version")[0][0]
            return self._opened, self._transactions, version

    def generation(self) -> int:
        """Return the number of the last commit. Call it inside `reading`: it compares several tables.

        Raises
        ------
        IndexCorruptError
            If what is alive is not what it committed.
        """
        with self._using() as connection:
            found = connection.execute(
                "SELECT number, checksum FROM generations ORDER BY number DESC LIMIT 1"
            ).fetchone()
            if found is None or found["checksum"] != generation_checksum(connection, found["number"]):
                raise self._damaged("it is not what its last generation committed")
        number: int = found["number"]
        return number

    def last_generation(self) -> int:
        """Return the number of the last commit, without a look at what it holds."""
        found = self._rows("SELECT max(number) AS number FROM generations")
        return int(found[0]["number"] or 0)

    def segments(self) -> list[tuple[str, int]]:
        """Return the id and the number of chunks of each live segment, oldest first."""
        return [(row["id"], row["chunks"]) for row in self._rows(
            "SELECT id, chunks FROM segments WHERE died IS NULL ORDER BY born, id")]  # fmt: skip

    def last_row(self) -> int:
        """Return the highest row that a document ever had; rows are not used again."""
        found = self._rows("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
        return int(found[0]["seq"]) if found else 0

    def dead_rows(self) -> list[int]:
        """Return the rows of documents that were replaced or deleted and may still lie in a segment."""
        return [row["row"] for row in self._rows("SELECT row FROM documents WHERE died IS NOT NULL")]

    def document(self, row: int) -> DocumentRecord:
        """Return the document of a row."""
        found = self._rows(SELECT_DOCUMENT + "WHERE row = ?", [row])
        if not found:
            raise IndexCorruptError(f"{self.path}: a segment names document {row}, which the catalog lacks")
        return self._document(found[0])

    def _document(self, row: sqlite3.Row) -> DocumentRecord:
        if row["checksum"] != checksum([row["row"], row["born"], *(row[name] for name in DOCUMENT_FIELDS)]):
            raise self._damaged(f"the row of the document {row['id']!r} does not have its checksum")
        values = {name: row[name] for name in DOCUMENT_FIELDS}
        values["dropped"] = json.loads(values["dropped"])
        values["metadata"] = json.loads(values["metadata"])
        return DocumentRecord(**values, generation=row["born"])

    def live(self, id: str) -> tuple[int, DocumentRecord] | None:
        """Return the row and the live version of a document, if there is one."""
        for row in self._rows("SELECT row FROM documents WHERE id = ? AND died IS NULL", [id]):
            record = self.document(row["row"])
            if record.id != id:
                raise self._damaged(f"its index leads from {id!r} to {record.id!r}")
            return row["row"], record
        return None

    def live_ids(self, uri: str) -> list[str]:
        """Return the ids of the live documents at a URI."""
        return [row["id"] for row in self._rows("SELECT id FROM documents WHERE uri = ? AND died IS NULL", [uri])]

    def live_files(self) -> list[tuple[str, str]]:
        """Return the source and the id of every live document that was read from a file, by id."""
        found = self._rows("SELECT source, id FROM documents WHERE died IS NULL AND source IS NOT NULL ORDER BY id")
        return [(row["source"], row["id"]) for row in found]

    def documents(self, generation: int) -> list[tuple[int, DocumentRecord]]:
        """Return the rows and records of all documents that are alive in a generation, by id."""
        found = self._rows(
            SELECT_DOCUMENT + "WHERE born <= ? AND (died IS NULL OR died > ?) ORDER BY id", [generation, generation]
        )
        return [(row["row"], self._document(row)) for row in found]

    def documents_since(self, row: int) -> list[tuple[int, DocumentRecord]]:
        """Return the rows and records of all documents, dead ones included, that came after a row."""
        found = self._rows(SELECT_DOCUMENT + "WHERE row > ? ORDER BY row", [row])
        return [(each["row"], self._document(each)) for each in found]

    def failures(self) -> list[FailureRecord]:
        """Return the documents that could not be indexed, by id."""
        names = ", ".join(FAILURE_FIELDS)
        return [FailureRecord(*row) for row in self._rows(f"SELECT {names} FROM failures ORDER BY id")]

    def sources(self) -> dict[str, str]:
        """Return the folder of each source by its name."""
        return {record.name: record.root for record in self.source_records()}

    def source_records(self) -> list[SourceRecord]:
        """Return the sources, by name."""
        names = ", ".join(SOURCE_FIELDS)
        return [SourceRecord(*row) for row in self._rows(f"SELECT {names} FROM sources ORDER BY name")]

    def committed(self) -> dict[int, float]:
        """Return when each generation was committed, in seconds since 1970."""
        return {row["number"]: row["committed"] for row in self._rows("SELECT number, committed FROM generations")}

    def epoch(self) -> int:
        """Return how often it was changed who may see what; 0: there are no groups, and never were."""
        found = self._rows("SELECT key, value, checksum FROM meta WHERE key = 'epoch'")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in found):
            raise self._damaged("its permission epoch does not have its checksum")
        if not found and self._rows("SELECT id FROM access LIMIT 1"):
            raise self._damaged("it has groups and no permission epoch")
        return int(json.loads(found[0]["value"])) if found else 0

    def access(self) -> tuple[int, dict[str, frozenset[str]]]:
        """Return the epoch, and the groups that may see a document, by id."""
        with self.reading():
            epoch = self.epoch()
            rows = self._rows("SELECT id, groups, checksum FROM access")
        if any(row["checksum"] != checksum([row["id"], row["groups"]]) for row in rows):
            raise self._damaged("the groups of a document do not have their checksum")
        return epoch, {row["id"]: frozenset(json.loads(row["groups"])) for row in rows}

    def without_groups(self) -> int:
        """Return how many documents have no groups while the index has; else 0."""
        if not self.epoch():
            return 0
        return int(self._rows(
            "SELECT count(*) AS n FROM documents WHERE died IS NULL AND id NOT IN"
            " (SELECT id FROM access WHERE groups <> '[]')"
        )[0]["n"])  # fmt: skip

    def totals(self) -> dict[str, int]:
        """Return counts over the live documents, made from what is there."""
        row = self._rows(
            "SELECT count(*) AS documents, coalesce(sum(n_chunks), 0) AS chunks,"
            " coalesce(sum(length), 0) AS characters,"
            " coalesce(sum(truncated_tokens), 0) AS truncated_tokens,"
            " coalesce(sum(unknown_tokens), 0) AS unknown_tokens,"
            " (SELECT count(*) FROM failures) AS failed FROM documents WHERE died IS NULL"
        )[0]
        return dict(row)


# SQLite's connections and mutexes do not survive a fork: a child that inherits them may wait for ever for a thread that
# it does not have, or believe in file locks that only its parent holds. So every connection is closed while a fork is
# under way, and each side opens its own when it needs one.


def _before_fork() -> None:
    _forking.acquire()
    for catalog in list(_open_catalogs):
        catalog._lock.acquire()
        _held.append(catalog)
        catalog.close()


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
