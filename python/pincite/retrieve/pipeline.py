"""A question's way: embed, two legs, fuse, measure, decide, rerank."""

from __future__ import annotations

import time
from collections.abc import Callable

from pincite.retrieve.decide import decide
from pincite.retrieve.legs import Leg, bm25_leg, dense_leg, fuse, measure_distances
from pincite.retrieve.rerank import rerank
from pincite.retrieve.result import Coverage, Hit, LegPlan, Plan, RerankOrder, SearchResult
from pincite.store.snapshot import RowKey, Snapshot
from pincite.types import TextEncoder, TextReranker

__all__ = ["CANDIDATES", "RERANK_LIMIT", "RRF_K", "search"]

CANDIDATES = 50
RRF_K = 60
RERANK_LIMIT = 25


def search(
    snapshot: Snapshot,
    question: str,
    *,
    encoder: Callable[[], TextEncoder],
    reranker: Callable[[], TextReranker],
    k: int,
    max_distance: float | None,
    candidates: int,
    order: RerankOrder,
    rerank_limit: int = RERANK_LIMIT,
) -> SearchResult:
    """Answer a question from one generation; `encoder` and `reranker` are called when they are needed."""
    clock = _Clock()
    if not len(snapshot):
        return _result(snapshot, question, clock, reason=f'the index is empty; there is nothing for "{question}"',
                       plan=Plan((), candidates, RRF_K, max_distance, "none", 0, 0))  # fmt: skip
    model = encoder()
    clock.lap("load_models")
    encoded = model.encode_batch([question])
    vector, truncated = encoded.vectors[0], int(encoded.truncated_tokens[0])
    clock.lap("encode")
    words = bm25_leg(snapshot, question, candidates)
    clock.lap("bm25")
    dense = dense_leg(snapshot, vector, candidates)
    clock.lap("dense")
    fused = fuse(snapshot, [words, dense], rrf_k=RRF_K)
    clock.lap("fuse")
    distances = measure_distances(snapshot, fused, vector, dense)
    clock.lap("distance")
    passed = decide(snapshot, question, distances, max_distance)
    clock.lap("decide")
    keys = list(passed)
    logits: dict[RowKey, float] = {}
    unread = 0
    if order != "none" and keys and rerank_limit:
        judge = reranker()
        clock.lap("load_models")
        logits, unread = rerank(snapshot, judge, question, keys[:rerank_limit], order=order)
        clock.lap("rerank")
        keys = [*logits, *keys[rerank_limit:]]
    hits = tuple(
        _hit(snapshot, key, (words, dense), distances[key], fused[key], logits.get(key), passed[key])
        for key in keys[:k]
    )
    clock.lap("assemble")
    legs = tuple(
        LegPlan(leg.name, leg.path, len(snapshot.segments), len(snapshot), len(leg.scores)) for leg in (words, dense)
    )
    return _result(
        snapshot,
        question,
        clock,
        hits=hits,
        reason="" if hits else f'nothing under cosine distance {max_distance:g} for "{question}"',
        nearest=min(distances.values(), default=None),
        truncated=truncated,
        plan=Plan(legs, candidates, RRF_K, max_distance, order if logits else "none", len(logits), unread),
    )


def _hit(
    snapshot: Snapshot,
    key: RowKey,
    legs: tuple[Leg, Leg],
    distance: float,
    fused: float,
    logit: float | None,
    passed_by: str,
) -> Hit:
    chunk = snapshot.chunk(key)
    document = snapshot.document(chunk.document)
    place, row = snapshot.locate(key)
    number = int(place.spans.chunks["document"][row])
    return Hit(
        document_id=document.id,
        title=document.title,
        start=chunk.start,
        end=chunk.end,
        covered_start=chunk.covered_start,
        content=snapshot.content(key),
        heading_path=chunk.heading_path,
        section=chunk.section,
        lines=place.texts.lines(number, chunk.start, chunk.end),
        ranks={leg.name: leg.keys.index(key) + 1 for leg in legs if key in leg.scores},
        bm25=legs[0].scores.get(key),
        distance=distance,
        fused=fused,
        rerank_logit=logit,
        passed_by=passed_by,
        document=document,
        place=(place, number),
    )


def _result(
    snapshot: Snapshot,
    question: str,
    clock: _Clock,
    *,
    plan: Plan,
    reason: str,
    hits: tuple[Hit, ...] = (),
    nearest: float | None = None,
    truncated: int = 0,
) -> SearchResult:
    totals = snapshot.totals
    return SearchResult(
        question=question,
        hits=hits,
        refused=not hits,
        reason=reason,
        nearest_distance=nearest,
        complete=not totals["failed"] and not truncated,
        generation=snapshot.generation,
        coverage=Coverage(totals["documents"], totals["chunks"], totals["failed"]),
        truncated_tokens=truncated,
        plan=plan,
        timings=clock.read(),
    )


class _Clock:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self._stages: dict[str, float] = {}
        self._start = self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = time.perf_counter()
        self._stages[stage] = self._stages.get(stage, 0.0) + 1000 * (now - self._last)
        self._last = now

    def read(self) -> dict[str, float]:
        return {**self._stages, "total": 1000 * (time.perf_counter() - self._start)}
