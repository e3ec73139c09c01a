"""The strategies A to F against their pure-Python twin, and what holds for every one of them."""

from __future__ import annotations

import inspect
import itertools
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pincite
from pincite.errors import InvalidInputError
from reference.chunking import SPACES, units
from reference.chunking import chunk as reference_chunk

STRATEGIES = "ABCDEF"

# Everything that a rule looks at, and everything that is easily taken for it.
PIECES = [
    *[
        "## ",
        "## A\n",
        "# ",
        "##",
        "### B\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "\r",
        "\u2028",
        "\u2029",
        "\x85",
    ],
    *[
        "\v",
        "\f",
        "\x1c",
        "\x1f",
        " ",
        "\t",
        "\xa0",
        "\ufeff",
        "\u200b",
        "\u3000",
        "\u180e",
        "\u205f",
        "\u1680",
    ],
    *[
        "\u2000",
        "\u200a",
        "\u202f",
        ".",
        "!",
        "?",
        "...",
        "word",
        "Ein Satz. ",
        "e\u0301",
        "\u0301",
        "📷",
        "🇩🇪",
    ],
    *["보험", "\U0010ffff", "\x00", "\uffff", "ß"],
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "## A\n" + "".join(pieces)),
    st.text(max_size=60),
)
sizes = st.integers(1, 40).flatmap(lambda target: st.tuples(st.just(target), st.integers(0, target - 1)))


def as_tuple(chunk):
    return (
        chunk.start,
        chunk.end,
        chunk.covered_start,
        chunk.content,
        chunk.embedded_text,
        chunk.heading_path,
    )


@given(text=texts, title=st.sampled_from(["", "Title"]), strategy=st.sampled_from(STRATEGIES), size=sizes)
@example(text="## A\n\n. One.Two", title="", strategy="D", size=(4, 3))
@example(text="a\n## A \r\nx\r\n## \n## B", title="T", strategy="E", size=(512, 64))
@example(text="## A\n 📷📷 📷. 📷", title="T", strategy="F", size=(3, 2))
def test_same_chunks(text, title, strategy, size):
    target, overlap = size
    found = pincite.chunk(text, title=title, strategy=strategy, target=target, overlap=overlap)
    wanted = reference_chunk(text, title=title, strategy=strategy, target=target, overlap=overlap)
    assert [as_tuple(chunk) for chunk in found] == wanted


@given(text=texts, strategy=st.sampled_from(STRATEGIES), size=sizes)
@example(text="i ⭢ j 📷 e\u0301\r\nx", strategy="B", size=(4, 3))
@example(text="## i ⭢ j 📷 e\u0301\r\nx. i ⭢ j 📷 e\u0301\r\nx", strategy="F", size=(4, 3))
@example(text="chunk chunk", strategy="B", size=(5, 4))
def test_chunks_are_slices_in_order(text, strategy, size):
    """T01, T02: offsets are code points of the text as given, and starts strictly increase."""
    target, overlap = size
    chunks = pincite.chunk(text, strategy=strategy, target=target, overlap=overlap)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.content != ""
        assert chunk.embedded_text.endswith(text[chunk.covered_start : chunk.end])
        assert chunk.covered_start <= chunk.start
        assert units(text[chunk.covered_start : chunk.start]) <= (overlap if strategy in "BDF" else 0)
    assert all(a.start < b.start and a.end <= b.start for a, b in itertools.pairwise(chunks))
    if strategy in "AB":
        assert "".join(chunk.content for chunk in chunks) == text
        assert all(units(chunk.content) <= max(target, 2) for chunk in chunks)
    else:
        assert all(chunk.content == chunk.content.strip(SPACES) for chunk in chunks)


def test_offsets_are_code_points_not_units_or_bytes():
    """T01: 13 code points are 14 UTF-16 units and 19 UTF-8 bytes."""
    text = "i ⭢ j 📷 e\u0301\r\nx"
    (chunk,) = pincite.chunk(text, strategy="A")
    assert (chunk.start, chunk.end) == (0, 13)
    (chunk,) = pincite.chunk(f"## 📷\n{text}", strategy="C")
    assert (chunk.start, chunk.end, chunk.content) == (5, 18, text)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_repeated_text_is_found_where_it_stands(strategy):
    """T02: the second and the third `chunk` are not looked for from the start."""
    text = "## chunk\n\nchunk\n\nchunk\n\n" + "ab. " * 1000
    chunks = pincite.chunk(text, strategy=strategy, target=6, overlap=4)
    starts = [chunk.start for chunk in chunks]
    assert starts == sorted(set(starts))
    if strategy not in "AB":
        assert starts[:2] == [10, 17]


