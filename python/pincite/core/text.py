"""Text into terms: what BM25 matches."""

from __future__ import annotations

from pincite import _core
from pincite.core.arguments import flag, word
from pincite.types import Token

__all__ = ["tokenize"]


def tokenize(text: str, *, analyzer: str = "unicode", query: bool = False) -> list[Token]:
    """Take a text apart into the terms that BM25 matches.

    ``"unicode"`` cuts the text into words (UAX #29; a word holds at least one letter or number) and folds
    each for matching only: NFKC, full case folding, accents off Latin, Greek and Cyrillic letters (й and ў
    stay letters of their own), soft hyphens, joiners and other default-ignorable code points out. Scripts
    written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese, ...) give overlapping pairs of
    characters instead of words: an indexed ABC gives AB, BC and, at the place of BC, C; as a query it gives
    AB and BC. Korean has spaces, and words.

    ``"ascii"`` gives ``[a-z0-9]+`` on lower case: the reference tokenizer, for comparisons.

    Parameters
    ----------
    text : str
    analyzer : {"unicode", "ascii"}, default "unicode"
    query : bool, default False
        Whether the text is asked for instead of indexed; they differ in scripts without spaces alone. There,
        a character that stands alone gets ``prefix=True``: it stands for every term that begins with it.

    Returns
    -------
    list of Token
        Starts never decrease. Offsets are code points of `text` as it was given:
        ``text[token.start:token.end]`` is what was written. Time and memory grow linearly with the text.

    Raises
    ------
    InvalidInputError
        If `text` is no str or holds a lone surrogate, or the analyzer has another name.

    References
    ----------
    Unicode Standard Annex #29, "Unicode text segmentation", and #15, "Unicode normalization forms", with the
    Unicode Character Database 15.0.0.

    Examples
    --------
    >>> import pincite
    >>> [token.term for token in pincite.tokenize("Straße, Café, 3.5 GB")]
    ['strasse', 'cafe', '3.5', 'gb']
    >>> [(token.term, token.start, token.end) for token in pincite.tokenize("東京都", query=True)]
    [('東京', 0, 2), ('京都', 1, 3)]
    """
    terms, *columns = _core.analyze(text, analyzer=word(analyzer, "analyzer"), query=flag(query, "query"))
    return [Token(*fields) for fields in zip(terms, *(column.tolist() for column in columns), strict=True)]
