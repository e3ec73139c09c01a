"""The core's analyzers against their pure-Python twin, and its Unicode algorithms against Python's."""

from __future__ import annotations

import bz2
import unicodedata
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import pincite
from pincite import _core
from pincite.errors import InvalidInputError
from reference import text as reference

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "unicode"
UCD = Path("/usr/share/unicode")
FLAGS = [
    reference.PICTOGRAPHIC,
    reference.WORD,
    reference.UNSPACED,
    reference.DROPPED,
    reference.ACCENT_BASE,
]

# What segmenters and foldings trip over; runs of one kind come from repeating them.
SAMPLES = [
    *"\r\n\t\x1f \u2003\u0085\u2028\ufeff\u00ad\u200b\u200c\u200d\ufe0f",  # line ends, spaces, ignorables
    *"aZ09_.:,;'\"’-ßİıſK",
    *"\u0301\u0306\u0308\u0327\u0345\u20dd\u3099\uff9e",
    *"éøæŁđΣςάᾳйёўЙіїДאב״العَ",
    *"कि्षहन्दी",
    *"漢字カタガひらがーヿ〇々𠀀ｶﾞ",
    *"น้ำใจກາខ្មែမြန်",
    *"한글ᄒ\u1161\u11ab",
    *"📷🇩🇪👩❤½①Ⅳﬁ㎏㌀ﷺﾠ\u3164𝔘",
    "👩\u200d❤\ufe0f\u200d👩",
    "\r\n",
    "e\u0301\u0327",
]


def assigned() -> str:
    """Return the characters that both the core's version of Unicode and the interpreter's assign."""
    lines = (GOLDEN / "assigned.txt").read_text(encoding="ascii").splitlines()
    ranges = [line.split("..") for line in lines if not line.startswith("#")]
    in_core = [chr(c) for first, last in ranges for c in range(int(first, 16), int(last, 16) + 1)]
    return "".join(c for c in in_core if unicodedata.category(c) != "Cn")


ASSIGNED = assigned()


def members(pattern: str, text: str) -> set[str]:
    return set(regex.findall(pattern, text, regex.V1))


def disagreeing() -> set[str]:
    """Return the assigned characters to which `regex` or `unicodedata` gives other properties than ours."""
    breaks, classes, flags = _core.unicode_properties(ASSIGNED)
    out = {c for c, value in zip(ASSIGNED, classes.tolist(), strict=True) if unicodedata.combining(c) != value}
    of_core: dict[str, set[str]] = {}
    for c, number in zip(ASSIGNED, breaks.tolist(), strict=True):
        of_core.setdefault(reference.WORD_BREAKS[number], set()).add(c)
    for name, ours in of_core.items():
        out |= ours ^ members(rf"\p{{WB={name}}}", ASSIGNED)
    for bit, pattern in enumerate(FLAGS):
        ours = {c for c, value in zip(ASSIGNED, flags.tolist(), strict=True) if value >> bit & 1}
        out |= ours ^ members(pattern, ASSIGNED)
    return out


DISAGREEING = disagreeing()
AGREED = set(ASSIGNED) - DISAGREEING

characters = st.one_of(
    st.sampled_from(SAMPLES),
    st.characters(exclude_categories=["Cs", "Cn"]).filter(AGREED.__contains__),
)
texts = st.lists(characters, max_size=40).map("".join)


