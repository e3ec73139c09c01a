"""BM25 with the analyzer `unicode`: scripts without spaces, marks, folding, stems, spans."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite.core.highlights import highlights

build = pincite.BM25Index.build
HAN = "東京都大学生今日天気猫犬𠮷"  # the last one is astral
runs = st.text(HAN, min_size=1, max_size=6)
mixed = st.lists(st.one_of(runs, st.sampled_from(["", "windy", "Tokyo", "."])), max_size=4).map(" ".join)


def found(index, query):
    return sorted(index.search(query, k=100, operators=True)[0].tolist())


@given(texts=st.lists(mixed, max_size=6), character=st.sampled_from(HAN))
def test_a_lone_character_finds_every_document_that_holds_it(texts, character):
    """Alone, first, inside or last in a run."""
    index = build(texts)
    holders = [i for i, text in enumerate(texts) if character in text]
    assert found(index, character) == holders
    for i, text in enumerate(texts):
        at = [j for j, c in enumerate(text) if c == character]
        spans = index.highlights(text, character)
        assert bool(spans) == (i in holders)
        assert all(any(start <= j < end for start, end in spans) for j in at)


@given(texts=st.lists(mixed, max_size=6), phrase=st.text(HAN, min_size=2, max_size=4))
def test_a_phrase_without_spaces_is_a_substring(texts, phrase):
    """Quotes around a run match where its characters stand in a row."""
    index = build(texts)
    assert found(index, f'"{phrase}"') == [i for i, text in enumerate(texts) if phrase in text]
    pairs = {phrase[i : i + 2] for i in range(len(phrase) - 1)}
    assert found(index, phrase) == [i for i, text in enumerate(texts) if any(pair in text for pair in pairs)]


@given(
    text=st.text(st.sampled_from("aé́𐐷😀東京 .ßﬁअंत्य"), max_size=12),
    query=st.sampled_from(["é", "東京", "東", "ss", "fi", "𐐏"]),
)
def test_spans_are_code_points_that_match_by_themselves(text, query):
    """Case T01: astral, decomposed and folded text; what a span cuts out matches the query too."""
    index = build([text])
    spans = index.highlights(text, query)
    assert bool(spans) == (found(index, query) == [0])
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert found(build([text[start:end]]), query) == [0]


@pytest.mark.parametrize(
    ("text", "query", "cut"),
    [
        ("😀 Straße 😀", "STRASSE", ["Straße"]),
        ("un cafe\u0301 noir", "CAFÉ", ["cafe\u0301"]),
        ("un café noir", "cafe", ["café"]),
        ("𝐁𝐨𝐥𝐝 type", "bold", ["𝐁𝐨𝐥𝐝"]),
        ("the ﬁnal draft", "final", ["ﬁnal"]),
        ("ＦＵＬＬ width", "full", ["ＦＵＬＬ"]),
        ("Ελλάς και ΕΛΛΑΣ", "ελλασ", ["Ελλάς", "ΕΛΛΑΣ"]),
        ("हिन्दी में खोज", "हिन्दी", ["हिन्दी"]),
        ("हिन्दी में खोज", "खोज", ["खोज"]),
        ("في مَكْتَبَةٍ كبيرة", "كبيرة", ["كبيرة"]),
        ("كَتَبَ", "كَتَبَ", ["كَتَبَ"]),
        ("가 나라 한국어", "한국어", ["한국어"]),
        ("𠮷野家で東京都", "東京都", ["東京都"]),
        ("𠮷野家で東京都", "𠮷野", ["𠮷野"]),
        ("😀😀 windy", "windy", ["windy"]),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_one_word_is_found_whatever_its_spelling(text, query, cut, form):
    """Cases T01, T06: case, accents, compatibility and normal forms; words with marks stay whole."""
    text, query = unicodedata.normalize(form, text), unicodedata.normalize(form, query)
    assert found(build([text, "else"]), query) == [0]
    spans = highlights(text, query)
    assert [text[start:end] for start, end in spans] == [unicodedata.normalize(form, part) for part in cut]


@pytest.mark.parametrize(("text", "other"), [("हिन्दी", "हद"), ("किताब", "कताब"), ("न", "ना"), ("कि", "की")])
def test_a_vowel_sign_tells_words_apart(text, other):
    """Case T06: marks of Indic scripts are part of the word."""
    assert found(build([text]), other) == []
    assert found(build([other]), text) == []


def test_stems_come_from_folded_words():
    index = build(["He RUNS daily", "the Running man", "rún", "東京で running"], stemmer="english")
    assert found(index, "run") == [0, 1, 2, 3]
    assert found(index, '"he run"') == [0]
    assert found(index, "runn*") == [0, 1, 2, 3]  # "running" begins so, and stands for its stem
    assert found(index, "dail*") == [0]
    assert found(index, "東京") == [3]
    assert found(index, "京") == [3]
    assert index.highlights("東京で RUNNING", "runs 京") == [(1, 3), (4, 11)]


def test_a_saved_index_of_unicode_terms_is_the_same(tmp_path):
    texts = ["東京都", "Straße cafe\u0301", "हिन्दी", "𠮷野家", ""]
    index = build(texts)
    index.save(tmp_path / "index")
    loaded = pincite.BM25Index.load(tmp_path / "index")
    for query in ("京", '"東京都"', "strasse", "café", "हिन्दी", "𠮷", "हि*"):
        before, after = index.search(query, operators=True), loaded.search(query, operators=True)
        assert before[0].size == 1
        np.testing.assert_array_equal(before, after)
