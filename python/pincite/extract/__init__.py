"""Documents into canonical text: one module for each family of formats, loaded when it is needed."""

from __future__ import annotations

from pincite.errors import ExtractionError
from pincite.extract.extracted import ExtractedText

__all__ = ["LARGEST_DOCUMENT", "SUFFIXES", "ExtractedText", "extract", "extractor_of"]

LARGEST_DOCUMENT = 64 * 2**20
"""Most bytes of a document: more is no text that somebody wrote."""

_EXTRACTORS = {
    ".md": "markdown/1",
    ".markdown": "markdown/1",
    ".txt": "text/1",
    ".text": "text/1",
    ".html": "html/1",
    ".htm": "html/1",
}

SUFFIXES = frozenset(_EXTRACTORS)
"""The suffixes that can be read, in lower case."""


def extractor_of(suffix: str) -> str:
    """Return the name and version of the extractor that reads files of a suffix, such as "html/1".

    Parameters
    ----------
    suffix : str
        With its dot, in any case: ".md", ".HTML".

    Raises
    ------
    ExtractionError
        Of reason "unsupported".
    """
    try:
        return _EXTRACTORS[suffix.lower()]
    except KeyError:
        named = f"the suffix is {suffix!r}" if suffix else "the name has no suffix"
        raise ExtractionError(
            f"{named}, wanted one of {', '.join(sorted(SUFFIXES))}; convert the document to one of them",
            reason="unsupported",
        ) from None


def extract(data: bytes, *, suffix: str) -> ExtractedText:
    r"""Read a document.

    Parameters
    ----------
    data : bytes
        The whole file.
    suffix : str
        The suffix of its name, with the dot, in any case; it decides how the bytes are read.

    Returns
    -------
    ExtractedText

    Raises
    ------
    ExtractionError
        With a `reason`: "unsupported" (no extractor for the suffix), "too_large" (more than `LARGEST_DOCUMENT`, or
        HTML of more than a million tags), "undecodable" (a byte that does not belong to the encoding), "binary"
        (U+0000 in the text), "empty" (nothing, or white space alone), "malformed" (HTML nested too deep).

    Examples
    --------
    >>> found = extract(b"<title>T</title><h1>One</h1><p>Two &amp; three.<script>x()</script>", suffix=".html")
    >>> found.text, found.title, found.dropped
    ('# One\n\nTwo & three.\n', 'T', {'script': 3})
    """
    extractor = extractor_of(suffix)
    if len(data) > LARGEST_DOCUMENT:
        raise ExtractionError(
            f"the document has {len(data):,} bytes, wanted at most {LARGEST_DOCUMENT:,}; split it", reason="too_large"
        )
    family = extractor.partition("/")[0]
    if family == "html":
        from pincite.extract.html import extract_html

        return extract_html(data, extractor=extractor)
    if family == "markdown":
        from pincite.extract.markdown import extract_markdown

        return extract_markdown(data, extractor=extractor)
    from pincite.extract.plain import extract_plain

    return extract_plain(data, extractor=extractor)
