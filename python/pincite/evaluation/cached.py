"""Models that remember: an evaluation asks them the same thing again and again.

Ablations share most of their texts. What a model gave is kept in a file, under a hash of the model's stamp and the
text, so that another model, or another text, never gets it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.core.arguments import path_text
from pincite.errors import InvalidInputError
from pincite.types import EncodedTexts, ScoredPassages, TextEncoder, TextReranker

__all__ = ["CachedEncoder", "CachedReranker"]


@dataclass(frozen=True, slots=True)
class _Encoded:
    vectors: npt.NDArray[np.float32]
    truncated_tokens: npt.NDArray[np.int64]
    unknown_tokens: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Scored:
    scores: npt.NDArray[np.float32]
    truncated_tokens: npt.NDArray[np.int64]


class CachedEncoder:
    """An encoder that encodes each text once, in this process and the next.

    Vectors may differ from fresh ones in their last bits, as those of one text in different batches do.

    Parameters
    ----------
    encoder : TextEncoder
    path : path
        The file to keep vectors in; made if there is none. Models may share it.

    Raises
    ------
    InvalidInputError
        If the file is no such cache, or cannot be written.
    """

    def __init__(self, encoder: TextEncoder, path: str | os.PathLike[str]) -> None:
        self._encoder = encoder
        self._kept = _Kept(path, encoder.stamp)

    @property
    def dim(self) -> int:
        """The encoder's."""
        return self._encoder.dim

    @property
    def window_tokens(self) -> int:
        """The encoder's."""
        return self._encoder.window_tokens

    @property
    def stamp(self) -> Mapping[str, Any]:
        """The encoder's: the vectors are its own."""
        return self._encoder.stamp

    def word_pieces(self, text: str) -> Sequence[int]:
        """Return the ends of the text's word pieces, as the encoder does."""
        return self._encoder.word_pieces(text)

    def encode_batch(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> EncodedTexts:
        """Return the vectors of texts; `progress` hears of those that are encoded now."""

        def encode(missing: list[str]) -> npt.NDArray[np.float64]:
            fresh = self._encoder.encode_batch(missing, progress=progress)
            return np.column_stack([fresh.vectors, fresh.truncated_tokens, fresh.unknown_tokens])

        rows = self._kept.rows([(text,) for text in texts], lambda keys: encode([text for (text,) in keys]))
        rows = rows.reshape(-1, self.dim + 2)
        return _Encoded(
            np.ascontiguousarray(rows[:, :-2], dtype=np.float32),
            rows[:, -2].astype(np.int64),
            rows[:, -1].astype(np.int64),
        )


class CachedReranker:
    """A reranker that judges each passage against a question once, in this process and the next.

    Takes and raises what `CachedEncoder` does.
    """

    def __init__(self, reranker: TextReranker, path: str | os.PathLike[str]) -> None:
        self._reranker = reranker
        self._kept = _Kept(path, reranker.stamp)

    @property
    def stamp(self) -> Mapping[str, Any]:
        """The reranker's: the scores are its own."""
        return self._reranker.stamp

    def score_batch(self, query: str, passages: Sequence[str]) -> ScoredPassages:
        """Judge passages against a question."""

        def judge(missing: list[tuple[str, ...]]) -> npt.NDArray[np.float64]:
            fresh = self._reranker.score_batch(query, [passage for _, passage in missing])
            return np.column_stack([fresh.scores, fresh.truncated_tokens])

        rows = self._kept.rows([(query, passage) for passage in passages], judge).reshape(-1, 2)
        return _Scored(rows[:, 0].astype(np.float32), rows[:, 1].astype(np.int64))


class _Kept:
    """Rows of numbers by the texts that they were made from. Doubles hold a float32 and a count exactly."""

    def __init__(self, path: str | os.PathLike[str], stamp: Mapping[str, Any]) -> None:
        self._path = path_text(path)
        self._stamp = json.dumps(dict(stamp), sort_keys=True)
        with self._opened() as file:
            file.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID")

    def rows(
        self,
        texts: Sequence[tuple[str, ...]],
        make: Callable[[list[tuple[str, ...]]], npt.NDArray[np.float64]],
    ) -> npt.NDArray[np.float64]:
        """Return a row for each of the texts, of which the missing ones are made in one call."""
        keys = [hashlib.sha256(json.dumps([self._stamp, *each]).encode()).digest() for each in texts]
        found = {}
        with self._opened() as file:
            for key in set(keys):
                row = file.execute("SELECT row FROM kept WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = np.frombuffer(row[0], dtype="<f8")
        missing = {key: each for key, each in zip(keys, texts, strict=True) if key not in found}
        if missing:
            made = dict(zip(missing, make(list(missing.values())).astype("<f8"), strict=True))
            with self._opened() as file:
                file.executemany(
                    "INSERT OR IGNORE INTO kept VALUES (?, ?)", [(key, row.tobytes()) for key, row in made.items()]
                )
            found |= made
        return np.array([found[key] for key in keys])

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction: so threads and processes may share it."""
        try:
            with closing(sqlite3.connect(self._path, timeout=60.0)) as file, file:
                yield file
        except sqlite3.Error as error:
            raise InvalidInputError(
                f"{self._path} cannot be used as a cache: {error}; give the path of another"
            ) from error
