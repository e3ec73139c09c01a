"""Values that several floors pass around. A leaf: imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Chunk", "Section", "Token"]


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
class Section:
    """A heading, and what stands below it up to the next heading of any level.

    The sections of a document follow on one another and cover all of it: what precedes the first heading is a
    section without a heading, and front matter is one of its own.

    Attributes
    ----------
    start : int
        Where the heading's line starts, in code points, as all offsets.
    heading_end : int
        Where the heading's own lines end, line end included; `start` for a section without a heading.
    end : int
        Where the next section starts, or the document ends.
    level : int
        1 to 6; 0 for a section without a heading.
    heading_path : tuple of str
        The section's heading and those above it, outermost first; a heading without words is left out.
    """

    start: int
    heading_end: int
    end: int
    level: int
    heading_path: tuple[str, ...]


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
