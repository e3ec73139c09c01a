"""A question's way: embed, two legs, fuse, measure, decide, rerank, look again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

from pincite.filters import Condition
from pincite.retrieve.decide import decide
from pincite.retrieve.evidence import Absence, absences
from pincite.retrieve.legs import Leg, bm25_leg, dense_leg, fuse, measure_distances
from pincite.retrieve.rerank import rerank
from pincite.retrieve.result import Coverage, Hit, LegPlan, Plan, RerankOrder, SearchResult
from pincite.store.encoding import encoded
from pincite.store.snapshot import RowKey, Selection, Snapshot
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
    min_logit: float | None = None,
    max_absent: float | None = None,
    where: Condition | None = None,
    within: Snapshot | None = None,
) -> SearchResult:
    """Answer a question from one generation; `encoder` and `reranker` are called when they are needed.

    With `within`, a view of that generation, only what it shows is found, by the statistics of everything.
    """
    clock = _Clock()
    shown = snapshot if within is None else within
    if not len(shown):
        return _result(shown, question, clock, reason=f'the index is empty; there is nothing for "{question}"',
                       plan=Plan((), candidates, RRF_K, max_distance, "none", 0, 0, min_logit, max_absent))  # fmt: skip
    selection = shown.select(where) if where is not None else None if within is None else within.everything()
    if selection is not None:
        clock.lap("filter")
        if not selection.documents:
            nowhere = Plan((), candidates, RRF_K, max_distance, "none", 0, 0, min_logit, max_absent, where)
            reason = f'no document fulfils the condition; there is nothing for "{question}"'
            return _result(shown, question, clock, plan=nowhere, reason=reason, selection=selection)
    rows = None if selection is None else selection.rows
    model = encoder()
    clock.lap("load_models")
    vectors, asked = encoded(model, [question], of="the question")
    vector, truncated = vectors[0], int(asked.truncated_tokens[0])
    clock.lap("encode")
    words = bm25_leg(snapshot, question, candidates, rows=rows)
    clock.lap("bm25")
    dense = dense_leg(snapshot, vector, candidates, rows=rows)
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
    if min_logit is not None:
        keys = [key for key in keys if logits.get(key, -math.inf) >= min_logit]
    absent: dict[RowKey, Absence] = {}
    if order != "none" or max_absent is not None:
        absent = absences(snapshot, question, keys[:k] if max_absent is None else keys)
        if max_absent is not None:
            keys = [key for key in keys if absent[key].weight <= max_absent]
        clock.lap("evidence")
    hits = tuple(
        _hit(snapshot, key, (words, dense), distances[key], fused[key], logits.get(key), passed[key], absent.get(key))
        for key in keys[:k]
    )
    clock.lap("assemble")
    searched = len(snapshot) if selection is None else selection.chunks
    legs = tuple(
        LegPlan(leg.name, leg.path, len(snapshot.segments), searched, len(leg.scores)) for leg in (words, dense)
    )
    return _result(
        shown,
        question,
        clock,
        hits=hits,
        reason="" if hits else _reason(question, max_distance, list(passed), logits, min_logit, absent, max_absent),
        nearest=min(distances.values(), default=None),
        truncated=truncated,
        plan=Plan(
            legs,
            candidates,
            RRF_K,
            max_distance,
            order if logits else "none",
            len(logits),
            unread,
            min_logit,
            max_absent,
            where,
        ),
        selection=selection,
    )


def _reason(
    question: str,
    max_distance: float | None,
    passed: Sequence[RowKey],
    logits: Mapping[RowKey, float],
    min_logit: float | None,
    absent: Mapping[RowKey, Absence],
    max_absent: float | None,
) -> str:
    """Say which stage left nothing over, and by how much."""
    if not passed:
        return f'nothing under cosine distance {max_distance:g} for "{question}"'
    if min_logit is not None and not absent:
        best = max(logits.values())
        return f'nothing with a rerank logit of {min_logit:g} or more for "{question}"; the best has {best:.2f}'
    best_key = min(absent, key=lambda key: absent[key].weight)
    return (
        f'no passage has enough of the words of "{question}": the best lacks {", ".join(absent[best_key].words)} '
        f"({absent[best_key].weight:.2f} of their weight, at most {max_absent:g} may be absent)"
    )


def _hit(
    snapshot: Snapshot,
    key: RowKey,
    legs: tuple[Leg, Leg],
    distance: float,
    fused: float,
    logit: float | None,
    passed_by: str,
    absent: Absence | None,
) -> Hit:
    chunk = snapshot.chunk(key)
    kept = snapshot.document(chunk.document)
    document = replace(kept, metadata=deepcopy(dict(kept.metadata)))  # which whoever asked may change
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
        absent_words=None if absent is None else absent.words,
        absent_weight=None if absent is None else absent.weight,
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
    selection: Selection | None = None,
) -> SearchResult:
    totals = snapshot.totals
    covered = (totals["documents"], totals["chunks"]) if selection is None else (selection.documents, selection.chunks)
    return SearchResult(
        question=question,
        hits=hits,
        refused=not hits,
        reason=reason,
        nearest_distance=nearest,
        complete=not totals["failed"] and not truncated,
        generation=snapshot.generation,
        coverage=Coverage(*covered, failed=totals["failed"]),
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
