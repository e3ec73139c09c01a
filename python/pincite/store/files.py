"""What the store asks of the file system beyond the core's own files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import PinciteError, StorageError

__all__ = ["make_folder", "naming_refusals", "nbytes", "storage_error", "sync_folder"]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; on Windows, whose file system logs names by itself, do nothing."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, durably; one that is there stays as it is."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    sync_folder(path.parent)


@contextmanager
def naming_refusals(path: Path, wanted: str) -> Iterator[None]:
    """Turn what the operating system refuses into the named error for it; errors that have a name keep it."""
    try:
        yield
    except OSError as error:
        if isinstance(error, PinciteError):
            raise
        raise storage_error(error, path, wanted) from error


def storage_error(error: OSError, path: Path, wanted: str) -> StorageError:
    """Return the named error for a refusal of the operating system."""
    return StorageError(error.errno, f"{path}: cannot {wanted}: {error.strerror or error}")


def nbytes(path: Path) -> int:
    """Add up the files of a folder; a writer may sweep some of them away meanwhile."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(folder, name).stat().st_size
    return total
