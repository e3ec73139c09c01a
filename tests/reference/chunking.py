"""The chunk strategies A to F, straight from their description, with regular expressions.

Source: the chunker whose output is golden/mdcourse_chunks.jsonl, a JavaScript program. What JavaScript means
by `.`, `$`, `\\s` and `trim` is spelled out below (ECMA-262: LineTerminator, WhiteSpace); Python's own
classes differ: its `.` and `$` know LF alone, its `\\s` and `strip` take U+0085 and U+001C to U+001F in and
leave U+FEFF out. Offsets count code points, sizes count UTF-16 units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int, int, int]  # start, end, covered_start, number of the section (0 without sections)

SPACES = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
SPACES += "\u2028\u2029\u202f\u205f\u3000\ufeff"
LINE_END = "\n\r\u2028\u2029"
HEADING = re.compile(f"(?:^|(?<=[{LINE_END}]))## ([^{LINE_END}]+)")
PARAGRAPH_BREAK = re.compile(r"\n{2,}")
SENTENCE = re.compile(f"[^.!?]*[.!?]+[{SPACES}]*|[^.!?]+\\Z")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    start += len(part) - len(part.lstrip(SPACES))
    return start, start + len(part.strip(SPACES))


def reach_back(text: str, start: int, floor: int, overlap: int) -> int:
    while start > floor and units(text[start - 1]) <= overlap:
        start -= 1
        overlap -= units(text[start])
    return start


def blind_spans(text: str, *, target: int, overlap: int) -> list[Span]:
    spans = []
    start = 0
    while start < len(text):
        end = start + 1
        room = target - units(text[start])
        while end < len(text) and units(text[end]) <= room:
            room -= units(text[end])
            end += 1
        spans.append((start, end, reach_back(text, start, 0, overlap), 0))
        start = end
    return spans


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in PARAGRAPH_BREAK.finditer(text, start, end):
        yield start, match.start()
        start = match.end()
    yield start, end


def pack(text: str, parts: list[tuple[int, int]], target: int) -> list[tuple[int, int]]:
    """Join neighbours while the slice from the first to the last of them has at most `target` units."""
    packed: list[tuple[int, int]] = []
    for start, end in parts:
        if packed and units(text[packed[-1][0] : end]) <= target:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def section_chunks(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    chunks = []
    run: list[tuple[int, int]] = []
    for paragraph in paragraphs(text, start, end):
        if not text[slice(*paragraph)].strip(SPACES):
            continue
        if units(text[slice(*paragraph)]) <= target:
            run.append(paragraph)
            continue
        sentences = [match.span() for match in SENTENCE.finditer(text, *paragraph)]
        chunks += pack(text, run, target) + pack(text, sentences, target)
        run = []
    chunks += pack(text, run, target)
    trimmed = [trim(text, *chunk) for chunk in chunks]
    return [(start, end) for start, end in trimmed if start < end]


def boundary_spans(text: str, *, target: int, overlap: int) -> tuple[list[Span], list[str]]:
    spans = []
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for number, heading in enumerate(headings):
        chunks = section_chunks(text, heading.end(), ends[number], target)
        for start, end in chunks:
            covered = trim(text, reach_back(text, start, chunks[0][0], overlap), start)[0]
            spans.append((start, end, covered, number))
    return spans, [heading.group(1).strip(SPACES) for heading in headings]


def chunk_spans(text: str, *, strategy: str, target: int, overlap: int) -> tuple[list[Span], list[str]]:
    """Return the spans of the chunks and the titles of the sections."""
    if strategy in "ACE":
        overlap = 0
    if strategy in "AB":
        return blind_spans(text, target=target, overlap=overlap), []
    return boundary_spans(text, target=target, overlap=overlap)


def chunk(
    text: str, *, title: str, strategy: str, target: int, overlap: int
) -> list[tuple[int, int, int, str, str, tuple[str, ...]]]:
    """Return (start, end, covered_start, content, embedded_text, heading_path) of every chunk."""
    spans, titles = chunk_spans(text, strategy=strategy, target=target, overlap=overlap)
    out = []
    for start, end, covered, section in spans:
        path = (titles[section],) if strategy in "CDEF" and titles[section] else ()
        words = [word for word in (title, *path) if word]
        header = f"[{' > '.join(words)}]\n" if strategy in "EF" and words else ""
        out.append((start, end, covered, text[start:end], header + text[covered:end], path))
    return out