@pytest.mark.parametrize(
    ("line_end", "ends_heading"),
    [
        ("\n", True),
        ("\r", True),
        ("\r\n", True),
        ("\u2028", True),
        ("\u2029", True),
        ("\x85", False),
        ("\v", False),
    ],
)
def test_line_ends_are_those_of_javascript(line_end, ends_heading):
    """T04: a heading's line ends at LF, CR, CRLF, U+2028 and U+2029, not at U+0085."""
    text = f"before{line_end}## Title{line_end}body"
    chunks = pincite.chunk(text, strategy="E")
    if ends_heading:
        assert [(chunk.heading_path, chunk.content) for chunk in chunks] == [(("Title",), "body")]
        assert chunks[0].start == text.index("body")
    else:
        assert chunks == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_offsets_hold_for_the_bytes_of_the_file(tmp_path, line_end):
    """T04: nothing translates line ends between the file and the offsets."""
    path = tmp_path / "file.md"
    path.write_bytes(line_end.join(["## Eins", "", "é 📷", "", "zwei"]).encode())
    text = path.read_bytes().decode()
    (chunk,) = pincite.chunk(text, strategy="C")
    first = len(text[: chunk.start].encode())
    last = len(text[: chunk.end].encode())
    assert path.read_bytes()[first:last] == chunk.content.encode()
    assert chunk.content.endswith("zwei")


BASE64 = "QUJDRA+/" * 125_000


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("unit", "target", "overlap"),
    [("🚀", 1, 0), ("보험" * 50, 2, 1), (" " + "a" * 200, 30, 4), (BASE64, 512, 10)],
    ids=["emoji", "no spaces", "long word", "base64"],
)
def test_huge_units_end(strategy, unit, target, overlap):
    """H01: a unit beyond the target is cut (A, B) or left whole (C to F); no step stands still."""
    text = "## x\n" + unit
    chunks = pincite.chunk(text, strategy=strategy, target=target, overlap=overlap)
    if strategy in "AB":
        assert "".join(chunk.content for chunk in chunks) == text
        assert all(units(chunk.content) in {target, 2} for chunk in chunks[:-1])
    else:
        assert [chunk.content for chunk in chunks] == [unit.strip()]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "text",
    ["#" * 10**5, "## " * 10**5, "## \n" * 10**5, "## a\n" * 10**5, " " * 10**5, "\n" * 10**6]
    + ["## a\n" + part * 10**5 for part in (" \n", "\n\n.", ".", ". ", "a.\u2028", "\ufeff", "📷")],
    ids=lambda text: repr(text[5:15]),
)
def test_hostile_texts_take_linear_time(strategy, text):
    """H01: what makes a backtracking reader slow. Quadratic work would take minutes here."""
    chunks = pincite.chunk(text, strategy=strategy, target=600, overlap=599)
    assert all(text[chunk.start : chunk.end] == chunk.content for chunk in chunks)
    if strategy in "AB":
        assert "".join(chunk.content for chunk in chunks) == text


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("text", ["", " ", "\r\n\t\ufeff", "\u2028" * 9])
def test_nothing_to_quote(strategy, text):
    """White space alone is a chunk of the blind strategies, which lose nothing, and of no other."""
    for whole in (text, "## \n" + text):
        chunks = pincite.chunk(whole, strategy=strategy)
        assert [chunk.content for chunk in chunks] == ([whole] if strategy in "AB" and whole else [])


def test_header_then_overlap_then_content():
    chunks = pincite.chunk("## S\nOne two. Three.", title="T", strategy="F", target=9, overlap=4)
    assert [chunk.embedded_text for chunk in chunks] == ["[T > S]\nOne two.", "[T > S]\nwo. Three."]
    assert [chunk.content for chunk in chunks] == ["One two.", "Three."]
    assert [chunk.covered_start for chunk in chunks] == [5, 10]


def test_overlap_stays_within_its_section():
    chunks = pincite.chunk("## S\n\none\n\n## T\n\ntwo", strategy="D", target=30, overlap=20)
    assert [(chunk.covered_start, chunk.start) for chunk in chunks] == [(6, 6), (17, 17)]


