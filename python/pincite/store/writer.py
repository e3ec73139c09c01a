"""The one writer: stages segments, commits a generation, merges small segments, sweeps what nobody lists."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pincite.config import IndexConfig
from pincite.errors import IndexLockedError
from pincite.store.catalog import Catalog
from pincite.store.catalog_rows import (
    insert_document,
    put_access,
    put_failures,
    put_generation,
    put_sources,
    put_syncs,
)
from pincite.store.files import naming_refusals
from pincite.store.lock import WriterLock
from pincite.store.records import FailureRecord, PreparedDocument
from pincite.store.segment import UNFINISHED, Segment, write_segment
from pincite.store.snapshot import Snapshot
from pincite.types import Chunk

__all__ = ["Writer", "stamp_bytes"]

LOCK = "writer.lock"
FANOUT = 4
"""So many segments of one size are merged into one."""

SMALLEST_TIER = 256
"""Segments below this many chunks are all of one size."""

GRACE_S = 60.0
"""How long what a commit replaced is kept for readers that are in the middle of a search."""


def stamp_bytes(stamp: Mapping[str, Any]) -> bytes:
    """Return the 32 bytes that bind a segment's files to what the index was built with."""
    return hashlib.sha256(json.dumps(stamp, sort_keys=True).encode()).digest()


class Writer:
    """Holds the writer's lock of an index; a context manager.

    Raises
    ------
    IndexLockedError
        On entering, if another writer holds it.
    """

    def __init__(self, catalog: Catalog, folder: Path, *, config: IndexConfig, stamp: Mapping[str, Any]) -> None:
        self._catalog = catalog
        self._segments = folder / "segments"
        self._lock = WriterLock(folder / LOCK)
        self._config = config
        self._stamp = stamp_bytes(stamp)

    def __enter__(self) -> Self:
        self._lock.__enter__()
        try:
            self.sweep()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, value, traceback)

    def commit(
        self,
        documents: Sequence[PreparedDocument],
        vectors: npt.NDArray[np.float32],
        *,
        failures: Iterable[FailureRecord] = (),
        recovered: Iterable[str] = (),
        deleted: Iterable[str] = (),
        sources: Mapping[str, str] | None = None,
        syncs: Mapping[str, str] | None = None,
        granted: Mapping[str, Iterable[str]] | None = None,
        known: Sequence[Segment] = (),
    ) -> int:
        """Make a new generation, and return its number.

        Documents replace those of the same id; until the commit, and if it fails, the old ones are there.

        Parameters
        ----------
        documents : sequence of PreparedDocument
        vectors : (n, dim) float32 array
            One unit vector a chunk, in the order of documents and chunks.
        failures : iterable of FailureRecord
            Documents that could not be indexed.
        recovered : iterable of str
            Ids whose former failure is over.
        deleted : iterable of str
            Ids of documents that go, and of failures that are forgotten; those that are not there are passed over.
        sources : mapping of str to str, optional
            Folders by name, to be remembered.
        syncs : mapping of str to str, optional
            Sources that were compared with their folders, by name, each with the trouble that was met; '' is none.
        granted : mapping of str to iterable of str, optional
            The groups that may see documents, by id.
        known : sequence of Segment
            Segments that are mapped already.
        """
        if not self._lock.held:
            raise IndexLockedError(
                f"{self._segments.parent} is being written by the parent of this process, which was forked meanwhile; "
                "let the child open the index and add to it by itself"
            )
        before = Snapshot.open(self._catalog, self._segments.resolve(), known=known)
        generation = before.generation + 1
        gone_ids = list(dict.fromkeys(deleted))
        replaced = [self._catalog.live(id) for id in {*(document.record.id for document in documents), *gone_ids}]
        dead = {found[0] for found in replaced if found is not None}
        size = sum(len(document.chunks) for document in documents)
        merged = self._to_merge(before, dead, size) if documents or dead else []
        first_row = self._catalog.last_row() + 1
        staged = _Staged(documents, vectors, first_row)
        for segment in merged:
            Segment(segment.folder)  # compares it with its checksums: damage must not be copied under new ones
            staged.carry(segment, before, dead)
        with naming_refusals(self._segments, "write a segment"):
            segment_id = staged.write(self._segments, self._config, self._stamp) if staged.rows else None
        with self._catalog.transaction() as connection:
            connection.executemany("UPDATE documents SET died = ? WHERE row = ?", [(generation, row) for row in dead])
            for row, document in enumerate(documents, start=first_row):
                insert_document(connection, document.record, row, generation)
            gone = [(generation, segment.id) for segment in merged]
            connection.executemany("UPDATE segments SET died = ? WHERE id = ?", gone)
            if segment_id is not None:
                connection.execute(
                    "INSERT INTO segments VALUES (?, ?, ?, NULL)", [segment_id, len(staged.vectors), generation]
                )
            connection.executemany("DELETE FROM failures WHERE id = ?", [(id,) for id in (*recovered, *gone_ids)])
            put_failures(connection, failures)
            put_sources(connection, sources or {})
            put_syncs(connection, syncs or {})
            put_access(connection, granted or {}, gone=gone_ids)
            put_generation(connection, generation)
        return generation

    def _to_merge(self, before: Snapshot, dead: set[int], size: int) -> list[Segment]:
        """Choose the segments that are folded into the one about to be written.

        Sizes go up by tiers of FANOUT, so every chunk is rewritten a number of times that grows with the logarithm
        of the index. Segments that are half dead are folded away as well.
        """
        alive: dict[str, int] = {}
        for segment, rows in zip(before.segments, before.visible, strict=True):
            mask = np.ones(len(segment), dtype=np.bool_) if rows is None else rows.copy()
            mask &= ~np.isin(segment.spans.documents, list(dead))[segment.spans.chunks["document"]]
            alive[segment.id] = int(mask.sum())
        chosen = [segment for segment in before.segments if 2 * alive[segment.id] < len(segment) or not len(segment)]
        size += sum(alive[segment.id] for segment in chosen)
        while True:
            peers = [
                segment
                for segment in before.segments
                if segment not in chosen and _tier(alive[segment.id]) <= _tier(size)
            ]
            if len(peers) + 1 < FANOUT:
                return chosen
            chosen += peers
            size += sum(alive[segment.id] for segment in peers)

    def sweep(self) -> None:
        """Remove what no generation lists: unfinished and merged segments, and rows of documents that are gone."""
        until = time.time() - GRACE_S
        with self._catalog.transaction() as connection:
            connection.execute(
                "DELETE FROM segments WHERE died IS NOT NULL AND died IN"
                " (SELECT number FROM generations WHERE committed <= ?)",
                [until],
            )
            listed = {row["id"] for row in connection.execute("SELECT id FROM segments")}
        for folder in self._segments.iterdir():
            if folder.name.startswith(UNFINISHED) or folder.name not in listed:
                # What cannot be removed now (a file that is mapped, on Windows) goes at the next sweep.
                shutil.rmtree(folder, ignore_errors=True)
        dead = self._catalog.dead_rows()
        if not dead:
            return
        still = {row for segment in self._listed(listed) for row in segment.spans.documents.tolist()}
        with self._catalog.transaction() as connection:
            gone = [(row, until) for row in dead if row not in still]
            connection.executemany(
                "DELETE FROM documents WHERE row = ? AND died IN (SELECT number FROM generations WHERE committed <= ?)",
                gone,
            )

    def _listed(self, ids: Iterable[str]) -> list[Segment]:
        return [Segment(self._segments / id) for id in ids if (self._segments / id).is_dir()]


