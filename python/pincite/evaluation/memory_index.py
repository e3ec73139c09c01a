"""Documents cut in any way, held in memory: so somebody's own chunker is measured beside ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np

from pincite.config import IndexConfig
from pincite.core.arguments import integer, one_of
from pincite.core.arrays import FloatArray, IdArray
from pincite.core.bm25 import BM25Index
from pincite.core.chunking import chunk
from pincite.core.flat import FlatIndex
from pincite.core.fusion import rrf
from pincite.core.word_pieces import piece_ends_of
from pincite.errors import InvalidInputError
from pincite.evaluation.chunks import IndexCost, documents_sha256
from pincite.evaluation.gold import Excerpt
from pincite.evaluation.retriever import Retrieval, Retrieved
from pincite.retrieve.pipeline import CANDIDATES, RERANK_LIMIT, RRF_K
from pincite.retrieve.rerank import rerank
from pincite.store.preparing import text_hash
from pincite.types import Document, TextEncoder, TextReranker

__all__ = ["CutChunk", "Cutter", "MemoryIndex", "MemoryPipeline", "MemoryRetriever", "cutter_of"]

MemoryPipeline = Literal["bm25", "dense", "hybrid", "hybrid+rerank"]


class CutChunk(Protocol):
    """What is needed of a chunk; `pincite.Chunk` is one, and says what each of these is."""

    @property
    def start(self) -> int:
        """Where what is quoted starts, in code points of the document's text."""

    @property
    def end(self) -> int:
        """Where it ends."""

    @property
    def covered_start(self) -> int:
        """Where the document's text in `embedded_text` begins: `start`, or below it where there is an overlap."""

    @property
    def embedded_text(self) -> str:
        """What is embedded and indexed."""


_WANTED = ("start", "end", "covered_start", "embedded_text")

Cutter = Callable[[Document], Sequence[CutChunk]]
"""A way of cutting: a document in, its chunks out, in any order."""


def cutter_of(config: IndexConfig, encoder: TextEncoder) -> Cutter:
    """Return the way in which an index with these settings cuts the documents that it is given.

    Parameters
    ----------
    config : IndexConfig
    encoder : TextEncoder
        Whose window the chunks keep.
    """

    def cut(document: Document) -> Sequence[CutChunk]:
        return chunk(
            document.text,
            title=document.title or document.id,
            strategy=config.strategy,
            target=config.target,
            overlap=config.overlap,
            window_tokens=encoder.window_tokens,
            word_pieces=encoder.word_pieces,
            markup=document.markup,
        )

    return cut


