"""A second look at what was found: which words of the question a passage does not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pincite.core.text import tokenize
from pincite.store.snapshot import RowKey, Snapshot

__all__ = ["Absence", "absences"]


@dataclass(frozen=True, slots=True)
class Absence:
    """What of a question a passage does not have.

    Attributes
    ----------
    words : tuple of str
        The question's words that neither the passage nor its headings hold, in any form that the index takes for the
        same; rarest first.
    weight : float
        Their share of the weight of all the question's words, 0 to 1. A word weighs its inverse document frequency:
        ln(1 + (N - df + 0.5) / (df + 0.5)), as in BM25, so that "the" weighs next to nothing.
    """

    words: tuple[str, ...]
    weight: float


def absences(snapshot: Snapshot, question: str, keys: Sequence[RowKey]) -> dict[RowKey, Absence]:
    """Return what each of some passages does not have of a question."""
    if not keys:
        return {}
    weights, holders = {}, {}
    for word in _words(snapshot, question):
        df = snapshot.bm25.document_frequency(word)
        weights[word] = math.log(1 + (len(snapshot) - df + 0.5) / (df + 0.5))
        holders[word] = _holders(snapshot, word, keys) if df else set()
    total = math.fsum(weights.values())
    rarest_first = sorted(weights, key=lambda word: -weights[word])
    found = {}
    for key in keys:
        absent = tuple(word for word in rarest_first if key not in holders[word])
        found[key] = Absence(absent, math.fsum(weights[word] for word in absent) / total if total else 0.0)
    return found


def _words(snapshot: Snapshot, question: str) -> list[str]:
    """Return the question's words as they are written, each once."""
    tokens = tokenize(question, analyzer=snapshot.segments[0].bm25.analyzer, query=True)
    written = {token.term: question[token.start : token.end] for token in reversed(tokens)}
    return list(reversed(written.values()))


def _holders(snapshot: Snapshot, word: str, keys: Sequence[RowKey]) -> set[RowKey]:
    """Return those of some passages that hold a word."""
    wanted = np.sort(np.fromiter(keys, dtype=np.int64))
    bounds = np.searchsorted(wanted, [*snapshot.first_keys, np.iinfo(np.int64).max])
    allowed = [
        wanted[start:end] - first
        for first, start, end in zip(snapshot.first_keys, bounds[:-1], bounds[1:], strict=True)
    ]
    found = snapshot.bm25.search(word, k=len(keys), allowed=allowed)
    return {
        int(row) + first for (rows, _), first in zip(found, snapshot.first_keys, strict=True) for row in rows.tolist()
    }