class _Staged:
    """The documents of a segment that is about to be written: new ones, and those of merged segments."""

    def __init__(self, documents: Sequence[PreparedDocument], vectors: npt.NDArray[np.float32], first_row: int) -> None:
        self.rows: list[tuple[PreparedDocument, int, npt.NDArray[np.float32]]] = []
        self._none = vectors[:0]
        at = 0
        for row, document in enumerate(documents, start=first_row):
            end = at + len(document.chunks)
            self.rows.append((document, row, vectors[at:end]))
            at = end

    def carry(self, segment: Segment, snapshot: Snapshot, dead: set[int]) -> None:
        """Take over the living documents of a segment."""
        for number, row in enumerate(segment.spans.documents.tolist()):
            if row in dead or not snapshot.is_alive(segment, number):
                continue
            rows = segment.spans.chunks_of(number)
            text = segment.texts.text(number)
            chunks = [_chunk(segment, at, text) for at in rows]
            document = PreparedDocument(snapshot.document(row), text, chunks, segment.spans.sections_of(number))
            self.rows.append((document, row, segment.vectors.vectors[rows.start : rows.stop]))

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        return np.concatenate([vectors for _, _, vectors in self.rows]) if self.rows else self._none

    def write(self, folder: Path, config: IndexConfig, stamp: bytes) -> str:
        self.rows.sort(key=lambda row: row[0].record.id)
        return write_segment(
            folder,
            [document for document, _, _ in self.rows],
            [row for _, row, _ in self.rows],
            self.vectors,
            config=config,
            stamp=stamp,
        )


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


def _tier(chunks: int) -> int:
    tier = 0
    while chunks > SMALLEST_TIER * FANOUT**tier:
        tier += 1
    return tier
