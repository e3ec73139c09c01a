"""The one writer: stages segments and commits generations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from pincite.errors import IndexLockedError
from pincite.store.catalog import Catalog
from pincite.store.catalog_rows import (
    insert_document,
    noted_checksum,
    put_access,
    put_deletions,
    put_failures,
    put_generation,
    put_meta,
    put_sources,
    put_syncs,
)
from pincite.store.files import make_folder, naming_refusals
from pincite.store.lock import WriterLock
from pincite.store.merging import segments_to_merge
from pincite.store.records import DocumentRecord, FailureRecord, PreparedDocument, SourceFolder
from pincite.store.segment import Segment
from pincite.store.snapshot import Snapshot
from pincite.store.staging import Staged
from pincite.store.sweeping import sweep

__all__ = ["LOCK", "NO_VECTORS", "Writer"]

LOCK = "writer.lock"
NO_VECTORS: npt.NDArray[np.float32] = np.empty((0, 1), dtype=np.float32)


class Writer:
    """Holds the writer's lock of an index; a context manager.

    Parameters
    ----------
    catalog : Catalog
    folder : Path
        Of the index.

    Raises
    ------
    IndexLockedError
        On entering, if another writer holds it.
    """

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._segments = folder / "segments"
        self._lock = WriterLock(folder / LOCK)

    def __enter__(self) -> Self:
        self._lock.__enter__()
        try:
            self._catalog.require_same_file()  # or another index's files would be swept
            make_folder(self._segments)  # some copies leave empty folders out
            sweep(self._catalog, self._segments)
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
        before: Snapshot,
        documents: Sequence[PreparedDocument] = (),
        vectors: npt.NDArray[np.float32] = NO_VECTORS,
        *,
        failures: Iterable[FailureRecord] = (),
        recovered: Iterable[str] = (),
        deleted: Iterable[str] = (),
        withdrawn: Iterable[str] = (),
        sources: Mapping[str, SourceFolder] | None = None,
        syncs: Mapping[str, str] | None = None,
        looked: float = 0.0,
        granted: Mapping[str, Iterable[str]] | None = None,
        only_new: bool = False,
    ) -> int:
        """Make a new generation of the version that `before` is of, and return its number.

        Documents replace those of the same id; until the commit, and if it fails, the old ones are there. The cost is
        that of the documents and of the segments that are merged with them, whatever the size of the index.

        Parameters
        ----------
        before : Snapshot
            The last generation.
        documents : sequence of PreparedDocument
        vectors : (n, dim) float32 array
            One unit vector a chunk, in the order of documents and chunks.
        failures : iterable of FailureRecord
            Documents that could not be indexed.
        recovered : iterable of str
            Ids whose former failure is over.
        deleted : iterable of str
            Ids of documents that go, and of failures that are forgotten; those that are not there are passed over.
        withdrawn : iterable of str
            Ids of documents that go from this version alone: what failed, and who may see what, stays as it is.
        sources : mapping of str to SourceFolder, optional
            By name, to be remembered.
        syncs : mapping of str to str, optional
            Sources that were compared with their folders, by name, each with the trouble that was met; '' is none.
        looked : float
            When that was begun, in seconds since 1970.
        granted : mapping of str to iterable of str, optional
            The groups that may see documents, by id.
        only_new : bool
            Whether what was said of a document by then stays instead.
        """
        gone_ids = list(dict.fromkeys(deleted))
        replaced = {document.record.id for document in documents}.union(gone_ids, withdrawn)
        found = [self._catalog.version(before.version.number).live(id) for id in replaced]
        dead = dict(live for live in found if live is not None)
        merged = []
        if documents or dead:
            merged = segments_to_merge(before, dead, sum(len(document.chunks) for document in documents))
        with self._generation(before, documents, vectors, merged, dead) as (connection, generation):
            put_access(connection, granted or {}, gone=gone_ids, only_new=only_new)
            put_deletions(connection, gone_ids, generation)
            over, failed = [*recovered, *gone_ids], list(failures)
            if over or failed or sources or syncs:
                put_failures(connection, failed, over=over)
                put_sources(connection, sources or {})
                put_syncs(connection, syncs or {}, looked)
                put_meta(connection, {"noted": noted_checksum(connection)})
        return generation

    def merge(self, before: Snapshot) -> int:
        """Make one segment of all, without what is dead; return the generation's number.

        Costs reading and writing all that is alive, and memory for the texts and vectors; readers go on meanwhile.
        """
        if len(before.segments) < 2 and [len(segment) for segment in before.segments] == before.living:
            return before.generation
        with self._generation(before, (), NO_VECTORS, before.segments, {}) as (_, generation):
            return generation

    @contextmanager
    def _generation(
        self,
        before: Snapshot,
        documents: Sequence[PreparedDocument],
        vectors: npt.NDArray[np.float32],
        merged: Sequence[Segment],
        dead: Mapping[int, DocumentRecord],
    ) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Write a segment and list it in a generation; inside, more can be put into the same transaction."""
        if not self._lock.held:
            raise IndexLockedError(
                f"{self._segments.parent} is being written by the parent of this process, which was forked meanwhile; "
                "let the child open the index and add to it by itself"
            )
        version = before.version.number
        first_row = self._catalog.last_row() + 1
        staged = Staged(documents, vectors, first_row, before)
        for segment in merged:
            Segment(segment.folder)  # compares it with its checksums: damage must not be copied under new ones
            staged.carry(segment, dead)
        with naming_refusals(self._segments, "write a segment"):
            segment_id = staged.write(self._segments, before.version.config) if staged else None
        with self._catalog.transaction() as connection:
            self._lock.require_in_place()
            self._catalog.require_same_file()  # or what was written lies in another index
            if segment_id is not None and not (self._segments / segment_id).is_dir():
                raise IndexLockedError(f"{self._segments.parent} was swept by another writer meanwhile; try again")
            last, sums, _ = self._catalog.version(version).generation()
            if last != before.generation:
                raise IndexLockedError(f"{self._segments.parent} was changed by another writer meanwhile; try again")
            generation = self._catalog.last_generation() + 1
            connection.executemany("UPDATE documents SET died = ? WHERE row = ?", [(generation, row) for row in dead])
            for row, record in dead.items():
                sums = sums.plus(row, record, -1)
            for row, document in enumerate(documents, start=first_row):
                insert_document(connection, document.record, row, version=version, generation=generation)
                sums = sums.plus(row, document.record)
            gone = [(generation, segment.id) for segment in merged]
            connection.executemany("UPDATE segments SET died = ? WHERE id = ?", gone)
            if segment_id is not None:
                connection.execute(
                    "INSERT INTO segments VALUES (?, ?, ?, ?, NULL)",
                    [segment_id, version, staged.chunks, generation],
                )
            yield connection, generation
            put_generation(connection, generation, version, sums)
