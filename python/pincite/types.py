"""Values that several floors pass around. A leaf: imports nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Chunk", "Document", "EncodedTexts", "ScoredPassages", "Section", "TextEncoder", "TextReranker", "Token"]


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


@dataclass(frozen=True, slots=True)
class Document:
    """A document that is given as a string.

    Attributes
    ----------
    id : str
        Its name in the index; a document of the same id is replaced.
    text : str
        Its canonical text: what citations count in.
    title : str
        What its chunks' headers begin with; by default the id.
    markup : str
        "markdown" or "plain".
    uri : str
        Where a reader finds it; by default the id.
    metadata : dict
        Whatever JSON can hold.
    """

    id: str
    text: str
    title: str = ""
    markup: str = "markdown"
    uri: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


class EncodedTexts(Protocol):
    """What `TextEncoder.encode_batch` returns; every array has one entry a text."""

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """Unit vectors, ``(n, dim)``."""

    @property
    def truncated_tokens(self) -> npt.NDArray[np.int64]:
        """Word pieces that the window cut off."""

    @property
    def unknown_tokens(self) -> npt.NDArray[np.int64]:
        """Words that the tokenizer has no pieces for."""


class TextEncoder(Protocol):
    """What an index needs of an embedding model; `pincite.Encoder` is one."""

    @property
    def dim(self) -> int:
        """The number of components of a vector."""

    @property
    def window_tokens(self) -> int:
        """How many tokens of a text are read, two special ones included."""

    @property
    def stamp(self) -> Mapping[str, Any]:
        """What the vectors depend on, as JSON: equal stamps mean equal vectors."""

    def word_pieces(self, text: str) -> Sequence[int]:
        """Return the ends of the text's word pieces, in code points."""

    def encode_batch(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> EncodedTexts:
        """Return the vectors of texts; `progress` is told how many more are done."""


class ScoredPassages(Protocol):
    """What `TextReranker.score_batch` returns; every array has one entry a passage."""

    @property
    def scores(self) -> npt.NDArray[np.float32]:
        """Logits; higher is better."""

    @property
    def truncated_tokens(self) -> npt.NDArray[np.int64]:
        """Word pieces of the passage that the window cut off."""


class TextReranker(Protocol):
    """What judges passages against a question; `pincite.Reranker` is one."""

    @property
    def stamp(self) -> Mapping[str, Any]:
        """What the scores depend on, as JSON."""

    def score_batch(self, query: str, passages: Sequence[str]) -> ScoredPassages:
        """Judge passages against a question."""
