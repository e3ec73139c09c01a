"""The URIs that documents are cited by."""

from __future__ import annotations

import re
from urllib.parse import quote

__all__ = ["document_uri"]

_NAME = "/:@!$&'()*+,;=~-._"
_URL = _NAME + "?[]%"


def document_uri(name: str) -> str:
    """Return the URI, without fragment, of a document that is known by an id, a path or a URL.

    A URL stays as it is, but for its fragment (a citation has its own) and for what no URI can hold. Of anything else
    every character that means something in a URI is percent-encoded.

    Examples
    --------
    >>> document_uri("guide/a b#1.md"), document_uri("https://example.org/a%20b?q=ü#top")
    ('guide/a%20b%231.md', 'https://example.org/a%20b?q=%C3%BC')
    """
    if "://" not in name:
        return quote(name, safe=_NAME)
    url = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", name.partition("#")[0])
    return quote(url, safe=_URL)
