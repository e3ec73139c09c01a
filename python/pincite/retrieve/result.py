"""What a search returns: typed scores, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pincite.filters import Condition
from pincite.store.records import DocumentRecord
from pincite.store.segment import Segment
from pincite.types import Section

__all__ = ["Coverage", "Hit", "LegPlan", "Plan", "RerankOrder", "SearchResult"]

RerankOrder = Literal["fused", "pure", "none"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found.

    Attributes
    ----------
    document_id, title : str
    start, end : int
        The passage is ``text[start:end]`` of the document's canonical text, in code points.
    covered_start : int
        Where the document's text begins in what was embedded: below `start` where there is an overlap, which is
        searched and never quoted.
    content : str
        Exactly that.
    heading_path : tuple of str
    section : Section
        Where it stands: the section's span and level.
    lines : (int, int)
        The first and the last line of the passage, from 1.
    ranks : dict of str to int
        Its rank, from 1, in each leg that found it: "bm25", "dense".
    bm25 : float or None
        None where the bm25 leg did not find it.
    distance : float
        1 - cosine between question and passage, exact.
    fused : float
        The sum of 1 / (60 + rank) over the legs.
    rerank_logit : float or None
        None where it was not reranked.
    passed_by : str
        "distance", or the rare word of the question that let it pass in spite of its distance.
    absent_words : tuple of str or None
        The question's words that neither the passage nor its headings hold, rarest first; None where nobody looked:
        without the reranker and without `max_absent`.
    absent_weight : float or None
        Their share of the weight of all the question's words, by inverse document frequency: 0 to 1.
    document : DocumentRecord
    place : (Segment, int)
        Where its document's text is stored: the segment, and its number there.
    """

    document_id: str
    title: str
    start: int
    end: int
    covered_start: int
    content: str
    heading_path: tuple[str, ...]
    section: Section
    lines: tuple[int, int]
    ranks: Mapping[str, int]
    bm25: float | None
    distance: float
    fused: float
    rerank_logit: float | None
    passed_by: str
    absent_words: tuple[str, ...] | None
    absent_weight: float | None
    document: DocumentRecord = field(repr=False)
    place: tuple[Segment, int] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as JSON has it."""
        return {
            "document_id": self.document_id,
            "title": self.title,
            "start": self.start,
            "end": self.end,
            "covered_start": self.covered_start,
            "lines": list(self.lines),
            "heading_path": list(self.heading_path),
            "section": {"start": self.section.start, "end": self.section.end, "level": self.section.level},
            "content": self.content,
            "ranks": dict(self.ranks),
            "bm25": self.bm25,
            "distance": self.distance,
            "fused": self.fused,
            "rerank_logit": self.rerank_logit,
            "passed_by": self.passed_by,
            "absent_words": None if self.absent_words is None else list(self.absent_words),
            "absent_weight": self.absent_weight,
            "metadata": dict(self.document.metadata),
        }


@dataclass(frozen=True, slots=True)
class LegPlan:
    """How one ranked list was made.

    Attributes
    ----------
    name : str
    path : str
        What was run: "inverted index", "exact scan", "graph", or "graph in 1 of 3 segments, exact scan in the others".
    segments, rows : int
        What it ran over.
    found : int
        How many candidates it gave.
    """

    name: str
    path: str
    segments: int
    rows: int
    found: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Which way a question went.

    Attributes
    ----------
    legs : tuple of LegPlan
    candidates : int
        Wanted of each leg.
    rrf_k : int
    max_distance : float or None
    rerank : {"fused", "pure", "none"}
        How the reranker's order was used.
    reranked : int
        How many passages it judged.
    rerank_truncated_tokens : int
        Word pieces of them that its window cut off.
    min_logit, max_absent : float or None
        What a passage had to reach, and not to exceed, to be returned.
    where : Condition or None
        What its document had to fulfil.
    """

    legs: tuple[LegPlan, ...]
    candidates: int
    rrf_k: int
    max_distance: float | None
    rerank: RerankOrder
    reranked: int
    rerank_truncated_tokens: int
    min_logit: float | None = None
    max_absent: float | None = None
    where: Condition | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an answer, or its absence, is about.

    Attributes
    ----------
    documents, chunks : int
        That were searched.
    failed : int
        Documents that could not be indexed: see `KnowledgeBase.ledger`.
    """

    documents: int
    chunks: int
    failed: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages for a question, best first, or why there are none.

    Attributes
    ----------
    question : str
    hits : tuple of Hit
    refused : bool
        Whether nothing passed the threshold.
    reason : str
        Why it was refused; empty otherwise.
    nearest_distance : float or None
        Of all candidates, whether or not they passed; None without any.
    complete : bool
        Whether everything was searched: every document is in the index, none failed, and all of the question was
        read. Where it is False, an absence proves nothing.
    generation : int
        The state of the index that was searched.
    coverage : Coverage
    truncated_tokens : int
        Word pieces of the question beyond the encoder's window.
    plan : Plan
    timings : dict of str to float
        Milliseconds by stage, and "total".
    """

    question: str
    hits: tuple[Hit, ...]
    refused: bool
    reason: str
    nearest_distance: float | None
    complete: bool
    generation: int
    coverage: Coverage
    truncated_tokens: int
    plan: Plan
    timings: Mapping[str, float]

    def __iter__(self) -> Iterator[Hit]:
        """Iterate over the hits, best first."""
        return iter(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        """Return a hit; 0 is the best."""
        return self.hits[rank]

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.hits)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        plan = self.plan
        return {
            "question": self.question,
            "refused": self.refused,
            "reason": self.reason,
            "nearest_distance": self.nearest_distance,
            "complete": self.complete,
            "generation": self.generation,
            "coverage": {
                "documents": self.coverage.documents,
                "chunks": self.coverage.chunks,
                "failed": self.coverage.failed,
            },
            "truncated_tokens": self.truncated_tokens,
            "plan": {
                "legs": [
                    {"name": leg.name, "path": leg.path, "segments": leg.segments, "rows": leg.rows,
                     "found": leg.found}
                    for leg in plan.legs
                ],
                "candidates": plan.candidates,
                "rrf_k": plan.rrf_k,
                "max_distance": plan.max_distance,
                "rerank": plan.rerank,
                "reranked": plan.reranked,
                "rerank_truncated_tokens": plan.rerank_truncated_tokens,
                "min_logit": plan.min_logit,
                "max_absent": plan.max_absent,
                "where": None if plan.where is None else plan.where.to_dict(),
            },
            "timings_ms": {stage: round(value, 3) for stage, value in self.timings.items()},
            "hits": [hit.to_dict() for hit in self.hits],
        }  # fmt: skip
