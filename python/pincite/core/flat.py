"""Exact vector search: every row is scored."""

from __future__ import annotations

import math
import os
from typing import Literal, NamedTuple, Self

import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, integer, number, path_text, word
from pincite.core.arrays import FloatArray, IdArray, as_allowed, as_vectors, axes
from pincite.core.saved_index import SavedIndex
from pincite.errors import InvalidInputError

__all__ = ["FlatIndex", "SearchBatch"]


class SearchBatch(NamedTuple):
    """The answers to several queries; row i answers query i.

    Attributes
    ----------
    ids : (q, k) int64 array
        Best first; -1 where there are fewer than k.
    scores : (q, k) float32 array
        Cosines; -inf where there are fewer than k.
    counts : (q,) int64 array
        How many of the k columns are filled.
    """

    ids: IdArray
    scores: FloatArray
    counts: IdArray


class FlatIndex(SavedIndex[_core.FlatIndex]):
    """Exact search over unit vectors by cosine. Immutable and safe to use from several threads.

    Make one with `FlatIndex.build` or `FlatIndex.load`. A search costs one pass over all rows. Scores are the
    same bits on every machine and for every `storage`, number of threads and batch size; equal scores are
    ordered by id.

    Examples
    --------
    >>> import pincite
    >>> index = pincite.FlatIndex.build([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> ids, scores = index.search([0.0, 1.0], k=2)
    >>> ids.tolist()
    [2, 1]
    """

    __slots__ = ()

    @classmethod
    def build(
        cls,
        vectors: npt.ArrayLike,
        *,
        normalize: bool = False,
        storage: Literal["float32", "float16", "int8"] = "float32",
    ) -> Self:
        """Build an index over a copy of `vectors`; the id of a row is its number.

        Parameters
        ----------
        vectors : (n, dim) array
            One unit vector a row; cast to float32.
        normalize : bool, default False
            Scale every row to norm 1 first.
        storage : {"float32", "float16", "int8"}, default "float32"
            "float16" and "int8" add a smaller copy that is scanned in place of the float32 rows; rows that
            may belong to the answer are scored again from float32. The answer stays the same.

        Raises
        ------
        InvalidInputError
            If a row holds NaN or an infinity (also after the cast), is all zeros, or has a norm off by more
            than 0.001 without `normalize`. The message names the row.
        """
        return cls._of(
            _core.FlatIndex.build(
                as_vectors(vectors), normalize=flag(normalize, "normalize"), storage=word(storage, "storage")
            )
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Open a saved index.

        The file is memory-mapped: while the index lives, replace it (as `save` does), but never write into it or
        cut it short, which would end the process.

        Parameters
        ----------
        path : path
        verify : bool, default True
            Compare the whole file with its checksums, which reads it once.

        Raises
        ------
        StorageError
            If the file cannot be read.
        IndexCorruptError
            If it is damaged or cut short.
        IncompatibleIndexError
            If it holds another kind of index, or was written by another version.
        """
        return cls._of(_core.FlatIndex.load(path_text(path), verify=flag(verify, "verify")))

    def search(
        self,
        queries: npt.ArrayLike,
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        threads: int = 1,
        normalize: bool = False,
        min_score: float | None = None,
    ) -> tuple[IdArray, FloatArray]:
        """Return the `k` rows of the highest cosine with a query.

        Parameters
        ----------
        queries : (dim,) or (q, dim) array
            One unit vector, or several. Cast to float32.
        k : int, default 10
        allowed : (n,) bool array or integer array of row ids, optional
            Search these rows only.
        threads : int, default 1
            At most 256 are used. Several queries are shared out among them, one query's rows likewise.
        normalize : bool, default False
            Scale the queries to norm 1 first.
        min_score : float, optional
            Leave out rows of a lower cosine. The higher it is, the fewer rows have to be looked at exactly.

        Returns
        -------
        ids : (m,) int64 array, or (q, k) for several queries
        scores : float32 array of the same shape
            Best first. m < k if there are fewer rows (with `allowed` or `min_score`: fewer of them); for several
            queries the rest is -1 and -inf.

        Raises
        ------
        InvalidInputError
            If a query has another dimension, cannot be used (as in `build`), `k` or `threads` is below 1, or
            `min_score` is no number.
        IndexCorruptError
            If a loaded file holds vectors that no index can have been built from.
        """
        array = as_vectors(queries, name="query", ndim=2 if axes(queries) == 2 else 1)
        if array.ndim == 2:
            batch = self.search_batch(
                array, k=k, allowed=allowed, threads=threads, normalize=normalize, min_score=min_score
            )
            return batch.ids, batch.scores
        return self._index.search(
            array,
            k=integer(k, "k", at_least=1),
            allowed=as_allowed(allowed),
            threads=integer(threads, "threads", at_least=1),
            normalize=flag(normalize, "normalize"),
            min_score=_least(min_score),
        )

    def search_batch(
        self,
        queries: npt.ArrayLike,
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        threads: int = 1,
        normalize: bool = False,
        min_score: float | None = None,
    ) -> SearchBatch:
        """Answer several queries in one pass over the rows; faster than one by one, with the same answers.

        Takes ``(q, dim)`` queries and the parameters of `search`, and raises what it raises.
        """
        return SearchBatch(
            *self._index.search_batch(
                as_vectors(queries, name="queries"),
                k=integer(k, "k", at_least=1),
                allowed=as_allowed(allowed),
                threads=integer(threads, "threads", at_least=1),
                normalize=flag(normalize, "normalize"),
                min_score=_least(min_score),
            )
        )

    def __repr__(self) -> str:
        return f"<FlatIndex of {len(self)} vectors, dim {self.dim}, storage {self.storage!r}>"

    @property
    def dim(self) -> int:
        """The number of components of a vector."""
        return self._index.dim

    @property
    def storage(self) -> str:
        """What the scan reads: "float32", "float16" or "int8"."""
        return self._index.storage

    @property
    def vectors(self) -> FloatArray:
        """The ``(n, dim)`` float32 rows, a read-only view that keeps the index alive."""
        return self._index.vectors


def _least(min_score: float | None) -> float:
    if min_score is None:
        return -math.inf
    if math.isnan(least := number(min_score, "min_score")):
        raise InvalidInputError(f"min_score is {min_score!r}, wanted a number")
    return least
