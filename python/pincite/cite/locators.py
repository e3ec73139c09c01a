r"""Fragments of URIs that name a span of a text, and back.

``#char=10,58`` and ``#line=2,4`` are positions between characters and lines, from 0, as in RFC 5147 (text/plain; RFC
7763 takes them over for Markdown). Unlike our offsets, they count a line end as one character, also ``\r\n``.
``;md5=...,UTF-8`` is the RFC's integrity check: the MD5 of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from pincite.core.markdown import line_starts
from pincite.errors import InvalidInputError

__all__ = ["Fragment", "char_fragment", "parse_uri", "span_of"]

_FRAGMENT = re.compile(
    r"(?P<scheme>char|line)=(?P<start>[0-9]{0,15})(?:(?P<comma>,)(?P<end>[0-9]{0,15}))?"
    r"(?P<checks>(?:;(?:md5=[0-9A-Fa-f]{32}|length=[0-9]{1,18})(?:,[\w.:+-]+)?)*)"
)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A parsed fragment; positions from 0, `end` None where it was left open."""

    scheme: str
    start: int
    end: int | None
    md5: str | None


def char_fragment(start: int, end: int, *, crlf_before: tuple[int, int], text_hash: str) -> str:
    """Return the fragment of a span.

    Parameters
    ----------
    start, end : int
        Code points.
    crlf_before : (int, int)
        How many line ends of two characters precede each.
    text_hash : str
        MD5 of the text in UTF-8, in hex.

    Examples
    --------
    >>> char_fragment(12, 20, crlf_before=(2, 3), text_hash="00" * 16)
    'char=10,17;md5=00000000000000000000000000000000,UTF-8'
    """
    return f"char={start - crlf_before[0]},{end - crlf_before[1]};md5={text_hash},UTF-8"


def parse_uri(uri: str) -> tuple[str, Fragment | None]:
    """Return the document's part of a URI, as it is written, and the fragment, if there is one.

    Raises
    ------
    InvalidInputError
        If the fragment is none that Pincite writes or RFC 5147 allows.
    """
    if not isinstance(uri, str) or not uri.strip():
        raise InvalidInputError(f"uri is {uri!r}, wanted the URI of a citation, such as guide.md#char=10,58")
    document, mark, fragment = uri.strip().partition("#")
    if not mark:
        return document, None
    found = _FRAGMENT.fullmatch(fragment)
    if found is None or not (found["start"] or found["end"]):
        raise InvalidInputError(
            f"the fragment is {fragment!r}, wanted char=START,END or line=START,END, perhaps with ;md5=... (RFC 5147)"
        )
    start = int(found["start"] or 0)
    end = int(found["end"]) if found["end"] else (None if found["comma"] else start)
    if end is not None and end < start:
        raise InvalidInputError(f"the fragment is {fragment!r}, it ends before it starts; exchange the two positions")
    md5 = re.search(r"md5=([0-9A-Fa-f]{32})", found["checks"])
    return document, Fragment(found["scheme"], start, end, md5[1].lower() if md5 else None)


def span_of(fragment: Fragment, text: str) -> tuple[int, int]:
    """Return the code points of a text that a fragment names; what lies behind the text's end is cut off."""
    if fragment.scheme == "line":
        starts = line_starts(text)
        last = len(starts) - 1
        end = last if fragment.end is None else fragment.end
        return starts[min(fragment.start, last)], starts[min(end, last)]
    # Where each pair ends, as the RFC counts: the pairs before it are one character shorter.
    ends = [found.end() - 1 - pairs for pairs, found in enumerate(re.finditer(r"\r\n", text))]
    last = len(text) - len(ends)
    start = min(fragment.start, last)
    end = last if fragment.end is None else min(fragment.end, last)
    return start + bisect_right(ends, start), end + bisect_right(ends, end)
