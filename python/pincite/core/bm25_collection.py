"""Several BM25 indexes, searched as if they were one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, integer, listed, word
from pincite.core.arrays import IdArray, as_allowed
from pincite.core.bm25_view import BM25View, QueryStems, ScoreArray
from pincite.errors import InvalidInputError

__all__ = ["BM25Collection"]


class BM25Collection:
    """Indexes whose visible documents are ranked as those of one index are.

    N, df and mean lengths are summed over the visible documents of all parts, so scores are, to the bit, those of
    one index of these documents. Immutable, and safe to use from any number of threads.

    Parameters
    ----------
    parts : sequence of BM25View
        From `BM25Index.view`; the indexes have equal parameters. Making a collection reads the length of every
        document once.

    Raises
    ------
    InvalidInputError
        If a part is no view, or was built with another analyzer, stemmer, k1, b or other fields than the first.

    Notes
    -----
    With a stemmer, ``prefix*`` matches all words of those stems that any part has for words that begin so.

    Examples
    --------
    >>> import pincite
    >>> from pincite.core.bm25_collection import BM25Collection
    >>> parts = [pincite.BM25Index.build(texts) for texts in (["windy in london"], ["hello", "windy in athens"])]
    >>> collection = BM25Collection([index.view(None) for index in parts])
    >>> [ids.tolist() for ids, scores in collection.search("windy")]
    [[0], [1]]
    >>> collection.document_frequency("windy")
    2
    """

    __slots__ = ("_collection", "_n_parts", "_stems_of")

    def __init__(self, parts: Sequence[BM25View]) -> None:
        views = listed(parts, "parts")
        for number, view in enumerate(views):
            if not isinstance(view, BM25View):
                raise InvalidInputError(
                    f"part {number} is of type {type(view).__name__}, wanted a BM25View; BM25Index.view makes one"
                )
        made_of = [view._as_part() for view in views]
        self._n_parts = len(views)
        self._collection = _core.BM25Collection([view for view, _ in made_of])
        self._stems_of = QueryStems(self._collection, made_of[0][1] if made_of else None)

    def __len__(self) -> int:
        """Return the number of visible documents of all parts."""
        return len(self._collection)

    def __repr__(self) -> str:
        return f"<BM25Collection of {len(self)} documents in {self._n_parts} parts>"

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        allowed: Sequence[npt.ArrayLike | None] | None = None,
        operators: bool = False,
    ) -> list[tuple[IdArray, ScoreArray]]:
        """Return the documents of each part that can be among the best of all.

        Parameters
        ----------
        query : str
        k : int, default 10
            Return the k best of each part, less those that score below the k-th best of all parts: merge them and
            cut at k. (What ties with the k-th is there.)
        allowed : sequence of filters, optional
            One for each part: a bool mask, integer document numbers, or None for all of them. Other documents are
            left out of the results; scores stay as they are.
        operators : bool, default False
            Read ``"phrases"`` and ``prefix*``: see `BM25Index.search`.

        Returns
        -------
        list of (ids, scores)
            One pair a part: (n,) int64 document numbers within the part and (n,) float64 scores, best first, equal
            scores by number.

        Raises
        ------
        InvalidInputError
            If k is below 1, the query is no str or cannot be encoded, or `allowed` does not fit the parts.
        """
        query = word(query, "query")
        operators = flag(operators, "operators")
        filters = [] if allowed is None else listed(allowed, "allowed")
        if allowed is not None and len(filters) != self._n_parts:
            raise InvalidInputError(
                f"allowed has {len(filters)} filters, the collection has {self._n_parts} parts; give one a part"
            )
        return self._collection.search(
            query,
            k=integer(k, "k", at_least=1),
            allowed=[as_allowed(rows, name=f"allowed[{number}]") for number, rows in enumerate(filters)],
            operators=operators,
            stems=self._stems_of([query], operators=operators),
        )

    def document_frequency(self, text: str) -> int:
        """Return how many visible documents hold a word.

        Parameters
        ----------
        text : str
            One word; several words, or one that is indexed as several (``snake-case``), have to stand in a row in one
            field. It is read like a query without operators: stemmed, if the indexes are.

        Returns
        -------
        int
            0 for a text without a word.

        Raises
        ------
        InvalidInputError
            If the text is no str or cannot be encoded.
        """
        text = word(text, "text")
        return self._collection.document_frequency(text, stems=self._stems_of([text], operators=False))
