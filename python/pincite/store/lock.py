"""One writer at a time: a lock of the operating system, which dies with its process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from pincite.errors import IndexLockedError
from pincite.store.files import storage_error

__all__ = ["WriterLock"]

_SIZE = 32  # bytes of the holder's number, padded: a second writer reads them while the first holds the lock


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
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            # Not inherited by programs that are started, so that none of them holds the lock on.
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise storage_error(error, self._path, "open the writer's lock") from error
        if not _try_lock(descriptor):
            holder = os.read(descriptor, _SIZE).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise IndexLockedError(
                f"{self._path.parent} is being written by process {holder}; wait until it is done, or stop it"
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode().ljust(_SIZE))
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        # A byte far behind the holder's number: a locked byte cannot be read on Windows.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        # flock, not lockf: it belongs to the open file, so two handles of one process exclude each other as well.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
