"""What every extractor returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["ExtractedText", "Markup"]

Markup = Literal["markdown", "plain"]


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A document's canonical text, and how it was read.

    Attributes
    ----------
    text : str
        The canonical text: every offset counts its code points. Line ends of Markdown and plain text stay as they
        are; a byte order mark is no part of it.
    markup : {"markdown", "plain"}
        How the chunker reads the text.
    title : str
        The title that the document gives itself (an HTML ``<title>``, ``title`` in Markdown front matter), with runs
        of white space made one space; "" where it gives none. A first heading is a heading, not a title.
    media_type : str
        "text/markdown", for example.
    encoding : str
        What the bytes were decoded from: "utf-8", "utf-16-le", "cp1252", ...
    extractor : str
        The extractor and its version: "html/1". It changes where the same bytes give another text.
    dropped : mapping of str to int
        What was left out on purpose, in code points, by reason: ``{"script": 812, "comment": 40}``.
    """

    text: str
    markup: Markup
    title: str
    media_type: str
    encoding: str
    extractor: str
    dropped: Mapping[str, int]
