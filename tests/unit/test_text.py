"""Named cases of the tokenizer, and the tables under it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pincite

ROOT = Path(__file__).resolve().parents[2]
UCD = Path("/usr/share/unicode")


def terms(text: str, *, query: bool = False) -> list[str]:
    return [token.term for token in pincite.tokenize(text, query=query)]


def test_offsets_count_code_points():
    """T01."""
    text = "i ⭢ j 📷 e\u0301\r\nx"
    for analyzer, words in (("unicode", ["i", "j", "e\u0301", "x"]), ("ascii", ["i", "j", "e", "x"])):
        tokens = pincite.tokenize(text, analyzer=analyzer)
        assert [text[token.start : token.end] for token in tokens] == words
        assert tokens[-1].end == len(text) == 13


@pytest.mark.parametrize("text", ["हिन्दी भाषा", "كَتَبَ", "שָׁלוֹם עוֹלָם", "বাংলা ভাষা", "தமிழ் மொழி", "ሰላም ዓለም", "ि"])
def test_marks_stay_with_their_word(text):
    """T06: one token a word, the same in a query, whatever its length."""
    tokens = pincite.tokenize(text)
    assert [text[token.start : token.end] for token in tokens] == text.split()
    assert pincite.tokenize(text, query=True) == tokens


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("Straße", "strasse"),
        ("ﬁancée", "fiancee"),
        ("ÆRØ", "aero"),
        ("ŁÓDŹ", "lodz"),
        ("İSTANBUL", "istanbul"),
        ("ısı", "isi"),
        ("Đà", "da"),
        ("ΛΌΓΟΣ", "λογοσ"),
        ("ёлка", "елка"),
        ("Йод", "йод"),
        ("и\u0306од", "йод"),
        ("ў", "ў"),
        ("don’t", "don't"),
        ("co\u00adop", "coop"),
        ("ＡＢＣ１", "abc1"),
        ("ﷺ", "صلىاللهعليهوسلم"),
        ("①", "1"),
        ("½", "1⁄2"),
        ("한국어", "한국어"),
    ],
)
def test_words_fold_to_one_term(written, term):
    assert terms(written) == [term]
    assert terms(f"one {written}, two") == ["one", term, "two"]


@pytest.mark.parametrize("text", ["", " \n\t", "—…!?", "📷👩\u200d❤", "🇩🇪", "\u200d\u200b\ufeff", "\u3164", "__"])
def test_what_holds_no_letter_or_number_gives_nothing(text):
    assert terms(text) == []


def test_runs_without_spaces_give_pairs():
    tokens = pincite.tokenize("x東京都 漢")
    assert [(t.term, t.start, t.end, t.position) for t in tokens] == [
        ("x", 0, 1, 0),
        ("東京", 1, 3, 1),
        ("京都", 2, 4, 2),
        ("都", 3, 4, 2),
        ("漢", 5, 6, 3),
    ]
    assert [(t.term, t.prefix) for t in pincite.tokenize("東京都 漢", query=True)] == [
        ("東京", False),
        ("京都", False),
        ("漢", True),
    ]


MEGABYTE = 1_000_000
HOSTILE = {
    "one combining mark": "\u0301" * (MEGABYTE // 2),
    "a letter under marks": "a" + "\u0301\u0327" * (MEGABYTE // 4),
    "joiners in turn": "\u200da" * (MEGABYTE // 4),
    "regional indicators": "\U0001f1e6" * 100_000,
    "punctuation under marks": "a:" * 1000 + "a:" + "\u0301" * (MEGABYTE // 2),
    "quotes in words": "a'\u0301" * (MEGABYTE // 4),
    "cuts among marks": "a \u0301" * (MEGABYTE // 4),
    "one ideograph": "漢" * (MEGABYTE // 3),
    "an ideograph under marks": "漢" + "\u3099" * (MEGABYTE // 3),
    "one letter": "a" * MEGABYTE,
    "spaces before a mark": " " * MEGABYTE + "\u0301",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_megabyte_of_anything_ends(text):
    """Every look-ahead is bounded or paid for once: with quadratic work these would run for many minutes."""
    tokens = pincite.tokenize(text)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens[-3:])


def test_the_tables_are_those_of_the_unicode_character_database(tmp_path):
    properties = UCD / "PropList.txt"
    if not properties.is_file() or "PropList-15.0.0.txt" not in properties.read_text(encoding="utf-8")[:40]:
        pytest.skip(f"no Unicode Character Database 15.0.0 at {UCD} (Debian 12: apt-get install unicode-data)")
    script = ROOT / "tools" / "generate_unicode_tables.py"
    written = tmp_path / "unicode_tables.cpp"
    subprocess.run([sys.executable, str(script), str(UCD), str(written)], check=True)
    assert written.read_bytes() == (ROOT / "cpp" / "src" / "unicode_tables.cpp").read_bytes()
