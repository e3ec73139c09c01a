"""The connection to an index's SQLite file: transactions, errors with names, forks, and folders that are read only."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pincite.errors import IndexCorruptError, IndexLockedError, IndexNotFoundError, PinciteError, StorageError, counted
from pincite.store.write_ahead_log import lost_commits

__all__ = ["CatalogConnection"]

REFUSALS = ("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_BUSY",
            "SQLITE_LOCKED", "SQLITE_NOMEM", "SQLITE_PROTOCOL", "SQLITE_AUTH", "SQLITE_NOLFS",
            "SQLITE_INTERRUPT")  # fmt: skip
"""What is no fault of the file."""

ROOM = 1 << 16
"""Bytes that SQLite's file of shared memory and what comes with it want at least."""

BUSY_S = 30.0
"""How long another process is waited for that writes to the catalog."""

_open_connections: weakref.WeakSet[CatalogConnection] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[CatalogConnection] = []
"""By the fork that is under way."""


class CatalogConnection:
    """A SQLite file in WAL mode. Safe to use from any thread, and after a fork."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._writable = writable
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # which file was opened first
        self._frozen: tuple[Any, ...] | None = None  # what the files were like when they were taken for unchanging
        self._opened = 0
        self._closed = False
        self._transactions = 0
        with _forking:
            _open_connections.add(self)

    def close(self, *, for_good: bool = False) -> None:
        """Close the connection; a later call opens another, unless it is `for_good`."""
        with self._lock:
            self._closed = self._closed or for_good
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def finish(self) -> None:
        """Close the connection with everything in the one file, which may then be renamed.

        Raises
        ------
        StorageError
            If that cannot be written: closing alone would leave it in the log, and say nothing.
        """
        with self._using() as connection:
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.close()
        log = self._log()
        if busy or (log.exists() and log.stat().st_size):
            raise StorageError(None, f"{self.path}: what was written cannot be moved out of its log")

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise closed(self.path.parent)
        if self._connection is not None:
            if self._frozen is None or self._connection.in_transaction or self._frozen == self._files():
                return self._connection
            self.close()  # another user has written
        mode = "rw" if self._writable else "ro"
        self._frozen = None
        if not self._writable and self._cannot_change():
            mode += "&immutable=1"
            self._frozen = self._files()
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        # isolation_level=None: transactions are opened here and nowhere else.
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_S)
        connection.row_factory = sqlite3.Row
        if self._writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        self._connection = connection
        self._opened += 1
        return connection

    def _cannot_change(self) -> bool:
        """Whether the folder is read-only, or full: SQLite cannot make the file by which it follows other processes.

        Then it is told that nothing changes, and `_open` looks whether that is so. Where a write-ahead log lies beside
        the catalog, a writer is there or was killed, and has left the file by which it is followed.
        """
        log = self._log()
        if log.exists() and log.stat().st_size:
            return False
        return not os.access(self.path.parent, os.W_OK) or self._is_full()

    def _is_full(self) -> bool:
        try:
            return shutil.disk_usage(self.path.parent).free < ROOM
        except OSError:
            return False

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

    def check_log(self) -> None:
        """Refuse a catalog whose log is damaged: what was committed behind the damage would be gone without a word.

        Call it before anything is read or written: the last writer that closes a catalog removes its log.

        Raises
        ------
        IndexCorruptError
            If commits are lost.
        """
        if lost := lost_commits(self.path):
            raise IndexCorruptError(
                f"{self.path}-wal: the log of the catalog is damaged, and {counted(lost, 'commit')} behind the damage "
                "cannot be read; restore the index from a copy to a new place (what was deleted or taken back behind "
                "the damage is not known here), or open it with verify=False and go on with what was committed before"
            )

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
    def alone(self) -> Iterator[None]:
        """Keep other threads from the connection, and from what else is changed under it."""
        with self._lock:
            yield

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection, and turn SQLite's errors into named ones."""
        with self._lock:
            try:
                yield self._open()
            except sqlite3.Error as error:
                raise self._named(error) from error
            except UnicodeDecodeError as error:  # of a message that quotes what is damaged
                raise self.damaged("what it holds is no UTF-8") from error

    def _named(self, error: sqlite3.Error) -> Exception:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_CANTOPEN") and not self.path.exists():
            return IndexNotFoundError(f"{self.path.parent} holds no index: {self.path.name} is missing")
        if name.startswith("SQLITE_CANTOPEN") and not self._writable and self._log().exists():
            return StorageError(
                None,
                f"{self.path}: what was committed last lies in {self._log().name} beside it, which can only be read "
                f"where the folder may be written to ({error}); open the index there once, or a copy of the folder",
            )
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return IndexLockedError(
                f"{self.path}: another process has been writing to the catalog for {BUSY_S:.0f} s; a commit takes "
                "milliseconds, so look for one that was stopped in the middle (`pincite doctor` names the writer)"
            )
        if isinstance(error, (sqlite3.InterfaceError, sqlite3.ProgrammingError)) or name.startswith(REFUSALS):
            full = "; there is no room on the disk" if self._is_full() else ""
            return StorageError(None, f"{self.path}: {error}{full}")
        # Statements are ours, and fit the tables: what they cannot read, or contradicts them, is damage.
        return self.damaged(str(error))

    def _log(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

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

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return what a query finds."""
        with self._using() as connection:
            return connection.execute(statement, values).fetchall()

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


def closed(path: Path) -> PinciteError:
    """Return the error for what is asked of an index that was closed."""
    return PinciteError(f"the index {path} was closed; open it again with pincite.open")


# SQLite's connections and mutexes do not survive a fork: a child that inherits them may wait for ever for a thread that
# it does not have, or believe in file locks that only its parent holds. So every connection is closed while a fork is
# under way, and each side opens its own when it needs one.


def _before_fork() -> None:
    while not _all_held():
        time.sleep(0.001)
    for connection in _held:
        connection.close()


def _all_held() -> bool:
    """Take every lock, or none: a thread that holds one may wait for another, or to make a connection."""
    _forking.acquire()
    for connection in list(_open_connections):
        if not connection._lock.acquire(timeout=0.05):
            _after_fork()
            return False
        _held.append(connection)
    return True


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
