"""Text into terms, rule by rule.

Sources: Unicode Standard Annex #29, "Unicode text segmentation" (rules WB1 to WB999), with the properties
that the `regex` package knows; Annex #15 and full case folding as `unicodedata` and `str.casefold` have them.
The folding of accents and the pairs of characters are Pincite's own (docs/adr/001-unicode-analyzer.md). The
two packages follow other versions of Unicode than the core does, so a comparison has to keep to characters on
which all three agree.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

import regex

Token = tuple[str, int, int, int, bool]  # term, start, end, position, prefix

WORD_BREAKS = [
    "Other",
    "CR",
    "LF",
    "Newline",
    "Extend",
    "ZWJ",
    "Format",
    "Regional_Indicator",
    "Katakana",
    "Hebrew_Letter",
    "ALetter",
    "Single_Quote",
    "Double_Quote",
    "MidNumLet",
    "MidLetter",
    "MidNum",
    "Numeric",
    "ExtendNumLet",
    "WSegSpace",
]
PICTOGRAPHIC = r"\p{Extended_Pictographic}"
WORD = r"[\p{Alphabetic}\p{N}]"
UNSPACED = r"[\p{Alphabetic}&&[\p{WB=Other}\p{WB=Katakana}]]"
DROPPED = r"[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cc}]"
ACCENT_BASE = r"[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]"

LINE_ENDS = {"CR", "LF", "Newline"}
ATTACHED = {"Extend", "Format", "ZWJ"}
LETTERS = {"ALetter", "Hebrew_Letter"}
IN_LETTERS = {"MidLetter", "MidNumLet", "Single_Quote"}
IN_NUMBERS = {"MidNum", "MidNumLet", "Single_Quote"}
WORD_PARTS = {*LETTERS, "Numeric", "Katakana", "ExtendNumLet"}
PLAIN = dict(zip("æðđøþħıłœŧ’", ["ae", "d", "d", "o", "th", "h", "i", "l", "oe", "t", "'"], strict=True))


@cache
def has(character: str, pattern: str) -> bool:
    return regex.match(pattern, character, regex.V1) is not None


@cache
def word_break(character: str) -> str:
    return next(value for value in [*WORD_BREAKS[1:], "Other"] if has(character, rf"\p{{WB={value}}}"))


def boundaries(text: str) -> list[int]:
    """Return where UAX #29 breaks the text, 0 and its length included."""
    if not text:
        return [0]
    units: list[tuple[int, str]] = []  # after WB4: what attaches to something is part of it
    for index, character in enumerate(text):
        value = word_break(character)
        if value not in ATTACHED or not units or units[-1][1] in LINE_ENDS:
            units.append((index, value))
    values = [value for _, value in units]
    starts = [index for k, (index, _) in enumerate(units) if k == 0 or breaks(text, index, values, k)]
    return [*starts, len(text)]


def breaks(text: str, index: int, values: list[str], k: int) -> bool:
    """Return whether there is a boundary before unit k, which begins at text[index]."""
    last, value = values[k - 1], values[k]
    before = values[k - 2] if k > 1 else ""
    after = values[k + 1] if k + 1 < len(values) else ""
    previous = word_break(text[index - 1])
    if (last, value) == ("CR", "LF"):  # WB3
        return False
    if last in LINE_ENDS or value in LINE_ENDS:  # WB3a, WB3b
        return True
    indicators = 0
    while indicators < k and values[k - 1 - indicators] == "Regional_Indicator":
        indicators += 1
    rules = [
        previous == "ZWJ" and has(text[index], PICTOGRAPHIC),  # WB3c
        previous == value == "WSegSpace",  # WB3d
        last in LETTERS and value in LETTERS,  # WB5
        last in LETTERS and value in IN_LETTERS and after in LETTERS,  # WB6
        before in LETTERS and last in IN_LETTERS and value in LETTERS,  # WB7
        last == "Hebrew_Letter" and value == "Single_Quote",  # WB7a
        last == after == "Hebrew_Letter" and value == "Double_Quote",  # WB7b
        before == value == "Hebrew_Letter" and last == "Double_Quote",  # WB7c
        last == "Numeric" and value == "Numeric",  # WB8
        last in LETTERS and value == "Numeric",  # WB9
        last == "Numeric" and value in LETTERS,  # WB10
        before == value == "Numeric" and last in IN_NUMBERS,  # WB11
        last == after == "Numeric" and value in IN_NUMBERS,  # WB12
        last == value == "Katakana",  # WB13
        last in WORD_PARTS and value == "ExtendNumLet",  # WB13a
        last == "ExtendNumLet" and value in WORD_PARTS,  # WB13b
        value == "Regional_Indicator" and indicators % 2 == 1,  # WB15, WB16
    ]
    return not any(rules)


def decompose(text: str) -> str:
    kept = [c for c in unicodedata.normalize("NFKD", text) if not has(c, DROPPED)]
    return unicodedata.normalize("NFKD", "".join(kept))


def fold(word: str) -> str:
    out = ""
    base = "\0"
    for c in decompose(decompose(word).casefold()):
        breve_of_cyrillic = c == "\u0306" and "\u0400" <= base <= "\u052f"
        if "\u0300" <= c <= "\u036f" and has(base, ACCENT_BASE) and not breve_of_cyrillic:
            continue
        if unicodedata.combining(c) == 0:
            base = c
        out += PLAIN.get(c, c)
    return unicodedata.normalize("NFC", out)


def tokenize(text: str, *, analyzer: str = "unicode", query: bool = False) -> list[Token]:
    if analyzer == "ascii":
        words = enumerate(re.finditer("[A-Za-z0-9]+", text))
        return [(m[0].lower(), m.start(), m.end(), position, False) for position, m in words]
    tokens: list[Token] = []
    run: list[tuple[str, int, int]] = []  # characters of scripts without spaces: folded, start, end
    position = 0
    edges = boundaries(text)
    for start, end in [*pairwise(edges), (len(text), len(text))]:
        bases = [c for i, c in enumerate(text[start:end]) if i == 0 or word_break(c) not in ATTACHED]
        if bases and all(has(c, UNSPACED) for c in bases):
            add_to_run(run, text, start, end)
            continue
        for term, first, last, step, prefix in pairs(run, query=query):
            tokens.append((term, first, last, position + step, prefix))
        position = tokens[-1][3] + 1 if tokens else 0
        run.clear()
        if any(has(c, WORD) for c in text[start:end]) and (term := fold(text[start:end])):
            tokens.append((term, start, end, position, False))
            position += 1
    return tokens


def add_to_run(run: list[tuple[str, int, int]], text: str, start: int, end: int) -> None:
    edges = [i for i in range(start, end) if i == start or word_break(text[i]) not in ATTACHED]
    for first, last in zip(edges, [*edges[1:], end], strict=True):
        for c in fold(text[first:last]):
            if run and word_break(c) in ATTACHED:
                run[-1] = (run[-1][0] + c, run[-1][1], last)
            else:
                run.append((c, first, last))


def pairs(run: list[tuple[str, int, int]], *, query: bool) -> list[Token]:
    if len(run) == 1:
        return [(*run[0], 0, query)]
    out = [(a[0] + b[0], a[1], b[2], i, False) for i, (a, b) in enumerate(pairwise(run))]
    if out and not query:
        out.append((*run[-1], len(out) - 1, False))
    return out
