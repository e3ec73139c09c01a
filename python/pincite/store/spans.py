"""Chunks and sections of a segment in one file: columns, not rows."""

from __future__ import annotations

import json
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.errors import IndexCorruptError
from pincite.store.columns import ordered, rises, within
from pincite.store.records import ChunkRecord, PreparedDocument
from pincite.types import Section

__all__ = ["BESIDE_ALWAYS", "GRAPH", "SpanTable", "Spans"]

KIND = "spans"
CHUNK_COLUMNS = ("document", "start", "end", "covered_start", "section", "header", "path", "truncated_tokens")
BESIDE = "file:"
BESIDE_ALWAYS = ("texts.pin", "bm25.pin", "vectors.pin")
GRAPH = "graph.pin"
SECTION_COLUMNS = ("start", "heading_end", "end", "level", "path")


class Spans:
    """Which chunks and sections a segment holds, and of which documents.

    Attributes
    ----------
    documents : (d,) int64 array
        The catalog's row of each document, in the order of the documents' ids.
    first_chunk, first_section : (d + 1,) int64 array
        Where each document's chunks and sections begin.
    chunks : dict of str to (n,) int64 array
        By column; `document` is the number in the segment.
    beside : dict of str to bytes
        The segment's other files, with what tells each from any other: one that is lost is missed, and one of another
        segment noticed.
    """

    def __init__(self, file: MappedFile, path: Path) -> None:
        self._path = path
        self.documents = file.array("documents", np.int64)
        self.first_chunk = file.array("document_chunks", np.int64)
        self.first_section = file.array("document_sections", np.int64)
        self.chunks = {name: file.array(f"chunk_{name}", np.int64) for name in CHUNK_COLUMNS}
        self.sections = {name: file.array(f"section_{name}", np.int64) for name in SECTION_COLUMNS}
        self._strings = file.array("strings", np.uint8).data
        self._string_ends = file.array("string_ends", np.int64)
        self.beside = {
            name.removeprefix(BESIDE): bytes(file.section(name)) for name in file.names if name.startswith(BESIDE)
        }
        self._check()

    def _check(self) -> None:
        n_chunks, n_sections = len(self), len(self.sections["start"])
        chunks, sections, n_strings = self.chunks, self.sections, len(self._string_ends)
        sound = (
            set(self.beside) - {GRAPH} == set(BESIDE_ALWAYS)
            and all(len(column) == n_chunks for column in chunks.values())
            and all(len(column) == n_sections for column in sections.values())
            and len(self.first_chunk) == len(self.first_section) == len(self.documents) + 1
            and rises(self.first_chunk, n_chunks)
            and rises(self.first_section, n_sections)
            and rises(np.concatenate([[0], self._string_ends]), len(self._strings))
            and np.array_equal(chunks["document"], np.repeat(np.arange(len(self.documents)), np.diff(self.first_chunk)))
            and within(chunks["section"], n_sections)
            and all(within(column, n_strings) for column in (chunks["header"], chunks["path"], sections["path"]))
            and ordered(0, chunks["covered_start"], chunks["start"], chunks["end"])
            and ordered(0, sections["start"], sections["heading_end"], sections["end"])
        )
        if not sound:
            raise IndexCorruptError(f"{self._path}: the tables of its chunks contradict each other")

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Map a file that `write` made; raises what opening any file of an index raises."""
        return cls(MappedFile.open(path, kind=KIND, verify=verify), Path(path))

    def lie_within(self, lengths: npt.NDArray[np.int64]) -> bool:
        """Return whether all chunks and sections end within texts of so many code points, one a document."""
        of_chunks = np.repeat(lengths, np.diff(self.first_chunk))
        of_sections = np.repeat(lengths, np.diff(self.first_section))
        return ordered(self.chunks["end"], of_chunks) and ordered(self.sections["end"], of_sections)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.chunks["start"])

    def chunk(self, row: int) -> ChunkRecord:
        """Return one chunk."""
        column = self.chunks
        return ChunkRecord(
            document=int(self.documents[column["document"][row]]),
            start=int(column["start"][row]),
            end=int(column["end"][row]),
            covered_start=int(column["covered_start"][row]),
            section=self.section(int(column["section"][row])),
            heading_path=self._heading_path(int(column["path"][row])),
            header=self._string(int(column["header"][row])),
            truncated_tokens=int(column["truncated_tokens"][row]),
        )

    def section(self, row: int) -> Section:
        """Return one section."""
        column = self.sections
        return Section(
            start=int(column["start"][row]),
            heading_end=int(column["heading_end"][row]),
            end=int(column["end"][row]),
            level=int(column["level"][row]),
            heading_path=self._heading_path(int(column["path"][row])),
        )

    def chunks_of(self, document: int) -> range:
        """Return the rows of a document's chunks."""
        return range(int(self.first_chunk[document]), int(self.first_chunk[document + 1]))

    def section_at(self, document: int, offset: int) -> Section | None:
        """Return the section of a document that a code point stands in; None for a text without any."""
        first, last = int(self.first_section[document]), int(self.first_section[document + 1])
        row = first + int(np.searchsorted(self.sections["start"][first:last], offset, side="right")) - 1
        return self.section(row) if row >= first else None

    def sections_of(self, document: int) -> list[Section]:
        """Return a document's sections, in order."""
        rows = range(int(self.first_section[document]), int(self.first_section[document + 1]))
        return [self.section(row) for row in rows]

    def _heading_path(self, number: int) -> tuple[str, ...]:
        try:
            path = json.loads(self._string(number))
        except (ValueError, RecursionError) as error:
            raise IndexCorruptError(f"{self._path}: string {number} is no list of headings: {error}") from error
        if not isinstance(path, list) or not all(isinstance(heading, str) for heading in path):
            raise IndexCorruptError(f"{self._path}: string {number} is no list of headings")
        return tuple(path)

    def _string(self, number: int) -> str:
        start = int(self._string_ends[number - 1]) if number else 0
        try:
            return str(self._strings[start : int(self._string_ends[number])], "utf-8")
        except UnicodeDecodeError as error:
            raise IndexCorruptError(f"{self._path}: string {number} is no UTF-8") from error


