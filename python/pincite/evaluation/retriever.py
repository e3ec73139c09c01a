"""What is evaluated: anything that gives passages for a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from pincite.config import DEFAULT_MAX_DISTANCE, IndexConfig
from pincite.core.arguments import integer, one_of
from pincite.errors import InvalidInputError
from pincite.evaluation.chunks import IndexChunks, KnownChunks
from pincite.retrieve.decide import checked_limits
from pincite.retrieve.legs import Leg, bm25_leg, dense_leg
from pincite.retrieve.pipeline import CANDIDATES, RERANK_LIMIT, search
from pincite.retrieve.result import RerankOrder
from pincite.store.snapshot import RowKey, Snapshot
from pincite.types import TextEncoder, TextReranker

__all__ = [
    "ChunkRetriever",
    "IndexRetriever",
    "Indexed",
    "Pipeline",
    "Retrieval",
    "Retrieved",
    "Retriever",
    "ask",
    "of_knowledge_base",
]

Pipeline = Literal["default", "bm25", "dense", "hybrid", "hybrid+rerank", "rerank-alone"]

_ORDERS: dict[Pipeline, RerankOrder] = {
    "default": "fused",
    "hybrid": "none",
    "hybrid+rerank": "fused",
    "rerank-alone": "pure",
}
"""What becomes of the reranker's order, by pipeline; the others are one leg without one."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A passage as a retriever gives it.

    Attributes
    ----------
    document_id : str
    start, end : int
        What is quoted of the document's canonical text, in code points.
    covered_start : int
        Where the text that was searched begins: `start`, or below it where there is an overlap.
    distance : float or None
        1 - cosine between question and passage, where the retriever knows it.
    logit : float or None
        The reranker's.
    absent : float or None
        The share of the weight of the question's words that the passage lacks: see `Hit.absent_weight`.
    """

    document_id: str
    start: int
    end: int
    covered_start: int
    distance: float | None = None
    logit: float | None = None
    absent: float | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The passages for a question, best first; none is a refusal.

    Attributes
    ----------
    passages : tuple of Retrieved
    nearest_distance : float or None
        Of all candidates, whether or not they passed a threshold.
    timings : dict of str to float
        Milliseconds by stage, and "total".
    """

    passages: tuple[Retrieved, ...]
    nearest_distance: float | None = None
    timings: Mapping[str, float] = field(default_factory=dict)


Retriever = Callable[[str], Sequence[Retrieved] | Retrieval]
"""What can be evaluated: the text of a question in, passages out."""


@runtime_checkable
class ChunkRetriever(Protocol):
    """A retriever that knows all the chunks it chooses from: a pipeline over an index, on disk or in memory."""

    depth: int

    def chunks(self) -> KnownChunks:
        """Return what it chooses from."""

    @property
    def generation(self) -> int | None:
        """Of the index; None where there is one state alone."""

    def describe(self) -> dict[str, Any]:
        """Return what the results depend on beside the documents, as JSON."""

    def __call__(self, question: str) -> Retrieval:
        """Answer a question."""


class Indexed(Protocol):
    """What an evaluation needs of an index; `pincite.KnowledgeBase` is one."""

    @property
    def config(self) -> IndexConfig:
        """How documents are cut and indexed."""

    def view(self, *, groups: Iterable[str] | None = None) -> Snapshot:
        """Return the generation that searches with these groups see; without groups, all of it."""

    @property
    def has_groups(self) -> bool:
        """Whether questions have to come with groups."""

    def encoder(self) -> TextEncoder:
        """Return the embedding model."""

    def reranker(self) -> TextReranker:
        """Return the cross-encoder."""


