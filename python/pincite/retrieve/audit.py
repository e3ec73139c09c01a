"""What some groups can see of an index, and whether anything else shows through."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pincite.core.bm25 import BM25Index
from pincite.core.flat import FlatIndex
from pincite.retrieve.legs import bm25_leg, dense_leg
from pincite.store.encoding import encoded
from pincite.store.snapshot import RowKey, Snapshot
from pincite.types import TextEncoder

__all__ = ["Audit", "audit"]

WORDS = 12
"""Words of a chunk that make a question."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What groups can see, and a check that they see nothing else.

    Attributes
    ----------
    groups : tuple of str
    documents : tuple of str
        That they can see, by id.
    hidden : int
        Documents that they cannot.
    questions : int
        That were asked: the words of chunks that they can see, and of such that they cannot.
    leaks : tuple of str
        Where an answer was not that of an index which holds only what they can see, in words; empty where all was.
    """

    groups: tuple[str, ...]
    documents: tuple[str, ...]
    hidden: int
    questions: int
    leaks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON has it."""
        return {
            "groups": list(self.groups),
            "documents": list(self.documents),
            "hidden": self.hidden,
            "questions": self.questions,
            "leaks": list(self.leaks),
        }


def audit(
    everything: Snapshot,
    view: Snapshot,
    groups: frozenset[str],
    *,
    encoder: Callable[[], TextEncoder],
    questions: int,
    seed: int,
) -> Audit:
    """Ask a view questions, and an index that is built of what it shows the same."""
    seen = sorted(_keys(view), key=view.order)
    hidden = sorted(set(_keys(everything)) - set(seen), key=everything.order)
    documents = tuple(dict.fromkeys(view.order(key)[0] for key in seen))
    chance = random.Random(seed)
    of_each = [chance.sample(keys, min(len(keys), (questions + 1) // 2)) for keys in (seen, hidden)]
    asked = [" ".join(everything.content(key).split()[:WORDS]) for keys in of_each for key in keys]
    asked = [question for question in asked if question]
    leaks: list[str] = []
    if asked:
        fresh = _Fresh(view, seen)
        vectors, _ = encoded(encoder(), asked, of="the questions")
        for question, vector in zip(asked, vectors, strict=True):
            for found, wanted in (
                (bm25_leg(view, question, WORDS), fresh.bm25(question)),
                (dense_leg(view, vector, WORDS), fresh.dense(vector)),
            ):
                if list(found.scores.items()) != wanted:
                    leaks.append(f'the {found.name} leg answers "{question}" otherwise than without what is hidden')
    hidden_documents = len({everything.order(key)[0] for key in hidden})
    return Audit(tuple(sorted(groups)), documents, hidden_documents, len(asked), tuple(leaks))


class _Fresh:
    """An index of some chunks alone, with their stored vectors."""

    def __init__(self, view: Snapshot, keys: list[RowKey]) -> None:
        self._keys = keys
        places = [view.locate(key) for key in keys]
        first = view.segments[0].bm25
        texts = [segment.embedded_text(row) for segment, row in places]
        self._bm25 = BM25Index.build(texts, analyzer=first.analyzer, stemmer=first.stemmer)
        vectors = [segment.vectors.vectors[row] for segment, row in places]
        self._vectors = FlatIndex.build(np.array(vectors)) if vectors else None

    def bm25(self, question: str) -> list[tuple[RowKey, float]]:
        rows, scores = self._bm25.search(question, k=WORDS)
        return [(self._keys[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def dense(self, vector: np.ndarray[Any, np.dtype[np.float32]]) -> list[tuple[RowKey, float]]:
        if self._vectors is None:
            return []
        rows, scores = self._vectors.search(vector, k=WORDS)
        return [(self._keys[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


def _keys(snapshot: Snapshot) -> Iterator[RowKey]:
    """Yield the chunks that are alive."""
    for segment, first, visible in zip(snapshot.segments, snapshot.first_keys, snapshot.visible, strict=True):
        rows = range(len(segment)) if visible is None else np.flatnonzero(visible).tolist()
        yield from (first + row for row in rows)
