"""The outline of a document: every heading on its own, and where front matter ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite.core import markdown
from pincite.core.chunking import chunk_document
from pincite.errors import InvalidInputError

LINES = [
    "# One", "## Two ##", "Setext", "===", "---", "+++", "title: x", "#", "###### deep", "", "```", "text. More",
    "- item", "  # in it", "> # quoted", "    # code", "\ufeff", "\u2028# no", "a\r# b", "two\r\n===",
]  # fmt: skip
documents = st.lists(st.sampled_from(LINES), max_size=14).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)
anything = st.one_of(documents, st.text(st.characters(exclude_categories=["Cs"]), max_size=60))


def outline(text, **options):
    document = chunk_document(text, **options)
    return [(text[s.start : s.heading_end], text[s.heading_end : s.end], s.level) for s in document.sections]


@given(text=anything, markup=st.sampled_from(["markdown", "plain"]))
def test_sections_tile_the_document(text, markup):
    document = chunk_document(text, markup=markup)
    bounds = [0, *(section.end for section in document.sections)]
    assert [section.start for section in document.sections] == bounds[:-1]
    assert bounds[-1] == len(text)
    for section in document.sections:
        assert section.start <= section.heading_end <= section.end
        assert section.start < section.end
        assert (section.level == 0) == (section.heading_end == section.start)
        assert section.level or not section.heading_path
        assert section.level <= 6
    assert document.front_matter_end in {0, *bounds}


@given(text=anything, markup=st.sampled_from(["markdown", "plain"]))
def test_chunks_are_those_of_chunk_and_lie_in_sections(text, markup):
    document = chunk_document(text, title="T", target=40, markup=markup)
    assert document.chunks == pincite.chunk(text, title="T", target=40, markup=markup)
    for chunk in document.chunks:
        first = next(section for section in document.sections if chunk.start < section.end)
        last = next(section for section in document.sections if chunk.end <= section.end)
        assert last.heading_path == chunk.heading_path
        # More than one only where headings without text lead into a deeper one.
        spanned = [s for s in document.sections if first.start <= s.start <= last.start]
        assert [s.level for s in spanned] == sorted({s.level for s in spanned})
        assert not any(text[s.heading_end : s.end].strip() for s in spanned[:-1] if s.level)


def test_every_heading_is_listed_on_its_own():
    text = "lead\n\n# A\n\n## B #\ntext\n\nC\nC\n---\n"
    document = chunk_document(text)
    assert outline(text) == [
        ("", "lead\n\n", 0),
        ("# A\n", "\n", 1),
        ("## B #\n", "text\n\n", 2),
        ("C\nC\n---\n", "", 2),
    ]
    assert [section.heading_path for section in document.sections] == [(), ("A",), ("A", "B"), ("A", "C C")]
    assert [chunk.heading_path for chunk in document.chunks] == [(), ("A", "B"), ("A", "C C")]


def test_headings_in_code_lists_and_quotes_are_not_listed():
    """M01."""
    text = "# A\n\n~~~py\n# not a heading\n```\n# nor this\n~~~\n\n- # x\n\n> # y\n\n    # z\n"
    assert [heading for heading, _, _ in outline(text)] == ["# A\n"]


def test_a_heading_without_words_has_its_level_and_no_name():
    document = chunk_document("# A\n\n##\n\n### C\n")
    assert [(s.level, s.heading_path) for s in document.sections] == [(1, ("A",)), (2, ("A",)), (3, ("A", "C"))]


@pytest.mark.parametrize("matter", ["---\ntitle: x\n---\n", "+++\na = 1\n+++\n", "\ufeff---\r\na: b\r\n...\r\n"])
def test_front_matter_is_a_section_of_its_own(matter):
    text = matter + "\nlead\n# A"
    assert chunk_document(text).front_matter_end == len(matter)
    assert outline(text) == [("", matter, 0), ("", "\nlead\n", 0), ("# A", "", 1)]


def test_front_matter_alone():
    text = "---\na: b\n---"
    assert (outline(text), chunk_document(text).front_matter_end) == ([("", text, 0)], len(text))


def test_white_space_before_the_first_heading_is_a_section():
    assert outline("\n\n# A") == [("", "\n\n", 0), ("# A", "", 1)]


def test_an_empty_document_has_no_sections():
    assert chunk_document("") == type(chunk_document(""))(chunks=[], sections=[], front_matter_end=0)


def test_plain_text_is_one_section():
    text = "---\na: b\n---\n\n# A\n\ntext"
    document = chunk_document(text, markup="plain")
    assert (outline(text, markup="plain"), document.front_matter_end) == ([("", text, 0)], 0)


@pytest.mark.parametrize("strategy", ["structural", *"ABCDEF"])
def test_the_outline_does_not_depend_on_the_strategy(strategy):
    text = "# A\n\n## B\n\ntext"
    document = chunk_document(text, strategy=strategy)
    assert document.sections == chunk_document(text).sections
    assert document.chunks == pincite.chunk(text, strategy=strategy)


def test_the_text_is_parsed_once(monkeypatch):
    calls = []
    parse = markdown._parse
    monkeypatch.setattr(markdown, "_parse", lambda text: calls.append(text) or parse(text))
    chunk_document("# A\n\ntext")
    assert calls == ["# A\n\ntext"]


def test_a_fault_of_the_parser_leaves_one_section(monkeypatch):
    def fail(text):
        raise RecursionError

    monkeypatch.setattr(markdown, "_parse", fail)
    assert outline("---\na: b\n---\n# A\n\ntext") == [("", "---\na: b\n---\n", 0), ("", "# A\n\ntext", 0)]


@pytest.mark.parametrize(
    ("text", "options"), [(None, {}), (b"# A", {}), ("\ud800", {}), ("x", {"markup": "html"}), ("x", {"target": 0})]
)
def test_bad_input(text, options):
    with pytest.raises(InvalidInputError):
        chunk_document(text, **options)


def test_the_course_notes(shared):
    for path in sorted((shared / "data" / "mdcourse").glob("*.md")):
        text = path.read_bytes().decode("utf-8")
        document = chunk_document(text, title=path.stem)
        assert "".join(text[s.start : s.end] for s in document.sections) == text
        paths = {section.heading_path for section in document.sections}
        assert len(paths) > 1
        assert {chunk.heading_path for chunk in document.chunks} <= paths | {()}
