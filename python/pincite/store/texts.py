r"""Canonical texts in one file: any slice by code points, any line, without reading the rest.

Texts are UTF-8. A byte offset is kept for every 1,024th code point of a document, so a slice costs the decoding of what
lies between the checkpoint below its start and its end. Lines end at ``\n``, ``\r\n`` and ``\r``, as in CommonMark.
"""

from __future__ import annotations

import os
import re
from array import array
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.core.markdown import line_starts
from pincite.errors import IndexCorruptError
from pincite.store.columns import ordered, rises

__all__ = ["CanonicalTexts", "TextTable"]

KIND = "texts"
STRIDE = 1024
ENDS = ("document_bytes", "document_points", "document_checkpoints", "document_lines", "document_crlf")
"""Where each document's bytes, code points, checkpoints, lines and ``\\r\\n`` begin, and the last ones end."""
_CRLF = re.compile(r"\r\n")

Int64Array = npt.NDArray[np.int64]


class CanonicalTexts:
    """The texts of a segment's documents, by their number in it."""

    def __init__(self, file: MappedFile, path: Path) -> None:
        self._path = path
        self._utf8 = file.array("utf8", np.uint8).data
        self._bytes = self._column(file, "document_bytes")
        self._points = self._column(file, "document_points")
        self._checkpoint_bytes = self._column(file, "checkpoints")
        self._first_checkpoint = self._column(file, "document_checkpoints")
        self._line_starts = self._column(file, "line_starts")
        self._first_line = self._column(file, "document_lines")
        self._crlf = self._column(file, "crlf_ends")
        self._first_crlf = self._column(file, "document_crlf")
        if not self._is_sound():
            raise IndexCorruptError(f"{path}: the tables of its texts contradict each other")

    def _is_sound(self) -> bool:
        runs = (
            (self._bytes, len(self._utf8)),
            (self._points, int(self._points[-1]) if len(self._points) else 0),
            (self._first_checkpoint, len(self._checkpoint_bytes)),
            (self._first_line, len(self._line_starts)),
            (self._first_crlf, len(self._crlf)),
        )
        if not all(len(column) == len(self._bytes) and rises(column, last) for column, last in runs):
            return False
        counts = np.diff(self._first_checkpoint)
        return np.array_equal(counts, -(-self.lengths // STRIDE)) and ordered(
            0, self._checkpoint_bytes, np.repeat(np.diff(self._bytes), counts)
        )

    @staticmethod
    def _column(file: MappedFile, name: str) -> Int64Array:
        column: Int64Array = file.array(name, np.int64)
        return column

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Map a file that a `TextTable` wrote.

        Raises
        ------
        StorageError, IndexCorruptError, IncompatibleIndexError
            As for every file of an index.
        """
        return cls(MappedFile.open(path, kind=KIND, verify=verify), Path(path))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._bytes) - 1

    @property
    def lengths(self) -> Int64Array:
        """The code points of each document."""
        return np.diff(self._points)

    def length(self, document: int) -> int:
        """Return the code points of a document."""
        return int(self._points[document + 1] - self._points[document])

    def text(self, document: int) -> str:
        """Return a whole document."""
        return self._decode(int(self._bytes[document]), int(self._bytes[document + 1]))

    def slice(self, document: int, start: int, end: int) -> str:
        """Return ``text[start:end]`` of a document; `start` and `end` are code points within it."""
        first = self._byte_below(document, start // STRIDE)
        last = self._byte_below(document, -(-end // STRIDE))
        skip = start - start // STRIDE * STRIDE
        return self._decode(first, last)[skip : skip + end - start]

    def lines(self, document: int, start: int, end: int) -> tuple[int, int]:
        """Return the numbers, from 1, of the first and the last line that ``[start, end)`` touches."""
        starts = self._line_starts[int(self._first_line[document]) : int(self._first_line[document + 1])]
        first = int(starts.searchsorted(start, side="right"))
        last = int(starts.searchsorted(max(start, end - 1), side="right"))
        return first, last

    def crlf_before(self, document: int, offset: int) -> int:
        r"""Return how many ``\r\n`` end at or before a code point."""
        pairs = self._crlf[int(self._first_crlf[document]) : int(self._first_crlf[document + 1])]
        return int(np.searchsorted(pairs, offset, side="right"))

    def _byte_below(self, document: int, checkpoint: int) -> int:
        """Return the byte, in the file, of a checkpoint of a document, or of the document's end."""
        index = int(self._first_checkpoint[document]) + checkpoint
        if index >= int(self._first_checkpoint[document + 1]):
            return int(self._bytes[document + 1])
        return int(self._bytes[document]) + int(self._checkpoint_bytes[index])

    def _decode(self, first: int, last: int) -> str:
        try:
            return str(self._utf8[first:last], "utf-8")
        except UnicodeDecodeError as error:
            raise IndexCorruptError(f"{self._path}: its text is no UTF-8 at byte {first + error.start}") from error


class TextTable:
    """The texts of documents, to be written: their bytes, and where everything in them is."""

    def __init__(self) -> None:
        self._utf8 = bytearray()
        self._points = 0
        self._checkpoints, self._lines, self._crlf = array("q"), array("q"), array("q")
        self._ends: dict[str, array[int]] = {name: array("q", [0]) for name in ENDS}

    def add(self, text: str) -> None:
        """Take in the text of the next document; it is not kept."""
        data = text.encode()
        self._utf8 += data
        self._points += len(text)
        self._checkpoints.frombytes(_checkpoints(text, data).tobytes())
        self._lines.extend(line_starts(text)[:-1] or [0])
        self._crlf.extend(pair.end() for pair in _CRLF.finditer(text))
        counts = (len(self._utf8), self._points, len(self._checkpoints), len(self._lines), len(self._crlf))
        for column, end in zip(self._ends.values(), counts, strict=True):
            column.append(end)

    def write(self, path: Path, *, stamp: bytes) -> None:
        """Write the file, whole or not at all."""
        columns = {"checkpoints": self._checkpoints, "line_starts": self._lines, "crlf_ends": self._crlf, **self._ends}
        sections = {name: np.array(column, dtype=np.int64) for name, column in columns.items()}
        write_mapped(path, kind=KIND, stamp=stamp, sections={"utf8": bytes(self._utf8), **sections})


def _checkpoints(text: str, data: bytes) -> Int64Array:
    """Return the byte of every `STRIDE`-th code point."""
    if len(text) == len(data):
        return np.arange(0, len(data), STRIDE, dtype=np.int64)
    heads = np.flatnonzero((np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80)
    return heads[::STRIDE].astype(np.int64)
