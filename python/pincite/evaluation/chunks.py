"""What an index holds, as an evaluation sees it: its chunks, their cost, and the answers that none of them holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pincite.core.word_pieces import piece_ends_of
from pincite.evaluation.gold import Excerpt, Span
from pincite.store.records import DocumentRecord
from pincite.store.segment import Segment
from pincite.store.snapshot import RowKey, Snapshot
from pincite.types import Document, TextEncoder

__all__ = ["IndexChunks", "IndexCost", "KnownChunks", "documents_sha256"]


@dataclass(frozen=True, slots=True)
class IndexCost:
    """What the chunks of an index cost.

    Attributes
    ----------
    chunks, characters : int
        `characters` are those of the chunks' contents.
    truncated_chunks, lost_tokens : int
        Chunks beyond the encoder's window, and the word pieces that it cuts off.
    header_tokens : int
        Word pieces of all contextual headers.
    nbytes : int or None
        Of the segments' files on disk; None for an index in memory.
    """

    chunks: int
    characters: int
    truncated_chunks: int
    lost_tokens: int
    header_tokens: int
    nbytes: int | None

    @property
    def size(self) -> str:
        """How large the index is, in words."""
        return "in memory" if self.nbytes is None else f"{self.nbytes / 1e6:.1f} MB"

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


class KnownChunks(Protocol):
    """What tells an answer that nothing can find from one that was not found: all chunks of an index."""

    def __contains__(self, document_id: str) -> bool:
        """Return whether a document is in the index."""

    @property
    def sha256(self) -> str:
        """A hash of the documents' ids and texts."""

    def document(self, id: str) -> Document | None:
        """Return a document with its canonical text."""

    def hold(self, excerpt: Excerpt) -> bool:
        """Return whether some chunk covers all of an excerpt."""

    def cost(self) -> IndexCost:
        """Measure what the chunks cost; headers are counted in the encoder's word pieces."""


def documents_sha256(text_hashes: Mapping[str, str]) -> str:
    """Return the hash of documents, of which the texts' hashes are given by id."""
    hash = hashlib.sha256()
    for id in sorted(text_hashes):
        hash.update(json.dumps([id, text_hashes[id]]).encode())
    return hash.hexdigest()


class IndexChunks:
    """Where the chunks of a generation are, by document."""

    def __init__(self, snapshot: Snapshot, encoder: Callable[[], TextEncoder]) -> None:
        self._snapshot = snapshot
        self._encoder = encoder
        self._places: dict[str, tuple[Segment, int, DocumentRecord]] = {}
        self._nbytes = 0  # taken now: a writer may merge segments away, and their files with them
        for segment in snapshot.segments:
            self._nbytes += sum(file.stat().st_size for file in segment.folder.iterdir())
            for number, row in enumerate(segment.spans.documents.tolist()):
                if snapshot.is_alive(segment, number):
                    record = snapshot.document(row)
                    self._places[record.id] = (segment, number, record)

    def __contains__(self, document_id: str) -> bool:
        """Return whether a document is in the index."""
        return document_id in self._places

    @property
    def sha256(self) -> str:
        """A hash of the documents' ids and texts."""
        return documents_sha256({id: record.text_hash for id, (_, _, record) in self._places.items()})

    def document(self, id: str) -> Document | None:
        """Return a document with its canonical text."""
        if id not in self._places:
            return None
        segment, number, record = self._places[id]
        return Document(id=id, text=segment.texts.text(number), title=record.title, markup=record.markup)

    def hold(self, excerpt: Excerpt) -> bool:
        """Return whether some chunk covers all of an excerpt."""
        if excerpt.document not in self._places:
            return False
        segment, number, _ = self._places[excerpt.document]
        rows = segment.spans.chunks_of(number)
        column = segment.spans.chunks
        starts = column["covered_start"][rows.start : rows.stop]
        ends = column["end"][rows.start : rows.stop]
        return bool(((starts <= excerpt.start) & (excerpt.end <= ends)).any())

    def touching(self, span: Span) -> list[RowKey]:
        """Return the chunks that hold or embed any of a span."""
        if span.document not in self._places:
            return []
        segment, number, _ = self._places[span.document]
        first = self._snapshot.first_keys[self._snapshot.segments.index(segment)]
        rows = np.array(segment.spans.chunks_of(number), dtype=np.int64)
        starts, ends = (segment.spans.chunks[name][rows] for name in ("covered_start", "end"))
        touched = ends > span.start
        if span.end is not None:
            touched &= starts < span.end
        return (rows[touched] + first).tolist()  # type: ignore[no-any-return]

    def cost(self) -> IndexCost:
        """Measure what the chunks cost; headers are counted in the encoder's word pieces."""
        chunks = characters = truncated = lost = headers = 0
        ends = piece_ends_of(self._encoder().word_pieces)
        tokens_of: dict[str, int] = {}
        for segment, visible in zip(self._snapshot.segments, self._snapshot.visible, strict=True):
            rows = np.arange(len(segment)) if visible is None else np.flatnonzero(visible)
            column = segment.spans.chunks
            chunks += len(rows)
            characters += int((column["end"][rows] - column["start"][rows]).sum())
            truncated += int((column["truncated_tokens"][rows] > 0).sum())
            lost += int(column["truncated_tokens"][rows].sum())
            for row in rows.tolist():
                header = segment.spans.chunk(row).header
                if header not in tokens_of:
                    tokens_of[header] = len(ends(header))
                headers += tokens_of[header]
        return IndexCost(chunks, characters, truncated, lost, headers, self._nbytes)
