"""Models without weights: fixed functions of the words, for tests of everything around them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Encoded(NamedTuple):
    vectors: npt.NDArray[np.float32]
    truncated_tokens: npt.NDArray[np.int64]
    unknown_tokens: npt.NDArray[np.int64]


class Scored(NamedTuple):
    scores: npt.NDArray[np.float32]
    truncated_tokens: npt.NDArray[np.int64]


class StubEncoder:
    """A unit vector of hashed words: texts that share words are near. One word piece a word."""

    def __init__(self, *, dim: int = 64, window_tokens: int = 256, seed: int = 0, model: str = "stub") -> None:
        self.dim = dim
        self.window_tokens = window_tokens
        self.stamp = {"model": model, "dim": dim}
        self._seed = seed
        self.n_encoded = 0

    def word_pieces(self, text: str) -> list[int]:
        ends, start = [], 0
        for word in text.split():
            start = text.index(word, start) + len(word)
            ends.append(start)
        return ends

    def encode_batch(self, texts, *, progress=None) -> Encoded:
        texts = list(texts)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        truncated = np.zeros(len(texts), dtype=np.int64)
        for i, text in enumerate(texts):
            words = text.lower().split()
            truncated[i] = max(0, len(words) + 2 - self.window_tokens)
            for word in [*words[: self.window_tokens - 2], "$"]:
                place, sign = _hashed(f"{self._seed}{word.strip('.,?!')}")
                vectors[i, place % self.dim] += sign
            if not vectors[i].any():
                vectors[i, 0] = 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self.n_encoded += len(texts)
        if progress is not None:
            progress(len(texts))
        return Encoded(vectors, truncated, np.zeros(len(texts), dtype=np.int64))


@lru_cache(maxsize=1 << 8)  # few: what a soak measures is the product's memory
def _hashed(word: str) -> tuple[int, int]:
    digest = hashlib.sha256(word.encode()).digest()
    return digest[0], 1 if digest[1] % 2 else -1


class StubReranker:
    """The share of the question's words that a passage holds."""

    stamp = {"model": "stub-reranker"}  # noqa: RUF012

    def __init__(self) -> None:
        self.n_scored = 0

    def score_batch(self, query, passages) -> Scored:
        words = set(query.lower().split())
        self.n_scored += len(passages)
        scores = [len(words & set(passage.lower().split())) / len(words) for passage in passages]
        return Scored(np.array(scores, dtype=np.float32), np.zeros(len(scores), dtype=np.int64))
