"""Real file systems that are tiny, or may not be written to: where this process may mount some."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@cache
def missing() -> str:
    """Return why nothing can be mounted here; empty where it can."""
    if sys.platform != "linux":
        return "the mounts are Linux's"
    if os.geteuid():
        return "only root may mount"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, text=True, check=False)
        if tried.returncode:
            return f"mounting is refused: {tried.stderr.strip()}"
        subprocess.run(["umount", folder], check=True)
    return ""


@contextmanager
def tiny_disk(folder: Path, nbytes: int) -> Iterator[Path]:
    """Mount a file system of a size at a folder, which is made."""
    folder.mkdir()
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={nbytes}", "tmpfs"):
        yield folder


@contextmanager
def mounted_read_only(folder: Path, at: Path | None = None) -> Iterator[None]:
    """Show a folder in its own place, or in another, to which nobody may write, root included."""
    with _mounted(at or folder, "--bind", "-o", "ro", str(folder)):
        yield


@contextmanager
def _mounted(folder: Path, *arguments: str) -> Iterator[None]:
    subprocess.run(["mount", *arguments, str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
