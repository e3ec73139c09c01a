"""Where a text matches a query."""

from __future__ import annotations

from pincite import _core
from pincite.core.arguments import flag, word
from pincite.core.stemming import WordStemmer

__all__ = ["highlight_spans", "highlights"]


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
    >>> import pincite
    >>> pincite.highlights("A windy day in windy Athens", "windy athens")
    [(2, 7), (15, 20), (21, 27)]
    """
    word_stemmer = WordStemmer(word(stemmer, "stemmer")) if stemmer is not None else None
    return highlight_spans(text, query, word(analyzer, "analyzer"), word_stemmer, operators=operators)


def highlight_spans(
    text: str, query: str, analyzer: str, stemmer: WordStemmer | None, *, operators: bool
) -> list[tuple[int, int]]:
    """Do what `highlights` says, with a stemmer at hand."""
    text = word(text, "text")
    query = word(query, "query")
    operators = flag(operators, "operators")
    stems = None
    if stemmer is not None:
        words = _core.bm25_words(text, query, analyzer=analyzer, operators=operators)
        stems = dict(zip(words, stemmer.stem(words), strict=True))
    return _core.bm25_highlights(text, query, analyzer=analyzer, operators=operators, stems=stems)
