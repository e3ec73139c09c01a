r"""Where a document may be cut: sections, blocks, fences and tables, as offsets into it as it is.

markdown-it-py finds the blocks; its inline parser never runs. It reports lines, and a line ends at ``\n``,
``\r\n`` or ``\r`` and nowhere else (CommonMark 2.1: form feed, vertical tab, U+0085 and U+2028 are
characters of a line), so the line table here follows the same rule over the text as it was given.

Everything found here is a hint for the packer. What the parser does not see, or skips, stays in the section
it stands in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

from pincite.types import Section

__all__ = ["HEADING_LIMIT", "MARKUPS", "Layout", "PackedSection", "layout_of", "line_starts", "parse_layout"]

MARKUPS = ("markdown", "plain")

HEADING_LIMIT = 200
"""Code points of a heading that go into a heading path; what is beyond is cut off there, not in the
content."""

# As markdown-it's own "commonmark" preset, but deeper: what is nested deeper is skipped up to the end of
# its list.
_MAX_NESTING = 100
_LINE_END = re.compile(r"\r\n|\n|\r")
# Atomic, as "\r\n" is one line end and not two around an empty line.
_BLANK_LINE = re.compile(r"(?>\r\n|\n|\r)[^\S\r\n]*(?>\r\n|\n|\r)\s*")
_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}
_BLOCK, _UNIT, _INNER = 0, 1, 2  # CutRank of the core


@dataclass(frozen=True, slots=True)
class PackedSection:
    """What no chunk reaches beyond, up to where the next one starts.

    It is a section of the outline, or several: headings without text of their own and the deeper one below them.
    """

    start: int
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    heading_end: int
    level: int
    heading_path: tuple[str, ...]


@dataclass(slots=True)
class Layout:
    """Sections, and where the text may be cut. All offsets are code points.

    Attributes
    ----------
    outline : list of Section
        Every heading on its own; together they cover the text.
    front_matter_end : int
        Where the line that closes the front matter ends; 0 without front matter.
    sections : list of PackedSection
        In order; the first starts at 0.
    cuts : dict of int to int
        Offsets with their rank: 0 between blocks, 1 between list items, rows or lines of code, 2 further
        inside.
    prose : list of (start, end)
        Paragraphs, at any depth: where sentences are looked for.
    atoms : list of (start, context_end, end)
        Fences and tables; ``[start, context_end)`` are a table's header and delimiter rows.
    """

    outline: list[Section] = field(default_factory=list)
    front_matter_end: int = 0
    sections: list[PackedSection] = field(default_factory=list)
    cuts: dict[int, int] = field(default_factory=dict)
    prose: list[tuple[int, int]] = field(default_factory=list)
    atoms: list[tuple[int, int, int]] = field(default_factory=list)

    def add_cut(self, offset: int, rank: int) -> None:
        """Allow a cut at `offset`; the better rank wins."""
        self.cuts[offset] = min(rank, self.cuts.get(offset, rank))


def line_starts(text: str) -> list[int]:
    r"""Return where each line starts, and the length of the text as a last entry.

    Examples
    --------
    >>> line_starts("a\r\nb\rc")
    [0, 3, 5, 6]
    """
    return [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]


def layout_of(text: str, markup: str) -> Layout:
    """Return the layout of a text in one of the `MARKUPS`; plain text is one section of paragraphs."""
    if markup == "markdown":
        return parse_layout(text)
    layout = Layout(sections=[PackedSection(0, ())])
    _read_paragraphs(layout, text, 0)
    layout.outline = _outline(layout, [], len(text))
    return layout


def parse_layout(text: str) -> Layout:
    """Find the sections and the places for cuts of a Markdown document.

    Headings are ATX and setext headings of all levels outside lists and block quotes. A heading without
    text of its own is led into the section of the deeper heading that follows it. Front matter (``---`` or
    ``+++`` on the very first line, up to its closing line) is a section of its own with an empty heading
    path. If the parser fails, the document is one section of paragraphs.
    """
    layout = Layout(sections=[PackedSection(0, ())])
    starts = line_starts(text)
    lines = _front_matter_lines(text, starts)
    layout.front_matter_end = starts[lines]
    for line in range(1, lines):
        layout.add_cut(starts[line], _UNIT)
    if lines:
        layout.sections.append(PackedSection(starts[lines], ()))
    body = starts[lines] or int(text.startswith("\ufeff"))
    headings: list[_Heading] = []
    try:
        tokens = _parse(text[body:])
    except Exception:  # a fault of the parser, whatever it is, costs the structure, not the document
        _read_paragraphs(layout, text, starts[lines])
    else:
        headings = _read_tokens(tokens, starts[lines:], layout)
        if len(layout.sections) > 1 and not text[: layout.sections[1].start].strip("\ufeff \t\r\n"):
            layout.sections[:2] = [PackedSection(0, layout.sections[1].heading_path)]
    layout.outline = _outline(layout, headings, len(text))
    return layout


def _outline(layout: Layout, headings: Sequence[_Heading], length: int) -> list[Section]:
    without = [_Heading(start, start, 0, ()) for start in (0, layout.front_matter_end)]
    ends = [heading.start for heading in headings] + [length]
    # Of those that start at one place, only the last has text.
    return [
        Section(here.start, here.heading_end, end, here.level, here.heading_path)
        for here, end in zip([*without, *headings], [layout.front_matter_end, *ends], strict=True)
        if here.start < end
    ]


def _front_matter_lines(text: str, starts: Sequence[int]) -> int:
    """Count the lines of the front matter, its fences included; 0 if there is none."""
    if text.removeprefix("\ufeff")[:3] not in _FRONT_MATTER:
        return 0
    lines = [text[start:end].rstrip() for start, end in pairwise(starts)]
    closers = _FRONT_MATTER.get(lines[0].removeprefix("\ufeff"), ())
    return next((number + 1 for number, line in enumerate(lines) if number and line in closers), 0)


def _parse(text: str) -> list[Token]:
    from markdown_it import MarkdownIt  # here, so that `import pincite` does not load it

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.core.ruler.enableOnly(["normalize", "block"])
    # A link reference definition makes no token; as a paragraph it is text like any other.
    parser.enable("table").disable("reference")
    return parser.parse(text)


def _read_paragraphs(layout: Layout, text: str, start: int) -> None:
    bounds = [start, *(match.end() for match in _BLANK_LINE.finditer(text, start)), len(text)]
    for begin, end in pairwise(bounds):
        layout.add_cut(begin, _BLOCK)
        layout.prose.append((begin, end))


def _read_tokens(tokens: Sequence[Token], starts: Sequence[int], layout: Layout) -> list[_Heading]:
    headings: list[_Heading] = []
    stack: list[tuple[int, str]] = []
    bare: int | None = None  # the level of the last heading, while nothing stands below it
    glued = -1  # where what follows a heading starts, and a list's first item with it: no cut between
    for i, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        start, end = starts[token.map[0]], starts[token.map[1]]
        if token.type == "inline":
            if tokens[i - 1].type == "paragraph_open":
                layout.prose.append((start, end))
        elif token.type == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            while stack and stack[-1][0] >= level:
                stack.pop()
            stack.append((level, _heading_text(tokens[i + 1].content)))
            path = tuple(heading for _, heading in stack if heading)
            headings.append(_Heading(start, end, level, path))
            if bare is not None and level > bare:
                layout.sections[-1] = PackedSection(layout.sections[-1].start, path)
            else:
                layout.sections.append(PackedSection(start, path))
            bare = level
        else:
            if bare is not None:
                glued, bare = start, None
            if start != glued:
                layout.add_cut(start, min(token.level, _INNER))
            _read_block(token, starts, layout)
    return headings


def _read_block(token: Token, starts: Sequence[int], layout: Layout) -> None:
    assert token.map is not None
    first, last = token.map
    inside = min(token.level + 1, _INNER)
    if token.type == "table_open":
        context = min(first + 2, last)
        layout.atoms.append((starts[first], starts[context], starts[last]))
        for line in range(context, last):
            layout.add_cut(starts[line], inside)
    elif token.type in {"fence", "code_block", "html_block"}:
        if token.type != "html_block":
            layout.atoms.append((starts[first], starts[first], starts[last]))
        # The line that opens a fence stays with the code, and so does the one that closes it.
        edge = int(token.type == "fence")
        for line in range(first + 1 + edge, last - edge):
            layout.add_cut(starts[line], inside)


def _heading_text(raw: str) -> str:
    text = " ".join(raw[: HEADING_LIMIT * 4].split())
    return text if len(text) <= HEADING_LIMIT else text[: HEADING_LIMIT - 1] + "…"
