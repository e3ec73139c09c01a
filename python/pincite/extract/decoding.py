"""Bytes into text, or an error that says which byte stands in the way. Nothing is guessed."""

from __future__ import annotations

import codecs
import re

from pincite.errors import ExtractionError, counted

__all__ = ["declared_charset", "decode"]

# Longest first: the mark of UTF-32-LE begins with that of UTF-16-LE.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHORTEST_UTF16 = 8  # bytes; a shorter pattern of NULs may be chance
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_META_CHARSET = re.compile(rb"""<meta\b[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_META_REACH = 1024  # bytes in which a page has to declare its encoding (HTML standard, 4.2.5.4)

# The labels of the Encoding standard (encoding.spec.whatwg.org, section 4.2) that mean something else there than to
# Python, whose strict codecs lack what such pages hold, or that Python does not know.
_AS_ON_THE_WEB = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "x-x-big5": "big5hkscs",
    # A declaration that could be read as ASCII is not in UTF-16 (HTML standard, 13.2.3.2).
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
# What a page may name, and no other codec of Python's: utf-7, punycode, unicode_escape and the like change text.
_TEXT_CODEC = re.compile(
    r"utf-8|cp125\d|cp866|cp874|cp932|cp949|iso8859-\d+|koi8-[ru]|gb18030|big5hkscs|euc_jp|iso2022_jp"
)


def decode(data: bytes, *, declared: str | None = None) -> tuple[str, str]:
    r"""Decode a document.

    A byte order mark decides. Without one the declared encoding does, else it is UTF-8, or UTF-16 where every other
    byte is NUL in most of an otherwise printable text. Decoding is strict: a wrong byte is an error, because a text
    that was read in another encoding than it was written in cannot be quoted.

    Parameters
    ----------
    data : bytes
    declared : str, optional
        The codec that the document itself names.

    Returns
    -------
    text : str
        Without the byte order mark; not blank, without U+0000.
    encoding : str

    Raises
    ------
    ExtractionError
        Of reason "undecodable", "binary" or "empty".

    Examples
    --------
    >>> decode(b"\xff\xfeo\x00k\x00")
    ('ok', 'utf-16-le')
    """
    mark, encoding = next(
        ((mark, name) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)),
        (b"", declared or _utf16_without_mark(data) or "utf-8"),
    )
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = len(mark) + error.start
        why = "a byte order mark says so" if mark else "the document says so" if declared else "nothing else is said"
        raise ExtractionError(
            f"byte 0x{data[offset]:02x} at offset {offset} is not {encoding} ({error.reason}), which was expected "
            f"because {why}; convert the document to UTF-8",
            reason="undecodable",
        ) from None
    nul = text.find("\0")
    if nul >= 0:
        raise ExtractionError(
            f"the text has U+0000 at code point {nul}, so it is no text, or UTF-16 without a byte order mark; convert "
            "it to UTF-8",
            reason="binary",
        )
    if not text.strip():
        raise ExtractionError(
            f"the document has {counted(len(data), 'byte')} and no text; nothing can be found in it", reason="empty"
        )
    return text, encoding


def declared_charset(data: bytes) -> str | None:
    """Return the codec that an HTML page names in a ``<meta>`` of its first 1,024 bytes, or None.

    Raises
    ------
    ExtractionError
        Of reason "undecodable", if no text encoding has that label.
    """
    match = _META_CHARSET.search(data[:_META_REACH])
    if match is None:
        return None
    label = match[1].decode("ascii", "replace").lower()
    name = _AS_ON_THE_WEB.get(label, label)
    try:
        name = codecs.lookup(name).name
    except LookupError:
        name = ""
    name = _AS_ON_THE_WEB.get(name, name)
    if not _TEXT_CODEC.fullmatch(name):
        raise ExtractionError(
            f"the page declares the encoding {label!r}, which is not known here; convert it to UTF-8",
            reason="undecodable",
        )
    return name


def _utf16_without_mark(data: bytes) -> str | None:
    """Name the byte order if NULs give it away; a text in UTF-8 has none."""
    if len(data) < _SHORTEST_UTF16 or len(data) % 2:
        return None
    even, odd = data[::2].count(0), data[1::2].count(0)
    if min(even, odd) or max(even, odd) * 4 <= len(data):
        return None
    encoding = "utf-16-be" if even else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else encoding