class MemoryIndex:
    """Documents cut in any way, in memory. `retriever` gives what `evaluate` measures.

    It finds what an index on disk finds: the same two legs over what is embedded, fused alike, and equal scores by
    document id and start. There is no threshold and no second look: nothing is refused.

    Parameters
    ----------
    documents : iterable of Document
    cutter : callable
        From a document to its chunks: anything with `start`, `end`, `covered_start` and `embedded_text`. `cutter_of`
        gives our own.
    encoder : TextEncoder
        `pincite.Encoder.load()`, or one that remembers: `pincite.evaluation.cached.CachedEncoder`.
    reranker : TextReranker, optional
        For the pipeline "hybrid+rerank".
    name : str
        What to call the way of cutting in a report.
    analyzer, stemmer
        As `IndexConfig` has them.

    Raises
    ------
    InvalidInputError
        If two documents have one id, or a chunk does not lie in its document: the message says which.

    Examples
    --------
    >>> index = MemoryIndex(documents, my_chunker, encoder=pincite.Encoder.load())  # doctest: +SKIP
    >>> print(evaluate(index.retriever("hybrid"), gold, name="mine").table())  # doctest: +SKIP
    """

    def __init__(
        self,
        documents: Iterable[Document],
        cutter: Cutter,
        *,
        encoder: TextEncoder,
        reranker: TextReranker | None = None,
        name: str = "",
        analyzer: str = "unicode",
        stemmer: str | None = "english",
    ) -> None:
        given = list(documents)
        self._documents = {document.id: document for document in sorted(given, key=lambda each: each.id)}
        if len(self._documents) < len(given):
            raise InvalidInputError(f"{len(given)} documents have {len(self._documents)} ids, wanted one each")
        self.name = name or getattr(cutter, "__qualname__", type(cutter).__qualname__)
        self.encoder = encoder
        self.reranker = reranker
        self._settings = {"analyzer": analyzer, "stemmer": stemmer}
        # A row is a chunk. Rows are in the order of documents and starts, which is how every search breaks ties.
        self._rows: list[tuple[Document, CutChunk]] = []
        self._rows_of: dict[str, slice] = {}
        for id, document in self._documents.items():
            first = len(self._rows)
            chunks = [_checked(each, document) for each in cutter(document)]
            self._rows += ((document, each) for each in sorted(chunks, key=lambda each: (each.start, each.end)))
            self._rows_of[id] = slice(first, len(self._rows))
        self._covered = np.array([(each.covered_start, each.end) for _, each in self._rows], np.int64).reshape(-1, 2)
        texts = [each.embedded_text for _, each in self._rows]
        if texts:
            encoded = encoder.encode_batch(texts)
            self._truncated_tokens = encoded.truncated_tokens
            self.vectors = FlatIndex.build(encoded.vectors)
            self.bm25 = BM25Index.build(texts, analyzer=analyzer, stemmer=stemmer)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._rows)

    def __contains__(self, document_id: str) -> bool:
        """Return whether a document is in the index."""
        return document_id in self._documents

    def retriever(self, pipeline: MemoryPipeline = "hybrid", *, depth: int = 20) -> MemoryRetriever:
        """Return a pipeline over the chunks as something that can be evaluated.

        Parameters
        ----------
        pipeline : {"bm25", "dense", "hybrid", "hybrid+rerank"}
            The words alone, the vectors alone, both, both and the reranker.
        depth : int, default 20
            How many passages to return.

        Raises
        ------
        InvalidInputError
            If there is no such pipeline, or no reranker for it.
        """
        one_of(pipeline, "pipeline", get_args(MemoryPipeline))
        if pipeline == "hybrid+rerank" and self.reranker is None:
            raise InvalidInputError("pipeline is 'hybrid+rerank' and the index has no reranker; give it one")
        return MemoryRetriever(self, pipeline, integer(depth, "depth", at_least=1))

    def place(self, row: int) -> tuple[str, int, int, int]:
        """Return a chunk's document, start, end and covered start."""
        document, cut = self._rows[row]
        return document.id, cut.start, cut.end, cut.covered_start

    def content(self, row: int) -> str:
        """Return what a chunk quotes."""
        document, cut = self._rows[row]
        return document.text[cut.start : cut.end]

    def document(self, id: str) -> Document | None:
        """Return a document."""
        return self._documents.get(id)

    def hold(self, excerpt: Excerpt) -> bool:
        """Return whether some chunk covers all of an excerpt."""
        rows = self._covered[self._rows_of.get(excerpt.document, slice(0))]
        return bool(((rows[:, 0] <= excerpt.start) & (excerpt.end <= rows[:, 1])).any())

    @property
    def sha256(self) -> str:
        """A hash of the documents' ids and texts: that of an index on disk that holds the same."""
        hashes = {id: text_hash(document.text) for id, document in self._documents.items()}
        return documents_sha256(hashes)

    @cached_property
    def cuts_sha256(self) -> str:
        """A hash of all chunks: two ways of cutting that have the same are one."""
        hash = hashlib.sha256()
        for document, cut in self._rows:
            row = [document.id, int(cut.start), int(cut.end), int(cut.covered_start), cut.embedded_text]
            hash.update(json.dumps(row).encode())
        return hash.hexdigest()

    def cost(self) -> IndexCost:
        """Measure what the chunks cost; what is embedded beside the document's own text counts as header."""
        lost = self._truncated_tokens if self._rows else np.zeros(0, np.int64)
        ends = piece_ends_of(self.encoder.word_pieces)
        tokens_of: dict[str, int] = {}
        headers = 0
        for document, cut in self._rows:
            header = cut.embedded_text.replace(document.text[cut.covered_start : cut.end], "", 1)
            if header not in tokens_of:
                tokens_of[header] = len(ends(header))
            headers += tokens_of[header]
        return IndexCost(
            chunks=len(self._rows),
            characters=sum(cut.end - cut.start for _, cut in self._rows),
            truncated_chunks=int((lost > 0).sum()),
            lost_tokens=int(lost.sum()),
            header_tokens=headers,
            nbytes=None,
        )

    def describe(self) -> dict[str, Any]:
        """Return what results depend on beside the documents and the models, as JSON."""
        return {"name": self.name, "chunks_sha256": self.cuts_sha256, **self._settings}


