"""A segment: some documents, their chunks, postings and vectors, in files that never change."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pincite.config import IndexConfig
from pincite.core.bm25 import BM25Index
from pincite.core.flat import FlatIndex
from pincite.core.hnsw import HnswIndex
from pincite.core.mapped_file import identity_of
from pincite.errors import IndexCorruptError
from pincite.store.files import naming_refusals, sync_folder
from pincite.store.records import PreparedDocument
from pincite.store.spans import BESIDE_ALWAYS, GRAPH, Spans, SpanTable
from pincite.store.texts import CanonicalTexts, TextTable

__all__ = ["SEGMENTS", "UNFINISHED", "Segment", "is_segment", "write_segment"]

SEGMENTS = "segments"
"""The folder of an index that they lie in."""

UNFINISHED = ".unfinished-"
"""How the name of a segment's folder begins until all its files are on disk."""

EF_CONSTRUCTION = 128
"""Twice the core's default: it takes twice as long once, and the worst questions find most of their nearest instead of
next to none (docs/adr/012-graphs-in-segments.md)."""


class Segment:
    """The files of one segment, memory-mapped; with `verify` each is compared with its checksums first.

    Attributes
    ----------
    id : str
    texts : CanonicalTexts
    spans : Spans
    bm25 : BM25Index
        Row i is chunk i, indexed by its embedded text.
    vectors : FlatIndex
        Row i is the vector of chunk i.
    graph : HnswIndex or None
        Over the same vectors, where the segment was written with one.
    """

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        self.id = folder.name
        self.folder = folder
        self.texts = CanonicalTexts.open(folder / "texts.pin", verify=verify)
        self.spans = Spans.open(folder / "spans.pin", verify=verify)
        self.bm25 = BM25Index.load(folder / "bm25.pin", verify=verify)
        self.vectors = FlatIndex.load(folder / "vectors.pin", verify=verify)
        self.graph = (
            HnswIndex.load_graph(folder / GRAPH, self.vectors, verify=verify) if GRAPH in self.spans.beside else None
        )
        for name, identity in self.spans.beside.items():
            with naming_refusals(folder / name, "read the file"):
                found = identity_of(folder / name)
            if found != identity:
                raise IndexCorruptError(f"{folder / name}: it is not the file that was written with this segment")
        sizes = {"spans.pin": len(self.spans), "bm25.pin": len(self.bm25), "vectors.pin": len(self.vectors)}
        if len(set(sizes.values())) > 1 or len(self.texts) != len(self.spans.documents):
            raise IndexCorruptError(f"{folder}: its files do not belong together; chunks by file: {sizes}")
        if not self.spans.lie_within(self.texts.lengths):
            raise IndexCorruptError(f"{folder}: its files do not belong together; spans.pin goes past texts.pin")

    def __reduce__(self) -> tuple[type[Segment], tuple[Path]]:
        """Map the files again in another process."""
        return type(self), (self.folder,)

    def __deepcopy__(self, memo: object) -> Segment:
        """Return the segment itself: it is immutable."""
        return self

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.spans)

    @cached_property
    def _by_catalog_row(self) -> npt.NDArray[np.int64]:
        """The documents' numbers in the order of the catalog's rows."""
        return np.argsort(self.spans.documents, kind="stable")

    def numbers_of(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the numbers here of those documents of the catalog's rows that the segment has."""
        wanted = np.asarray(rows, dtype=np.int64)
        order = self._by_catalog_row
        places = np.searchsorted(self.spans.documents, wanted, sorter=order)
        numbers = order[np.minimum(places, max(0, len(order) - 1))] if len(order) else order
        return numbers[self.spans.documents[numbers] == wanted] if len(order) else order

    def content(self, row: int) -> str:
        """Return what chunk `row` quotes."""
        column = self.spans.chunks
        return self.texts.slice(int(column["document"][row]), int(column["start"][row]), int(column["end"][row]))

    def embedded_text(self, row: int) -> str:
        """Return what of chunk `row` was embedded and indexed."""
        chunk = self.spans.chunk(row)
        document = int(self.spans.chunks["document"][row])
        return chunk.header + self.texts.slice(document, chunk.covered_start, chunk.end)


def is_segment(path: Path) -> bool:
    """Return whether something in an index's folder of segments has the name of one, finished or not."""
    return re.fullmatch("[0-9a-f]{32}", path.name.removeprefix(UNFINISHED)) is not None


def write_segment(
    folder: Path,
    documents: Iterable[PreparedDocument],
    rows: Sequence[int],
    vectors: npt.NDArray[np.float32],
    *,
    config: IndexConfig,
    stamp: bytes,
) -> str:
    """Write a segment below `folder` and return its id.

    The files are written into an unfinished folder, each synced, and the folder is renamed into place and synced: until
    the catalog lists it, nobody looks at it.

    Parameters
    ----------
    folder : Path
        The index's folder of segments.
    documents : iterable of PreparedDocument
        In the order of their ids, which makes equal scores come out in the order of documents. Taken one at a time,
        and not kept.
    rows : sequence of int
        The catalog's row of each document.
    vectors : (n, dim) float32 array
        One unit vector a chunk, in the order of documents and chunks.
    """
    has_graph = config.graph_from is not None and len(vectors) >= config.graph_from
    name = uuid.uuid4().hex
    unfinished = folder / (UNFINISHED + name)
    try:
        unfinished.mkdir()
        texts, spans = TextTable(), SpanTable()

        def embedded() -> Iterator[str]:
            for document in documents:
                texts.add(document.text)
                spans.add(document)
                for chunk in document.chunks:
                    yield chunk.embedded_text

        BM25Index.build(embedded(), analyzer=config.analyzer, stemmer=config.stemmer).save(unfinished / "bm25.pin")
        texts.write(unfinished / "texts.pin", stamp=stamp)
        flat = FlatIndex.build(vectors, storage="int8")
        flat.save(unfinished / "vectors.pin")
        if has_graph:
            HnswIndex.over(flat, ef_construction=EF_CONSTRUCTION).save_graph(unfinished / GRAPH)
        names = (*BESIDE_ALWAYS, GRAPH) if has_graph else BESIDE_ALWAYS
        beside = {name: identity_of(unfinished / name) for name in names}
        spans.write(unfinished / "spans.pin", rows, beside=beside, stamp=stamp)
        sync_folder(unfinished)
        unfinished.rename(folder / name)
        sync_folder(folder)
    except BaseException:  # also Ctrl-C: nothing unfinished stays behind
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return name
