"""BM25: which passages hold the words of a question, and how tellingly."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Self

import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import flag, listed, number, path_text, word
from pincite.core.arrays import IdArray, RowFilter, as_allowed
from pincite.core.bm25_view import BM25Batch, BM25Term, BM25View, QueryStems, ScoreArray
from pincite.core.highlights import highlight_spans
from pincite.core.saved_index import SavedIndex
from pincite.core.stemming import WordStemmer
from pincite.errors import IncompatibleIndexError, InvalidInputError

__all__ = ["BM25Batch", "BM25Index", "BM25Term", "BM25View"]


_BLOCK = 1024
"""Texts of a stream that are held at once."""


class BM25Index(SavedIndex[_core.BM25Index]):
    """An inverted index that ranks by BM25, or BM25F where documents have several fields.

    Immutable, and safe to use from any number of threads. Made by `build`, `build_fields` or `load`.

    Notes
    -----
    With N documents, of which df hold a term::

        idf   = ln(1 + (N - df + 0.5) / (df + 0.5))
        tf~   = sum over fields of boost * tf / (1 - b + b * length / mean length)
        score = sum over the query's terms of idf * tf~ * (k1 + 1) / (k1 + tf~)

    One field of boost 1 makes that BM25 as Robertson and Zaragoza give it ("The Probabilistic Relevance
    Framework: BM25 and Beyond", 2009), with an idf that is never negative; several make it the BM25F of
    Robertson, Zaragoza and Taylor ("Simple BM25 extension to multiple weighted fields", CIKM 2004), each
    field with its own length normalisation. A term counts as often as the query repeats it; a length is a
    number of tokens. The search skips documents that cannot be among the best: ids and scores are those of
    scoring every document.

    Examples
    --------
    >>> import pincite
    >>> index = pincite.BM25Index.build(["quite windy in london", "windy in athens", "hello there"])
    >>> ids, scores = index.search("windy london")
    >>> ids.tolist()
    [0, 1]
    """

    __slots__ = ("_stems", "_whole")

    _stems: QueryStems
    _whole: BM25View

    @classmethod
    def _of(cls, index: _core.BM25Index) -> Self:
        made = super()._of(index)
        made._stems = QueryStems(index, WordStemmer(index.stemmer) if index.stemmer else None)
        made._whole = made._view(None)
        return made

    def _view(self, visible: RowFilter) -> BM25View:
        return BM25View(self._index.view(visible=visible), tuple(self.fields), self._stems)

    @classmethod
    def build(
        cls,
        texts: Iterable[str],
        *,
        analyzer: str = "unicode",
        k1: float = 1.2,
        b: float = 0.75,
        stemmer: str | None = None,
    ) -> Self:
        """Index one text a document.

        Parameters
        ----------
        texts : iterable of str
            Document i is the i-th text. They are taken a thousand at a time, and not kept.
        analyzer : {"unicode", "ascii"}
            How text becomes terms; queries are read the same way.
        k1 : float, default 1.2
            How soon more occurrences stop to count: from 0 (at once) to 1e6.
        b : float, default 0.75
            How much the length of a document matters: from 0 (not) to 1. Both defaults are those of Lucene
            and of the literature.
        stemmer : str, optional
            A Snowball algorithm such as ``"english"``: words are then matched by their stems.

        Returns
        -------
        BM25Index

        Raises
        ------
        InvalidInputError
            If a text is no str or cannot be encoded, or a parameter is unknown or out of range.
        """
        return cls._build({"text": texts}, {"text": 1.0}, analyzer, k1, b, stemmer)

    @classmethod
    def build_fields(
        cls,
        fields: Mapping[str, Iterable[str]],
        *,
        boosts: Mapping[str, float] | None = None,
        analyzer: str = "unicode",
        k1: float = 1.2,
        b: float = 0.75,
        stemmer: str | None = None,
    ) -> Self:
        """Index documents of several fields (BM25F).

        Parameters
        ----------
        fields : mapping of str to iterable of str
            One text a document for each field: ``{"title": [...], "body": [...]}``. At most 64 fields.
        boosts : mapping of str to float, optional
            What an occurrence in a field weighs, from 1e-6 to 1e6; 1 where none is given.
        analyzer, k1, b, stemmer
            As for `build`.

        Returns
        -------
        BM25Index

        Raises
        ------
        InvalidInputError
            As for `build`; also if the fields have different lengths, or a boost names no field.

        Examples
        --------
        >>> import pincite
        >>> index = pincite.BM25Index.build_fields(
        ...     {"title": ["Ships", "Trains"], "body": ["they float, unlike trains", "they run on rails"]},
        ...     boosts={"title": 2.0},
        ... )
        >>> index.search("trains")[0].tolist()
        [1, 0]
        """
        for given, name in ((fields, "fields"), ({} if boosts is None else boosts, "boosts")):
            if not isinstance(given, Mapping):
                raise InvalidInputError(f"{name} is of type {type(given).__name__}, wanted a dict by field")
        chosen = dict.fromkeys(fields, 1.0)
        for name, boost in (boosts or {}).items():
            if name not in chosen:
                raise InvalidInputError(
                    f"boosts names the field {name!r}, the fields are {', '.join(map(repr, fields))}"
                )
            chosen[name] = boost
        return cls._build(fields, chosen, analyzer, k1, b, stemmer)

    @classmethod
    def _build(
        cls,
        fields: Mapping[str, Iterable[str]],
        boosts: Mapping[str, float],
        analyzer: str,
        k1: float,
        b: float,
        stemmer: str | None,
    ) -> Self:
        analyzer = word(analyzer, "analyzer")
        k1 = number(k1, "k1")
        b = number(b, "b")
        weighted = [
            (word(name, "a field's name"), number(boost, f"the boost of {name!r}")) for name, boost in boosts.items()
        ]
        _core.check_bm25_params(analyzer=analyzer, k1=k1, b=b, fields=weighted)
        word_stemmer = WordStemmer(word(stemmer, "stemmer")) if stemmer is not None else None
        builder = _core.BM25Builder(analyzer=analyzer, n_fields=len(fields))
        first = 0
        for columns in _blocks(fields):
            builder.add(columns, first=first)
            first += _BLOCK
        stems = word_stemmer.stem(builder.words()) if word_stemmer is not None else []
        return cls._of(
            builder.finish(analyzer=analyzer, k1=k1, b=b, fields=weighted, stemmer=stemmer or "", stems=stems)
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
            Compare the whole file with its checksums. Everything that a search relies on is checked in any case, which
            reads all but the positions of the words.

        Raises
        ------
        StorageError
            If the file cannot be read.
        IndexCorruptError
            If it is damaged, cut short or forged.
        IncompatibleIndexError
            If it is of another kind or version, or has a stemmer that is not installed.
        """
        name = path_text(path)
        index = _core.BM25Index.load(name, verify=flag(verify, "verify"))
        try:
            return cls._of(index)
        except InvalidInputError as error:
            raise IncompatibleIndexError(
                f"{name}: built with a stemmer that is not installed ({error}); "
                "install the PyStemmer that has it, or build the index again with another"
            ) from error

    def __repr__(self) -> str:
        return f"<BM25Index of {len(self)} documents, {self.n_terms} terms, analyzer {self.analyzer!r}>"

    @property
    def n_terms(self) -> int:
        """The number of distinct terms."""
        return self._index.n_terms

    @property
    def analyzer(self) -> str:
        """How text becomes terms."""
        return self._index.analyzer

    @property
    def k1(self) -> float:
        """Saturation of term frequency."""
        return self._index.k1

    @property
    def b(self) -> float:
        """Strength of length normalisation."""
        return self._index.b

    @property
    def stemmer(self) -> str | None:
        """The Snowball algorithm, or None."""
        return self._index.stemmer or None

    @property
    def fields(self) -> dict[str, float]:
        """The fields and their boosts; ``{"text": 1.0}`` for an index of plain texts."""
        return dict(self._index.fields)

    def view(self, visible: npt.ArrayLike | None) -> BM25View:
        """Return the index as if only some documents had been indexed.

        N, df and mean lengths are those of the visible documents, so results, order and scores are equal to
        those of an index of these alone (with the document numbers of this one).

        Parameters
        ----------
        visible : (n,) bool array, or integer array of document numbers, or None
            The documents that are there; None: all.

        Returns
        -------
        BM25View

        Raises
        ------
        InvalidInputError
            If the mask has another length, or a number is out of range.
        """
        if visible is None:
            return self._whole
        return self._view(as_allowed(visible, name="visible"))

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        visible: npt.ArrayLike | None = None,
        operators: bool = False,
    ) -> tuple[IdArray, ScoreArray]:
        """Return the documents that match the query best.

        Parameters
        ----------
        query : str
            Its words, in any order and number. Only documents that hold one of them are results.
        k : int, default 10
            Return at most this many.
        allowed : (n,) bool array, or integer array of document numbers, optional
            A filter: other documents are left out of the results. Scores stay as they are.
        visible : like `allowed`, optional
            Search as if only these documents had been indexed; scores change. See `view`, which is to be kept
            where the same documents are visible to several searches.
        operators : bool, default False
            Read two operators in the query. ``"quoted words"`` match where they stand in a row in one field
            (occurrences may overlap); ``prefix*`` matches every word that begins so, before stemming, and with
            a stemmer every other word of the same stems. Either is scored as if it had been indexed as one
            term. There is no malformed query: a quote without a partner, a ``*`` that does not touch the end
            of a word, and quotes around nothing are passed over.

        Returns
        -------
        ids : (n,) int64 array
        scores : (n,) float64 array
            Best first, equal scores by id; n < k where fewer documents match.

        Raises
        ------
        InvalidInputError
            If k is below 1, the query is no str or cannot be encoded, or `allowed` or `visible` does not fit.
        """
        return self.view(visible).search(query, k=k, allowed=allowed, operators=operators)

    def search_batch(
        self,
        queries: Iterable[str],
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        visible: npt.ArrayLike | None = None,
        operators: bool = False,
        threads: int = 1,
    ) -> BM25Batch:
        """Return the documents that match each of several queries best.

        Parameters
        ----------
        queries : iterable of str, length q
        k, allowed, visible, operators
            As for `search`.
        threads : int, default 1
            Search on at most this many threads. The results do not depend on it.

        Returns
        -------
        BM25Batch
            ids, scores and counts.

        Raises
        ------
        InvalidInputError
            As for `search`; also if threads is below 1.
        """
        return self.view(visible).search_batch(queries, k=k, allowed=allowed, operators=operators, threads=threads)

    def explain(self, query: str, id: int, *, operators: bool = False) -> list[BM25Term]:
        """Return what each term of the query contributes to the score of one document.

        Returns
        -------
        list of BM25Term
            The distinct terms in order of appearance. Their contributions, added up in this order, are
            exactly the score that `search` returns.

        Raises
        ------
        InvalidInputError
            If there is no document `id`.
        """
        return self._whole.explain(query, id, operators=operators)

    def highlights(self, text: str, query: str, *, operators: bool = False) -> list[tuple[int, int]]:
        """Return where a text matches a query, read as this index reads.

        Returns
        -------
        list of (start, end)
            Code points, ascending: ``text[start:end]`` is what matched. See `pincite.highlights`.
        """
        return highlight_spans(text, query, self.analyzer, self._stems.stemmer, operators=operators)


def _blocks(fields: Mapping[str, Iterable[str]]) -> Iterator[list[list[str]]]:
    """Give the texts of all fields; those of one that stands alone some at a time, so that a stream is not held."""
    columns = list(fields.items())
    if len(columns) == 1 and isinstance(columns[0][1], Iterator):
        while block := list(islice(columns[0][1], _BLOCK)):
            yield [block]
        return
    yield [listed(column, f"the texts of field {name!r}") for name, column in columns]