class MemoryRetriever:
    """A pipeline over a `MemoryIndex`: see `MemoryIndex.retriever`.

    Attributes
    ----------
    depth : int
        How many passages it returns.
    generation : None
        There is one state alone.
    """

    generation: int | None = None

    def __init__(self, index: MemoryIndex, pipeline: MemoryPipeline, depth: int) -> None:
        self._index = index
        self.depth = depth
        self._pipeline: MemoryPipeline = pipeline

    def chunks(self) -> MemoryIndex:
        """Return what it chooses from."""
        return self._index

    def __call__(self, question: str) -> Retrieval:
        """Answer a question."""
        index = self._index
        if not len(index):
            return Retrieval(())
        if self._pipeline == "bm25":
            return self._retrieval(index.bm25.search(question, k=self.depth)[0].tolist(), {}, {})
        vector = index.encoder.encode_batch([question]).vectors[0]
        if self._pipeline == "dense":
            rows, cosines = index.vectors.search(vector, k=self.depth)
            return self._retrieval(rows.tolist(), _distances(rows, cosines), {})
        candidates = max(CANDIDATES, self.depth)
        words, _ = index.bm25.search(question, k=candidates)
        near, _ = index.vectors.search(vector, k=candidates)
        fused, _ = rrf([words, near], k=RRF_K)
        distances = _distances(*index.vectors.search(vector, k=len(fused), allowed=fused))
        best: list[int] = fused.tolist()
        logits: dict[int, float] = {}
        if self._pipeline == "hybrid+rerank" and index.reranker is not None:
            logits, _ = rerank(index, index.reranker, question, best[:RERANK_LIMIT], order="fused")
            best = [*logits, *best[RERANK_LIMIT:]]
        return self._retrieval(best[: self.depth], distances, logits)

    def _retrieval(self, rows: Sequence[int], distances: dict[int, float], logits: dict[int, float]) -> Retrieval:
        passages = tuple(Retrieved(*self._index.place(row), distances.get(row), logits.get(row)) for row in rows)
        return Retrieval(passages, min(distances.values(), default=None))

    def describe(self) -> dict[str, Any]:
        """Return what the results depend on beside the documents, as JSON."""
        index = self._index
        reranker = index.reranker if self._pipeline == "hybrid+rerank" else None
        return {
            "retriever": "pincite in memory",
            "pipeline": self._pipeline,
            "max_distance": None,
            "index": index.describe(),
            "encoder": None if self._pipeline == "bm25" else dict(index.encoder.stamp),
            "reranker": None if reranker is None else dict(reranker.stamp),
        }


def _distances(rows: IdArray, cosines: FloatArray) -> dict[int, float]:
    return {row: max(0.0, 1.0 - cosine) for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)}


def _checked(cut: CutChunk, document: Document) -> CutChunk:
    if missing := [name for name in _WANTED if not hasattr(cut, name)]:
        raise InvalidInputError(
            f"a chunk of {document.id!r} is {repr(cut)[:80]}, which has no {' and no '.join(missing)}; "
            f"give pincite.Chunk, or anything with {', '.join(_WANTED)}"
        )
    if not 0 <= cut.covered_start <= cut.start < cut.end <= len(document.text):
        raise InvalidInputError(
            f"a chunk of {document.id!r} covers from {cut.covered_start} and quotes {cut.start} to {cut.end}, wanted "
            f"0 <= covered_start <= start < end <= {len(document.text)}"
        )
    if not isinstance(cut.embedded_text, str):
        raise InvalidInputError(f"a chunk of {document.id!r} has {cut.embedded_text!r} as embedded_text, wanted a str")
    return cut