class IndexRetriever:
    """A pipeline over one generation of an index: see `of_knowledge_base`.

    Attributes
    ----------
    snapshot : Snapshot
    encoder : callable
        Gives the encoder, loaded when it is needed.
    depth : int
        How many passages it returns.
    """

    def __init__(
        self,
        kb: Indexed,
        pipeline: Pipeline,
        *,
        depth: int,
        max_distance: float | None,
        candidates: int,
        rerank_limit: int,
        min_logit: float | None,
        max_absent: float | None,
    ) -> None:
        self.snapshot = kb.view()
        self.encoder = kb.encoder
        self._kb = kb
        self._pipeline: Pipeline = pipeline
        self._order = _ORDERS.get(pipeline)
        self.depth = depth
        self._max_distance = max_distance
        self._candidates = candidates
        self._rerank_limit = rerank_limit
        self._min_logit = min_logit
        self._max_absent = max_absent

    def chunks(self) -> IndexChunks:
        """Return what the generation holds."""
        return IndexChunks(self.snapshot, self.encoder)

    @property
    def generation(self) -> int:
        """The one that is searched."""
        return self.snapshot.generation

    def describe(self) -> dict[str, Any]:
        """Return what the results depend on beside the documents, as JSON; None is what this pipeline does not use."""
        uses_vectors = self._pipeline != "bm25"
        reranks = self._order not in (None, "none")
        return {
            "retriever": "pincite",
            "pipeline": self._pipeline,
            "max_distance": self._max_distance,
            "candidates": None if self._order is None else self._candidates,
            "rerank_limit": self._rerank_limit if reranks else None,
            "min_logit": self._min_logit,
            "max_absent": self._max_absent,
            "index": self._kb.config.to_dict(),
            "encoder": dict(self._kb.encoder().stamp) if uses_vectors else None,
            "reranker": dict(self._kb.reranker().stamp) if reranks else None,
        }

    def seen_by(self, groups: Iterable[str]) -> IndexRetriever:
        """Return the same pipeline over what groups see."""
        rest = copy(self)
        rest.snapshot = self._kb.view(groups=groups)
        return rest

    @property
    def has_groups(self) -> bool:
        """Whether questions have to come with groups."""
        return self._kb.has_groups

    def without(self, keys: Iterable[RowKey]) -> IndexRetriever:
        """Return the same pipeline over this generation without some chunks."""
        rest = copy(self)
        rest.snapshot = self.snapshot.without(keys)
        return rest

    def __call__(self, question: str) -> Retrieval:
        """Answer a question."""
        if self._order is None:
            return self._one_leg(question)
        result = search(
            self.snapshot,
            question,
            encoder=self._kb.encoder,
            reranker=self._kb.reranker,
            k=self.depth,
            max_distance=self._max_distance,
            candidates=self._candidates,
            order=self._order,
            rerank_limit=self._rerank_limit,
            min_logit=self._min_logit,
            max_absent=self._max_absent,
        )
        passages = tuple(
            Retrieved(hit.document_id, hit.start, hit.end, hit.covered_start,
                      distance=hit.distance, logit=hit.rerank_logit, absent=hit.absent_weight)
            for hit in result
        )  # fmt: skip
        return Retrieval(passages, result.nearest_distance, result.timings)

    def _one_leg(self, question: str) -> Retrieval:
        started = time.perf_counter()
        if not len(self.snapshot):
            return Retrieval(())
        if self._pipeline == "bm25":
            leg = bm25_leg(self.snapshot, question, self.depth)
            distances: dict[int, float] = {}
        else:
            leg = dense_leg(self.snapshot, self._kb.encoder().encode_batch([question]).vectors[0], self.depth)
            distances = {key: max(0.0, 1.0 - cosine) for key, cosine in leg.scores.items()}
        passages = self._passages(leg, distances)
        total = 1000 * (time.perf_counter() - started)
        return Retrieval(passages, min(distances.values(), default=None), {"total": total})

    def _passages(self, leg: Leg, distances: Mapping[int, float]) -> tuple[Retrieved, ...]:
        passages = []
        for key in leg.keys:
            distance = distances.get(key)
            if self._max_distance is not None and distance is not None and distance > self._max_distance:
                continue
            chunk = self.snapshot.chunk(key)
            id = self.snapshot.document(chunk.document).id
            passages.append(Retrieved(id, chunk.start, chunk.end, chunk.covered_start, distance))
        return tuple(passages)


