"""What open readers still need: a lock that each of them holds on the generation that it reads.

A commit's leftovers are removed by the next writer, but not under a reader. Each reader holds a shared lock of the
operating system, which dies with its process, on a file that is named after its generation; on Windows, where a file
that is open cannot be removed, to have it open is enough. Where a reader cannot make one (a folder that it may not
write in), a grace period is all it has.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["READERS", "Pin", "pinned"]

READERS = "readers"


class Pin:
    """Holds a generation of a version for as long as it lives."""

    _file: io.FileIO | None = None  # also where Ctrl-C comes before there is one

    def __init__(self, index: Path, version: int, generation: int) -> None:
        self._file = _shared(index / READERS, f"{version}-{generation}")

    def __del__(self) -> None:
        # Should Ctrl-C come here, the file is closed all the same, when nobody refers to it any more.
        if self._file is not None:
            self._file.close()


def pinned(index: Path) -> set[tuple[int, int]]:
    """Return the versions and generations that readers hold; the files of others are removed."""
    found = set()
    for path in sorted((index / READERS).glob("*-*")):
        version, _, generation = path.name.partition("-")
        if version.isdecimal() and generation.isdecimal() and not _removed(path):
            found.add((int(version), int(generation)))
    return found


if sys.platform == "win32":

    def _shared(folder: Path, name: str) -> io.FileIO | None:
        """Return an open file, which is made if need be."""
        try:
            folder.mkdir(exist_ok=True)
            return (folder / name).open("ab", buffering=0)
        except OSError:
            return None

    def _removed(path: Path) -> bool:
        """Remove a file that nobody has open; return whether it is gone."""
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _at_once(path: str, flags: int) -> int:
        """Open what somebody has put there, be it a pipe, without waiting for its other end."""
        return os.open(path, flags | os.O_NONBLOCK, 0o666)

    def _shared(folder: Path, name: str) -> io.FileIO | None:
        """Return a file with a shared lock, which is made if need be."""
        while True:
            try:
                folder.mkdir(exist_ok=True)
                # Not a descriptor: wherever Ctrl-C comes, a file is closed when nobody refers to it any more.
                file = open(folder / name, "ab", buffering=0, opener=_at_once)  # noqa: SIM115
            except OSError:
                return None
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_SH)
                if os.fstat(file.fileno()).st_nlink:
                    return file
            except OSError:
                file.close()
                return None
            file.close()  # a writer removed it between the two

    def _removed(path: Path) -> bool:
        """Remove a file that nobody holds; return whether nobody does."""
        try:
            with open(path, "rb", buffering=0, opener=_at_once) as file:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(OSError):  # it may be another user's; then it stays, held by nobody
                    path.unlink(missing_ok=True)
        except OSError:
            return not path.exists()
        return True
