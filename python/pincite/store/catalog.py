"""The catalog: which versions, failures, sources and grants there are, and the connection to all that it holds."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pincite.config import IndexConfig
from pincite.errors import IncompatibleIndexError, IndexCorruptError, IndexNotFoundError, StorageError
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.catalog_rows import (
    FAILURE_FIELDS,
    SCHEMA,
    SOURCE_FIELDS,
    Sums,
    checksum,
    noted_checksum,
    put_generation,
    put_meta,
    put_version,
    set_serving,
    version_checksum,
)
from pincite.store.records import FailureRecord, SourceFolder, SourceRecord, VersionRecord, VersionState

__all__ = ["FORMAT", "Catalog"]

FORMAT = 3

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
        self._file: tuple[int, int] | None = None  # which file was opened first
        self._frozen: tuple[Any, ...] | None = None  # what the files were like when they were taken for unchanging
        self._opened = 0
        self._transactions = 0
        with _forking:
            _open_catalogs.add(self)

    @classmethod
    def create(cls, path: Path, config: IndexConfig, probes: Mapping[str, Any], *, identity: str) -> None:
        """Make the catalog of an empty index: generation 0 of version 1."""
        path.unlink(missing_ok=True)
        catalog = cls(path, writable=True)
        now = time.time()
        with catalog.transaction() as connection:
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            put_meta(connection, {"format": FORMAT, "identity": identity, "created": now})
            version = put_version(
                connection, None, config=config.to_dict(), encoder=None, probes=probes, made=now, level=0
            )
            set_serving(connection, version, previous=None)
            put_generation(connection, 0, version, Sums())
            put_meta(connection, {"noted": noted_checksum(connection)})
        catalog.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._frozen is None or self._connection.in_transaction or self._frozen == self._files():
                return self._connection
            self.close()  # another user has written
        mode = "rwc" if self._writable else "ro"
        self._frozen = None
        if not self._writable and self._cannot_change():
            mode += "&immutable=1"
            self._frozen = self._files()
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

        Then it is told that nothing changes, and `_open` looks whether that is so. Where a write-ahead log lies beside
        the catalog, a writer is there or was killed, and has left the file by which it is followed.
        """
        log = self.path.with_name(self.path.name + "-wal")
        return not os.access(self.path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)

    def _files(self) -> tuple[Any, ...]:
        """What changes when another process writes the catalog or its log."""
        found: list[tuple[int, ...] | None] = []
        for beside in ("", "-wal"):
            try:
                stat = os.stat(f"{self.path}{beside}")  # noqa: PTH116 (a tenth of the time, for each statement)
            except OSError:
                found.append(None)
            else:
                found.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(found)

    def require_same_file(self) -> None:
        """Refuse to go on where the index that was opened was moved, removed or replaced.

        Raises
        ------
        IndexNotFoundError
            If another file lies at the path, or none.
        """
        try:
            stat = os.stat(self.path)  # noqa: PTH116
        except OSError:
            found = None
        else:
            found = (stat.st_dev, stat.st_ino)
        if self._file is None:
            self._file = found
        if found is None or found != self._file:
            raise IndexNotFoundError(
                f"{self.path.parent}: the index that was opened is not there any more, it was moved, removed or "
                "replaced; open it again"
            )

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
            return self.damaged(str(error))
        if name.startswith("SQLITE_CANTOPEN") and not self.path.exists():
            return IndexNotFoundError(f"{self.path.parent} holds no index: {self.path.name} is missing")
        return StorageError(None, f"{self.path}: {error}")

    def damaged(self, what: str) -> IndexCorruptError:
        """Return the error for a catalog that does not say what was written into it."""
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
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one state, also where this is called inside itself: what others commit meanwhile does not show."""
        with self._using() as connection:
            if connection.in_transaction:
                yield connection
                return
            with connection:
                connection.execute("BEGIN")
                yield connection

    def copy(self, path: Path) -> None:
        """Write the catalog, as of the last commit, to another file."""
        with self._using() as connection:
            try:
                with closing(sqlite3.connect(path)) as target:
                    connection.backup(target)
            except sqlite3.Error as error:
                raise StorageError(None, f"{path}: cannot copy the catalog: {error}") from error

    def compact(self) -> None:
        """Give back the space of what was deleted."""
        with self._using() as connection:
            connection.execute("VACUUM")

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return what a query finds."""
        with self._using() as connection:
            return connection.execute(statement, values).fetchall()

    def meta(self) -> dict[str, Any]:
        """Return the settings that are no version's.

        Raises
        ------
        IndexCorruptError
            If it is damaged.
        IncompatibleIndexError
            If the catalog was written by a later version.
        """
        rows = self.rows("SELECT key, value, checksum FROM meta")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in rows) or not rows:
            raise self.damaged("its settings do not have their checksums")
        found = {row["key"]: json.loads(row["value"]) for row in rows}
        if found.get("format") != FORMAT:
            raise IncompatibleIndexError(
                f"{self.path}: the catalog has format {found.get('format')}, this version reads {FORMAT}; "
                "use the version that wrote it, or index the documents again"
            )
        return found

    def data_version(self) -> tuple[int, int, int]:
        """Return what changes whenever something may have been committed, by whomever.

        Raises
        ------
        IndexNotFoundError
            If the index that was opened is not there any more.
        """
        with self._using():
            self.require_same_file()
            # SQLite's number counts the commits of others, and only for one connection.
            version: int = self.rows("PRAGMA data_version")[0][0]
            return self._opened, self._transactions, version

    def version(self, number: int) -> DocumentCatalog:
        """Return the documents and segments of a version."""
        return DocumentCatalog(self, number)

    def serving(self) -> int:
        """Return the number of the version that answers."""
        return int(self._setting("serving"))

    def _setting(self, key: str) -> Any:
        found = self.rows("SELECT key, value, checksum FROM meta WHERE key = ?", [key])
        if not found or found[0]["checksum"] != checksum([found[0]["key"], found[0]["value"]]):
            raise self.damaged(f"its setting {key!r} is missing or does not have its checksum")
        return json.loads(found[0]["value"])

    def versions(self) -> list[VersionRecord]:
        """Return the versions, oldest first, without those that were dropped."""
        with self.reading():
            serving, previous = self._setting("serving"), self._setting("previous")
            rows = self.rows("SELECT * FROM versions WHERE dropped IS NULL ORDER BY number")
        found = [self._version(row, serving, previous) for row in rows]
        if serving not in {version.number for version in found}:
            raise self.damaged(f"version {serving}, which serves, is missing")
        return found

    def _version(self, row: sqlite3.Row, serving: int, previous: int | None) -> VersionRecord:
        number, level = row["number"], row["level"]
        values = [number, row["config"], row["encoder"], row["probes"], row["made"], level]
        if row["checksum"] != version_checksum(values):
            raise self.damaged(f"the row of version {number} does not have its checksum")
        state: VersionState = "building" if level is None else "built"
        if number in {serving, previous}:
            state = "serving" if number == serving else "previous"
        return VersionRecord(
            number=number,
            config=IndexConfig.from_dict(json.loads(row["config"])),
            encoder=json.loads(row["encoder"]),
            probes=json.loads(row["probes"]),
            made=row["made"],
            level=level,
            state=state,
        )

    def same_in(self, one: int, other: int) -> set[str]:
        """Return the ids of the documents that say the same in two versions."""
        living = "SELECT id, content_hash, text_hash FROM documents WHERE version = ? AND died IS NULL"
        return {row["id"] for row in self.rows(f"{living} INTERSECT {living}", [one, other])}

    def last_row(self) -> int:
        """Return the highest row that a document ever had; rows are not used again."""
        found = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
        return int(found[0]["seq"]) if found else 0

    def last_generation(self) -> int:
        """Return the number of the last commit, to whichever version; no number is used again."""
        found = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'generations'")
        return int(found[0]["seq"]) if found else 0

    def check_schema(self) -> None:
        """Compare the tables with those that `create` makes: a file from elsewhere can have triggers and views.

        Raises
        ------
        IndexCorruptError
            If there is anything else, or something is missing.
        """
        found = {row["sql"] for row in self.rows("SELECT sql FROM sqlite_master WHERE name NOT GLOB 'sqlite_*'")}
        if found != {statement.strip() for statement in SCHEMA.strip().rstrip(";").split(";\n")}:
            raise self.damaged("its tables are not those of an index")

    def check_noted(self) -> None:
        """Compare the failures and sources with their checksum.

        Raises
        ------
        IndexCorruptError
            If they are not what was noted last.
        """
        with self.reading() as connection:
            if self._setting("noted") != noted_checksum(connection):
                raise self.damaged("its failures or sources are not what was noted last")

    def failures(self) -> list[FailureRecord]:
        """Return the documents that could not be indexed, by id."""
        names = ", ".join(FAILURE_FIELDS)
        rows = self.rows(f"SELECT {names} FROM failures ORDER BY id")
        return [FailureRecord(**{**dict(row), "metadata": json.loads(row["metadata"])}) for row in rows]

    def sources(self) -> dict[str, str]:
        """Return the folder of each source by its name."""
        return {record.name: record.root for record in self.source_records()}

    def source_folders(self) -> dict[str, SourceFolder]:
        """Return where each source lies, by its name, and whether all of the folder belongs to it."""
        return {record.name: SourceFolder(record.root, record.whole) for record in self.source_records()}

    def source_records(self) -> list[SourceRecord]:
        """Return the sources, by name."""
        names = ", ".join(SOURCE_FIELDS)
        rows = self.rows(f"SELECT {names} FROM sources ORDER BY name")
        return [SourceRecord(**{**dict(row), "whole": bool(row["whole"])}) for row in rows]

    def epoch(self) -> int:
        """Return how often it was changed who may see what; 0: there are no groups, and never were."""
        found = self.rows("SELECT key, value, checksum FROM meta WHERE key = 'epoch'")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in found):
            raise self.damaged("its permission epoch does not have its checksum")
        if not found and self.rows("SELECT id FROM access LIMIT 1"):
            raise self.damaged("it has groups and no permission epoch")
        return int(json.loads(found[0]["value"])) if found else 0

    def deleted_since(self, generation: int) -> set[str]:
        """Return the ids that were deleted after a generation, also those that were given again since."""
        rows = self.rows("SELECT id, generation, checksum FROM deletions")
        if any(row["checksum"] != checksum([row["id"], row["generation"]]) for row in rows):
            raise self.damaged("a deletion does not have its checksum")
        return {row["id"] for row in rows if row["generation"] > generation}

    def groups_of(self, id: str) -> frozenset[str] | None:
        """Return the groups that may see a document; None where nothing was said of it."""
        found = self.rows("SELECT id, groups, checksum FROM access WHERE id = ?", [id])
        return self._groups(found).get(id)

    def access(self) -> tuple[int, dict[str, frozenset[str]]]:
        """Return the epoch, and the groups that may see a document, by id."""
        with self.reading():
            epoch = self.epoch()
            rows = self.rows("SELECT id, groups, checksum FROM access")
        return epoch, self._groups(rows)

    def _groups(self, rows: Sequence[sqlite3.Row]) -> dict[str, frozenset[str]]:
        if any(row["checksum"] != checksum([row["id"], row["groups"]]) for row in rows):
            raise self.damaged("the groups of a document do not have their checksum")
        return {row["id"]: frozenset(json.loads(row["groups"])) for row in rows}


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
