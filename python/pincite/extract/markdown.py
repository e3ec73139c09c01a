"""Markdown: the text as it was written, front matter included, and the title that the front matter names."""

from __future__ import annotations

import re

from pincite.extract.decoding import decode
from pincite.extract.extracted import ExtractedText

__all__ = ["extract_markdown", "front_matter_title"]

# The fences are those that pincite.core.markdown takes for front matter.
_YAML = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_YAML_TITLE = re.compile(r"^title[ \t]*:[ \t]+(.*?)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_TOML_TITLE = re.compile(r"^title[ \t]*=[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_QUOTED = re.compile(r"""'((?:[^']|'')*)'[ \t]*(?:#.*)?|"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?""")


def extract_markdown(data: bytes, *, extractor: str) -> ExtractedText:
    """Read a Markdown document, every character of it."""
    text, encoding = decode(data)
    return ExtractedText(
        text=text,
        markup="markdown",
        title=front_matter_title(text),
        media_type="text/markdown",
        encoding=encoding,
        extractor=extractor,
        dropped={},
    )


def front_matter_title(text: str) -> str:
    r"""Return the one-line ``title`` of YAML (``---``) or TOML (``+++``) front matter, "" if there is none.

    This reads one line, not YAML: a title that is folded over several lines, an anchor or a tag is none.

    Examples
    --------
    >>> front_matter_title('---\ntitle: "Pin cites"  # short\n---\n# Heading')
    'Pin cites'
    """
    matter = _YAML.match(text) or _TOML.match(text)
    if matter is None:
        return ""
    found = (_YAML_TITLE if text.startswith("-") else _TOML_TITLE).search(matter[1])
    if found is None:
        return ""
    value = found[1]
    quoted = _QUOTED.fullmatch(value)
    if quoted is None:
        plain = re.split(r"(?:^|[ \t])#", value, maxsplit=1)[0]
        return "" if plain[:1] in tuple("|>&*!{[\"'") else " ".join(plain.split())
    single, double = quoted.groups()
    value = single.replace("''", "'") if double is None else re.sub(r"\\(.)", r"\1", double)
    return " ".join(value.split())
