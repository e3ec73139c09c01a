"""The structural chunker: Markdown into chunks along its own structure, losing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pincite import _core
from pincite.core.arguments import one_of
from pincite.core.arrays import IdArray, as_ids
from pincite.core.markdown import MARKUPS, Layout, PackedSection, layout_of
from pincite.core.word_pieces import SPECIAL_TOKENS, PieceEnds, piece_ends_of
from pincite.errors import InvalidInputError
from pincite.types import Chunk

__all__ = ["chunk_structural", "sentence_spans"]

SMALLEST_WINDOW = 8


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences, as code-point spans that follow on one another and cover all of it.

    A sentence ends behind a run of ``. ! ? …`` (and closing quotes or brackets) that white space follows,
    or behind a full-width mark (``。．！？``) anywhere; white space behind it belongs to it. A single letter
    before a full stop is taken for an initial, and two dozen English and German abbreviations (``Dr.``,
    ``e.g.``, ``z.B.``) for what they are.

    Examples
    --------
    >>> text = "第一文です。第二文です．第三文！"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['第一文です。', '第二文です．', '第三文！']
    """
    ends: list[int] = _core.sentence_ends(text).tolist()
    return list(pairwise([0, *ends]))


def chunk_structural(
    text: str,
    *,
    title: str = "",
    target: int = 512,
    overlap: int = 64,
    window_tokens: int | None = None,
    word_pieces: Any = None,
    markup: str = "markdown",
    layout: Layout | None = None,
) -> list[Chunk]:
    r"""Cut a Markdown or plain text into chunks along its sections, blocks and sentences.

    Every character that is not white space lies in exactly one chunk's ``[start, end)``, and a chunk never
    spans two sections. Blocks are packed up to `target`; only what does not fit is split: lists at items,
    tables at rows, code at lines, paragraphs at sentence ends, then at white space, then between
    characters. A fence or a table may run to 5/4 of `target` where that keeps it whole. `embedded_text` is
    ``[title > heading > ...]``, then a split table's header rows, then ``text[covered_start:end]``.

    Parameters
    ----------
    text : str
    title : str, optional
        Begins the header. A first heading that repeats it is left out there.
    target : int, default 512
        Most code points of a chunk's content.
    overlap : int, default 64
        Most code points of the preceding chunk, of the same section, that are embedded as well.
    window_tokens : int, optional
        Most tokens of `embedded_text`, two special tokens included; needs `word_pieces`. Where it does not
        suffice for all, the overlap gives way first, then the header rows of a table, and the text is split
        finer. The header has half of the window at most: the outermost headings are left out first.
    word_pieces : callable or tokenizer, optional
        ``word_pieces(string)`` returns the ends of its word pieces in code points, ascending, one a piece,
        without special tokens. Or an object like ``tokenizers.Tokenizer``, whose ``encode(string,
        add_special_tokens=False).offsets`` say the same. If that truncates or pads, a copy that does
        neither is used; the object itself is never changed (the copy costs a parse of the vocabulary a
        call).
    markup : {"markdown", "plain"}, default "markdown"
        In plain text there is one section of paragraphs, which end at blank lines.
    layout : Layout, optional
        ``layout_of(text, markup)``, where the caller has it already.

    Returns
    -------
    list of Chunk
        In order; none for a text of white space alone. `truncated_tokens` is 0, unless a single character
        has more word pieces than the window has room for.

    Raises
    ------
    InvalidInputError
        If `text` is no str or holds a lone surrogate, `target`, `overlap` or `window_tokens` are out of
        range, a window comes without `word_pieces`, or `markup` is not known.

    Examples
    --------
    >>> [chunk.embedded_text for chunk in chunk_structural("# A\n\nOne.\n\n## B\n\nTwo.", title="T")]
    ['[T > A]\n# A\n\nOne.', '[T > A > B]\n## B\n\nTwo.']
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"text is a {type(text).__name__}, wanted a str; decode bytes first")
    _check(target, overlap, window_tokens)
    markup = one_of(markup, "markup", MARKUPS)
    if layout is None:
        layout = layout_of(text, markup)
    if window_tokens is None:
        return _Packing(text, layout, title, target, overlap).chunks()
    if word_pieces is None:
        raise InvalidInputError(
            f"window_tokens is {window_tokens} and word_pieces is None; pass the encoder's tokenizer, or a "
            "function that returns the ends of a string's word pieces, as word_pieces"
        )
    return _WindowPacking(text, layout, title, target, overlap, window_tokens, piece_ends_of(word_pieces)).chunks()


def _check(target: int, overlap: int, window_tokens: int | None) -> None:
    if target < 1:
        raise InvalidInputError(f"target is {target}, wanted at least 1 code point")
    if not 0 <= overlap < target:
        raise InvalidInputError(f"overlap is {overlap}, wanted at least 0 and less than target ({target})")
    if window_tokens is not None and window_tokens < SMALLEST_WINDOW:
        raise InvalidInputError(f"window_tokens is {window_tokens}, wanted at least {SMALLEST_WINDOW}")


def _rows(values: Sequence[Sequence[int]], columns: int) -> IdArray:
    return np.array(values, dtype=np.int64).reshape(-1, columns)


def _header(parts: Sequence[str]) -> str:
    return "[" + " > ".join(parts) + "]\n" if parts else ""


class _Packing:
    """One document on its way through the core, without a window."""

    def __init__(self, text: str, layout: Layout, title: str, target: int, overlap: int) -> None:
        self.text = text
        self.layout = layout
        self.title = " ".join(title.split())
        self.target = target
        self.overlap = overlap
        self.cuts = _rows(sorted(layout.cuts.items()), 2)
        self.prose = _rows(layout.prose, 2)
        self.atoms = _rows(layout.atoms, 3)
        self.headers = [self.header(section) for section in layout.sections]

    def header(self, section: PackedSection) -> str:
        return _header(self.header_parts(section))

    def header_parts(self, section: PackedSection) -> tuple[str, ...]:
        path = section.heading_path
        return path if not self.title or path[:1] == (self.title,) else (self.title, *path)

    def pack(self, piece_ends: IdArray, budgets: IdArray) -> list[list[int]]:
        bounds = [*(section.start for section in self.layout.sections), len(self.text)]
        rows: list[list[int]] = _core.pack_structural(
            self.text,
            sections=as_ids(bounds, name="sections"),
            cuts=self.cuts,
            prose=self.prose,
            atoms=self.atoms,
            target=self.target,
            overlap=self.overlap,
            piece_ends=piece_ends,
            budgets=budgets,
        ).tolist()
        return rows

    def chunk(self, start: int, end: int, covered_start: int, section: int, context: int) -> Chunk:
        before = ""
        if context >= 0:
            first, last, _ = self.layout.atoms[context]
            before = self.text[first:last]
        return Chunk(
            start=start,
            end=end,
            content=self.text[start:end],
            embedded_text=self.headers[section] + before + self.text[covered_start:end],
            heading_path=self.layout.sections[section].heading_path,
            covered_start=covered_start,
        )

    def chunks(self) -> list[Chunk]:
        nothing = as_ids([], name="piece_ends")
        return [self.chunk(*row) for row in self.pack(nothing, nothing)]


class _WindowPacking(_Packing):
    """The same under an encoder's window.

    The document's word pieces are counted once, for the packer. A cut inside a word, or the tokenizer's own
    ways at the edges of a string, can still add pieces, so every `embedded_text` is counted as it is, and
    one that is too long gives up what is not content, then halves.
    """

    def __init__(
        self, text: str, layout: Layout, title: str, target: int, overlap: int, window: int, ends: PieceEnds
    ) -> None:
        self.ends = ends
        self.room = window - SPECIAL_TOKENS
        super().__init__(text, layout, title, target, overlap)

    def count(self, string: str) -> int:
        return len(self.ends(string))

    def header(self, section: PackedSection) -> str:
        parts = self.header_parts(section)
        while parts and self.count(_header(parts)) > self.room // 2:
            parts = parts[1:]
        return _header(parts)

    def chunks(self) -> list[Chunk]:
        piece_ends = np.maximum.accumulate(as_ids(self.ends(self.text), name="word_pieces"))
        used = [self.count(header) for header in self.headers]
        budgets = as_ids([self.room - pieces for pieces in used], name="budgets")
        return [chunk for row in self.pack(piece_ends, budgets) for chunk in self.fitted(*row)]

    def fitted(self, start: int, end: int, covered_start: int, section: int, context: int) -> list[Chunk]:
        candidate = self.chunk(start, end, covered_start, section, context)
        if self.count(candidate.embedded_text) <= self.room:
            return [candidate]
        if covered_start < start:
            return self.fitted(start, end, start, section, context)
        if context >= 0:
            return self.fitted(start, end, start, section, -1)
        return self.halved(start, end, section)

    def halved(self, start: int, end: int, section: int) -> list[Chunk]:
        if end - start == 1:
            return [self.last_resort(start, end, section)]
        bounds = as_ids([start, end], name="sections")
        nothing = as_ids([], name="piece_ends")
        rows = _core.pack_structural(
            self.text[start:end],
            sections=bounds - start,
            cuts=_rows([], 2),
            prose=_rows([], 2),
            atoms=_rows([], 3),
            target=(end - start) // 2,
            overlap=0,
            piece_ends=nothing,
            budgets=nothing,
        ).tolist()
        spans = [(start + first, start + last) for first, last, *_ in rows]
        return [chunk for first, last in spans for chunk in self.fitted(first, last, first, section, -1)]

    def last_resort(self, start: int, end: int, section: int) -> Chunk:
        """One character, without its header; only here can something be left for the encoder to cut off."""
        character = self.text[start:end]
        return Chunk(
            start=start,
            end=end,
            content=character,
            embedded_text=character,
            heading_path=self.layout.sections[section].heading_path,
            covered_start=start,
            truncated_tokens=max(0, self.count(character) - self.room),
        )
