"""The documents of a segment that is about to be written: new ones, and those of other segments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Sequence
from pathlib import Path

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


class Staged:
    """The documents of a segment that is about to be written: new ones, and those of merged segments."""

    def __init__(self, documents: Sequence[PreparedDocument], vectors: npt.NDArray[np.float32], first_row: int) -> None:
        self.rows: list[tuple[PreparedDocument, int, npt.NDArray[np.float32]]] = []
        self._none = vectors[:0]
        at = 0
        for row, document in enumerate(documents, start=first_row):
            end = at + len(document.chunks)
            self.rows.append((document, row, vectors[at:end]))
            at = end
        assert at == len(vectors), f"{len(vectors)} vectors for {at} chunks"

    def carry(self, segment: Segment, snapshot: Snapshot, dead: Container[int]) -> None:
        """Take over the living documents of a segment."""
        for number, row in enumerate(segment.spans.documents.tolist()):
            if row in dead or not snapshot.is_alive(segment, number):
                continue
            document, vectors = carried(segment, number, snapshot.document(row))
            self.rows.append((document, row, vectors))

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """Those of all chunks."""
        return np.concatenate([vectors for _, _, vectors in self.rows]) if self.rows else self._none

    def write(self, folder: Path, config: IndexConfig) -> str:
        """Write them as a segment that is bound to the settings, and return its id."""
        self.rows.sort(key=lambda row: row[0].record.id)
        return write_segment(
            folder,
            [document for document, _, _ in self.rows],
            [row for _, row, _ in self.rows],
            self.vectors,
            config=config,
            stamp=hashlib.sha256(json.dumps({"config": config.to_dict()}, sort_keys=True).encode()).digest(),
        )


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