def word_break_samples() -> list[tuple[str, list[int]]]:
    samples = []
    for line in (GOLDEN / "WordBreakTest.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("÷"):
            text, edges = "", []
            for part in line.split():
                if part == "÷":
                    edges.append(len(text))
                elif part != "×":
                    text += chr(int(part, 16))
            samples.append((text, edges))
    return samples


def plain(tokens: list[pincite.Token]) -> list[reference.Token]:
    return [(t.term, t.start, t.end, t.position, t.prefix) for t in tokens]


def test_properties_are_those_of_other_implementations():
    """Of 280,000. The rest is what later versions changed; the comparisons below leave it out.

    Unicode 17, which newer releases of `regex` follow, took Extended_Pictographic from 651 symbols.
    """
    assert len(DISAGREEING) < 1000
    assert not DISAGREEING & set("".join(SAMPLES))


def test_official_word_break_samples():
    samples = word_break_samples()
    assert len(samples) == 1823
    assert [(text, _core.word_boundaries(text).tolist()) for text, _ in samples] == samples


def test_official_word_break_samples_hold_for_the_twin():
    samples = [(text, edges) for text, edges in word_break_samples() if not DISAGREEING & set(text)]
    assert len(samples) > 1800
    assert [(text, reference.boundaries(text)) for text, _ in samples] == samples


@given(text=texts)
def test_same_word_boundaries(text):
    assert _core.word_boundaries(text).tolist() == reference.boundaries(text)


@given(text=texts, analyzer=st.sampled_from(["unicode", "ascii"]), query=st.booleans())
def test_same_tokens(text, analyzer, query):
    """T01, T06: terms, offsets in code points, positions and prefixes, for any Unicode."""
    expected = reference.tokenize(text, analyzer=analyzer, query=query)
    assert plain(pincite.tokenize(text, analyzer=analyzer, query=query)) == expected


@given(text=texts, ascii_text=st.text(st.characters(max_codepoint=127), max_size=40), query=st.booleans())
def test_same_tokens_around_ascii(text, ascii_text, query):
    """ASCII takes a way of its own through the analyzer; both ways have to meet at any place."""
    for mixed in (ascii_text, ascii_text + text, text + ascii_text, text + " " + ascii_text + " " + text):
        assert plain(pincite.tokenize(mixed, query=query)) == reference.tokenize(mixed, query=query)


@given(text=texts, query=st.booleans())
def test_tokens_lie_in_order_within_the_text(text, query):
    """T01: ``text[start:end]`` is what was written, and folds to the term where it is a word."""
    tokens = pincite.tokenize(text, query=query)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    assert sorted({token.position for token in tokens}) == list(range(len({t.position for t in tokens})))
    for token in tokens:
        written = text[token.start : token.end]
        assert 0 <= token.start < token.end <= len(text)
        assert token.term
        assert not any(c.isspace() for c in token.term)
        if not regex.search(reference.UNSPACED, written, regex.V1):
            assert _core.fold_term(written) == token.term


def test_nfkc_and_case_folding_of_every_assigned_character():
    normalized = [c for c in ASSIGNED if _core.normalize_nfkc(c) != unicodedata.normalize("NFKC", c)]
    folded = [c for c in ASSIGNED if _core.fold_case(c) != c.casefold()]
    assert (normalized, folded) == ([], [])


@given(text=texts)
def test_nfkc_and_case_folding_of_texts(text):
    assert _core.normalize_nfkc(text) == unicodedata.normalize("NFKC", text)
    assert _core.fold_case(text) == text.casefold()


def test_official_normalization_samples():
    path = UCD / "NormalizationTest.txt.bz2"
    if not path.is_file():
        pytest.skip(f"{path} is not there (Debian: apt-get install unicode-data)")
    lines = bz2.decompress(path.read_bytes()).decode("utf-8").splitlines()
    samples = [line.split(";")[:5] for line in lines if line[:1] not in {"#", "@", ""}]
    assert len(samples) > 15_000
    for fields in samples:
        forms = ["".join(chr(int(code, 16)) for code in field.split()) for field in fields]
        assert {_core.normalize_nfkc(form) for form in forms} == {forms[3]}


def test_folding_every_folded_character_changes_nothing():
    for c in ASSIGNED:
        folded = _core.fold_term(c)
        assert _core.fold_term(folded) == folded


@given(text=texts)
def test_folding_a_folded_text_changes_nothing(text):
    folded = _core.fold_term(text)
    assert folded == reference.fold(text)
    assert _core.fold_term(folded) == folded


@given(text=texts)
def test_canonically_equivalent_words_are_one_term(text):
    assert _core.fold_term(unicodedata.normalize("NFC", text)) == _core.fold_term(text)
    assert _core.fold_term(unicodedata.normalize("NFD", text)) == _core.fold_term(text)


UNSPACED_RUNS = [
    "東京都タワー",
    "日本語の文章です",
    "ภาษาไทยน้ำใจ",
    "ພາສາລາວ",
    "ភាសាខ្មែរ",
    "မြန်မာဘာသာ",
    "ｶﾞｽｺﾝﾛ",
    "㐀𠀀𠀁",
]


@pytest.mark.parametrize("run", UNSPACED_RUNS)
def test_a_query_for_any_part_of_a_run_finds_it(run):
    indexed = [token.term for token in pincite.tokenize(run)]
    # U+0E33 and U+0EB3 decompose into a mark and a vowel: no place to begin at.
    first = [unicodedata.normalize("NFKD", c)[0] for c in run]
    edges = [i for i, c in enumerate(first) if reference.word_break(c) != "Extend"] + [len(run)]
    for i, start in enumerate(edges):
        for end in edges[i + 1 :]:
            asked = pincite.tokenize(run[start:end], query=True)
            assert asked
            for token in asked:
                found = any(term.startswith(token.term) for term in indexed)
                assert found if token.prefix else token.term in indexed


@pytest.mark.parametrize("name", ["", "Unicode", "snowball"])
def test_an_unknown_analyzer_is_named(name):
    with pytest.raises(InvalidInputError, match=f"analyzer is '{name}', wanted 'unicode' or 'ascii'"):
        pincite.tokenize("text", analyzer=name)


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"bytes", "text is of type bytes, wanted str"), (None, "NoneType"), ("ab\ud800", "code point 2")],
)
def test_a_text_that_is_no_unicode_is_refused(text, message):
    with pytest.raises(InvalidInputError, match=message):
        pincite.tokenize(text)
