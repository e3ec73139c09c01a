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

__all__ = ["VOID", "CleanSource", "clean_source"]

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""Elements that have no end tag."""

_START_TAG = re.compile(r"""<([a-z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>""", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<(/?)([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'][^\s]*+)))?+""")
_NAME = re.compile(r"[a-z][a-z0-9]*")
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{9,}|x[0-9a-f]{8,});?", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")
# Their content is no markup; it runs to the end tag, or to the end of the page.
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "iframe", "noembed", "noframes", "title", "textarea", "xmp")
}
_LEFT_OUT = {"script", "style", "iframe", "noembed", "noframes", "title"}
_KEPT_ATTRIBUTES = {"alt", "colspan", "rowspan", "start"}
_INVISIBLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)


@dataclass(slots=True)
class CleanSource:
    """Markup of text, start tags and end tags alone; the title; how much was left out, by reason."""

    markup: str
    title: str = ""
    dropped: Counter[str] = field(default_factory=Counter)


def clean_source(source: str) -> CleanSource:
    """Tell tags from text, in time linear in the size.

    A tag that the page's end cuts off is text, as nothing else would keep what follows it.
    """
    clean = CleanSource("")
    titles: list[str] = []
    clean.markup = "".join(_clean_pieces(_HUGE_REFERENCE.sub("\ufffd", source), clean.dropped, titles))
    clean.title = titles[0] if titles else ""
    return clean


def _clean_pieces(source: str, dropped: Counter[str], titles: list[str]) -> Iterator[str]:
    position = 0
    while (at := source.find("<", position)) >= 0:
        yield _text(source[position:at])
        if source.startswith("<!--", at):
            # `<!-->` and `<!--->` are whole comments, so the end may begin inside the opening.
            position, end = _up_to(_COMMENT_END, source, at + 2)
            dropped["comment"] += position - at - 4 if position - at >= 4 else 0
            position = end
        elif start := _START_TAG.match(source, at):
            name = start[1].lower()
            position = start.end()
            if name not in _RAW:
                yield _start_tag(name, start[2])
                continue
            stop, _ = _up_to(_RAW[name], source, position)
            content = source[position:stop]
            position = stop
            if name == "title":
                titles.append(" ".join(unescape(content).split()))
            elif name in _LEFT_OUT:
                dropped[name] += len(content)
            else:
                yield f"<pre>{_text(content) if name == 'textarea' else escape(content, quote=False)}</pre>"
        elif source[at + 1 : at + 2] in ("/", "!", "?") and (other := _OTHER_TAG.match(source, at)):
            position = other.end()
            if other[1]:
                yield _end_tag(other[2].lower())
        elif source[at + 1 : at + 2].isalpha() or source[at + 1 : at + 2] in ("/", "!", "?"):
            position = at  # no ">" ends it, nor anything behind it
            break
        else:
            yield "&lt;"
            position = at + 1
    yield _text(source[position:])


def _up_to(pattern: re.Pattern[str], source: str, position: int) -> tuple[int, int]:
    match = pattern.search(source, position)
    return match.span() if match else (len(source), len(source))


def _text(source: str) -> str:
    return escape(unescape(source), quote=False)


def _start_tag(name: str, source: str) -> str:
    attributes = {}
    for found in _ATTRIBUTE.finditer(source):
        key = found[1].lower()
        value = unescape(found[2] or found[3] or found[4] or "")
        if key == "hidden" and value.lower() != "until-found":
            attributes["hidden"] = ""
        elif key == "style" and _INVISIBLE.search(value):
            attributes["hidden"] = ""
        elif key in _KEPT_ATTRIBUTES:
            attributes.setdefault(key, value)
    if name == "dialog" and not re.search(r"(?:^|\s)open\b", source, re.IGNORECASE):
        attributes["hidden"] = ""
    kept = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{_plain_name(name)}{kept}{'/' if name in VOID else ''}>"


def _end_tag(source: str) -> str:
    name = source.split(maxsplit=1)[0].rstrip("/") if source.strip() else ""
    return "" if name in VOID or name in _RAW or not name[:1].isalpha() else f"</{_plain_name(name)}>"


def _plain_name(name: str) -> str:
    """Return the name; for those with other signs in them, which no rule here looks at, one that stands for them."""
    return name if _NAME.fullmatch(name) else "span"
