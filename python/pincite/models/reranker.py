"""How well passages answer a question, read together by a cross-encoder."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pincite.errors import ModelFileError, TruncationError, TruncationWarning
from pincite.models.fetch import Report
from pincite.models.files import ModelFolder, locate
from pincite.models.known import DEFAULT_RERANKER
from pincite.models.sessions import Graph, read_graph
from pincite.models.texts import Tokens, Truncation, checked_text, checked_texts, checked_truncation, short_batches

__all__ = ["Reranker", "ScoredBatch"]

WINDOW = 256
"""Of question and passage together; the bundled model was trained on no more (its MODEL_CARD.md)."""
SPECIAL_TOKENS = 3
"""[CLS] question [SEP] passage [SEP]"""


class ScoredBatch(NamedTuple):
    """Scores, and what became of the texts they stand for.

    Attributes
    ----------
    scores : ndarray, (n,), float32
        Logits: greater is better, comparable within one question.
    truncated_tokens : ndarray, (n,), int64
        Word pieces at each passage's end that had no say.
    question_truncated_tokens : ndarray, (n,), int64
        Word pieces at the question's end that had no say beside that passage.
    """

    scores: np.ndarray
    truncated_tokens: np.ndarray
    question_truncated_tokens: np.ndarray


class Reranker:
    """A cross-encoder with one label.

    Made by `Reranker.load`. Safe to use from several threads; after a fork, the child makes a session of its own.

    A pair that exceeds the window is cut from the passage's end, down to half of the room; only a question that
    leaves less than that is cut too. Both are counted.

    Attributes
    ----------
    name : str
        Of the model.
    window_tokens : int
        Word pieces of question and passage together, the three special tokens included.
    stamp : dict
        What a score depends on: ``model``, ``model_sha256``, ``tokenizer_sha256``, ``window_tokens``.
    """

    def __init__(self, model: ModelFolder, *, threads: int | None = None) -> None:
        self._model = model
        self.name = model.name
        self.window_tokens = min(WINDOW, model.positive("max_position_embeddings"))
        self.stamp: dict[str, Any] = {
            "model": model.name,
            "model_sha256": model.weights_sha256,
            "tokenizer_sha256": model.tokenizer_sha256,
            "window_tokens": self.window_tokens,
        }
        self._tokens = Tokens(model.path / "tokenizer.json")
        self._graph = Graph(
            functools.partial(read_graph, model, task="reranker"),
            name=str(model.weights),
            outputs=("logits",),
            threads=threads,
        )

    @classmethod
    def load(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
        report: Report | None = None,
    ) -> Reranker:
        """Find a model, pulling it into the cache if it is not there, and hash its files.

        The session of ONNX Runtime is made at the first scoring.

        Parameters
        ----------
        name_or_path : str or path, optional
            A folder; a known model; or ``org/name[@revision]`` on the Hugging Face Hub. Default: the one that ships
            with Pincite.
        threads : int, optional
            Of one scoring; default: the CPUs this process may use.
        report : callable, optional
            Takes a line about what a pull is doing.

        Raises
        ------
        ModelFileError
            If the model cannot be found, fetched or used, or a file is not what it should be.
        """
        return cls(locate(DEFAULT_RERANKER if name_or_path is None else name_or_path, report=report), threads=threads)

    def score(self, query: str, passages: Iterable[str], *, truncation: Truncation = "warn") -> np.ndarray:
        """Return how well each passage answers the query.

        Parameters
        ----------
        query : str
            The question.
        passages : iterable of str
            Any number; a score does not depend on the others by more than 1e-5.
        truncation : {"warn", "allow", "error"}
            What to do about a pair beyond the window. `score_batch` counts it.

        Returns
        -------
        ndarray, (n,), float32
            Logits in the order of the passages.

        Raises
        ------
        InvalidInputError
            If the query is no str, `passages` is one str, or a text is no str or holds a lone surrogate.
        TruncationError
            If a pair is too long and `truncation` is "error"; nothing is scored.
        """
        checked_truncation(truncation)
        pairs = self._pairs(query, passages)
        long = [row for row, pair in enumerate(pairs) if pair.passage_cut or pair.question_cut]
        if long and truncation != "allow":
            said = (
                f"{len(long)} of {len(pairs)} pairs exceed the {self.window_tokens} word pieces of {self.name}, the "
                f"first by {pairs[long[0]].passage_cut + pairs[long[0]].question_cut} with passages[{long[0]}]"
            )
            if truncation == "error":
                raise TruncationError(f"{said}; shorten the question or split the passages")
            warnings.warn(f"{said}; what is beyond has no say in their scores", TruncationWarning, stacklevel=2)
        return self._scores(pairs)

    def score_batch(self, query: str, passages: Iterable[str]) -> ScoredBatch:
        """Return how well each passage answers the query, with counts of what was cut.

        Raises
        ------
        InvalidInputError
            If the query is no str, `passages` is one str, or a text is no str or holds a lone surrogate.
        """
        pairs = self._pairs(query, passages)
        return ScoredBatch(
            self._scores(pairs),
            np.array([pair.passage_cut for pair in pairs], dtype=np.int64),
            np.array([pair.question_cut for pair in pairs], dtype=np.int64),
        )

    def _pairs(self, query: str, passages: Iterable[str]) -> list[_Pair]:
        question = self._tokens.ids(checked_text(query, "query"))
        room = self.window_tokens - SPECIAL_TOKENS
        pairs = []
        for text in checked_texts(passages, "passages"):
            passage = self._tokens.ids(text)
            kept = min(len(question), max(room - room // 2, room - len(passage)))
            first = [self._tokens.first, *question[:kept], self._tokens.last]
            ids = [*first, *passage[: room - kept], self._tokens.last]
            cut = max(0, len(passage) - (room - kept))
            pairs.append(_Pair(ids, len(first), passage_cut=cut, question_cut=len(question) - kept))
        return pairs

    def _scores(self, pairs: list[_Pair]) -> np.ndarray:
        scores = np.empty(len(pairs), dtype=np.float32)
        for batch in short_batches([len(pair.ids) for pair in pairs]):
            output, _ = self._graph.run(
                [pairs[row].ids for row in batch], segments=[pairs[row].segment for row in batch]
            )
            if output.shape != (len(batch), 1):
                raise ModelFileError(
                    f"{self._model.weights} gives logits of shape {output.shape} for {len(batch)} pairs, wanted "
                    f"({len(batch)}, 1): a reranker has one label"
                )
            scores[batch] = output[:, 0]
        if not np.isfinite(scores).all():
            raise ModelFileError(f"{self._model.weights} gives scores that are no numbers")
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes its own session of the same folder."""
        return functools.partial(type(self), threads=self._graph.threads), (self._model,)

    def __repr__(self) -> str:
        return f"Reranker({self.name!r}, window_tokens={self.window_tokens})"


class _Pair(NamedTuple):
    ids: list[int]
    segment: int
    passage_cut: int
    question_cut: int
