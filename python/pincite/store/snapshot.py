"""What a reader sees: the segments of one generation, and which of their rows are alive."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pincite.core.bm25_collection import BM25Collection
from pincite.errors import IndexCorruptError, StorageError
from pincite.filters import Condition
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.fields import Fields
from pincite.store.pins import Pin
from pincite.store.records import ChunkRecord, DocumentRecord, VersionRecord
from pincite.store.segment import Segment

__all__ = ["RowKey", "Selection", "Snapshot"]

Mask = npt.NDArray[np.bool_]
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


class _Part:
    """One segment as a generation shows it. Immutable, and taken over by the next generation where nothing changed."""

    def __init__(self, segment: Segment, alive: Mask, visible: Mask | None) -> None:
        self.segment = segment
        self.alive = alive
        self.visible = visible
        self.documents = int(np.count_nonzero(alive))
        self.chunks = len(segment) if visible is None else int(np.count_nonzero(visible))
        self.bm25 = segment.bm25.view(visible)

    @classmethod
    def of(cls, segment: Segment, alive: Mask) -> Self:
        """Return the part of a segment whose chunks are alive as their documents are."""
        return cls(segment, alive, None if alive.all() else alive[segment.spans.chunks["document"]])

    def less(self, dead: npt.NDArray[np.int64]) -> _Part:
        """Return the part without the documents of some of the catalog's rows."""
        numbers = self.segment.numbers_of(dead)
        numbers = numbers[self.alive[numbers]]
        if not len(numbers):
            return self
        alive = self.alive.copy()
        alive[numbers] = False
        return _Part.of(self.segment, alive)


