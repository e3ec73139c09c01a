"""Values that several floors pass around. A leaf: imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Chunk", "Token"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document, with the two texts it is known by.

    Attributes
    ----------
    start, end : int
        The slice ``document[start:end]``, in code points.
    content : str
        Exactly that slice: what is quoted.
    embedded_text : str
        What is embedded and BM25-indexed: the contextual header (where the strategy has one), the overlap (where
        it has one) and the content.
    heading_path : tuple of str
        The headings above the chunk, outermost first.
    covered_start : int
        Where the document's text inside `embedded_text` begins: below `start` where there is an overlap (which is
        embedded and never quoted), else equal to it.
    truncated_tokens : int
        How many word pieces of `embedded_text` the encoder's window would cut off; 0 where it fits, or where no
        window was given.
    """

    start: int
    end: int
    content: str
    embedded_text: str
    heading_path: tuple[str, ...] = ()
    covered_start: int = 0
    truncated_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """A term of a text, and where it was written.

    Attributes
    ----------
    term : str
        The form that is matched: folded, without white space, never empty.
    start, end : int
        The slice ``text[start:end]`` it stands for, in code points of the text as it was given.
    position : int
        Its place among the tokens, from 0; equal for a bigram and the character it ends with.
    prefix : bool
        Whether it stands for every term that begins with it: a lone character in a query, of a script that
        is written without spaces.
    """

    term: str
    start: int
    end: int
    position: int
    prefix: bool = False
