"""Sections and places for cuts out of Markdown, and their offsets into the text as it was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from pincite.core import markdown
from pincite.core.markdown import HEADING_LIMIT, line_starts, parse_layout
from pincite.core.structural import chunk_structural


def sections(text):
    return [(section.start, section.heading_path) for section in parse_layout(text).sections]


def paths(text):
    return [chunk.heading_path for chunk in chunk_structural(text)]


@given(st.text("a\n\r\x0b\x0c\x1c\x85\u2028\u2029\t \x00", max_size=40))
def test_lines_are_those_of_the_parser(text):
    """Over what the parser sees: its text has \\n for \\r\\n and \\r, and so its offsets differ from ours
    by pairs."""
    seen = text.replace("\r\n", "\n").replace("\r", "\n")
    state = StateBlock(seen, MarkdownIt(), {}, [])
    ours = line_starts(text)
    seen_starts = [start - text[:start].count("\r\n") for start in ours]
    assert seen_starts[: state.lineMax] == state.bMarks[: state.lineMax]
    assert len(ours) - 2 <= state.lineMax <= len(ours) - 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\x00", "\t", "🚀", "e\u0301"])
def test_headings_are_found_where_they_are(end, odd):
    text = f"lead {odd} text{end}{odd} more{end}{end}# One {odd}{end}body{end}{end}Two{end}==={end}x{end}"
    starts = [start for start, _ in sections(text)]
    assert starts == [0, text.index("# One"), text.index("Two")]


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_what_ends_no_line_in_markdown_starts_no_heading(odd):
    assert sections(f"text{odd}# not a heading\n") == [(0, ())]


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n~~~py\n# not a heading\n```\n# nor this\n~~~\n\ntext\n",
        "# A\n\n```\n# in an unclosed fence\n\n## still\n",
        "# A\n\n   ~~~~\n   # indented\n   ~~~\n   # a shorter fence does not close\n   ~~~~\n",
        "# A\n\n    # indented code\n",
        "# A\n\n- item\n\n  ```\n  # in a list\n  ```\n",
        "# A\n\n> ```\n> # in a quote\n> ```\n",
        "# A\n\n> # a quote's own heading\n\n- # a list's own\n",
        "# A\n\n<pre>\n# in HTML\n</pre>\n",
        "# A\n\n\\# escaped\n\n#no space\n\n####### seven\n",
    ],
)
def test_only_headings_are_headings(text):
    """M01."""
    (chunk,) = chunk_structural(text)
    assert chunk.heading_path == ("A",)
    assert chunk.content == text.rstrip()


def test_nothing_is_lost_between_levels():
    """M02."""
    text = "# A\nprose\n## B\n```\n# c\n```\nend"
    first, second = chunk_structural(text)
    assert (first.content, first.heading_path) == ("# A\nprose", ("A",))
    assert (second.content, second.heading_path) == ("## B\n```\n# c\n```\nend", ("A", "B"))


def test_levels_and_the_text_before_the_first_heading():
    text = "lead\n\n## B\nb\n\n# A\na\n\n### C\nc\n\nD\n---\nd\n"
    assert paths(text) == [(), ("B",), ("A",), ("A", "C"), ("A", "D")]


def test_a_heading_without_text_leads_into_the_deeper_one():
    assert sections("# A\n\n## B\n\ntext") == [(0, ("A", "B"))]
    assert sections("# A\n\n# B\n\ntext") == [(0, ("A",)), (5, ("B",))]
    assert paths("# A\n\n## B\n\ntext\n\n## C\n\ntext") == [("A", "B"), ("A", "C")]


@pytest.mark.parametrize(
    ("matter", "rest"),
    [
        ("---\ntitle: x # y\n---\n", "# A\ntext"),
        ("+++\na = 1\n# comment\n+++\n", "A\n===\ntext"),
        ("\ufeff---\r\na: b\r\n...\r\n", "# A\r\ntext"),
    ],
)
def test_front_matter_is_a_section_of_its_own(matter, rest):
    first, second = chunk_structural(matter + rest, title="T")
    assert (first.content, first.heading_path, first.embedded_text.split("\n")[0]) == (
        matter.strip(),
        (),
        "[T]",
    )
    assert (second.content, second.heading_path) == (rest, ("A",))


@pytest.mark.parametrize("text", ["---\nnever closed\n", "\n---\na: b\n---\n", "----\na\n---\n", "--- x\na\n---\n"])
def test_what_is_no_front_matter(text):
    assert all(section.start == 0 or section.heading_path for section in parse_layout(text).sections)


def test_a_byte_order_mark_hides_no_heading():
    assert sections("\ufeff# A\ntext") == [(0, ("A",))]


def test_a_long_heading_is_cut_in_the_path_alone():
    text = "# " + "h" * 5000 + "\n\ntext"
    chunks = chunk_structural(text)
    assert {len(chunk.heading_path[0]) for chunk in chunks} == {HEADING_LIMIT}
    assert sum(chunk.content.count("h") for chunk in chunks) == 5000


def test_tables_and_fences_are_atoms():
    text = "| a |\n|---|\n| b |\n\n- ~~~\n  code\n  ~~~\n\ntext\n"
    table_end, fence = text.index("\n- ~~~"), text.index("- ~~~")
    assert parse_layout(text).atoms == [
        (0, text.index("| b |"), table_end),
        (fence, fence, text.index("\ntext")),
    ]


def test_link_definitions_are_paragraphs_like_others():
    text = "[one]: /url\n\n[two]: /url 'title'\n\n[three]: /url\n"
    layout = parse_layout(text)
    assert sorted(layout.cuts) == [start for start, _ in layout.prose] == [0, 13, 34]


def test_deep_nesting_is_bounded():
    text = ">" * 10_000 + " deep\n\n# A\n\n" + "- " * 3_000 + "deep\n\nend"
    assert paths(text)[-1] == ("A",)


@pytest.mark.parametrize("fault", [RecursionError, IndexError, RuntimeError])
def test_a_fault_of_the_parser_costs_the_structure_alone(monkeypatch, fault):
    def fail(text):
        raise fault

    text = "---\na: b\n---\n# A\n\nOne. Two.\n\nThree."
    monkeypatch.setattr(markdown, "_parse", fail)
    chunks = chunk_structural(text, target=20, overlap=0)
    assert [chunk.content for chunk in chunks] == ["---\na: b\n---", "# A\n\nOne. Two.", "Three."]