def of_knowledge_base(
    kb: Indexed,
    *,
    pipeline: Pipeline = "default",
    depth: int = 20,
    max_distance: float | None = None,
    candidates: int | None = None,
    rerank_limit: int = RERANK_LIMIT,
    min_logit: float | None = None,
    max_absent: float | None = None,
) -> IndexRetriever:
    """Return a pipeline over the present generation of an index as something that can be evaluated.

    Parameters
    ----------
    kb : KnowledgeBase
    pipeline : {"default", "bm25", "dense", "hybrid", "hybrid+rerank", "rerank-alone"}
        "default" is `KnowledgeBase.search` as it is without arguments, threshold included. The others find without a
        threshold, unless there is a `max_distance`: the words alone, the vectors alone, both, both with the reranker's
        order fused in, and what both found in the reranker's order alone.
    depth : int, default 20
        How many passages to return.
    max_distance : float, optional
        Another threshold. "bm25" measures no distance and takes none.
    candidates : int, optional
        Wanted of each leg, where there are two; by default 50, or `depth` where that is more. Both together find
        between this number and twice as many.
    rerank_limit : int, default 25
        How many of them the reranker judges, where there is one; the rest keep their order below. At 0, none.
    min_logit, max_absent : float, optional
        A second stage: see `KnowledgeBase.search`. The former needs a pipeline that reranks, the latter two legs.

    Raises
    ------
    InvalidInputError
        If there is no such pipeline, it is given a threshold that it does not have, or a number is out of its range.
    """
    one_of(pipeline, "pipeline", get_args(Pipeline))
    if pipeline == "bm25" and max_distance is not None:
        raise InvalidInputError("pipeline is 'bm25', which measures no distance; leave max_distance out")
    reranks = _ORDERS.get(pipeline, "none") != "none"
    max_distance, min_logit, max_absent = checked_limits(max_distance, min_logit, max_absent, reranks=reranks)
    if pipeline == "default" and max_distance is None:
        max_distance = DEFAULT_MAX_DISTANCE
    if max_absent is not None and pipeline not in _ORDERS:
        raise InvalidInputError(f"pipeline is {pipeline!r}, which looks at no words again; leave max_absent out")
    depth = integer(depth, "depth", at_least=1)
    return IndexRetriever(
        kb,
        pipeline,
        depth=depth,
        max_distance=max_distance,
        candidates=max(CANDIDATES, depth) if candidates is None else integer(candidates, "candidates", at_least=1),
        rerank_limit=integer(rerank_limit, "rerank_limit", at_least=0),
        min_logit=min_logit,
        max_absent=max_absent,
    )


def ask(retriever: Retriever, question: str, *, depth: int) -> Retrieval:
    """Return what a retriever gives for a question, cut at a depth and timed if it does not time itself.

    Raises
    ------
    InvalidInputError
        If it gives something that is no passage.
    """
    started = time.perf_counter()
    given = retriever(question)
    total = 1000 * (time.perf_counter() - started)
    if not isinstance(given, (Retrieval, Iterable)) or isinstance(given, str):
        raise InvalidInputError(
            f"the retriever gave {given!r} for {question!r}, wanted a list of Retrieved passages, empty for a refusal"
        )
    retrieval = given if isinstance(given, Retrieval) else Retrieval(tuple(given))
    for passage in retrieval.passages:
        if not _is_passage(passage):
            raise InvalidInputError(
                f"the retriever gave {passage!r} for {question!r}, wanted Retrieved passages with a document's id, "
                "integers 0 <= covered_start <= start <= end, and numbers or None as scores"
            )
    passages = retrieval.passages[:depth]
    nearest = retrieval.nearest_distance
    if nearest is None:
        nearest = min((passage.distance for passage in passages if passage.distance is not None), default=None)
    return Retrieval(passages, nearest, {"total": total, **retrieval.timings})


def _is_passage(passage: Any) -> bool:
    if not isinstance(passage, Retrieved) or not isinstance(passage.document_id, str):
        return False
    places, scores = (
        (passage.covered_start, passage.start, passage.end),
        (passage.distance, passage.logit, passage.absent),
    )
    return (
        all(isinstance(place, (int, np.integer)) for place in places)
        and 0 <= places[0] <= places[1] <= places[2]
        and all(score is None or (isinstance(score, (int, float, np.number)) and score == score) for score in scores)
    )
