"""What a reader sees: the segments of one generation, and which of their rows are alive."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pincite.core.bm25_collection import BM25Collection
from pincite.errors import IndexCorruptError, StorageError
from pincite.filters import Condition
from pincite.store.catalog import Catalog
from pincite.store.fields import Fields
from pincite.store.records import ChunkRecord, DocumentRecord
from pincite.store.segment import Segment

__all__ = ["RowKey", "Selection", "Snapshot"]

RowKey = int
"""A chunk: its number when the rows of a snapshot's segments are counted through, dead ones included."""

_ATTEMPTS = 10
_SELECTIONS = 64
"""Conditions whose chunks are kept."""


class Selection(NamedTuple):
    """Some of the chunks that are alive.

    Attributes
    ----------
    documents : int
        How many they are of.
    rows : list of (n,) bool array
        Which rows of each segment.
    """

    documents: int
    rows: list[npt.NDArray[np.bool_]]

    @property
    def chunks(self) -> int:
        """How many there are."""
        return sum(int(rows.sum()) for rows in self.rows)


class Snapshot:
    """One generation. Immutable, and safe to read from any number of threads.

    Attributes
    ----------
    generation : int
    segments : list of Segment
    first_keys : list of int
        The key of each segment's first row.
    visible : list of (n,) bool array or None
        Which rows of each segment are alive; None: all.
    bm25 : BM25Collection
        The segments' postings as one index over the rows that are alive.
    totals : dict of str to int
        Documents, chunks, failed documents and others, counted when the generation was opened.
    """

    def __init__(
        self,
        catalog: Catalog,
        generation: int,
        segments: Sequence[Segment],
        dead_rows: Sequence[int],
        totals: dict[str, int],
    ) -> None:
        self._catalog = catalog
        self.generation = generation
        self.totals = totals
        self.segments = list(segments)
        self.first_keys = list(accumulate(map(len, self.segments[:-1]), initial=0))[: len(self.segments)]
        dead = np.array(dead_rows, dtype=np.int64)
        self._alive = [~np.isin(segment.spans.documents, dead) for segment in self.segments]
        self.visible = [
            None if alive.all() else alive[segment.spans.chunks["document"]]
            for segment, alive in zip(self.segments, self._alive, strict=True)
        ]
        self.bm25 = _postings(self.segments, self.visible)
        self._n_alive = len(self.bm25)
        held = {"documents": sum(int(alive.sum()) for alive in self._alive), "chunks": len(self)}
        if any(totals[name] != count for name, count in held.items()):
            raise IndexCorruptError(
                f"{catalog.path}: the catalog has {totals['documents']} documents of {totals['chunks']} chunks, its "
                f"segments hold {held['documents']} of {held['chunks']}; restore the index from a copy, or index the "
                "documents again"
            )
        self.document = lru_cache(maxsize=4096)(self._document)
        self._fields: Fields | None = None
        self._before: Fields | None = None
        self._selections: dict[str, Selection] = {}

    @classmethod
    def open(
        cls,
        catalog: Catalog,
        folder: Path,
        *,
        known: Sequence[Segment] = (),
        before: Snapshot | None = None,
        verify: bool = True,
    ) -> Snapshot:
        """Map the segments of the last generation; those of `known`, and the fields that `before` read, are taken over.

        Raises
        ------
        StorageError, IndexCorruptError, IncompatibleIndexError
            If a segment's file cannot be read or used.
        """
        mapped = {segment.id: segment for segment in known}
        for attempt in range(_ATTEMPTS):
            with catalog.reading():
                generation = catalog.generation()
                live = [id for id, _ in catalog.segments()]
                dead_rows = catalog.dead_rows()
                totals = catalog.totals()
            try:
                for id in live:
                    if id not in mapped:
                        mapped[id] = Segment(folder / id, verify=verify)
            except StorageError:
                # A writer may have merged the segment away since; then the next generation does not list it.
                with catalog.reading():
                    unchanged = catalog.generation() == generation
                if attempt + 1 == _ATTEMPTS or unchanged:
                    raise
                continue
            opened = cls(catalog, generation, [mapped[id] for id in live], dead_rows, totals)
            opened._before = None if before is None else before._fields or before._before
            return opened
        raise AssertionError("unreachable")

    def select(self, condition: Condition) -> Selection:
        """Return the chunks of the documents that fulfil a condition."""
        key = condition.key
        found = self._selections.get(key)
        if found is None:
            mask = self._known_fields().mask(condition)
            documents = [mask[segment.spans.documents] for segment in self.segments]
            found = Selection(
                documents=sum(int((of & alive).sum()) for of, alive in zip(documents, self._alive, strict=True)),
                rows=[
                    of[segment.spans.chunks["document"]] if visible is None
                    else of[segment.spans.chunks["document"]] & visible
                    for segment, of, visible in zip(self.segments, documents, self.visible, strict=True)
                ],
            )  # fmt: skip
            if len(self._selections) >= _SELECTIONS:
                self._selections.clear()
            self._selections[key] = found
        return found

    def everything(self) -> Selection:
        """Return all chunks that are alive."""
        pairs = zip(self.segments, self.visible, strict=True)
        rows = [np.ones(len(segment), dtype=np.bool_) if visible is None else visible for segment, visible in pairs]
        return Selection(self.totals["documents"], rows)

    def _known_fields(self) -> Fields:
        """Return the fields of all documents: read at the first condition, after a commit those of new ones alone."""
        if self._fields is None:
            before = self._before
            self._fields = Fields(self._catalog.documents_since(before.last_row if before else 0), before)
            self._before = None
        return self._fields

    def permitted(self, may_see: Callable[[str], bool], failed: int) -> Snapshot:
        """Return this generation as if it held only the documents that may be seen, by id.

        Statistics, ranks, ties and counts are theirs. `failed` is how many documents that may be seen have failed.
        """
        mask = self._known_fields().those(may_see)
        rest = copy(self)
        rest._selections = {}
        rest._alive = [
            alive & mask[segment.spans.documents] for segment, alive in zip(self.segments, self._alive, strict=True)
        ]
        rest.visible = [
            alive[segment.spans.chunks["document"]] for segment, alive in zip(self.segments, rest._alive, strict=True)
        ]
        rest.bm25 = _postings(rest.segments, rest.visible)
        rest._n_alive = len(rest.bm25)
        documents = sum(int(alive.sum()) for alive in rest._alive)
        rest.totals = {"documents": documents, "chunks": len(rest), "failed": failed}
        return rest

    def without(self, keys: Iterable[RowKey]) -> Snapshot:
        """Return this generation as if some chunks were not there: ranks, scores and ties are those of the others.

        What is counted of documents stays as it is.
        """
        absent = np.fromiter(keys, dtype=np.int64)
        rest = copy(self)
        rest._selections = {}
        rest.visible = []
        for segment, first, visible in zip(self.segments, self.first_keys, self.visible, strict=True):
            rows = np.ones(len(segment), dtype=bool) if visible is None else visible.copy()
            rows[absent[(first <= absent) & (absent < first + len(segment))] - first] = False
            rest.visible.append(rows)
        rest.bm25 = _postings(rest.segments, rest.visible)
        rest._n_alive = len(rest.bm25)
        return rest

    def __len__(self) -> int:
        """Return the number of chunks that are alive."""
        return self._n_alive

    def _document(self, row: int) -> DocumentRecord:
        return self._catalog.document(row)

    def locate(self, key: RowKey) -> tuple[Segment, int]:
        """Return the segment of a chunk, and its row there."""
        number = bisect_right(self.first_keys, key) - 1
        return self.segments[number], key - self.first_keys[number]

    def chunk(self, key: RowKey) -> ChunkRecord:
        """Return where a chunk is."""
        segment, row = self.locate(key)
        return segment.spans.chunk(row)

    def content(self, key: RowKey) -> str:
        """Return what a chunk quotes."""
        segment, row = self.locate(key)
        return segment.content(row)

    def order(self, key: RowKey) -> tuple[str, int]:
        """Return what breaks ties: the document's id, then the chunk's start."""
        segment, row = self.locate(key)
        spans = segment.spans
        document = int(spans.documents[spans.chunks["document"][row]])
        return self.document(document).id, int(spans.chunks["start"][row])

    def is_alive(self, segment: Segment, document: int) -> bool:
        """Return whether a document, by its number in a segment, is alive."""
        return bool(self._alive[self.segments.index(segment)][document])

    def place(self, row: int) -> tuple[Segment, int] | None:
        """Return the segment of the document of a catalog's row, and its number there, if it is alive."""
        for segment, alive in zip(self.segments, self._alive, strict=True):
            numbers = np.flatnonzero((segment.spans.documents == row) & alive)
            if len(numbers):
                return segment, int(numbers[0])
        return None


def _postings(segments: Sequence[Segment], visible: Sequence[npt.NDArray[np.bool_] | None]) -> BM25Collection:
    return BM25Collection([segment.bm25.view(rows) for segment, rows in zip(segments, visible, strict=True)])
