"""The source of an HTML page made plain: every construct closed, nothing in it that a reader does not see.

The standard library's parser, and Beautiful Soup on it, take time quadratic in the size of a page with unclosed tags
or comments, with many ``<br>`` or with huge character references (python/cpython#135462 and its kin, fixed in some
versions). So tags are told from text here, once from left to right, as the HTML standard's tokenizer does (13.2.5),
and passed on in one clean form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from string import ascii_letters

from pincite.errors import ExtractionError

__all__ = ["MOST_TAGS", "VOID", "CleanSource", "clean_source"]

MOST_TAGS = 1_000_000
"""Start tags of a page; each takes about 1.1 KB and 30 microseconds as an element of a tree."""

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
"""Elements that have no end tag."""

_START_TAG = re.compile(r"""<([a-z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>""", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'][^\s]*+)))?+""")
_OPENS_MARKUP = frozenset(ascii_letters + "/!?")
_NAME = re.compile(r"[a-z][a-z0-9]*")
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{9,}|x[0-9a-f]{8,});?", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")
# Their content is no markup; it runs to the end tag, or to the end of the page.
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "iframe", "noembed", "noframes", "title", "textarea", "xmp")
}
_LEFT_OUT = {"script", "style", "iframe", "noembed", "noframes", "title"}
_FOREIGN = {"svg", "math"}
_KEPT_ATTRIBUTES = {"alt", "colspan", "open", "rowspan", "start"}
_INVISIBLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)


@dataclass(slots=True)
class CleanSource:
    """Markup of text, start tags and end tags alone; the title; how much was left out, by reason."""

    markup: str = ""
    title: str = ""
    dropped: Counter[str] = field(default_factory=Counter)


def clean_source(source: str) -> CleanSource:
    """Tell tags from text, in time linear in the size.

    A tag that the page's end cuts off is text, as nothing else would keep what follows it.

    Raises
    ------
    ExtractionError
        Of reason "too_large", if there are more than `MOST_TAGS` start tags.
    """
    cleaning = _Cleaning(_HUGE_REFERENCE.sub("\ufffd", source))
    cleaning.clean.markup = "".join(cleaning.pieces())
    return cleaning.clean


class _Cleaning:
    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.tags = 0
        self.foreign = ""  # "svg" or "math" inside one, where any element may close itself
        self.clean = CleanSource()

    def pieces(self) -> Iterator[str]:
        source = self.source
        while (at := source.find("<", self.position)) >= 0:
            yield _text(source[self.position : at])
            follows = source[at + 1 : at + 2]
            if source.startswith("<!--", at):
                self.leave_out_comment(at)
            elif follows not in _OPENS_MARKUP:
                yield "&lt;"
                self.position = at + 1
            elif start := _START_TAG.match(source, at):
                yield self.start_tag(start)
            elif not follows.isalpha() and (other := _OTHER_TAG.match(source, at)):
                yield self.other_tag(other)
            else:  # no ">" ends this tag, nor anything behind it
                self.position = at
                break
        yield _text(source[self.position :])

    def leave_out_comment(self, at: int) -> None:
        # `<!-->` and `<!--->` are whole comments, so the end may begin inside the opening.
        start, self.position = self.find(_COMMENT_END, at + 2)
        self.clean.dropped["comment"] += max(0, start - (at + 4))

    def find(self, pattern: re.Pattern[str], position: int) -> tuple[int, int]:
        match = pattern.search(self.source, position)
        return match.span() if match else (len(self.source), len(self.source))

    def start_tag(self, tag: re.Match[str]) -> str:
        self.position = tag.end()
        name = tag[1].lower()
        if name in _RAW:
            return self.raw(name)
        self.tags += 1
        if self.tags > MOST_TAGS:
            raise ExtractionError(f"the page has more than {MOST_TAGS:,} tags; split it", reason="too_large")
        ended = name in VOID or (bool(self.foreign) and tag[2].endswith("/"))
        if name in _FOREIGN and not ended:
            self.foreign = name
        return f"<{_plain_name(name)}{_attributes(name, tag[2])}{'/' if ended else ''}>"

    def raw(self, name: str) -> str:
        start = self.position
        self.position, _ = self.find(_RAW[name], start)
        content = self.source[start : self.position]
        if name == "title" and not (self.foreign or self.clean.title):
            self.clean.title = " ".join(unescape(content).split())
        elif name in _LEFT_OUT:
            self.clean.dropped[name] += len(content)
        else:
            return f"<pre>{_text(content) if name == 'textarea' else escape(content, quote=False)}</pre>"
        return ""

    def other_tag(self, tag: re.Match[str]) -> str:
        self.position = tag.end()
        content = tag[1]
        if content[:1] != "/" or not content[1:2].isalpha():
            if not content.lower().startswith("!doctype"):
                self.clean.dropped["comment"] += len(content) - 1  # what the standard calls a bogus comment
            return ""
        name = content[1:].split(maxsplit=1)[0].rstrip("/").lower()
        if name == self.foreign:
            self.foreign = ""
        return "" if name in VOID or name in _RAW else f"</{_plain_name(name)}>"


def _text(source: str) -> str:
    return escape(unescape(source), quote=False)


def _attributes(name: str, source: str) -> str:
    kept = {}
    for found in _ATTRIBUTE.finditer(source):
        key = found[1].lower()
        value = unescape(found[2] or found[3] or found[4] or "")
        if (key == "hidden" and value.lower() != "until-found") or (key == "style" and _INVISIBLE.search(value)):
            kept["hidden"] = ""
        elif key in _KEPT_ATTRIBUTES:
            kept.setdefault(key, value)
    if name == "dialog" and "open" not in kept:
        kept["hidden"] = ""
    return "".join(f' {key}="{escape(value)}"' for key, value in kept.items())


def _plain_name(name: str) -> str:
    """Return the name; for those with other signs in them, which no rule here looks at, one that stands for them."""
    return name if _NAME.fullmatch(name) else "span"
