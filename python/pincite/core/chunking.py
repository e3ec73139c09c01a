"""Documents into chunks: the public `chunk`, and the strategies A to F."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import integer, one_of, word
from pincite.core.markdown import MARKUPS, Layout, layout_of
from pincite.core.word_pieces import SPECIAL_TOKENS, piece_ends_of
from pincite.errors import InvalidInputError
from pincite.types import Chunk, Section

__all__ = ["ChunkedDocument", "chunk", "chunk_document"]


DEFAULT_OVERLAP = 64


class _Strategy(NamedTuple):
    boundaries: bool = False  # else blind cuts
    overlap: bool = False
    header: bool = False


STRATEGIES = {
    "A": _Strategy(),
    "B": _Strategy(overlap=True),
    "C": _Strategy(boundaries=True),
    "D": _Strategy(boundaries=True, overlap=True),
    "E": _Strategy(boundaries=True, header=True),
    "F": _Strategy(boundaries=True, overlap=True, header=True),
}


def chunk(
    text: str,
    *,
    title: str = "",
    strategy: str = "structural",
    target: int = 512,
    overlap: int | None = None,
    window_tokens: int | None = None,
    word_pieces: Any = None,
    markup: str = "markdown",
) -> list[Chunk]:
    r"""Split a document into chunks that are slices of it.

    Parameters
    ----------
    text : str
        The document. Offsets count its code points, as ``text[start:end]`` does. Line ends stay as they are,
        so read a file with ``newline=""`` if the offsets shall hold for the file.
    title : str, optional
        The document's title, for the header.
    strategy : str, default "structural"
        "structural" reads Markdown and loses nothing (see Notes). The others are for evaluation: "A" blind cuts, "B"
        blind cuts with overlap, "C" boundaries, "D" boundaries with overlap, "E" boundaries with header, "F"
        boundaries with header and overlap.
    target : int, default 512
        The size to fill a chunk up to: code points for "structural", UTF-16 units for A to F. "structural" exceeds it
        only to keep a table or a code block whole, by a quarter at most; C to F keep a long sentence whole.
    overlap : int, optional
        How much text before a chunk is embedded with it, in the same unit; below `target`. By default 64, or half of
        `target` where that is less. A, C and E have no
        overlap and ignore it.
    window_tokens : int, optional
        The encoder's window in word pieces, two special tokens included; at least 8 for "structural". Needs
        `word_pieces`.
    word_pieces : callable or tokenizer, optional
        ``str -> sequence of int``: the ends of the encoder's word pieces in a text, in code points,
        ascending; or an object like ``tokenizers.Tokenizer``.
    markup : {"markdown", "plain"}, default "markdown"
        How "structural" reads the text. In "plain" text nothing is a heading, a list, a table or code: there are
        paragraphs, which end at blank lines, sentences and words. A to F look for ``## `` lines whatever it is.

    Returns
    -------
    list of Chunk
        In the order of the text, with strictly increasing starts. ``text[c.start:c.end] == c.content``, and
        ``c.embedded_text`` is the header, if any, and ``text[c.covered_start:c.end]``.

    Raises
    ------
    InvalidInputError
        If an argument is of another type or out of its range, `text` or `title` holds a lone surrogate,
        `window_tokens` is given without `word_pieces`, or no strategy or markup has the name.

    Notes
    -----
    "structural" packs paragraphs, lists, quotes, code blocks and tables of one section up to `target`, never across
    sections. The text before the first heading, front matter and headings themselves are content like any other; `#`
    in a code block is no heading. What does not fit is split at list items, table rows (each part embedded with the
    header row), lines of code, sentences, then white space, and between characters at last. The header is
    ``[title > heading > ...]``, the whole path; a first heading that repeats the title is not said twice. With a
    window, header, overlap and content together keep within it: `Chunk.truncated_tokens` is 0.

    A to F take linear time and reproduce a reference written in JavaScript, whose classes they keep: lines
    end at LF, CR, U+2028 and U+2029; white space includes U+FEFF and U+00A0. U+0085 is neither.

    A and B cut the whole text every `target` units, white space too: every code point is in exactly one
    chunk, and a chunk may be nothing but white space. A surrogate pair is never cut, and a code point larger
    than `target` is a chunk. B's overlap is the `overlap` units before the cut.

    C to F take the text below each line ``## section``. What precedes the first one is in no chunk; a text
    without one has none. A section's paragraphs (split at two LF or more, so not at the blank lines of a CRLF
    file) are packed while the slice from the first to the last has at most `target` units. A larger paragraph
    is packed by itself, split after ``[.!?]+\s*``; a sentence that is larger still stays whole, so these
    chunks can exceed `target`. Chunks are trimmed. The overlap of D and F is what the `overlap` units before
    the chunk hold, trimmed at its start; it never reaches before the section's first chunk.

    The header of E and F is the line ``[title > section]``, less the part that is empty. In F the header
    comes first, then the overlap, then the content. Given a window, A to F count in `Chunk.truncated_tokens`
    what it would cut off, and leave the chunk as it is.

    Examples
    --------
    >>> import pincite
    >>> text = "## Setup\n\nRun it once.\n\nThen again."
    >>> [c.content for c in pincite.chunk(text, strategy="C", target=16)]
    ['Run it once.', 'Then again.']
    >>> pincite.chunk(text, title="Guide", strategy="E")[0].embedded_text
    '[Guide > Setup]\nRun it once.\n\nThen again.'
    """
    return _chunks(
        text,
        None,
        title=title,
        strategy=strategy,
        target=target,
        overlap=overlap,
        window_tokens=window_tokens,
        word_pieces=word_pieces,
        markup=markup,
    )


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document's chunks, and its outline.

    Attributes
    ----------
    chunks : list of Chunk
    sections : list of Section
        Every heading on its own; they follow on one another and cover the text.
    front_matter_end : int
        Where the front matter ends, in code points; 0 without front matter.
    """

    chunks: list[Chunk]
    sections: list[Section]
    front_matter_end: int


