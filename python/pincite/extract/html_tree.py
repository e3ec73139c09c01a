"""HTML into a tree: Beautiful Soup, and the end tags that HTML lets an author leave out."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup, Tag

from pincite.errors import ExtractionError

__all__ = ["BLOCKS", "HEADINGS", "parse_tree"]

DEEPEST = 256
"""Elements inside one another. Browsers stop at 512; what is deeper was not written by anybody, and Beautiful Soup's
time grows with the depth at every string."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCKS = HEADINGS | frozenset(
    """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form header hgroup html legend li main menu nav ol optgroup option p pre search section select summary
    table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905
)
"""Elements that begin on a line of their own."""

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
# name: (the open elements that its start tag ends, the elements beyond which it does not look), as in the HTML
# standard's "optional tags" (13.1.2.4). Any block ends a paragraph.
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"}) | _CELLS),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _CELLS),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _CELLS),
    "tr": (frozenset({"tr"}), frozenset({"table"})),
    "td": (_CELLS, frozenset({"table", "tr"})),
    "th": (_CELLS, frozenset({"table", "tr"})),
    "thead": (_GROUPS, frozenset({"table"})),
    "tbody": (_GROUPS, frozenset({"table"})),
    "tfoot": (_GROUPS, frozenset({"table"})),
    "option": (frozenset({"option"}), frozenset({"select"})),
    "optgroup": (frozenset({"option", "optgroup"}), frozenset({"select"})),
    "a": (frozenset({"a"}), _CELLS),
} | dict.fromkeys(HEADINGS, (HEADINGS, BLOCKS - HEADINGS))
_TABLE = frozenset({"table", "caption"}) | _CELLS
_PARAGRAPH = (frozenset({"p"}), frozenset({"button", "object"}) | _TABLE)


def parse_tree(markup: str) -> BeautifulSoup:
    """Return the tree of a clean source.

    Raises
    ------
    ExtractionError
        Of reason "malformed", if elements are nested deeper than `DEEPEST`.
    """
    return _Soup(markup, "html.parser", store_line_numbers=False, string_containers={})


class _Soup(BeautifulSoup):
    def handle_starttag(self, name: str, *arguments: Any, **options: Any) -> Tag | None:
        if name in _ENDS:
            self._end_open(*_ENDS[name])
        if name in BLOCKS:
            self._end_open(*_PARAGRAPH)
        if len(self.tagStack) > DEEPEST:
            raise ExtractionError(
                f"elements are nested deeper than {DEEPEST} in this page; save it from a browser as text",
                reason="malformed",
            )
        return super().handle_starttag(name, *arguments, **options)

    def handle_endtag(self, name: str, nsprefix: str | None = None) -> None:
        # A stray end tag inside a table ends nothing outside of it.
        if name == "table":
            self._end_open(frozenset({name}), frozenset())
        elif name not in {"html", "body"}:
            boundary = _TABLE if name in HEADINGS or name not in _ENDS else _ENDS[name][1]
            self._end_open(frozenset({name}), boundary)

    def _end_open(self, ended: frozenset[str], boundary: frozenset[str]) -> None:
        if not any(map(self.open_tag_counter.get, ended)):
            return
        for depth in range(len(self.tagStack) - 1, 0, -1):
            name = self.tagStack[depth].name
            if name in ended:
                self.endData()
                while len(self.tagStack) > depth:
                    self.popTag()
                return
            if name in boundary:
                return
