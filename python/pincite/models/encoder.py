"""Texts into unit vectors."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from pincite.errors import ModelFileError, TruncationError, TruncationWarning
from pincite.models.fetch import Report
from pincite.models.files import ModelFolder, locate
from pincite.models.known import DEFAULT_ENCODER
from pincite.models.sessions import Graph, read_graph
from pincite.models.texts import Tokens, Truncation, checked_text, checked_texts, checked_truncation, short_batches

__all__ = ["EncodedBatch", "Encoder"]

DEFAULT_WINDOW = 256
"""Of models that state none: that of all-MiniLM-L6-v2."""


class EncodedBatch(NamedTuple):
    """Vectors, and what became of the texts they stand for.

    Attributes
    ----------
    vectors : ndarray, (n, dim), float32
        Of length 1.
    token_counts : ndarray, (n,), int64
        Word pieces of the whole text, the two special tokens included.
    truncated_tokens : ndarray, (n,), int64
        How many of them were beyond the window and had no say.
    unknown_tokens : ndarray, (n,), int64
        How many are [UNK]: characters outside the vocabulary, and words of over 100 characters.
    """

    vectors: np.ndarray
    token_counts: np.ndarray
    truncated_tokens: np.ndarray
    unknown_tokens: np.ndarray


class Encoder:
    """A sentence encoder: BERT, pooled, each vector of length 1.

    Made by `Encoder.load`. Safe to use from several threads; after a fork, the child makes a session of its own.

    Attributes
    ----------
    name : str
        Of the model.
    dim : int
        Length of a vector.
    window_tokens : int
        How many word pieces of a text count, special tokens included.
    stamp : dict
        What a vector depends on: ``model``, ``model_sha256``, ``tokenizer_sha256``, ``pooling``, ``dim``,
        ``window_tokens``.
    """

    def __init__(self, model: ModelFolder, *, threads: int | None = None) -> None:
        self._model = model
        self.name = model.name
        pooling = _pooling(model)
        self.dim = model.positive("hidden_size")
        stated = model.settings("sentence_bert_config.json").get("max_seq_length", DEFAULT_WINDOW)
        if type(stated) is not int or stated < 3:
            raise ModelFileError(
                f"{model.path / 'sentence_bert_config.json'} says max_seq_length = {stated!r}, wanted at least 3"
            )
        self.window_tokens = min(stated, model.positive("max_position_embeddings"))
        self.stamp: dict[str, Any] = {
            "model": model.name,
            "model_sha256": model.weights_sha256,
            "tokenizer_sha256": model.tokenizer_sha256,
            "pooling": pooling,
            "dim": self.dim,
            "window_tokens": self.window_tokens,
        }
        self._tokens = Tokens(model.path / "tokenizer.json")
        self._graph = Graph(
            functools.partial(read_graph, model, task="encoder", pooling=pooling),
            name=str(model.weights),
            outputs=("sentence_embedding", "last_hidden_state", "token_embeddings"),
            threads=threads,
        )

    @classmethod
    def load(
        cls,
        name_or_path: str | os.PathLike[str] = DEFAULT_ENCODER,
        *,
        threads: int | None = None,
        report: Report | None = None,
    ) -> Encoder:
        """Find a model, pulling it into the cache if it is not there, and hash its files.

        Costs the hashing, about 0.1 s for 90 MB. The session of ONNX Runtime is made at the first encoding.

        Parameters
        ----------
        name_or_path : str or path
            A folder; a known model; or ``org/name[@revision]`` on the Hugging Face Hub.
        threads : int, optional
            Of one encoding; default: the CPUs this process may use.
        report : callable, optional
            Takes a line about what a pull is doing.

        Raises
        ------
        ModelFileError
            If the model cannot be found, fetched or used, or a file is not what it should be.
        """
        return cls(locate(name_or_path, report=report), threads=threads)

    def encode(self, texts: Iterable[str], *, truncation: Truncation = "warn") -> np.ndarray:
        """Return the vectors of texts.

        Parameters
        ----------
        texts : iterable of str
            Any number; a vector does not depend on the others by more than 1e-5.
        truncation : {"warn", "allow", "error"}
            What to do about a text beyond the window, of which the rest has no say. `encode_batch` counts it.

        Returns
        -------
        ndarray, (n, dim), float32
            In the order of the texts.

        Raises
        ------
        InvalidInputError
            If `texts` is one str, or holds anything but str, or a lone surrogate.
        TruncationError
            If a text is too long and `truncation` is "error"; nothing is encoded.
        """
        checked_truncation(truncation)
        pieces = self._pieces(texts)
        counts = [len(ids) + 2 for ids in pieces]
        long = [row for row, count in enumerate(counts) if count > self.window_tokens]
        if long and truncation != "allow":
            said = (
                f"{len(long)} of {len(counts)} texts exceed the {self.window_tokens} word pieces of {self.name}, the "
                f"first is texts[{long[0]}] with {counts[long[0]]}; split them (pincite.chunk(window_tokens=...) does)"
            )
            if truncation == "error":
                raise TruncationError(said)
            warnings.warn(f"{said}; the rest has no say in their vectors", TruncationWarning, stacklevel=2)
        return self._vectors(pieces, None)

    def encode_batch(self, texts: Iterable[str], *, progress: Callable[[int], object] | None = None) -> EncodedBatch:
        """Return the vectors of texts with counts of what was cut and not known.

        Parameters
        ----------
        texts : iterable of str
            Any number.
        progress : callable, optional
            Called with the number of texts that each step has done, as tqdm's ``update`` wants it; what it raises
            ends the work.

        Raises
        ------
        InvalidInputError
            If `texts` is one str, or holds anything but str, or a lone surrogate.
        """
        pieces = self._pieces(texts)
        counts = np.array([len(ids) + 2 for ids in pieces], dtype=np.int64)
        unknown = np.array([ids.count(self._tokens.unknown) for ids in pieces], dtype=np.int64)
        return EncodedBatch(
            self._vectors(pieces, progress), counts, np.maximum(counts - self.window_tokens, 0), unknown
        )

    def word_pieces(self, text: str) -> list[int]:
        """Return where the word pieces of a text end, in code points: what ``pincite.chunk(word_pieces=...)`` takes.

        Without special tokens; nothing is cut.
        """
        return self._tokens.ends(checked_text(text, "text"))

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of a text, the two special tokens included."""
        return len(self._tokens.ids(checked_text(text, "text"))) + 2

    def _pieces(self, texts: Iterable[str]) -> list[list[int]]:
        return [self._tokens.ids(text) for text in checked_texts(texts, "texts")]

    def _vectors(self, pieces: list[list[int]], progress: Callable[[int], object] | None) -> np.ndarray:
        room = self.window_tokens - 2
        rows = [[self._tokens.first, *ids[:room], self._tokens.last] for ids in pieces]
        vectors = np.empty((len(rows), self.dim), dtype=np.float32)
        for batch in short_batches([len(row) for row in rows]):
            output, mask = self._graph.run([rows[row] for row in batch])
            vectors[batch] = self._pooled(output, mask)
            if progress is not None:
                progress(len(batch))
        return vectors

    def _pooled(self, output: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """A graph that gives token vectors has them pooled and scaled here."""
        if output.shape[-1:] != (self.dim,) or output.ndim not in (2, 3):
            raise ModelFileError(
                f"{self._model.weights} gives shape {output.shape}, wanted (batch, {self.dim}) or (batch, tokens, "
                f"{self.dim}): hidden_size of config.json is {self.dim}"
            )
        if output.ndim == 3 and self.stamp["pooling"] == "cls":
            output = output[:, 0]
        elif output.ndim == 3:
            output = (output * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        norms = np.linalg.norm(output, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise ModelFileError(f"{self._model.weights} gives vectors that are zero or no numbers")
        scaled: np.ndarray = (output / norms).astype(np.float32, copy=False)
        return scaled

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes its own session of the same folder."""
        return functools.partial(type(self), threads=self._graph.threads), (self._model,)

    def __repr__(self) -> str:
        return f"Encoder({self.name!r}, dim={self.dim}, window_tokens={self.window_tokens})"


def _pooling(model: ModelFolder) -> str:
    settings = model.settings("1_Pooling/config.json") or {"pooling_mode_mean_tokens": True}
    modes = [key for key, value in settings.items() if key.startswith("pooling_mode_") and value is True]
    named = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if len(modes) != 1 or modes[0] not in named:
        raise ModelFileError(
            f"{model.path / '1_Pooling/config.json'} asks for {', '.join(modes) or 'no pooling'}; "
            f"supported is one of {', '.join(named)}"
        )
    return named[modes[0]]
