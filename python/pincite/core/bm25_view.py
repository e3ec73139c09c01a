"""A BM25 index as those see it who may read some documents alone, and what its searches return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, integer, listed, word
from pincite.core.arrays import IdArray, as_allowed
from pincite.core.stemming import WordStemmer

__all__ = ["BM25Batch", "BM25Term", "BM25View", "QueryStems", "ScoreArray"]

ScoreArray = npt.NDArray[np.float64]


class QueryStems:
    """The stems of those words of queries that no document holds; the core knows the others."""

    __slots__ = ("_index", "stemmer")

    def __init__(self, index: _core.BM25Index | _core.BM25Collection, stemmer: WordStemmer | None) -> None:
        self._index = index
        self.stemmer = stemmer

    def __call__(self, queries: list[str], *, operators: bool) -> dict[str, str]:
        """Return the missing stems by word."""
        if self.stemmer is None:
            return {}
        words = [word for query in queries for word in self._index.unknown_words(query, operators=operators)]
        return self.stemmer.stems(words) if words else {}


class BM25Batch(NamedTuple):
    """The answers to several queries; row i answers query i.

    Attributes
    ----------
    ids : (q, k) int64 array
        Best first; -1 where there are fewer than k.
    scores : (q, k) float64 array
        -inf where there are fewer than k.
    counts : (q,) int64 array
        How many of the k columns are filled.
    """

    ids: IdArray
    scores: ScoreArray
    counts: IdArray


@dataclass(frozen=True, slots=True)
class BM25Term:
    """What one term of a query contributes to the score of one document.

    Attributes
    ----------
    term : str
        The term as it is indexed; a phrase in quotes, a prefix with its ``*``.
    count : int
        How often the query holds it.
    tf : dict of str to int
        How often each field of the document holds it.
    df : int
        The documents that hold it.
    idf : float
    contribution : float
        Its part of the score; 0 where the document lacks it.
    positions : dict of str to tuple of int
        Where it stands in each field, in tokens from 0; of a phrase, its first word.
    """

    term: str
    count: int
    tf: dict[str, int]
    df: int
    idf: float
    contribution: float
    positions: dict[str, tuple[int, ...]]


class BM25View:
    """A BM25 index as those see it who may read some documents alone.

    Immutable, and safe to use from any number of threads. `BM25Index.view` makes one; it costs O(documents),
    and O(postings) once for each term that is asked for, so keep it for as long as the same documents are
    visible.
    """

    __slots__ = ("_fields", "_stems_of", "_view")

    def __init__(self, view: _core.BM25View, fields: tuple[str, ...], stems_of: QueryStems) -> None:
        self._view = view
        self._fields = fields
        self._stems_of = stems_of

    def __len__(self) -> int:
        """Return the number of visible documents."""
        return len(self._view)

    def _as_part(self) -> tuple[_core.BM25View, WordStemmer | None]:
        """Return what a `BM25Collection` is made of."""
        return self._view, self._stems_of.stemmer

    def search(
        self, query: str, *, k: int = 10, allowed: npt.ArrayLike | None = None, operators: bool = False
    ) -> tuple[IdArray, ScoreArray]:
        """Return the best documents: see `BM25Index.search`."""
        query = word(query, "query")
        operators = flag(operators, "operators")
        return self._view.search(
            query,
            k=integer(k, "k", at_least=1),
            allowed=as_allowed(allowed),
            operators=operators,
            stems=self._stems_of([query], operators=operators),
        )

    def search_batch(
        self,
        queries: Iterable[str],
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        operators: bool = False,
        threads: int = 1,
    ) -> BM25Batch:
        """Return the best documents of each query: see `BM25Index.search_batch`."""
        asked = [word(query, f"query {i}") for i, query in enumerate(listed(queries, "queries"))]
        operators = flag(operators, "operators")
        return BM25Batch(
            *self._view.search_batch(
                asked,
                k=integer(k, "k", at_least=1),
                allowed=as_allowed(allowed),
                operators=operators,
                stems=self._stems_of(asked, operators=operators),
                threads=integer(threads, "threads", at_least=1),
            )
        )

    def explain(self, query: str, id: int, *, operators: bool = False) -> list[BM25Term]:
        """Return what each term of the query contributes: see `BM25Index.explain`."""
        query = word(query, "query")
        operators = flag(operators, "operators")
        names = self._fields
        found = self._view.explain(
            query,
            integer(id, "id", at_least=0),
            operators=operators,
            stems=self._stems_of([query], operators=operators),
        )
        return [
            BM25Term(
                term=term,
                count=count,
                tf=dict(zip(names, tf, strict=True)),
                df=df,
                idf=idf,
                contribution=contribution,
                positions={name: tuple(at) for name, at in zip(names, positions, strict=True)},
            )
            for term, count, tf, df, idf, contribution, positions in found
        ]
