"""A small file of every kind that the core and the store write, with what opens it and all that it then says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pincite
from pincite.core.mapped_file import MappedFile, identity_of, write_mapped
from pincite.store.segment import Segment
from pincite.store.spans import BESIDE
from small_index import opened
from stub_models import StubEncoder

QUESTION = 'sail s* "the mast" unseen'
DIM = 4


@dataclass(frozen=True)
class NativeFile:
    name: str
    path: Path
    load: Callable[..., Any]
    """Takes `verify`."""
    says: Callable[[Any], object]
    """Takes what was loaded, and reads all of it."""


def native_files(folder: Path) -> list[NativeFile]:
    """Write them below `folder`: those of a segment, and the other forms that the indexes have alone."""
    segment = _segment(folder / "kb")
    flat = pincite.FlatIndex.load(segment / "vectors.pin")
    rows = np.random.default_rng(1).standard_normal((9, DIM)).astype(np.float32)
    pincite.FlatIndex.build(rows, normalize=True).save(folder / "float32.pin")
    pincite.FlatIndex.build(rows, normalize=True, storage="float16").save(folder / "float16.pin")
    pincite.HnswIndex.build(rows, m=2, normalize=True).save(folder / "hnsw.pin")
    pincite.BM25Index.build_fields({"a": ["the mast", "sail"], "b": ["", "sails"]}).save(folder / "fields.pin")

    def load_graph(path: Path, *, verify: bool) -> pincite.HnswIndex:
        return pincite.HnswIndex.load_graph(path, flat, verify=verify)

    def native(path: Path, load: Callable[..., Any], says: Callable[[Any], object]) -> NativeFile:
        return NativeFile(path.stem, path, partial(load, path), says)

    return [
        NativeFile("texts", segment / "texts.pin", partial(Segment, segment), said_by_segment),
        NativeFile("spans", segment / "spans.pin", partial(Segment, segment), said_by_segment),
        native(segment / "bm25.pin", pincite.BM25Index.load, said_by_bm25),
        native(segment / "vectors.pin", pincite.FlatIndex.load, said_by_flat),
        native(segment / "graph.pin", load_graph, said_by_hnsw),
        native(folder / "float32.pin", pincite.FlatIndex.load, said_by_flat),
        native(folder / "float16.pin", pincite.FlatIndex.load, said_by_flat),
        native(folder / "hnsw.pin", pincite.HnswIndex.load, said_by_hnsw),
        native(folder / "fields.pin", pincite.BM25Index.load, said_by_bm25),
    ]


def belong_together(segment: Path) -> None:
    """Say of a segment's files, whatever they are, that they were written together: all checksums are right then."""
    spans = MappedFile.open(segment / "spans.pin", kind="spans")
    sections = {name: bytes(spans.section(name)) for name in spans.names}
    for name in sections:
        if name.startswith(BESIDE):
            sections[name] = identity_of(segment / name.removeprefix(BESIDE))
    write_mapped(segment / "spans.pin", kind="spans", stamp=spans.stamp, sections=sections)


def _segment(place: Path) -> Path:
    with opened(place, encoder=StubEncoder(dim=DIM), config=pincite.IndexConfig(graph_from=1)) as kb:
        texts = ["# Sails\n\nThe mast.\r\n\n## Oil\n\nÜnd 📷.\n", "No heading, one line."]
        kb.add([pincite.Document(id=f"d{number}", text=text) for number, text in enumerate(texts)], progress=False)
    (folder,) = (place / "segments").iterdir()
    return folder


def said_by_segment(segment: Segment) -> object:
    texts, spans = segment.texts, segment.spans
    of_documents = [
        (texts.text(number), texts.slice(number, 1, texts.length(number)), texts.lines(number, 1, 9),
         texts.crlf_before(number, 30), spans.chunks_of(number), spans.sections_of(number), spans.section_at(number, 3))
        for number in range(len(texts))
    ]  # fmt: skip
    of_chunks = [(spans.chunk(row), segment.content(row), segment.embedded_text(row)) for row in range(len(segment))]
    return of_documents, of_chunks, spans.documents.tolist(), segment.numbers_of([1, 2]).tolist()


def said_by_bm25(index: pincite.BM25Index) -> object:
    ids, scores = index.search(QUESTION, operators=True)
    some = index.view(visible=np.arange(len(index)) % 2 == 0).search(QUESTION, operators=True)
    terms = [index.explain(QUESTION, row, operators=True) for row in ids.tolist()[:1]]
    return ids.tolist(), scores.tolist(), [column.tolist() for column in some], repr(terms), repr(index), index.fields


def said_by_flat(index: pincite.FlatIndex) -> object:
    found = index.search_batch(np.eye(2, index.dim, dtype=np.float32), k=3)
    return index.vectors.tobytes(), repr(index), [column.tolist() for column in found]


def said_by_hnsw(index: pincite.HnswIndex) -> object:
    found = index._search(np.eye(2, index.dim, dtype=np.float32), k=3, path="graph")
    graph = [np.asarray(column).tolist() for column in index._index.graph()]
    return index.vectors.tobytes(), repr(index), [column.tolist() for column in found], graph
