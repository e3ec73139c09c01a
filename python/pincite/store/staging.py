"""The documents of a segment that is about to be written: new ones, and those of other segments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pincite.config import IndexConfig
from pincite.errors import IndexCorruptError
from pincite.store.preparing import text_hash
from pincite.store.records import DocumentRecord, PreparedDocument
from pincite.store.segment import Segment, write_segment
from pincite.store.snapshot import Snapshot
from pincite.types import Chunk

__all__ = ["Staged", "carried", "text_of"]


class _Place(NamedTuple):
    """Where a document is until it is written: among the new ones, or in a segment."""

    id: str
    row: int
    segment: Segment | None
    number: int


class Staged:
    """The documents of a segment that is about to be written: new ones, and those of merged segments.

    Those of segments are read one at a time while it is written, so that a merge costs no memory for each of them.

    Parameters
    ----------
    documents : sequence of PreparedDocument
        The new ones.
    vectors : (n, dim) float32 array
        One a chunk of theirs, in order.
    first_row : int
        The catalog's row of the first; the others follow.
    before : Snapshot
        The generation whose segments are merged.

    Attributes
    ----------
    chunks : int
        How many it will hold.
    """

    def __init__(
        self,
        documents: Sequence[PreparedDocument],
        vectors: npt.NDArray[np.float32],
        first_row: int,
        before: Snapshot,
    ) -> None:
        self._documents = documents
        self._vectors = vectors
        self._ends = list(accumulate((len(document.chunks) for document in documents), initial=0))
        assert self._ends[-1] == len(vectors), f"{len(vectors)} vectors for {self._ends[-1]} chunks"
        self._before = before
        self._places = [
            _Place(document.record.id, row, None, number)
            for number, (row, document) in enumerate(enumerate(documents, start=first_row))
        ]
        self.chunks = self._ends[-1]

    def carry(self, segment: Segment, dead: Container[int] = ()) -> None:
        """Take over the living documents of a segment."""
        for number, row in enumerate(segment.spans.documents.tolist()):
            if row not in dead and self._before.is_alive(segment, number):
                self._places.append(_Place(self._before.record(row).id, row, segment, number))
                self.chunks += len(segment.spans.chunks_of(number))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places)

    def write(self, folder: Path, config: IndexConfig) -> str:
        """Write them as a segment that is bound to the settings, and return its id."""
        self._places.sort()  # ids differ, so nothing else is compared
        return write_segment(
            folder,
            map(self._document, self._places),
            [place.row for place in self._places],
            self._all_vectors(),
            config=config,
            stamp=hashlib.sha256(json.dumps({"config": config.to_dict()}, sort_keys=True).encode()).digest(),
        )

    def _document(self, place: _Place) -> PreparedDocument:
        if place.segment is None:
            return self._documents[place.number]
        return carried(place.segment, place.number, self._before.record(place.row))[0]

    def _all_vectors(self) -> npt.NDArray[np.float32]:
        all_of_them, at = self._vectors, 0
        for place in self._places:
            found = self._vectors_of(place)
            if not at:
                all_of_them = np.empty((self.chunks, found.shape[1]), dtype=np.float32)
            all_of_them[at : at + len(found)] = found
            at += len(found)
        return all_of_them

    def _vectors_of(self, place: _Place) -> npt.NDArray[np.float32]:
        if place.segment is None:
            return self._vectors[self._ends[place.number] : self._ends[place.number + 1]]
        rows = place.segment.spans.chunks_of(place.number)
        return place.segment.vectors.vectors[rows.start : rows.stop]


def carried(segment: Segment, number: int, record: DocumentRecord) -> tuple[PreparedDocument, npt.NDArray[np.float32]]:
    """Return a document of a segment, ready to be written into another, with its vectors."""
    rows = segment.spans.chunks_of(number)
    text = text_of(segment, number, record)
    chunks = [_chunk(segment, at, text) for at in rows]
    document = PreparedDocument(record, text, chunks, segment.spans.sections_of(number))
    return document, segment.vectors.vectors[rows.start : rows.stop]


def text_of(segment: Segment, number: int, record: DocumentRecord) -> str:
    """Return a document's text, to be written again: damage must not be copied under new checksums.

    Raises
    ------
    IndexCorruptError
        If it is not the text that was read.
    """
    text = segment.texts.text(number)
    if text_hash(text) != record.text_hash:
        raise IndexCorruptError(
            f"{segment.folder / 'texts.pin'}: the text of {record.id!r} is not the one that was read; restore the "
            "index from a copy, or index the documents again"
        )
    return text


def _chunk(segment: Segment, row: int, text: str) -> Chunk:
    record = segment.spans.chunk(row)
    return Chunk(
        start=record.start,
        end=record.end,
        content=text[record.start : record.end],
        embedded_text=record.header + text[record.covered_start : record.end],
        heading_path=record.heading_path,
        covered_start=record.covered_start,
        truncated_tokens=record.truncated_tokens,
    )
