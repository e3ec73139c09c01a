"""HTML into Markdown that reads like the page: docs/adr/008-html-becomes-markdown.md says what becomes of what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from bs4 import Tag
from bs4.element import PageElement

from pincite.errors import ExtractionError, counted
from pincite.extract.decoding import declared_charset, decode
from pincite.extract.extracted import ExtractedText
from pincite.extract.html_source import clean_source
from pincite.extract.html_tree import BLOCKS, HEADINGS, parse_tree

__all__ = ["extract_html"]

_BREAK = "\0"  # a <br>; decoding lets no U+0000 through
_SPACES = re.compile(r"[ \t\n\r\f\xa0]+")
_PIPE = re.compile(r"(?<!\\)\|")
_BACKTICKS = re.compile(r"`{3,}")
_MOST_FILLERS = 20  # empty cells that spans may add to a row, so that a page cannot ask for millions
_NOT_IN_CELLS = ["table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"]
_LISTS = {"ul", "ol", "menu", "dir"}
_LEFT_OUT = {"template", "annotation"}  # annotation: the source of a formula that stands beside it


def extract_html(data: bytes, *, extractor: str) -> ExtractedText:
    """Read an HTML page as Markdown.

    Raises
    ------
    ExtractionError
        As `pincite.extract.extract` does; also "empty" for a page of scripts alone, and "malformed".
    """
    source, encoding = decode(data, declared=declared_charset(data))
    clean = clean_source(source)
    writer = _Writer(clean.dropped)
    writer.write(parse_tree(clean.markup))
    text = "\n".join([*writer.lines, ""])
    if not text.strip():
        left_out = ", ".join(f"{reason}: {count}" for reason, count in sorted(clean.dropped.items())) or "nothing"
        raise ExtractionError(
            f"the page has {counted(len(source), 'character')} and no text that is seen (left out: "
            f"{left_out}); save it from a browser after its scripts have run",
            reason="empty",
        )
    return ExtractedText(
        text=text,
        markup="markdown",
        title=clean.title,
        media_type="text/html",
        encoding=encoding,
        extractor=extractor,
        dropped={reason: count for reason, count in clean.dropped.items() if count},
    )


@dataclass(slots=True)
class _Container:
    """A list item or a quote: what stands before its first line, and before the others."""

    first: str
    rest: str
    begun: bool = False
    tight: bool = False  # no blank line before its first block


@dataclass(slots=True)
class _List:
    number: int | None  # of the next item, in a numbered list
    begun: bool = False


class _Writer:
    """Walks a tree without recursion and writes lines.

    Inline text is gathered until a block begins or ends; `containers` are the list items and quotes around it.
    """

    def __init__(self, dropped: Counter[str]) -> None:
        self.lines: list[str] = []
        self.dropped = dropped
        self.inline: list[str] = []
        self.containers: list[_Container] = []
        self.lists: list[_List] = []

    def write(self, root: Tag) -> None:
        stack: list[PageElement | str] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, Tag):
                if self.starts(node):
                    stack.append(node.name)
                    stack.extend(reversed(node.contents))
            elif isinstance(node, PageElement):
                self.inline.append(str(node))
            else:  # the name of an element that ends here
                self.end(node)
        self.flush()

    def starts(self, tag: Tag) -> bool:
        """Write what comes before an element's content; False if the content is written or left out as well."""
        name = tag.name
        if self.leaves_out(tag):
            return False
        if name == "br":
            self.inline.append(_BREAK)
        elif name == "img":
            self.inline.append(str(tag.get("alt", "")))
        if name not in BLOCKS:
            return True
        self.flush()
        if name in HEADINGS:
            self.heading(tag)
            return False
        if name == "pre":
            self.fence(tag)
            return False
        if name == "table":
            return not self.table(tag)
        if name in _LISTS:
            self.lists.append(_List(_number(tag.get("start"), default=1) if name == "ol" else None))
        elif name == "li":
            self.containers.append(self.item())
        elif name == "blockquote":
            self.containers.append(_Container("> ", "> "))
        return True

    def end(self, name: str) -> None:
        if name not in BLOCKS:
            return
        self.flush()
        if name in _LISTS:
            self.lists.pop()
        elif name in {"li", "blockquote"}:
            self.containers.pop()

    def item(self) -> _Container:
        within = self.lists[-1] if self.lists else _List(None)
        marker = "- " if within.number is None else f"{within.number}. "
        nested = bool(self.containers) and self.containers[-1].begun and within.number in (None, 1)
        item = _Container(marker, " " * len(marker), tight=within.begun or nested)
        within.begun = True
        if within.number is not None:
            within.number += 1
        return item

    def leaves_out(self, tag: Tag) -> bool:
        reason = "hidden" if tag.has_attr("hidden") else tag.name if tag.name in _LEFT_OUT else None
        if reason is not None:
            self.dropped[reason] += len(tag.get_text())
        return reason is not None

    def flush(self) -> None:
        """Write the text that was gathered: lines, and where two breaks follow on one another, paragraphs."""
        if not self.inline:
            return
        lines = [_collapsed(line) for line in "".join(self.inline).split(_BREAK)]
        self.inline.clear()
        for filled, group in groupby(lines, key=bool):
            if filled:
                self.block(list(group))

    def block(self, lines: Iterable[str]) -> None:
        """Write lines that belong together, behind an empty one."""
        if self.lines and not (self.containers and self.containers[-1].tight):
            self.lines.append("".join(inside.rest for inside in self.containers if inside.begun).rstrip())
        for line in lines:
            before = "".join(inside.rest if inside.begun else inside.first for inside in self.containers)
            self.lines.append((before + line).rstrip())
            for inside in self.containers:
                inside.begun, inside.tight = True, False

    def pieces(self, tag: Tag, between: str) -> Iterator[str]:
        """Yield the text inside an element, with `between` where a block or a line begins or ends."""
        stack: list[PageElement | str] = list(reversed(tag.contents))
        while stack:
            node = stack.pop()
            if not isinstance(node, Tag):
                yield str(node)
            elif not self.leaves_out(node):
                if node.name == "img":
                    yield str(node.get("alt", ""))
                edge = between if node.name in BLOCKS or node.name == "br" else ""
                yield edge
                if node.name != "br":
                    stack.append(edge)
                stack.extend(reversed(node.contents))

    def one_line(self, tag: Tag) -> str:
        return _collapsed("".join(self.pieces(tag, " ")))

    def heading(self, tag: Tag) -> None:
        if words := self.one_line(tag):
            self.block([f"{'#' * int(tag.name[1])} {words}"])

    def fence(self, tag: Tag) -> None:
        code = "".join(self.pieces(tag, "\n")).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
        lines = code.strip("\n").split("\n")
        if any(line.strip() for line in lines):
            fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(code))])
            self.block([fence, *lines, fence])

    def table(self, tag: Tag) -> bool:
        """Write a table of data; False, and nothing written, if the table only lays out the page."""
        if tag.find(_NOT_IN_CELLS) is not None:
            return False
        rows = [row for row in _own_rows(tag) if not row.has_attr("hidden")]
        if len(rows) < 2 or max(len(_own_cells(row)) for row in rows) < 2:
            return False
        for child in tag.find_all("caption", recursive=False):
            if caption := self.one_line(child):
                self.block([caption])
        grid = [row for row in self.grid(rows) if any(row)]
        if not grid:
            return True
        grid[0] += [""] * (max(map(len, grid)) - len(grid[0]))
        lines = [f"| {' | '.join(row)} |" for row in grid]
        # A row of dashes makes it a table if it has as many cells as the first row; a "|" in a cell counts there.
        lines.insert(1, "|" + "---|" * (len(_PIPE.findall(lines[0])) - 1))
        self.block(lines)
        return True

    def grid(self, rows: Iterable[Tag]) -> Iterator[list[str]]:
        """Yield the cells of each row, each in its own column: spans leave empty cells."""
        below: dict[int, int] = {}  # column: rows that a cell above still reaches into
        for row in rows:
            cells: list[str] = []
            fillers = _MOST_FILLERS
            for cell in _own_cells(row):
                fillers -= _fill(cells, below, fillers)
                if self.leaves_out(cell):
                    continue
                wide = min(_number(cell.get("colspan"), default=1) - 1, fillers)
                high = _number(cell.get("rowspan"), default=1) - 1
                if high > 0:
                    below |= dict.fromkeys(range(len(cells), len(cells) + max(0, wide) + 1), high)
                cells += [self.one_line(cell), *[""] * wide]
                fillers -= max(0, wide)
            _fill(cells, below, fillers)
            yield cells


def _fill(cells: list[str], below: dict[int, int], most: int) -> int:
    """Add the empty cells that cells above reach into next; return how many."""
    added = 0
    while added < most and below.get(len(cells), 0) > 0:
        below[len(cells)] -= 1
        cells.append("")
        added += 1
    return added


def _collapsed(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ")


def _number(value: object, *, default: int) -> int:
    digits = str(value)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else default


def _own_rows(table: Tag) -> list[Tag]:
    groups = [table, *table.find_all(["thead", "tbody", "tfoot"], recursive=False)]
    return [row for group in groups for row in group.find_all("tr", recursive=False)]


def _own_cells(row: Tag) -> list[Tag]:
    return [cell for cell in row.contents if isinstance(cell, Tag) and cell.name in ("td", "th")]
