"""Plain text: the bytes, decoded."""

from __future__ import annotations

from pincite.extract.decoding import decode
from pincite.extract.extracted import ExtractedText

__all__ = ["extract_plain"]


def extract_plain(data: bytes, *, extractor: str) -> ExtractedText:
    """Read a plain text, every character of it."""
    text, encoding = decode(data)
    return ExtractedText(
        text=text,
        markup="plain",
        title="",
        media_type="text/plain",
        encoding=encoding,
        extractor=extractor,
        dropped={},
    )
