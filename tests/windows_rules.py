"""What Windows forbids, forbidden on Linux: files that are open or mapped are neither removed, renamed nor replaced.

`hold` is for a program of its own: it loads the parts of the store that are different on Windows as if this was one,
and looks, at every removal and renaming that Python does below a folder, who has the files. What SQLite does in C,
whose part for Windows keeps the rules, is not seen, nor is what the core does.
"""

from __future__ import annotations

import errno
import fcntl
import importlib
import os
import shutil
import struct
import sys
import types
from pathlib import Path

from pincite.store import folder as store_folder
from pincite.store import lock, pins, snapshot, sweeping, writer

SHARING_VIOLATION = "The process cannot access the file because it is being used by another process"

refused: list[str] = []
"""What could not be done, by path."""

processes = {os.getpid()}
"""Whose files count."""


def hold(folder: Path) -> None:
    """Let the rules hold below a folder, from now on."""
    sys.modules["msvcrt"] = _msvcrt()
    real, sys.platform = sys.platform, "win32"
    try:
        importlib.reload(lock)
        importlib.reload(pins)
    finally:
        sys.platform = real
        del sys.modules["msvcrt"]
    writer.WriterLock = store_folder.WriterLock = lock.WriterLock  # type: ignore[attr-defined]
    snapshot.Pin, sweeping.pinned = pins.Pin, pins.pinned  # type: ignore[attr-defined]
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # removes by paths, as it does there
    sys.addaudithook(lambda event, arguments: _look(folder, event, arguments))


def _look(folder: Path, event: str, arguments: tuple[object, ...]) -> None:
    if event not in {"os.remove", "os.rename", "os.rmdir"}:
        return
    for given in arguments[: 2 if event == "os.rename" else 1]:
        path = Path(os.fsdecode(given)).absolute()  # type: ignore[arg-type]
        if path.is_relative_to(folder) and any(used.is_relative_to(path) for used in _used(folder)):
            refused.append(f"{event} {path.relative_to(folder)}")
            raise PermissionError(errno.EACCES, SHARING_VIOLATION, str(path))
    if event == "os.rename" and Path(os.fsdecode(arguments[1])).is_dir():  # type: ignore[arg-type]
        raise FileExistsError(errno.EEXIST, "a folder is not replaced", str(arguments[1]))


def _used(folder: Path) -> set[Path]:
    """Return the files and folders below one that some process has open or mapped."""
    found = set()
    for process in processes:
        own = Path("/proc", str(process))
        for link in (own / "fd").iterdir():
            try:
                found.add(str(link.readlink()))
            except OSError:  # it was the descriptor of this loop
                continue
        found |= {line.split(maxsplit=5)[-1] for line in (own / "maps").read_text().splitlines()}
    return {path for path in map(Path, found) if path.is_relative_to(folder)}


def _msvcrt() -> types.ModuleType:
    """Return the module by whose locks one open file excludes another, of the same process too."""
    module = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, nbytes: int) -> None:
        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        kind = fcntl.F_WRLCK if mode == 2 else fcntl.F_UNLCK
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("@hhqqi4x", kind, os.SEEK_SET, at, nbytes, 0))

    module.locking, module.LK_UNLCK, module.LK_NBLCK = locking, 0, 2  # type: ignore[attr-defined]
    return module
