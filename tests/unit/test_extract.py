"""Bytes into canonical text: encodings, titles, refusals."""

from __future__ import annotations

import codecs
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite.extract
from pincite.errors import ExtractionError
from pincite.extract import SUFFIXES, extract, extractor_of

WITH_MARK = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(str.strip)


def refusal(data, suffix=".txt"):
    with pytest.raises(ExtractionError) as caught:
        extract(data, suffix=suffix)
    return caught.value.reason, str(caught.value)


@given(text=texts, encoding=st.sampled_from(sorted(WITH_MARK)), suffix=st.sampled_from([".md", ".txt", ".MARKDOWN"]))
def test_a_byte_order_mark_decides_and_is_no_text(text, encoding, suffix):
    found = extract(WITH_MARK[encoding] + text.encode(encoding), suffix=suffix)
    assert (found.text, found.encoding, found.dropped) == (text, encoding, {})


@given(texts.filter(lambda text: not text.startswith("\ufeff")))
def test_utf8_needs_no_mark(text):
    found = extract(text.encode(), suffix=".txt")
    assert (found.text, found.encoding) == (text, "utf-8")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\x85", "\x0c"])
def test_line_ends_stay_as_they_are(end):
    """T04."""
    text = f"---{end}a{end}{end}b{end}"
    assert [extract(text.encode(), suffix=suffix).text for suffix in (".md", ".txt")] == [text, text]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_known_by_its_nuls(encoding):
    """X11."""
    found = extract("Production host is orion".encode(encoding), suffix=".md")
    assert (found.text, found.encoding) == ("Production host is orion", encoding)
    mixed = "Zeile eins – „zwei“\n"
    assert extract(mixed.encode(encoding), suffix=".txt").text == mixed


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("第一文です。第二文です。\n".encode("utf-16-le"), {"undecodable", "binary"}),
        (b"a\0b\0", {"binary"}),
        (b"one\0two\0three\0", {"binary"}),
        (b"\1\0\2\0\3\0\4\0\5\0\6\0", {"binary"}),
        ("Production host".encode("utf-16-le")[:-1], {"binary"}),
        (codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le"), {"binary"}),
        (codecs.BOM_UTF16_LE + b"a\0b", {"undecodable"}),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a\0", {"undecodable"}),
        ("lone surrogate".encode("utf-16-le") + b"\x01\xd8a\0", {"binary", "undecodable"}),
    ],
)
def test_what_looks_like_utf16_and_is_not(data, reason):
    assert refusal(data)[0] in reason


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"Gr\xfc\xdfe", "byte 0xfc at offset 2"),
        ("€“".encode("cp1252"), "byte 0x80 at offset 0"),
        (("ä" * 1000).encode() + b"\xff" + ("ö" * 1000).encode(), "byte 0xff at offset 2000"),
        ("日本語のテキスト".encode("shift_jis"), "byte 0x93 at offset 0"),
        (codecs.BOM_UTF8 + b"ab\xc3", "byte 0xc3 at offset 5"),
        (b"\xed\xa0\x80", "byte 0xed at offset 0"),
    ],
)
@pytest.mark.parametrize("suffix", [".md", ".txt", ".html"])
def test_a_bad_byte_is_named_and_never_read_as_latin_1(data, named, suffix):
    """X11."""
    reason, message = refusal(data, suffix)
    assert reason == "undecodable"
    assert named in message
    assert "convert the document to UTF-8" in message


@pytest.mark.parametrize(
    "data", [b"", b" \r\n\t", codecs.BOM_UTF8, codecs.BOM_UTF16_LE + b" \0", "\u3000\x85".encode()]
)
@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_nothing_to_index(data, suffix):
    reason, message = refusal(data, suffix)
    assert reason == "empty"
    assert str(len(data)) in message or suffix.startswith(".htm")


def test_too_large(monkeypatch):
    monkeypatch.setattr(pincite.extract, "LARGEST_DOCUMENT", 10)
    assert extract(b"0123456789", suffix=".txt").text == "0123456789"
    reason, message = refusal(b"0123456789a")
    assert reason == "too_large"
    assert "11 bytes, wanted at most 10" in message


@pytest.mark.parametrize("suffix", [".pdf", "", "md", ".md.gz", ".xhtml"])
def test_other_suffixes_are_not_guessed(suffix):
    reason, message = refusal(b"text", suffix)
    assert reason == "unsupported"
    assert repr(suffix) in message or not suffix
    assert all(known in message for known in SUFFIXES)
    with pytest.raises(ExtractionError, match="convert"):
        extractor_of(suffix)


@pytest.mark.parametrize(
    ("suffix", "markup", "media_type", "name"),
    [
        (".md", "markdown", "text/markdown", "markdown"),
        (".Markdown", "markdown", "text/markdown", "markdown"),
        (".TXT", "plain", "text/plain", "text"),
        (".htm", "markdown", "text/html", "html"),
    ],
)
def test_how_a_document_was_read(suffix, markup, media_type, name):
    found = extract(b"# A", suffix=suffix)
    assert (found.markup, found.media_type, found.extractor) == (markup, media_type, extractor_of(suffix))
    assert found.extractor.split("/")[0] == name
    assert int(found.extractor.split("/")[1]) >= 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Pin cites\n---\n# Heading", "Pin cites"),
        ("---\r\na: b\r\nTitle:   Two  words \r\n...\r\n", "Two words"),
        ("---\ntitle: 'It''s: here' # note\n---\n", "It's: here"),
        ('---\ntitle: "A \\"b\\" # c"\n---\n', 'A "b" # c'),
        ("---\ntitle: C# and more # note\n---\n", "C# and more"),
        ("+++\ntitle = 'T'\n+++\n", "T"),
        ("# First heading\n\ntext", ""),
        ("title: x\n", ""),
        ("\n---\ntitle: x\n---\n", ""),
        ("---\ntitle: x\n\nnever closed", ""),
        ("---\nsub:\n  title: x\n---\n", ""),
        ("---\nsubtitle: x\n---\n", ""),
        ("---\ntitle:\n---\n", ""),
        ("---\ntitle: >-\n  folded\n---\n", ""),
        ("---\ntitle: [a, b]\n---\n", ""),
        ("---\na: b\n---\ntitle: x\n---\n", ""),
        ("+++\ntitle: x\n+++\n", ""),
    ],
)
def test_the_title_of_markdown_is_what_its_front_matter_says(text, title):
    found = extract(text.encode(), suffix=".md")
    assert (found.title, found.text) == (title, text)


def test_plain_text_has_no_title():
    assert extract(b"---\ntitle: x\n---\n", suffix=".txt").title == ""


def test_no_html_library_is_loaded_for_text():
    code = (
        "import sys, pincite, pincite.extract as e; e.extract(b'x', suffix='.md'); e.extractor_of('.html');"
        "sys.exit('bs4' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