class SpanTable:
    """The chunks and sections of documents, to be written: numbers in columns, and each string once."""

    def __init__(self) -> None:
        self._strings = _StringTable()
        # Arrays, not lists: a merge has as many numbers as it has documents to spare for.
        self._chunks, self._sections = array("q"), array("q")
        self._first_chunk, self._first_section = array("q", [0]), array("q", [0])

    def add(self, document: PreparedDocument) -> None:
        """Take in the next document."""
        number, strings = len(self._first_chunk) - 1, self._strings
        for chunk, owner in zip(document.chunks, _owners(document), strict=True):
            header = chunk.embedded_text[: len(chunk.embedded_text) - (chunk.end - chunk.covered_start)]
            row = self._first_section[-1] + owner
            headings = strings.add(json.dumps(chunk.heading_path, ensure_ascii=False))
            self._chunks.extend(
                (number, chunk.start, chunk.end, chunk.covered_start, row, strings.add(header), headings,
                 chunk.truncated_tokens)
            )  # fmt: skip
        for section in document.sections:
            where = strings.add(json.dumps(section.heading_path, ensure_ascii=False))
            self._sections.extend((section.start, section.heading_end, section.end, section.level, where))
        self._first_chunk.append(len(self._chunks) // len(CHUNK_COLUMNS))
        self._first_section.append(len(self._sections) // len(SECTION_COLUMNS))

    def write(self, path: Path, rows: Sequence[int], *, beside: Mapping[str, bytes], stamp: bytes) -> None:
        """Write the spans of documents whose rows in the catalog are `rows`, whole or not at all.

        `beside` is what `Spans.beside` gives.
        """
        strings = self._strings.values
        write_mapped(
            path,
            kind=KIND,
            stamp=stamp,
            sections={
                "documents": _int64(rows),
                "document_chunks": _int64(self._first_chunk),
                "document_sections": _int64(self._first_section),
                **_columns("chunk_", CHUNK_COLUMNS, self._chunks),
                **_columns("section_", SECTION_COLUMNS, self._sections),
                "strings": b"".join(strings),
                "string_ends": np.cumsum([len(value) for value in strings], dtype=np.int64),
                **{BESIDE + name: identity for name, identity in beside.items()},
            },
        )


def _owners(document: PreparedDocument) -> list[int]:
    """Return the section that each chunk stands in.

    That is the last one that begins in the chunk, if the chunk bears its headings (the sections above it have no text
    of their own), else the one that the chunk begins in.
    """
    starts = [section.start for section in document.sections]
    owners = []
    for chunk in document.chunks:
        last = bisect_left(starts, chunk.end) - 1
        if document.sections[last].heading_path != chunk.heading_path:
            last = bisect_right(starts, chunk.start) - 1
        owners.append(max(0, last))
    return owners


class _StringTable:
    """Each string once."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self._number: dict[str, int] = {}

    def add(self, string: str) -> int:
        if string not in self._number:
            self._number[string] = len(self.values)
            self.values.append(string.encode())
        return self._number[string]


def _int64(values: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _columns(prefix: str, names: Sequence[str], rows: Sequence[int]) -> dict[str, npt.NDArray[np.int64]]:
    table = _int64(rows).reshape(-1, len(names))
    return {prefix + name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(names)}