def chunk_document(
    text: str,
    *,
    title: str = "",
    strategy: str = "structural",
    target: int = 512,
    overlap: int | None = None,
    window_tokens: int | None = None,
    word_pieces: Any = None,
    markup: str = "markdown",
) -> ChunkedDocument:
    """Split a document as `chunk` does, and return its outline as well; the text is parsed once.

    Raises
    ------
    InvalidInputError
        As `chunk` does.
    """
    layout = layout_of(word(text, "text"), one_of(markup, "markup", MARKUPS))
    chunks = _chunks(
        text,
        layout,
        title=title,
        strategy=strategy,
        target=target,
        overlap=overlap,
        window_tokens=window_tokens,
        word_pieces=word_pieces,
        markup=markup,
    )
    return ChunkedDocument(chunks, layout.outline, layout.front_matter_end)


def _chunks(
    text: str,
    layout: Layout | None,
    *,
    title: str,
    strategy: str,
    target: int,
    overlap: int | None,
    window_tokens: int | None,
    word_pieces: Any,
    markup: str,
) -> list[Chunk]:
    title = word(title, "title")
    markup = one_of(markup, "markup", MARKUPS)
    target = integer(target, "target", at_least=1)
    overlap = min(DEFAULT_OVERLAP, target // 2) if overlap is None else integer(overlap, "overlap", at_least=0)
    if window_tokens is not None:
        window_tokens = integer(window_tokens, "window_tokens", at_least=1)
        if word_pieces is None:
            raise InvalidInputError(
                f"window_tokens is {window_tokens} and word_pieces is None; give the encoder's word_pieces, in which a "
                "window is counted: pincite.Encoder.load().word_pieces is the default one's"
            )
    if one_of(strategy, "strategy", ("structural", *STRATEGIES)) == "structural":
        from pincite.core.structural import chunk_structural

        return chunk_structural(
            text,
            title=title,
            target=target,
            overlap=overlap,
            window_tokens=window_tokens,
            word_pieces=word_pieces,
            markup=markup,
            layout=layout,
        )
    ends = None if window_tokens is None else piece_ends_of(word_pieces)
    spans, titles = chunk_spans(text, strategy=strategy, target=target, overlap=overlap)
    paths = [(text[start:end],) if start < end else () for start, end in titles.tolist()] or [()]
    headers = [_header(title, path) if STRATEGIES[strategy].header else "" for path in paths]
    chunks = []
    for start, end, covered_start, section in spans.tolist():
        embedded_text = headers[section] + text[covered_start:end]
        truncated_tokens = 0
        if window_tokens is not None and ends is not None:
            truncated_tokens = max(0, len(ends(embedded_text)) + SPECIAL_TOKENS - window_tokens)
        chunks.append(
            Chunk(
                start=start,
                end=end,
                content=text[start:end],
                embedded_text=embedded_text,
                heading_path=paths[section],
                covered_start=covered_start,
                truncated_tokens=truncated_tokens,
            )
        )
    return chunks


def chunk_spans(
    text: str, *, strategy: str, target: int, overlap: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the spans of strategies A to F without their texts.

    Returns
    -------
    spans : (n, 4) uint32 array
        Rows of start, end, covered_start and the number of the section, 0 for A and B.
    titles : (m, 2) uint32 array
        Rows of start and end of the sections' titles.
    """
    wanted = STRATEGIES[strategy]
    find = _core.chunk_sections if wanted.boundaries else _core.chunk_blind
    return find(text, target=target, overlap=overlap if wanted.overlap else 0)


def _header(title: str, path: tuple[str, ...]) -> str:
    words = [word for word in (title, *path) if word]
    return f"[{' > '.join(words)}]\n" if words else ""
