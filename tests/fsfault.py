"""The face of fsfault.c: files that fail, and processes that end, at any call below a folder.

The library has to be preloaded, so what uses it is a program of its own, which calls `require_preloaded` first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("fsfault.c")


class Fault(IntEnum):
    """What happens at a call: the names are those of the library's modes."""

    OFF, COUNT, KILL, KILL_HALFWAY, FAIL, FAIL_FOR_GOOD, SHORT, RECORD = range(8)


class Operation(NamedTuple):
    """One call that changed something, or a mark of the test."""

    call: str
    path: str
    to: str
    offset: int
    data: bytes


def missing() -> str:
    """Return why the library cannot be had here; empty where it can."""
    if sys.platform != "linux":
        return "the calls that are counted are Linux's"
    return "" if shutil.which("cc") else "there is no C compiler"


@cache
def library() -> Path:
    """Compile the library and return its path."""
    place = Path(tempfile.mkdtemp(prefix="fsfault-")) / "fsfault.so"
    flags = ["-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-format-truncation"]
    subprocess.run(["cc", *flags, "-o", str(place), str(SOURCE), "-ldl"], check=True)
    return place


def preloaded() -> bool:
    """Return whether the library lies below this program."""
    return "fsfault.so" in os.environ.get("LD_PRELOAD", "")


def require_preloaded() -> None:
    """Start this program again with the library below it, where it is not."""
    if not preloaded():
        arguments = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, "LD_PRELOAD": str(library())})


@cache
def _library() -> ctypes.CDLL:
    own = ctypes.CDLL(None)
    own.fsfault_disarm.restype = own.fsfault_hit.restype = ctypes.c_long
    own.fsfault_call.restype = own.fsfault_path.restype = ctypes.c_char_p
    return own


def arm(folder: Path, fault: Fault, at: int = 0, error: int = errno.EIO, out: Path | None = None) -> None:
    """Let something happen at the call of a number, counted from 1, of those below a folder."""
    _library().fsfault_arm(os.fsencode(folder), int(fault), ctypes.c_long(at), error, os.fsencode(out or ""))


def disarm() -> int:
    """Let everything pass; return how many calls there were."""
    return int(_library().fsfault_disarm())


def hit() -> str:
    """Return the call and the path at which something happened; empty if nothing did."""
    own = _library()
    return f"{own.fsfault_call().decode()} of {os.fsdecode(own.fsfault_path())}" if own.fsfault_hit() else ""


def mark(what: str) -> None:
    """Put a word among what is recorded."""
    _library().fsfault_mark(what.encode())


def recorded(file: Path) -> Iterator[Operation]:
    """Yield what was recorded."""
    content, at = file.read_bytes(), 0
    while at < len(content):
        n_call, n_path, n_to, offset, n_data = struct.unpack_from("=QQQqQ", content, at)
        at += 40
        parts = []
        for size in (n_call, n_path, n_to, n_data):
            parts.append(content[at : at + size])
            at += size
        yield Operation(parts[0].decode(), os.fsdecode(parts[1]), os.fsdecode(parts[2]), offset, parts[3])
