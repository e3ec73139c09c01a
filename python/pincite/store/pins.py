"""What open readers still need: a lock that each of them holds on the generation that it reads.

A commit's leftovers are removed by the next writer, but not under a reader. Each reader holds a shared lock of the
operating system, which dies with its process, on a file that is named after its generation. Where it cannot make one
(a folder that it may not write in, Windows), a grace period is all it has.
"""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path

__all__ = ["READERS", "pin", "pinned"]

READERS = "readers"


def pin(index: Path, version: int, generation: int, reader: object) -> None:
    """Hold a generation for as long as an object lives."""
    descriptor = _shared(index / READERS, f"{version}-{generation}")
    if descriptor is not None:
        weakref.finalize(reader, os.close, descriptor).atexit = False


def pinned(index: Path) -> set[tuple[int, int]]:
    """Return the versions and generations that readers hold; the files of others are removed."""
    found = set()
    for path in sorted((index / READERS).glob("*-*")):
        version, _, generation = path.name.partition("-")
        if version.isdecimal() and generation.isdecimal() and not _removed(path):
            found.add((int(version), int(generation)))
    return found


if sys.platform == "win32":

    def _shared(folder: Path, name: str) -> int | None:
        return None

    def _removed(path: Path) -> bool:
        return False

else:
    import fcntl

    def _shared(folder: Path, name: str) -> int | None:
        """Return a descriptor with a shared lock on a file, which is made if need be."""
        while True:
            try:
                folder.mkdir(exist_ok=True)
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError:
                return None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if os.fstat(descriptor).st_nlink:
                    return descriptor
            except OSError:
                os.close(descriptor)
                return None
            os.close(descriptor)  # a writer removed it between the two

    def _removed(path: Path) -> bool:
        """Remove a file that nobody holds; return whether it is gone."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return not path.exists()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True
