"""Files of named, checksummed sections, read through a memory map."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, path_text, word
from pincite.core.arrays import ByteArray
from pincite.errors import InvalidInputError

__all__ = ["MappedFile", "identity_of", "write_mapped"]

NO_STAMP = bytes(32)
HEADER, SECTIONS_AT, ENTRY, MOST_SECTIONS = 96, 72, 48, 256
"""Of the format, in bytes: see ``cpp/include/pincite/envelope.hpp``."""


def write_mapped(
    path: str | os.PathLike[str],
    *,
    kind: str,
    sections: Mapping[str, bytes | npt.NDArray[Any]],
    stamp: bytes = NO_STAMP,
) -> None:
    """Write a file of named sections, whole or not at all.

    What was at `path` is replaced at the end; who has it open keeps the old file. The format is that of
    ``cpp/include/pincite/envelope.hpp``.

    Parameters
    ----------
    path : path
    kind : str
        What the file holds, 1 to 15 visible ASCII characters; whoever opens it has to name the same.
    sections : mapping of str to bytes or array
        At most 256, with names of 1 to 23 such characters. Of an array the values are kept, in C order and
        little-endian; its shape and dtype are for the reader to know.
    stamp : bytes of length 32, default zeros
        What the file is bound to, such as a digest of the configuration it was made with.

    Raises
    ------
    InvalidInputError
        If a name, the stamp or a section cannot be written.
    StorageError
        If the file cannot be written; what was at `path` is then still there.
    """
    if not isinstance(sections, Mapping):
        raise InvalidInputError(f"sections is of type {type(sections).__name__}, wanted a dict by name")
    if not isinstance(stamp, bytes):
        raise InvalidInputError(f"stamp is of type {type(stamp).__name__}, wanted 32 bytes")
    _core.write_envelope(
        path_text(path),
        kind=word(kind, "kind"),
        sections=[(word(name, "a section's name"), _raw(content, name)) for name, content in sections.items()],
        stamp=stamp,
    )


def identity_of(path: str | os.PathLike[str]) -> bytes:
    """Return 32 bytes that tell a file of the core from any other: the SHA-256 of its header and table of sections.

    The table has the checksums of all that follows, so that this costs the reading of a few hundred bytes.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with Path(path_text(path)).open("rb") as file:
        header = file.read(HEADER)
        (sections,) = struct.unpack_from("<I", header.ljust(HEADER, b"\0"), SECTIONS_AT)
        return hashlib.sha256(header + file.read(min(sections, MOST_SECTIONS) * ENTRY)).digest()


class MappedFile:
    """A file of named sections in a memory map. Read-only, and safe to use from any number of threads.

    While the object or one of its sections lives, replace the file (as `write_mapped` does), but never write into
    it or cut it short, which would end the process.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pincite.core.mapped_file import MappedFile, write_mapped
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mapped(f"{folder}/rows", kind="rows", sections={"starts": np.arange(3), "text": b"abc"})
    ...     file = MappedFile.open(f"{folder}/rows", kind="rows")
    >>> file.array("starts", np.int64).tolist()
    [0, 1, 2]
    >>> bytes(file.section("text")[1:])
    b'bc'
    """

    __slots__ = ("_file",)

    _file: _core.Envelope

    def __init__(self) -> None:
        raise TypeError("MappedFile takes no arguments: open one with MappedFile.open")

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, kind: str, verify: bool = True) -> Self:
        """Open a file that `write_mapped` wrote.

        Parameters
        ----------
        path : path
        kind : str
        verify : bool, default True
            Compare the whole file with its checksums, which reads it once. Without, only the header and the table of
            sections are checked.

        Raises
        ------
        StorageError
            If the file cannot be read.
        IndexCorruptError
            If it is damaged or cut short.
        IncompatibleIndexError
            If it is of another kind, or was written by another version.
        """
        made = object.__new__(cls)
        made._file = _core.Envelope.open(path_text(path), kind=word(kind, "kind"), verify=flag(verify, "verify"))
        return made

    @property
    def stamp(self) -> bytes:
        """The 32 bytes that the file was bound to."""
        return self._file.stamp

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sections, in the order of the file."""
        return tuple(self._file.names())

    def section(self, name: str) -> memoryview:
        """Return the bytes of a section, without a copy.

        Returns
        -------
        memoryview
            Read-only; it keeps the mapping alive.

        Raises
        ------
        IndexCorruptError
            If there is no such section.
        """
        return self._file.section(word(name, "name")).data

    def array(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a section as an array, without a copy.

        Parameters
        ----------
        name : str
        dtype : numpy dtype
            That of the array that was written.

        Returns
        -------
        (n,) array
            Read-only; it keeps the mapping alive.

        Raises
        ------
        InvalidInputError
            If no file can hold values of this dtype.
        IndexCorruptError
            If there is no such section, or its length is no multiple of a value's.
        """
        wanted = np.dtype(dtype)
        _check_dtype(wanted, "dtype")
        return self._file.section(word(name, "name"), unit=wanted.itemsize).view(wanted)

    def __repr__(self) -> str:
        return f"<MappedFile of {len(self.names)} sections>"


def _raw(content: Any, name: str) -> ByteArray:
    if isinstance(content, np.ndarray):
        _check_dtype(content.dtype, f"section {name!r}")
        values = np.ascontiguousarray(content, dtype=content.dtype.newbyteorder("<"))
        return values.reshape(-1).view(np.uint8)
    if not isinstance(content, bytes):
        raise InvalidInputError(f"section {name!r} is of type {type(content).__name__}, wanted bytes or a numpy array")
    return np.frombuffer(content, np.uint8)


def _check_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.hasobject or dtype.itemsize == 0:
        raise InvalidInputError(f"{name} has dtype {dtype}, whose values are no bytes; wanted a number's")