class Snapshot:
    """One generation. Immutable, and safe to read from any number of threads.

    Attributes
    ----------
    version : VersionRecord
        Which of the index's versions it is of.
    generation : int
    segments : list of Segment
    first_keys : list of int
        The key of each segment's first row.
    visible : list of (n,) bool array or None
        Which rows of each segment are alive; None: all.
    living : list of int
        How many rows of each segment are alive.
    bm25 : BM25Collection
        The segments' postings as one index over the rows that are alive.
    restricted : bool
        Whether chunks that are alive are hidden: a graph, which leads through them, must not be asked then.
    totals : dict of str to int
        Documents, chunks and failed documents.
    """

    restricted = False

    def __init__(
        self,
        catalog: DocumentCatalog,
        version: VersionRecord,
        generation: int,
        parts: Sequence[_Part],
        totals: dict[str, int],
    ) -> None:
        self._catalog = catalog
        self.version = version
        self.generation = generation
        self.totals = totals
        self._show(parts)
        self.document = lru_cache(maxsize=4096)(catalog.document)
        self._pin: Pin | None = None  # the views that are copies of it have the same
        self._fields: Fields | None = None
        self._before: Fields | None = None

    def _show(self, parts: Sequence[_Part]) -> None:
        self._parts = list(parts)
        self.segments = [part.segment for part in parts]
        self.first_keys = list(accumulate(map(len, self.segments[:-1]), initial=0))[: len(parts)]
        self.visible = [part.visible for part in parts]
        self.living = [part.chunks for part in parts]
        self.bm25 = BM25Collection([part.bm25 for part in parts])
        self._selections: dict[str, Selection] = {}

    @classmethod
    def open(
        cls,
        catalog: DocumentCatalog,
        version: VersionRecord,
        folder: Path,
        *,
        before: Snapshot | None = None,
        verify: bool = True,
    ) -> Snapshot:
        """Map the segments of the last generation of a version.

        Parameters
        ----------
        catalog : DocumentCatalog
        version : VersionRecord
        folder : Path
            Of the segments.
        before : Snapshot, optional
            An earlier generation, of which everything is taken over that has not changed: then the cost does not
            grow with the index. Without it, and with `verify`, the catalog's sums are added up again.

        Raises
        ------
        StorageError, IndexCorruptError, IncompatibleIndexError
            If a segment's file cannot be read or used.
        """
        if before is not None and before.version.number != version.number:
            before = None
        mapped: dict[str, Segment] = {}
        for attempt in range(_ATTEMPTS):
            known = {} if before is None else {part.segment.id: part for part in before._parts}
            with catalog.reading():
                generation, sums, listed = catalog.generation(verify=verify and before is None)
                # What a segment brought was alive in the generation that brought it.
                since = [each.born for each in listed if each.id not in known]
                dead = catalog.dead_rows(min(since + ([] if before is None else [before.generation]), default=-1))
                totals = {"documents": sums.documents, "chunks": sums.chunks, "failed": catalog.failed()}
            try:
                for each in listed:
                    if each.id not in known and each.id not in mapped:
                        mapped[each.id] = Segment(folder / each.id, verify=verify)
            except StorageError:
                # A writer may have merged the segment away since; then the next generation does not list it.
                if attempt + 1 == _ATTEMPTS or catalog.last_generation() == generation:
                    raise
                continue
            gone = np.array(dead, dtype=np.int64)
            parts = [
                (known.get(each.id) or _Part(mapped[each.id], *_all_alive(mapped[each.id]))).less(gone)
                for each in listed
            ]
            held = {name: sum(getattr(part, name) for part in parts) for name in ("documents", "chunks")}
            if any(totals[name] != count for name, count in held.items()):
                raise IndexCorruptError(
                    f"{catalog.path}: the catalog has {totals['documents']} documents of {totals['chunks']} chunks, "
                    f"its segments hold {held['documents']} of {held['chunks']}; restore the index from a copy, or "
                    "index the documents again"
                )
            opened = cls(catalog, version, generation, parts, totals)
            opened._pin = Pin(folder.parent, version.number, generation)
            if not catalog.has_segments([each.id for each in listed]):
                continue  # a writer came first, and has removed some of it
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
                documents=sum(int((of & part.alive).sum()) for of, part in zip(documents, self._parts, strict=True)),
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
            self._fields = Fields(self._catalog.since(before.last_row if before else 0), before)
            self._before = None
        return self._fields

    def permitted(self, may_see: Callable[[str], bool], failed: int) -> Snapshot:
        """Return this generation as if it held only the documents that may be seen, by id.

        Statistics, ranks, ties and counts are theirs. `failed` is how many documents that may be seen have failed.
        """
        mask = self._known_fields().those(may_see)
        rest = copy(self)
        rest.restricted = True
        rest._show([_Part.of(part.segment, part.alive & mask[part.segment.spans.documents]) for part in self._parts])
        documents = sum(part.documents for part in rest._parts)
        rest.totals = {"documents": documents, "chunks": len(rest), "failed": failed}
        return rest

    def without(self, keys: Iterable[RowKey]) -> Snapshot:
        """Return this generation as if some chunks were not there: ranks, scores and ties are those of the others.

        What is counted of documents stays as it is.
        """
        absent = np.fromiter(keys, dtype=np.int64)
        rest = copy(self)
        rest.restricted = True
        parts = []
        for part, first in zip(self._parts, self.first_keys, strict=True):
            size = len(part.segment)
            rows = np.ones(size, dtype=bool) if part.visible is None else part.visible.copy()
            rows[absent[(first <= absent) & (absent < first + size)] - first] = False
            parts.append(_Part(part.segment, part.alive, rows))
        rest._show(parts)
        return rest

    def __len__(self) -> int:
        """Return the number of chunks that are alive."""
        return len(self.bm25)

    def record(self, row: int) -> DocumentRecord:
        """Return what `document` does, and keep nothing of it: for whoever goes through all of them."""
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
        return bool(self._parts[self.segments.index(segment)].alive[document])

    def place(self, row: int) -> tuple[Segment, int] | None:
        """Return the segment of the document of a catalog's row, and its number there, if it is alive."""
        for part in self._parts:
            for number in part.segment.numbers_of([row]).tolist():
                if part.alive[number]:
                    return part.segment, number
        return None


def _all_alive(segment: Segment) -> tuple[Mask, None]:
    return np.ones(len(segment.spans.documents), dtype=np.bool_), None
