"""Approximate vector search over a graph: few rows are scored, and most of the best are among them."""

from __future__ import annotations

import os
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, integer, path_text
from pincite.core.arrays import FloatArray, IdArray, as_allowed, as_vectors, axes
from pincite.core.flat import FlatIndex
from pincite.core.saved_index import SavedIndex
from pincite.errors import InvalidInputError

__all__ = ["HnswBatch", "HnswIndex"]


class HnswBatch(NamedTuple):
    """The answers to several queries; row i answers query i.

    Attributes
    ----------
    ids : (q, k) int64 array
        Best first; -1 where there are fewer than k.
    scores : (q, k) float32 array
        Cosines; -inf where there are fewer than k.
    counts : (q,) int64 array
        How many of the k columns are filled.
    exact : (q,) bool array
        Whether every allowed row was scored, so that the answer is that of an exact search.
    """

    ids: IdArray
    scores: FloatArray
    counts: IdArray
    exact: npt.NDArray[np.bool_]


class HnswIndex(SavedIndex[_core.HnswIndex]):
    """Approximate search over unit vectors by cosine. Immutable and safe to use from several threads.

    Make one with `HnswIndex.build` or `HnswIndex.load`. Scores are the same bits as those of `FlatIndex`; equal
    scores are ordered by id. Where a scan of the allowed rows costs no more than the graph would (few rows, or a
    filter that keeps few), the scan answers, and so it does where the graph reaches fewer than `k` allowed rows:
    an answer always has min(k, allowed rows) rows.

    References
    ----------
    Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
    Small World graphs", IEEE TPAMI 42(4), 2020. The graph is built by hnswlib 0.8.0. The defaults of `m`,
    `ef_construction` and `ef` are those of pgvector.

    Examples
    --------
    >>> import pincite
    >>> index = pincite.HnswIndex.build([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
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
        m: int = 16,
        ef_construction: int = 64,
        seed: int = 0,
        threads: int = 1,
        normalize: bool = False,
    ) -> Self:
        """Build an index over a copy of `vectors`; the id of a row is its number.

        At the end every row searches for itself; a row that is not found at ``ef=40`` (nor an equal one) gets a
        further link.

        Parameters
        ----------
        vectors : (n, dim) array
            One unit vector a row; cast to float32.
        m : int, default 16
            Links a row gets on each upper level, 2 to 128; up to twice as many on the lowest.
        ef_construction : int, default 64
            How many candidates the builder keeps for each new row, 1 to 65,536. More is slower to build and
            better to search.
        seed : int, default 0
            Draws the rows' levels; at least 0, below 2**32.
        threads : int, default 1
            With 1, the same input gives the same file, byte for byte, on one platform. With more (at most 256
            are used) the graph depends on the order in which the threads ran.
        normalize : bool, default False
            Scale every row to norm 1 first.

        Raises
        ------
        InvalidInputError
            If a row holds NaN or an infinity (also after the cast), is all zeros, or has a norm off by more than
            0.001 without `normalize`; or if a number is out of its range.
        """
        return cls._of(
            _core.HnswIndex.build(
                as_vectors(vectors),
                m=integer(m, "m", at_least=2),
                ef_construction=integer(ef_construction, "ef_construction", at_least=1),
                seed=integer(seed, "seed", at_least=0, at_most=2**32 - 1),
                threads=integer(threads, "threads", at_least=1),
                normalize=flag(normalize, "normalize"),
            )
        )

    @classmethod
    def over(cls, flat: FlatIndex, *, m: int = 16, ef_construction: int = 64, seed: int = 0, threads: int = 1) -> Self:
        """Build an index over the rows of an exact one. They are shared, not copied.

        Takes the parameters of `build`, and raises what it raises of them.
        """
        return cls._of(
            _core.HnswIndex.over(
                _rows_of(flat),
                m=integer(m, "m", at_least=2),
                ef_construction=integer(ef_construction, "ef_construction", at_least=1),
                seed=integer(seed, "seed", at_least=0, at_most=2**32 - 1),
                threads=integer(threads, "threads", at_least=1),
            )
        )

    def save_graph(self, path: str | os.PathLike[str]) -> None:
        """Write the graph without its vectors, for where a `FlatIndex` of them is kept; as `save` otherwise."""
        self._index.save_graph(path_text(path))

    @classmethod
    def load_graph(cls, path: str | os.PathLike[str], flat: FlatIndex, *, verify: bool = True) -> Self:
        """Open what `save_graph` wrote, over the rows of an exact index, which has to hold the same in the same order.

        Raises what `load` raises, `IndexCorruptError` also where the rows are not as many, or of another dimension.
        """
        return cls._of(_core.HnswIndex.load_graph(path_text(path), _rows_of(flat), verify=flag(verify, "verify")))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Open a saved index.

        The file is memory-mapped: while the index lives, replace it (as `save` does), but never write into it or
        cut it short, which would end the process.

        Parameters
        ----------
        path : path
        verify : bool, default True
            Compare the whole file with its checksums, which reads it once. The graph's structure is always
            checked, which reads the graph.

        Raises
        ------
        StorageError
            If the file cannot be read.
        IndexCorruptError
            If it is damaged, cut short, or its graph does not hold together.
        IncompatibleIndexError
            If it holds another kind of index, or was written by another version.
        """
        return cls._of(_core.HnswIndex.load(path_text(path), verify=flag(verify, "verify")))

    def search(
        self,
        queries: npt.ArrayLike,
        *,
        k: int = 10,
        ef: int = 40,
        allowed: npt.ArrayLike | None = None,
        threads: int = 1,
        normalize: bool = False,
    ) -> tuple[IdArray, FloatArray]:
        """Return `k` rows whose cosine with the query is among the highest.

        Parameters
        ----------
        queries : (dim,) or (q, dim) array
            One unit vector, or several. Cast to float32.
        k : int, default 10
        ef : int, default 40
            How many candidates the search keeps; raised to `k` where it is smaller. More is slower and finds
            more of the true best.
        allowed : (n,) bool array or integer array of row ids, optional
            Return these rows only.
        threads : int, default 1
            Several queries are shared out among at most 256 threads; the answers are the same.
        normalize : bool, default False
            Scale the queries to norm 1 first.

        Returns
        -------
        ids : (n,) int64 array, or (q, k) for several queries
        scores : float32 array of the same shape
            Best first. n < k if fewer rows are allowed; for several queries the rest is -1 and -inf.

        Raises
        ------
        InvalidInputError
            If a query has another dimension, cannot be used (as in `build`), or `k`, `ef` or `threads` is below 1.
        IndexCorruptError
            If a loaded file holds vectors that no index can have been built from.
        """
        if axes(queries) == 2:
            batch = self.search_batch(queries, k=k, ef=ef, allowed=allowed, threads=threads, normalize=normalize)
            return batch.ids, batch.scores
        integer(threads, "threads", at_least=1)
        return self._index.search(
            as_vectors(queries, name="query", ndim=1),
            k=integer(k, "k", at_least=1),
            ef=integer(ef, "ef", at_least=1),
            allowed=as_allowed(allowed),
            normalize=flag(normalize, "normalize"),
        )

    def search_batch(
        self,
        queries: npt.ArrayLike,
        *,
        k: int = 10,
        ef: int = 40,
        allowed: npt.ArrayLike | None = None,
        threads: int = 1,
        normalize: bool = False,
    ) -> HnswBatch:
        """Answer several queries and say which answers are exact.

        Takes ``(q, dim)`` queries and the parameters of `search`, and raises what it raises.
        """
        ids, scores, counts, exact, _ = self._search(
            queries, k=k, ef=ef, allowed=allowed, threads=threads, normalize=normalize
        )
        return HnswBatch(ids, scores, counts, exact)

    def _search(
        self,
        queries: npt.ArrayLike,
        *,
        k: int = 10,
        ef: int = 40,
        allowed: npt.ArrayLike | None = None,
        threads: int = 1,
        normalize: bool = False,
        path: str = "automatic",
    ) -> tuple[IdArray, FloatArray, IdArray, npt.NDArray[np.bool_], IdArray]:
        """Search by the named path ("automatic", "graph", "exact"); also count the rows scored."""
        return self._index.search_batch(
            as_vectors(queries, name="queries"),
            k=integer(k, "k", at_least=1),
            ef=integer(ef, "ef", at_least=1),
            allowed=as_allowed(allowed),
            threads=integer(threads, "threads", at_least=1),
            normalize=flag(normalize, "normalize"),
            path=path,
        )

    def __repr__(self) -> str:
        return f"<HnswIndex of {len(self)} vectors, dim {self.dim}, m {self.m}>"

    @property
    def dim(self) -> int:
        """The number of components of a vector."""
        return self._index.dim

    @property
    def vectors(self) -> FloatArray:
        """The ``(n, dim)`` float32 rows, a read-only view that keeps the index alive."""
        return self._index.vectors

    @property
    def m(self) -> int:
        """Links a row gets on each upper level."""
        return self._index.m


def _rows_of(flat: FlatIndex) -> _core.FlatIndex:
    if not isinstance(flat, FlatIndex):
        raise InvalidInputError(f"flat is of type {type(flat).__name__}, wanted a FlatIndex")
    return flat._index
