"""BM25: which passages hold the words of a question, and how tellingly."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arrays import IdArray, as_allowed
from pincite.core.stemming import WordStemmer
from pincite.errors import IncompatibleIndexError, InvalidInputError

__all__ = ["BM25Index", "BM25Term", "BM25View", "highlights"]

ScoreArray = npt.NDArray[np.float64]


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

    def __init__(self, view: _core.BM25View, index: BM25Index) -> None:
        self._view = view
        self._index = index

    def __len__(self) -> int:
        """Return the number of visible documents."""
        return len(self._view)

    def search(
        self, query: str, *, k: int = 10, allowed: npt.ArrayLike | None = None, operators: bool = False
    ) -> tuple[IdArray, ScoreArray]:
        """Return the best documents: see `BM25Index.search`."""
        return self._view.search(
            query,
            k=_checked_k(k),
            allowed=as_allowed(allowed),
            operators=operators,
            stems=self._index._missing_stems([query], operators=operators),
        )

    def search_batch(
        self,
        queries: Sequence[str],
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        operators: bool = False,
        threads: int = 1,
    ) -> tuple[IdArray, ScoreArray, IdArray]:
        """Return the best documents of each query: see `BM25Index.search_batch`."""
        if threads < 1:
            raise InvalidInputError(f"threads is {threads}, wanted at least 1")
        return self._view.search_batch(
            queries,
            k=_checked_k(k),
            allowed=as_allowed(allowed),
            operators=operators,
            stems=self._index._missing_stems(queries, operators=operators),
            threads=threads,
        )

    def explain(self, query: str, id: int, *, operators: bool = False) -> list[BM25Term]:
        """Return what each term of the query contributes: see `BM25Index.explain`."""
        if id < 0:
            raise InvalidInputError(f"id is {id}, wanted a document number from 0")
        names = self._index.fields
        found = self._view.explain(
            query, id, operators=operators, stems=self._index._missing_stems([query], operators=operators)
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


class BM25Index:
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

    def __init__(self, core: _core.BM25Index) -> None:
        self._core = core
        self._whole = BM25View(core.view(visible=None), self)
        self._stemmer = WordStemmer(core.stemmer) if core.stemmer else None

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
            Document i is the i-th text.
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
        weighted = [(name, float(boost)) for name, boost in boosts.items()]
        _core.check_bm25_params(analyzer=analyzer, k1=k1, b=b, fields=weighted)
        word_stemmer = WordStemmer(stemmer) if stemmer is not None else None
        builder = _core.BM25Builder(analyzer=analyzer, n_fields=len(fields))
        builder.add(list(fields.values()))
        stems = word_stemmer.stem(builder.words()) if word_stemmer is not None else []
        core = builder.finish(analyzer=analyzer, k1=k1, b=b, fields=weighted, stemmer=stemmer or "", stems=stems)
        return cls(core)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Open a saved index; it stays on disk and is mapped into memory.

        Raises
        ------
        StorageError
            If the file cannot be read.
        IndexCorruptError
            If it is damaged, cut short or forged.
        IncompatibleIndexError
            If it is of another kind or version, or has a stemmer that is not installed.
        """
        core = _core.BM25Index.load(os.fspath(path))
        try:
            return cls(core)
        except InvalidInputError as error:
            raise IncompatibleIndexError(
                f"{os.fspath(path)}: built with a stemmer that is not installed ({error}); "
                "install the PyStemmer that has it, or build the index again with another"
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, whole or not at all.

        Raises
        ------
        StorageError
            If the file cannot be written; what was there before is as it was.
        """
        self._core.save(os.fspath(path))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._core)

    @property
    def n_terms(self) -> int:
        """The number of distinct terms."""
        return self._core.n_terms

    @property
    def analyzer(self) -> str:
        """How text becomes terms."""
        return self._core.analyzer

    @property
    def k1(self) -> float:
        """Saturation of term frequency."""
        return self._core.k1

    @property
    def b(self) -> float:
        """Strength of length normalisation."""
        return self._core.b

    @property
    def stemmer(self) -> str | None:
        """The Snowball algorithm, or None."""
        return self._core.stemmer or None

    @property
    def fields(self) -> dict[str, float]:
        """The fields and their boosts; ``{"text": 1.0}`` for an index of plain texts."""
        return dict(self._core.fields)

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
        return BM25View(self._core.view(visible=as_allowed(visible, name="visible")), self)

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
        queries: Sequence[str],
        *,
        k: int = 10,
        allowed: npt.ArrayLike | None = None,
        visible: npt.ArrayLike | None = None,
        operators: bool = False,
        threads: int = 1,
    ) -> tuple[IdArray, ScoreArray, IdArray]:
        """Return the documents that match each of several queries best.

        Parameters
        ----------
        queries : sequence of str, length q
        k, allowed, visible, operators
            As for `search`.
        threads : int, default 1
            Search on at most this many threads. The results do not depend on it.

        Returns
        -------
        ids : (q, k) int64 array
            Padded with -1.
        scores : (q, k) float64 array
            Padded with minus infinity.
        counts : (q,) int64 array
            How many results each query has.

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
        """Return where a text matches a query, read as this index reads: see `highlights` of this module."""
        return _highlights(text, query, self.analyzer, self._stemmer, operators=operators)

    def _missing_stems(self, queries: Iterable[str], *, operators: bool) -> dict[str, str]:
        """Return the stems of words of the queries that no document holds."""
        if self._stemmer is None:
            return {}
        words = [word for query in queries for word in self._core.unknown_words(query, operators=operators)]
        return self._stemmer.stems(words) if words else {}


def highlights(
    text: str,
    query: str,
    *,
    analyzer: str = "unicode",
    stemmer: str | None = None,
    operators: bool = False,
) -> list[tuple[int, int]]:
    """Return where a text matches a query.

    Parameters
    ----------
    text, query : str
    analyzer, stemmer
        As the index was built with.
    operators : bool, default False
        Read phrases and prefixes in the query, as `BM25Index.search` does.

    Returns
    -------
    list of (start, end)
        Code points, ascending: ``text[start:end]`` is what matched. A phrase is one span; spans that overlap
        are joined.

    Raises
    ------
    InvalidInputError
        If a string cannot be encoded, or the analyzer or stemmer is unknown.

    Examples
    --------
    >>> from pincite.core.bm25 import highlights
    >>> highlights("A windy day in windy Athens", "windy athens")
    [(2, 7), (15, 20), (21, 27)]
    """
    word_stemmer = WordStemmer(stemmer) if stemmer is not None else None
    return _highlights(text, query, analyzer, word_stemmer, operators=operators)


def _highlights(
    text: str, query: str, analyzer: str, stemmer: WordStemmer | None, *, operators: bool
) -> list[tuple[int, int]]:
    stems = None
    if stemmer is not None:
        words = _core.bm25_words(text, query, analyzer=analyzer, operators=operators)
        stems = dict(zip(words, stemmer.stem(words), strict=True))
    return _core.bm25_highlights(text, query, analyzer=analyzer, operators=operators, stems=stems)


def _checked_k(k: int) -> int:
    if k < 1:
        raise InvalidInputError(f"k is {k}, wanted at least 1")
    return k