@pytest.mark.parametrize(
    ("title", "section", "header"),
    [("T", "S", "[T > S]\n"), ("", "S", "[S]\n"), ("T", " ", "[T]\n"), ("", " ", "")],
)
def test_header_leaves_out_what_is_empty(title, section, header):
    (chunk,) = pincite.chunk(f"## {section}\nbody", title=title, strategy="E")
    assert chunk.embedded_text == header + "body"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_window_counts_the_pieces_of_the_embedded_text(strategy):
    text = "## S\none two three four"

    def word_pieces(part):
        return [i + 1 for i in range(len(part))]

    (chunk,) = pincite.chunk(text, title="T", strategy=strategy, window_tokens=10, word_pieces=word_pieces)
    assert chunk.truncated_tokens == len(chunk.embedded_text) + 2 - 10
    (chunk,) = pincite.chunk(text, title="T", strategy=strategy, window_tokens=99, word_pieces=word_pieces)
    assert chunk.truncated_tokens == 0
    (chunk,) = pincite.chunk(text, title="T", strategy=strategy)
    assert chunk.truncated_tokens == 0


@pytest.mark.parametrize(
    ("arguments", "given_value", "wanted"),
    [
        ({"strategy": "Z"}, "strategy is 'Z'", "'structural', 'A', 'B', 'C', 'D', 'E', 'F'"),
        ({"strategy": "a"}, "strategy is 'a'", "'A'"),
        ({"strategy": ["A"]}, "strategy is ['A']", "'A'"),
        ({"target": 0}, "target is 0", "at least 1"),
        ({"target": -5}, "target is -5", "at least 1"),
        ({"target": 5.5}, "target is 5.5", "an integer"),
        ({"target": "512"}, "target is '512'", "an integer"),
        ({"overlap": -1}, "overlap is -1", "at least 0"),
        ({"overlap": 1.5}, "overlap is 1.5", "an integer"),
        ({"target": 9, "overlap": 9}, "overlap is 9", "less than the target of 9"),
        ({"window_tokens": 256}, "window_tokens is 256", "word_pieces"),
        ({"window_tokens": 0, "word_pieces": len}, "window_tokens is 0", "at least 1"),
        ({"window_tokens": 9, "word_pieces": 3}, "word_pieces is of type int", "a function"),
        ({"title": None}, "title is of type NoneType", "str"),
        ({"title": "a\udc00"}, "title holds a lone surrogate at code point 1", "errors='replace'"),
        ({"text": b"x"}, "text is of type bytes", "str"),
        ({"text": None}, "text is of type NoneType", "str"),
        ({"text": "é\ud800"}, "text holds a lone surrogate at code point 1", "errors='replace'"),
    ],
)
def test_bad_arguments_are_named(arguments, given_value, wanted):
    arguments = {"text": "x", "strategy": "F", **arguments}
    with pytest.raises(InvalidInputError) as caught:
        pincite.chunk(arguments.pop("text"), **arguments)
    assert given_value in str(caught.value)
    assert wanted in str(caught.value)


@pytest.mark.parametrize("strategy", "ACE")
def test_overlap_is_not_compared_where_there_is_none(strategy):
    chunks = pincite.chunk("## S\nx", strategy=strategy, target=1)
    assert all(chunk.covered_start == chunk.start for chunk in chunks)


def test_the_largest_sizes():
    (chunk,) = pincite.chunk("## S\nabc 📷", strategy="B", target=sys.maxsize, overlap=sys.maxsize - 1)
    assert chunk.content == "## S\nabc 📷"


@pytest.mark.parametrize(("target", "overlap"), [(512, 64), (128, 64), (127, 63), (10, 5), (2, 1), (1, 0)])
@pytest.mark.parametrize("strategy", ["structural", "B", "D", "F"])
def test_the_default_overlap_fits_every_target(strategy, target, overlap):
    text = "## S\n\n" + "One two. Three four. " * 40
    assert pincite.chunk(text, strategy=strategy, target=target) == pincite.chunk(
        text, strategy=strategy, target=target, overlap=overlap
    )


def test_signature_is_the_promised_one():
    parameters = inspect.signature(pincite.chunk).parameters
    assert {name: parameter.default for name, parameter in parameters.items() if name != "text"} == {
        "title": "",
        "strategy": "structural",
        "target": 512,
        "overlap": None,
        "window_tokens": None,
        "word_pieces": None,
        "markup": "markdown",
    }


@given(text=texts, strategy=st.sampled_from(STRATEGIES))
def test_markup_changes_nothing_in_the_strategies_of_evaluation(text, strategy):
    assert pincite.chunk(text, strategy=strategy, markup="plain") == pincite.chunk(text, strategy=strategy)


@pytest.mark.parametrize("strategy", ["structural", *STRATEGIES])
@pytest.mark.parametrize("markup", ["html", "", None, ["plain"]])
def test_an_unknown_markup(strategy, markup):
    with pytest.raises(InvalidInputError, match=r"markup is .*, wanted one of 'markdown', 'plain'"):
        pincite.chunk("text", strategy=strategy, markup=markup)
