"""URIs of spans, and back."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.cite.locators import char_fragment, parse_uri, span_of
from pincite.errors import InvalidInputError
from pincite.store.uris import document_uri

HASH = "0123456789abcdef" * 2
TEXT = st.text(st.sampled_from("ab é📷\r\n"), max_size=60)


def crlf(text, offset):
    return len(re.findall("\r\n", text[:offset]))


@given(text=TEXT, data=st.data())
def test_a_fragment_leads_back_to_the_span(text, data):
    places = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0]
    start = data.draw(st.sampled_from(places))
    end = data.draw(st.sampled_from([at for at in places if at >= start]))
    fragment = char_fragment(start, end, crlf_before=(crlf(text, start), crlf(text, end)), text_hash=HASH)
    _, parsed = parse_uri(f"x.md#{fragment}")
    assert parsed.md5 == HASH
    assert span_of(parsed, text) == (start, end)


@given(text=TEXT)
def test_positions_count_a_line_end_as_one_character(text):
    """RFC 5147, for every position of the text with its line ends made LF."""
    plain = text.replace("\r\n", "\n")
    for position in range(len(plain)):
        _, fragment = parse_uri(f"x#char={position},{position + 1}")
        start, end = span_of(fragment, text)
        assert text[start:end].replace("\r\n", "\n") == plain[position]


@given(text=TEXT, data=st.data())
def test_line_positions_are_between_lines(text, data):
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    _, fragment = parse_uri(f"x#line={start},{end}")
    first, last = span_of(fragment, text)
    assert text[first:last] == "".join(lines[start:end])


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda id: id == id.strip()))
def test_any_id_survives_in_a_uri(id):
    document, fragment = parse_uri(f"{document_uri(id)}#char=1,2")
    assert (document, fragment.start, fragment.end) == (document_uri(id), 1, 2)
    if "://" not in id:
        assert unquote(document) == id
    assert re.fullmatch(r"[!-~]+", document)


@pytest.mark.parametrize(
    ("url", "cited"),
    [
        ("https://example.org/a%20b?q=1&r=%23", "https://example.org/a%20b?q=1&r=%23"),
        ("https://example.org/p#sec", "https://example.org/p"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/ä b<>", "https://example.org/%C3%A4%20b%3C%3E"),
    ],
)
def test_a_url_stays_the_page_that_it_is(url, cited):
    assert document_uri(url) == cited
    assert document_uri(cited) == cited


@pytest.mark.parametrize(
    ("fragment", "start", "end"),
    [("char=5", 5, 5), ("char=5,", 5, None), ("char=,7", 0, 7), ("char=2,4;length=9", 2, 4)],
)
def test_the_open_forms_of_the_rfc(fragment, start, end):
    _, parsed = parse_uri(f"x#{fragment}")
    assert (parsed.start, parsed.end) == (start, end)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        " ",
        "x#",
        "x#char=",
        "x#char=,",
        "x#char=a",
        "x#char=9,3",
        "x#page=2",
        "x#char=1;md5=12",
        "x#char=-1,2",
        "x#char=١,٢",
    ],
)
def test_what_is_no_locator_is_refused(uri):
    with pytest.raises(InvalidInputError):
        parse_uri(uri)


def test_a_uri_without_fragment_is_the_document():
    assert parse_uri("a%20b.md") == ("a%20b.md", None)
