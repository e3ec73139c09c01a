"""The structural packer, slow and obvious: every question is answered by a walk over the text.

Source: the rules of cpp/include/pincite/structural.hpp and docs/adr/004-structural-chunks.md; for
sentences, the docstring of `pincite.core.structural.sentence_spans`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

FULL_WIDTH = "。．！？｡"
MARKS = ".!?…؟।" + FULL_WIDTH
SENTENCE_END = re.compile(rf"[{MARKS}]+[\"')\]}}»’”›」』】）］]*")
ABBREVIATION = re.compile(
    r"(?<![A-Za-z.\u00c0-\u1fff])"
    r"(?:[A-Za-z\u00c0-\u1fff]|(?:abb|al|art|bzw|ca|cf|d\.h|dr|e\.g|fig|i\.e|mrs?|ms|no|nr|prof|sec|st|u\.a|"
    r"vgl|vol|vs|z\.b))\Z",
    re.IGNORECASE | re.ASCII,
)
JOINING = (
    (0x300, 0x36F),
    (0x483, 0x489),
    (0x591, 0x5BD),
    (0x610, 0x61A),
    (0x64B, 0x65F),
    (0x900, 0x903),
    (0x93A, 0x94F),
    (0xE31, 0xE31),
    (0xE34, 0xE3A),
    (0xE47, 0xE4E),
    (0x1160, 0x11FF),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200D, 0x200D),
    (0x20D0, 0x20FF),
    (0x3099, 0x309A),
    (0xFE00, 0xFE2F),
    (0x1F3FB, 0x1F3FF),
    (0xE0020, 0xE007F),
    (0xE0100, 0xE01EF),
)


def sentence_ends(text: str) -> list[int]:
    ends = []
    position = 0
    while match := SENTENCE_END.search(text, position):
        position = match.end()
        marks = re.match(rf"[{MARKS}]+", match.group()).group()
        if not set(marks) & set(FULL_WIDTH):
            if position < len(text) and not text[position].isspace():
                continue
            if marks == "." and ABBREVIATION.search(text[max(0, match.start() - 8) : match.start()]):
                continue
        while position < len(text) and text[position].isspace():
            position += 1
        ends.append(position)
    return ends if not text or ends[-1:] == [len(text)] else [*ends, len(text)]


def is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def parts_characters(text: str, lowest: int, offset: int) -> bool:
    left, right = text[offset - 1], text[offset]
    if left + right == "\r\n" or left == "\u200d" or any(a <= ord(right) <= b for a, b in JOINING):
        return False
    if not (is_regional(left) and is_regional(right)):
        return True
    run = 0
    while offset - run > lowest and is_regional(text[offset - run - 1]):
        run += 1
    return run % 2 == 0


def plain_layout(text: str) -> dict[str, list]:
    """Plain text: a paragraph begins where a line with words follows a blank one. Nothing else is structure."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text)
    starts = [0]
    offset = 0
    for i, line in enumerate(lines):
        if i and line.strip() and not lines[i - 1].strip():
            starts.append(offset + len(line) - len(line.lstrip()))
        offset += len(line)
    return {
        "sections": [0, len(text)],
        "cuts": [(start, 0) for start in starts],
        "prose": list(pairwise([*starts, len(text)])),
        "atoms": [],
    }


def pack(
    text: str,
    *,
    sections: Sequence[int],
    cuts: Sequence[tuple[int, int]],
    prose: Sequence[tuple[int, int]],
    atoms: Sequence[tuple[int, int, int]],
    target: int,
    overlap: int,
    piece_ends: Sequence[int] = (),
    budgets: Sequence[int] = (),
) -> list[list[int]]:
    sentences = [start + end for start, stop in prose for end in sentence_ends(text[start:stop])]
    by_rank = [[at for at, rank in cuts if rank == wanted] for wanted in range(3)] + [sentences]

    def over_blanks(offset: int) -> int:
        while offset < len(text) and text[offset].isspace():
            offset += 1
        return offset

    def pieces(start: int, end: int) -> int:
        return sum(start < piece <= end for piece in piece_ends)

    def around(offset: int) -> int:
        return next((i for i, (start, _, end) in enumerate(atoms) if start < offset < end), -1)

    def choose(first: int, limit: int, wide: int) -> int:
        cut = -1
        for places in by_rank:
            near = [place for place in places if first < place <= over_blanks(limit)]
            if near:
                cut = max(near)
                break
        if cut < 0:
            cut = next(
                (
                    at
                    for at in range(limit, first, -1)
                    if text[at].isspace() or (at > first + 1 and text[at - 1].isspace())
                ),
                -1,
            )
        if cut < 0:
            cut = next((at for at in range(limit, first, -1) if parts_characters(text, first, at)), limit)
        atom = around(cut)
        return atoms[atom][2] if atom >= 0 and atoms[atom][2] <= over_blanks(wide) else cut

    out: list[list[int]] = []
    for number, (low, high) in enumerate(pairwise(sections)):
        while high > low and text[high - 1].isspace():
            high -= 1
        before = None
        position = low
        while position < high:
            first = over_blanks(position)
            start = first
            while start > position and first - start <= target // 4 and text[start - 1] in " \t":
                start -= 1
            if first - start > target // 4 or (start and text[start - 1] not in "\r\n"):
                start = first

            context = around(start)
            context_end = atoms[context][1] if context >= 0 else 0
            context_pieces = pieces(atoms[context][0], context_end) if budgets and context >= 0 else 0
            if context >= 0 and (
                not atoms[context][0] < context_end <= start
                or context_end - atoms[context][0] > target
                or (budgets and context_pieces > budgets[number] // 2)
            ):
                context, context_end, context_pieces = -1, 0, 0

            window = len(text)
            room = max(1, budgets[number] - context_pieces) if budgets else 0
            if budgets:
                ahead = [piece for piece in piece_ends if piece > start]
                if len(ahead) > room:
                    window = ahead[room - 1]
            reach = min(target, len(text) - start)
            limit = max(first + 1, min(start + reach, window))
            wide = min(start + reach + reach // 4, window, len(text))
            position = high if high <= limit else min(high, choose(first, limit, wide))
            end = position
            while text[end - 1].isspace():
                end -= 1

            covered = start
            if before is not None:
                covered = max(before, start - overlap, context_end)
                if budgets:
                    left = max(0, room - pieces(start, end))
                    behind = [piece for piece in piece_ends if piece <= start]
                    if left < len(behind):
                        covered = max(covered, behind[len(behind) - left - 1])
                inside_word = before < covered < start and not (text[covered - 1] + text[covered]).isspace()
                if inside_word and not text[covered - 1].isspace() and not text[covered].isspace():
                    blanks = [at for at in range(covered, start) if text[at].isspace()]
                    whole = [at for at in range(covered, start) if parts_characters(text, before, at)]
                    covered = (blanks or whole or [start])[0]
                covered = min(over_blanks(covered), start)
            out.append([start, end, covered, number, context])
            before = start
    return out
