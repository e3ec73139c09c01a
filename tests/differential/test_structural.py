"""The structural chunker: the packer against its twin, and the contract on text of every kind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pincite import _core
from pincite.core.markdown import parse_layout
from pincite.core.structural import chunk_structural, sentence_spans
from pincite.errors import InvalidInputError
from reference.structural import pack as reference_pack
from reference.structural import plain_layout
from reference.structural import sentence_ends as reference_sentence_ends

PIECES = [
    "# One\n", "## Two ##\n", "Setext\n===\n", "sub\n---\n", "###### deep\n", "#\n", "\n", "\n\n",
    "\r\n", "\r",
    "A sentence. Another one! ", "Dr. No met z.B. J. Doe. ", "第一文です。第二文！",
    "보험보험", "word " * 9, "a" * 30,
    "- item one. More.\n", "  - nested item\n", "1. first\n", "> quoted text. And more.\n",
    "> # not a section\n",
    "```py\n", "~~~\n", "    indented code\n", "# comment\n", "```\n",
    "| a | b |\n|---|---|\n", "| cell | cell |\n", "<div>\n", "<p m=1", "</div>\n", "---\n", "+++\n",
    "key: value\n",
    "e\u0301", "👩\u200d🚀", "🇩🇪🇫🇷", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\x00", "\ufeff",
    "[x]: /url\n", "***",
]  # fmt: skip
markdown = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5).filter(str.isprintable)), max_size=25).map("".join),
)
sizes = st.one_of(st.integers(1, 12), st.integers(13, 150), st.just(512))


def check_contract(text, chunks, target, overlap):
    held = np.zeros(len(text), dtype=np.int64)
    for i, chunk in enumerate(chunks):
        assert chunk.content == text[chunk.start : chunk.end]
        assert chunk.content.strip()
        assert chunk.embedded_text.endswith(text[chunk.covered_start : chunk.end])
        assert chunk.start - overlap <= chunk.covered_start <= chunk.start
        assert chunk.covered_start == chunk.start or chunk.covered_start >= chunks[i - 1].start
        assert i == 0 or chunks[i - 1].start < chunk.start
        assert chunk.end - chunk.start <= target + target // 4
        held[chunk.start : chunk.end] += 1
    assert held.max(initial=0) <= 1
    lost = "".join(c for c, times in zip(text, held.tolist(), strict=True) if not times)
    assert not lost.strip()
    atoms = parse_layout(text).atoms
    for chunk in chunks:
        if chunk.end - chunk.start > target:
            assert any(start < chunk.end <= end for start, _, end in atoms)


def core_pack(text, *, target, overlap, piece_ends=(), budgets=(), **layout):
    def rows(values, columns):
        return np.array(list(values), dtype=np.int64).reshape(-1, columns)

    return _core.pack_structural(
        text,
        sections=np.array(layout["sections"], dtype=np.int64),
        cuts=rows(layout["cuts"], 2),
        prose=rows(layout["prose"], 2),
        atoms=rows(layout["atoms"], 3),
        target=target,
        overlap=overlap,
        piece_ends=np.array(piece_ends, dtype=np.int64),
        budgets=np.array(budgets, dtype=np.int64),
    ).tolist()


def layout_of(text):
    layout = parse_layout(text)
    return {
        "sections": [*(section.start for section in layout.sections), len(text)],
        "cuts": sorted(layout.cuts.items()),
        "prose": layout.prose,
        "atoms": layout.atoms,
    }


@given(text=markdown, target=sizes, data=st.data())
def test_packs_as_its_twin(text, target, data):
    overlap = data.draw(st.integers(0, target - 1))
    layout = layout_of(text)
    limits = {"target": target, "overlap": overlap}
    if data.draw(st.booleans()):
        ends = data.draw(st.lists(st.integers(0, len(text)), max_size=60).map(sorted))
        n = len(layout["sections"]) - 1
        budgets = data.draw(st.lists(st.integers(1, 12), min_size=n, max_size=n))
        limits |= {"piece_ends": ends, "budgets": budgets}
    assert core_pack(text, **layout, **limits) == reference_pack(text, **layout, **limits)


@settings(max_examples=400)
@given(text=st.text("ab .。\n \u0301🇩", min_size=1, max_size=60), target=st.integers(1, 20), data=st.data())
def test_packs_any_layout_as_its_twin(text, target, data):
    offsets = st.integers(0, len(text))
    bounds = data.draw(st.lists(offsets, min_size=2, max_size=6).map(sorted))
    apart = data.draw(st.lists(offsets, max_size=6).map(sorted))
    threes = data.draw(st.lists(offsets, max_size=9).map(sorted))
    layout = {
        "sections": bounds,
        "cuts": data.draw(st.lists(st.tuples(offsets, st.integers(0, 2)), max_size=16)),
        "prose": list(zip(apart[::2], apart[1::2], strict=False)),
        "atoms": list(zip(threes[::3], threes[1::3], threes[2::3], strict=False)),
    }
    overlap = data.draw(st.integers(0, target - 1))
    expected = reference_pack(text, **layout, target=target, overlap=overlap)
    assert core_pack(text, **layout, target=target, overlap=overlap) == expected


@given(text=markdown, target=sizes, data=st.data())
@example(text="🚀", target=1, data=None)
def test_loses_nothing(text, target, data):
    overlap = data.draw(st.integers(0, target - 1)) if data else 0
    check_contract(text, chunk_structural(text, title="T", target=target, overlap=overlap), target, overlap)


@given(text=markdown, target=sizes, data=st.data())
def test_plain_text_is_packed_as_by_its_twin(text, target, data):
    overlap = data.draw(st.integers(0, target - 1))
    chunks = chunk_structural(text, title="T", target=target, overlap=overlap, markup="plain")
    check_contract(text, chunks, target, overlap)
    assert {chunk.heading_path for chunk in chunks} <= {()}
    assert [(chunk.start, chunk.end, chunk.covered_start) for chunk in chunks] == [
        tuple(row[:3]) for row in reference_pack(text, **plain_layout(text), target=target, overlap=overlap)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_plain_text_has_paragraphs_and_nothing_else(end):
    paragraphs = [
        "# a comment",
        "    x = 1",
        "    y = 2",
        "---",
        "a: b",
        "---",
        "",
        "- one",
        "| a | b |",
        "",
        "Last. One.",
    ]
    text = end.join(paragraphs)
    chunks = chunk_structural(text, target=52, overlap=0, markup="plain")
    assert [chunk.content.replace(end, "\n") for chunk in chunks] == [
        "# a comment\n    x = 1\n    y = 2\n---\na: b\n---",
        "- one\n| a | b |\n\nLast. One.",
    ]


@given(st.one_of(markdown, st.text('aZ.!?…。．！？」" )\n éz.B'), st.text(st.characters(exclude_categories=["Cs"]))))
def test_sentences_are_those_of_the_twin_and_join_to_the_text(text):
    spans = sentence_spans(text)
    assert [end for _, end in spans] == reference_sentence_ends(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("第一文です。第二文です．第三文！", ["第一文です。", "第二文です．", "第三文！"]),
        ("彼は「はい。」と言った。終わり", ["彼は「はい。」", "と言った。", "終わり"]),
        ("It is 3.5 m. Yes! (Really?) No", ["It is 3.5 m. Yes! ", "(Really?) ", "No"]),
        ('He said "go." Then… left?! Ok', ['He said "go." ', "Then… ", "left?! ", "Ok"]),
        ("See Dr. Who, e.g. z.B. J. Doe. End.", ["See Dr. Who, e.g. z.B. J. Doe. ", "End."]),
    ],
)
def test_sentences(text, expected):
    """S05, and the same for marks that need white space."""
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("🚀", 1),
        ("보험" * 50, 2),
        (" " + "a" * 200, 30),
        ("e\u0301" * 40, 7),
        ("👩\u200d🚀" * 9, 4),
        ("\u0301" * 90, 8),
    ],
)
def test_huge_units_are_cut_on_code_points(text, target):
    """H01."""
    for overlap in {0, target // 2, target - 1}:
        check_contract(text, chunk_structural(text, target=target, overlap=overlap), target, overlap)


def test_characters_are_kept_together_in_a_hard_cut():
    for text, target in (("e\u0301" * 40, 7), ("👩\u200d🚀" * 9, 4), ("🇩🇪" * 20, 5)):
        unit = len(text) // {80: 40, 27: 9, 40: 20}[len(text)]
        assert all(chunk.start % unit == 0 for chunk in chunk_structural(text, target=target, overlap=0))


HOSTILE = {
    "base64": "QUJD" * 60_000,
    "quotes": '"' * 20 + "A" * 200_000,
    "backticks": "".join("`" * (i % 60 + 1) + " " for i in range(4000)),
    "spaces": " " * 100_000 + "$",
    "tildes": "~" * 100_000,
    "tags": '<p m="1"' * 5000,
    "hashes": "#" * 100_000,
    "quote marks": ">" * 10_000 + " x",
    "quote lines": ("> " * 50 + "x\n") * 400,
    "list marks": "- " * 5000 + "x",
    "indents": "\n".join("  " * i + "- x" for i in range(150)),
    "blank lines": "a\n" + "\n" * 100_000 + "b",
    "pipes": "|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n" + "|b" * 20_000 + "|",
    "brackets": "[" * 50_000,
    "flags": "🇩" * 20_000,
    "long heading": "# " + "h " * 50_000 + "\n\n" + "text. " * 1000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_loses_nothing(name):
    """H01 (1 MB without spaces) and Z02."""
    chunks = chunk_structural(HOSTILE[name], overlap=10)
    check_contract(HOSTILE[name], chunks, 512, 10)
    assert sum(len(chunk.embedded_text) for chunk in chunks) <= 4 * len(HOSTILE[name]) + 1000


def test_a_heading_is_never_left_alone_by_what_fits_below_it():
    body = "word " * 98 + "end."
    (chunk,) = chunk_structural(f"# Heading\n\n{body}", target=512)
    assert chunk.content.endswith("end.")
    first, *rest = chunk_structural(f"# Heading\n\n{body} {body}", target=100, overlap=0)
    assert first.content.startswith("# Heading\n\nword")
    assert rest


@pytest.mark.parametrize("mark", ["", "- ", "> ", "- > 1. ", "* ```\n  "])
@given(heading=st.text("ab ", max_size=9), words=st.lists(st.sampled_from(["a", "bb.", "ccc"]), min_size=1))
def test_a_heading_is_never_left_alone(mark, heading, words):
    text = f"lead\n\n## {heading}\n\n{mark}" + " ".join(words) + "\n\nlast"
    chunks = chunk_structural(text, target=30, overlap=0)
    assert len(parse_layout(text).sections) == 2
    assert chunks[1].content != f"## {heading}".strip()
    assert chunks[1].content.startswith(f"## {heading}".strip())


def test_header_of_title_and_headings():
    text = "lead\n\n# Top\n\ntext\n\n## Low\n\nmore\n"
    embedded = [chunk.embedded_text.split("\n")[0] for chunk in chunk_structural(text, title="Top")]
    assert embedded == ["[Top]", "[Top]", "[Top > Low]"]
    assert [chunk.heading_path for chunk in chunk_structural(text)] == [(), ("Top",), ("Top", "Low")]
    assert chunk_structural("plain")[0].embedded_text == "plain"


def test_a_table_split_by_row_carries_its_header_rows():
    head = "| name | value |\n|---|---|\n"
    rows = [f"| row {i} | {i * i} |\n" for i in range(40)]
    chunks = chunk_structural("# T\n\n" + head + "".join(rows), target=120, overlap=20)
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.embedded_text.startswith("[T]\n" + head)
        assert chunk.embedded_text.count("| name |") == 1
        assert set(chunk.content.splitlines(keepends=True)) <= {*rows, *(row.rstrip() for row in rows)}


def test_lists_are_split_at_items_and_fences_at_lines():
    items = [f"- item {i} has a sentence. And one more\n" for i in range(20)]
    for chunk in chunk_structural("".join(items), target=100, overlap=0):
        assert all(line + "\n" in items for line in chunk.content.splitlines())
    code = "```py\n" + "".join(f"    value_{i} = {i}  # a. b\n" for i in range(60)) + "```\n"
    chunks = chunk_structural(code, target=200, overlap=0)
    assert chunks[0].content.startswith("```py\n    value_0")
    assert chunks[-1].content.endswith("\n```")
    assert all(chunk.content.startswith("    value_") for chunk in chunks[1:])


@pytest.mark.parametrize("lines", range(3, 7))
def test_the_lines_that_open_and_close_a_fence_stay_with_its_code(lines):
    mark = "~" * 20
    code = f"{mark}\n" + "value = 'aaaa bbbb cccc'\n" * lines + mark
    assert chunk_structural(code, target=30, overlap=0)[0].content != mark
    assert chunk_structural(code, target=50, overlap=0)[-1].content != mark


def test_a_fence_is_kept_whole_up_to_five_quarters_of_the_target():
    fence = "```\n" + "x = 1\n" * 19 + "```"
    assert [c.content for c in chunk_structural(f"before\n\n{fence}\n\nafter", target=100)] == [
        "before",
        fence,
        "after",
    ]
    assert len(chunk_structural(fence, target=90)) > 1


def test_overlap_is_embedded_and_never_quoted():
    text = "# A\n\n" + " ".join(f"word{i}" for i in range(100)) + "\n\n# B\n\nnew"
    chunks = chunk_structural(text, target=100, overlap=20)
    assert chunks[0].covered_start == chunks[0].start
    assert chunks[-1].covered_start == chunks[-1].start
    for chunk in chunks[1:-1]:
        assert 0 < chunk.start - chunk.covered_start <= 20
        assert text[chunk.covered_start - 1].isspace()


@pytest.mark.parametrize(
    ("arguments", "given_value", "wanted"),
    [
        ({"target": 0}, "target is 0", "at least 1"),
        ({"overlap": -1}, "overlap is -1", "less than target (512)"),
        ({"target": 10, "overlap": 10}, "overlap is 10", "less than target (10)"),
        ({"window_tokens": 7, "word_pieces": len}, "window_tokens is 7", "at least 8"),
        ({"window_tokens": 256}, "window_tokens is 256 and word_pieces is None", "tokenizer"),
        ({"window_tokens": 256, "word_pieces": 3}, "word_pieces is of type int", "encode()"),
    ],
)
def test_bad_arguments_are_named(arguments, given_value, wanted):
    with pytest.raises(InvalidInputError) as caught:
        chunk_structural("text", **arguments)
    assert given_value in str(caught.value)
    assert wanted in str(caught.value)


@pytest.mark.parametrize("text", [b"bytes", None, "lone \ud800 surrogate"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(InvalidInputError, match="text"):
        chunk_structural(text)


@pytest.mark.parametrize(
    "layout",
    [
        {"sections": [0, 9]},
        {"sections": [2, 1]},
        {"cuts": [(5, 0)]},
        {"cuts": [(1, 3)]},
        {"prose": [(0, 2), (1, 3)]},
        {"atoms": [(2, 1, 3)]},
        {"piece_ends": [3, 1], "budgets": [4]},
        {"budgets": [4, 4]},
        {"budgets": [0]},
    ],
)
def test_layouts_that_make_no_sense_are_refused(layout):
    sound = {"sections": [0, 4], "cuts": [], "prose": [], "atoms": []}
    with pytest.raises(InvalidInputError, match="wanted"):
        core_pack("abcd", target=4, overlap=0, **(sound | layout))


# --- the window ---


@pytest.fixture(scope="module")
def small_tokenizer():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=120, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(PIECES, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def real_tokenizer(shared):
    tokenizers = pytest.importorskip("tokenizers")
    path = shared / "models" / "reranker" / "tokenizer.json"
    if not path.is_file():
        pytest.skip(f"no tokenizer at {path}")
    return tokenizers.Tokenizer.from_file(str(path))


def check_window(chunks, tokenizer, window):
    for chunk in chunks:
        assert chunk.truncated_tokens == 0
        assert len(tokenizer.encode(chunk.embedded_text, add_special_tokens=False).ids) + 2 <= window


@settings(max_examples=80)
@given(text=markdown, target=st.sampled_from([20, 100, 512]), window=st.integers(8, 60), data=st.data())
def test_no_chunk_exceeds_the_window(small_tokenizer, text, target, window, data):
    overlap = data.draw(st.integers(0, target - 1))
    chunks = chunk_structural(
        text,
        title="A title",
        target=target,
        overlap=overlap,
        window_tokens=window,
        word_pieces=small_tokenizer,
    )
    check_contract(text, chunks, target, overlap)
    check_window(chunks, small_tokenizer, window)


def test_no_chunk_exceeds_the_window_of_a_real_encoder(shared, real_tokenizer):
    text = (shared / "data" / "mdcourse" / "deeprl_unit2.md").read_text(encoding="utf-8")
    plain = type(real_tokenizer).from_str(real_tokenizer.to_str())
    plain.no_truncation()
    plain.no_padding()
    for target, window in ((512, 256), (2000, 128), (512, 16)):
        chunks = chunk_structural(text, title="Unit 2", target=target, window_tokens=window, word_pieces=plain)
        check_contract(text, chunks, target, 64)
        check_window(chunks, plain, window)


def test_a_tokenizer_that_truncates_is_not_trusted_and_not_changed(small_tokenizer):
    truncating = type(small_tokenizer).from_str(small_tokenizer.to_str())
    truncating.enable_truncation(6)
    truncating.enable_padding(length=20)
    before = truncating.to_str()
    text = "word " * 200
    arguments = {"target": 512, "window_tokens": 40}
    chunks = chunk_structural(text, word_pieces=truncating, **arguments)
    assert chunks == chunk_structural(text, word_pieces=small_tokenizer, **arguments)
    assert truncating.to_str() == before


def test_word_pieces_may_be_a_function():
    text = "one two three four five six seven eight nine ten"
    spaces = [chunk.content for chunk in chunk_structural(text, window_tokens=8, word_pieces=ends_of_words)]
    assert spaces == ["one two three four five six", "seven eight nine ten"]


def ends_of_words(string):
    return [i + 1 for i, c in enumerate(string) if not c.isspace() and not string[i + 1 : i + 2].strip()]


def ends_of_bytes(string):
    return [i + 1 for i, c in enumerate(string) for _ in range(len(c.encode()) * 3)]


@given(text=markdown)
def test_pieces_finer_than_characters_still_fit(text):
    """Up to 12 pieces a character: one alone may exceed the window, and then says so."""
    for chunk in chunk_structural(text, target=50, overlap=20, window_tokens=11, word_pieces=ends_of_bytes):
        over = len(ends_of_bytes(chunk.embedded_text)) + 2 - 11
        assert chunk.truncated_tokens == max(0, over)
        assert over <= 0 or len(chunk.content) == 1


# --- real documents ---


def test_the_course_notes(shared):
    files = sorted((shared / "data" / "mdcourse").glob("*.md"))
    assert len(files) == 13
    for path in files:
        text = path.read_text(encoding="utf-8")
        chunks = chunk_structural(text, title=path.stem)
        check_contract(text, chunks, 512, 64)
        fenced = {line.lstrip("# ") for line in comments_in_fences(text)}
        headings = {heading for chunk in chunks for heading in chunk.heading_path}
        assert headings
        assert not headings & fenced - headings_outside_fences(text)


def _lines_by_fence(text):
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif line.startswith("#"):
            yield inside, line


def comments_in_fences(text):
    return {line for inside, line in _lines_by_fence(text) if inside}


def headings_outside_fences(text):
    return {line.lstrip("# ") for inside, line in _lines_by_fence(text) if not inside}


def test_importing_pincite_does_not_load_the_parser():
    code = "import pincite.core.structural, sys; sys.exit('markdown_it' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
