"""A whole search over chunks in plain lists, without models: every chunk is measured, ranked and then decided on.

Source: DESIGN.md's order of stages (legs, fuse, exact distance, decide, rerank), the docstrings of
`pincite.retrieve`, and for the fusion the paper that `reference.fusion` names. Ties go by document id, then start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reference.fusion import rrf

RERANKED = 25
RARE = 5
EDGES = "\"'`“”‘’«»()[]{}<>,;:.!?"


@dataclass
class Chunk:
    document: str
    start: int
    content: str
    indexed: str
    vector: Sequence[float]


@dataclass
class Hit:
    chunk: Chunk
    ranks: dict[str, int]
    bm25: float | None
    distance: float
    fused: float
    passed_by: str
    logit: float | None = None
    absent_words: tuple[str, ...] | None = None
    absent_weight: float | None = None


def search(
    chunks: Sequence[Chunk],
    question: str,
    vector: Sequence[float],
    *,
    by_words: Mapping[int, float],
    frequency: Callable[[str], int],
    k: int,
    max_distance: float | None,
    candidates: int,
    order: str,
    rerank: Callable[[str, list[str]], Sequence[float]],
    words: Callable[[str], Mapping[str, str]],
    min_logit: float | None = None,
    max_absent: float | None = None,
) -> tuple[list[Hit], float | None]:
    """Return the hits, and the least distance of a candidate.

    `by_words` has the BM25 score of every chunk that holds a word of the question, by the chunk's number; `frequency`
    says how many chunks hold a word, `words` gives the words of a text as they are written, each with its indexed form.
    """

    def best_first(scores: Mapping[int, float]) -> list[int]:
        return sorted(scores, key=lambda i: (-scores[i], chunks[i].document, chunks[i].start))

    candidates = max(candidates, k)
    cosines = {i: math.fsum(a * b for a, b in zip(chunk.vector, vector, strict=True)) for i, chunk in enumerate(chunks)}
    legs = {"bm25": best_first(by_words)[:candidates], "dense": best_first(cosines)[:candidates]}
    fused = dict(zip(*rrf(list(legs.values()), k=60), strict=True))
    hits = []
    for i in best_first(fused):
        distance = max(0.0, 1.0 - cosines[i])
        hits.append(
            Hit(
                chunk=chunks[i],
                ranks={name: leg.index(i) + 1 for name, leg in legs.items() if i in leg},
                bm25=by_words[i] if i in legs["bm25"] else None,
                distance=distance,
                fused=fused[i],
                passed_by=passes(chunks[i], question, distance, max_distance, frequency),
            )
        )
    nearest = min((hit.distance for hit in hits), default=None)
    passed = [hit for hit in hits if hit.passed_by]
    if order != "none" and passed:
        judged = passed[:RERANKED]
        logits = rerank(question, [hit.chunk.content for hit in judged])
        for hit, logit in zip(judged, logits, strict=True):
            hit.logit = float(logit)
        places = list(range(len(judged)))
        pure = sorted(places, key=lambda place: (-judged[place].logit, place))
        chosen = rrf([places, pure], k=10)[0] if order == "fused" else pure
        passed = [*(judged[place] for place in chosen), *passed[RERANKED:]]
    if min_logit is not None:
        passed = [hit for hit in passed if hit.logit is not None and hit.logit >= min_logit]
    if order != "none" or max_absent is not None:
        for hit in passed:
            look_again(hit, words(question), len(chunks), frequency, words)
    if max_absent is not None:
        passed = [hit for hit in passed if hit.absent_weight <= max_absent]
    return passed[:k], nearest


def look_again(
    hit: Hit,
    asked: Mapping[str, str],
    n: int,
    frequency: Callable[[str], int],
    words: Callable[[str], Mapping[str, str]],
) -> None:
    """Note which words of the question a passage lacks, and their share of all inverse document frequencies."""
    weights = {word: math.log(1 + (n - frequency(word) + 0.5) / (frequency(word) + 0.5)) for word in asked}
    held = set(words(hit.chunk.indexed).values())
    absent = [word for word in asked if asked[word] not in held]
    total = math.fsum(weights.values())
    hit.absent_words = tuple(sorted(absent, key=lambda word: -weights[word]))
    hit.absent_weight = math.fsum(weights[word] for word in absent) / total if total else 0.0


def passes(
    chunk: Chunk, question: str, distance: float, max_distance: float | None, frequency: Callable[[str], int]
) -> str:
    """Return what lets a chunk pass: "distance", or a rare, code-like word; empty if nothing does."""
    if max_distance is None or distance <= max_distance:
        return "distance"
    for word in question.split():
        word = word.strip(EDGES)
        if is_code_like(word) and holds(chunk.content, word) and 0 < frequency(word) <= RARE:
            return word
    return ""


def is_code_like(word: str) -> bool:
    digits = [c.isdecimal() for c in word]
    marks = [c in "./:-" for c in word]
    parts = [is_part(c) for c in word]
    letters = [part and not digit for part, digit in zip(parts, digits, strict=True)]
    mixed = any(digits) and any(letters) and len(word) >= 3
    long_number = all(digits) and len(word) >= 5
    marked_number = (
        digits[:1] == [True]
        and all(digit or mark for digit, mark in zip(digits, marks, strict=True))
        and any(mark and digit for mark, digit in zip(marks, digits[1:], strict=False))
    )
    identifier = letters[:1] == [True] and all(parts) and "_" in word[1:-1]
    return mixed or long_number or marked_number or identifier


def holds(text: str, word: str) -> bool:
    """Return whether the word stands in the text with no letter, digit or underscore beside it."""
    return any(
        text.startswith(word, at) and not is_part(text[at - 1 : at]) and not is_part(text[at + len(word) :][:1])
        for at in range(len(text))
    )


def is_part(character: str) -> bool:
    return character.isalnum() or character == "_"
