"""One writer at a time: a lock of the operating system, which dies with its process."""

from __future__ import annotations

import io
import os
import sys
import weakref
from pathlib import Path
from types import TracebackType
from typing import Self

from pincite.errors import IndexLockedError
from pincite.store.files import storage_error

__all__ = ["WriterLock", "holder"]

_SIZE = 32  # bytes of the holder's number, padded: a second writer reads them while the first holds the lock

_held: weakref.WeakSet[WriterLock] = weakref.WeakSet()


class WriterLock:
    """Held while an index is written; a context manager.

    Raises
    ------
    IndexLockedError
        At once, if another writer (of this process, too) holds it; names the holder's process.
    StorageError
        If the lock's file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: io.FileIO | None = None

    def __enter__(self) -> Self:
        try:
            # A file object, not a descriptor: wherever Ctrl-C comes, it is closed when nobody refers to it any more.
            # Not inherited by programs that are started, so that none of them holds the lock on.
            self._file = self._path.open("a+b", buffering=0)
            if not _try_lock(self._file.fileno()):
                self._file.seek(0)
                holder = self._file.read(_SIZE).decode("ascii", "replace").strip() or "unknown"
                raise IndexLockedError(
                    f"{self._path.parent} is being written by process {holder}; wait until it is done, or stop it"
                )
            _held.add(self)
            self._file.truncate(0)
            self._file.write(str(os.getpid()).encode().ljust(_SIZE))
        except OSError as error:
            self._close()
            raise storage_error(error, self._path, "open the writer's lock") from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            _unlock(self._file.fileno())
        self._close()

    def _close(self) -> None:
        _held.discard(self)
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def held(self) -> bool:
        """Whether this process holds the lock."""
        return self._file is not None

    def require_in_place(self) -> None:
        """Refuse to go on where somebody has removed or replaced the lock's file: others may have locked another.

        Raises
        ------
        IndexLockedError
            If another file lies at the path, or none.
        """
        try:
            there = self._file is not None and os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except OSError:
            there = False
        if not there:
            raise IndexLockedError(
                f"{self._path} was removed or replaced while it was held, so that another writer may have come; what "
                "was not committed is to be done again"
            )


def holder(path: Path) -> int | None:
    """Return the process that holds a writer's lock, by what the system says of it; None where it says of none.

    Does not try the lock: a writer that came at that moment would be refused.
    """
    try:
        stat = path.stat()
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    file = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
    for line in lines:  # "1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234 0 EOF", "1: -> ..." for one that waits
        words = line.split()
        if words[1] == "FLOCK" and words[3] == "WRITE" and words[5] == file:
            return int(words[4])
    return None


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 20  # far behind the holder's number: a locked byte cannot be read on Windows

    def _unlock(descriptor: int) -> None:
        # Closing is not enough: the system then lets go when it comes round to it.
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True
else:
    import fcntl

    def _unlock(descriptor: int) -> None:
        # Closing is not enough: a child that was forked meanwhile has the same open file.
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def _try_lock(descriptor: int) -> bool:
        # flock, not lockf: it belongs to the open file, so two handles of one process exclude each other as well.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def _let_go() -> None:
    """Leave a parent's locks to the parent: they would outlive it in the child."""
    for lock in list(_held):
        lock._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
