"""The ways of cutting that are measured, and what they cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pincite
from pincite.evaluation import Cutter, GoldSet, load_chroma
from pincite.extract import extract
from pincite.types import Chunk, Document, TextEncoder

__all__ = ["BASELINES", "TARGETS", "Corpus", "chroma", "course", "cutters"]

SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]
"""Of the recursive splitter in Chroma's evaluation."""

BASELINES = {"recursive 200": (200, 0), "recursive 800/400": (800, 400)}
"""Size and overlap in word pieces."""

TARGETS = (256, 384, 512, 768, 1024)


class Corpus(NamedTuple):
    """Documents and questions about them."""

    name: str
    documents: list[Document]
    gold: GoldSet


def chroma(folder: Path) -> Corpus:
    """Return Chroma's corpora, each below one heading line with its name, and its questions."""
    documents, gold = load_chroma(folder)
    headed, shifts = [], {}
    for document in documents:
        heading = f"## {document.id.replace('_', ' ')}\n\n"
        shifts[document.id] = len(heading)
        headed.append(replace(document, text=heading + document.text))
    questions = tuple(
        replace(
            question,
            excerpts=tuple(
                replace(each, start=each.start + shifts[each.document], end=each.end + shifts[each.document])
                for each in question.excerpts
            ),
        )
        for question in gold
    )
    return Corpus("Chroma", headed, GoldSet(gold.name, questions))


def course(folder: Path, gold: Path) -> Corpus:
    """Return the course's chapters as an index of their folder has them, and our questions that they answer."""
    documents = []
    for file in sorted(folder.glob("*.md")):
        extracted = extract(file.read_bytes(), suffix=file.suffix)
        documents.append(Document(f"{folder.name}/{file.name}", extracted.text, title=extracted.title or file.stem))
    asked = GoldSet.load(gold)
    return Corpus("mdcourse", documents, GoldSet(asked.name, tuple(each for each in asked if each.answerable)))


def pincite_cutter(encoder: TextEncoder, **settings: Any) -> Callable[[Document], list[Chunk]]:
    """Return one of our own ways of cutting. A document without a title has none: its heading names it already."""

    def cut(document: Document) -> list[Chunk]:
        return pincite.chunk(
            document.text, title=document.title, window_tokens=encoder.window_tokens,
            word_pieces=encoder.word_pieces, **settings,
        )  # fmt: skip

    return cut


def headless(cutter: Callable[[Document], list[Chunk]]) -> Cutter:
    """Return the same cuts without the contextual header in what is embedded."""

    def cut(document: Document) -> list[Chunk]:
        return [replace(chunk, embedded_text=_without_header(chunk)) for chunk in cutter(document)]

    return cut


def _without_header(chunk: Chunk) -> str:
    before = chunk.embedded_text[: len(chunk.embedded_text) - (chunk.end - chunk.covered_start)]
    header = before[: before.index("\n") + 1] if before.startswith("[") else ""
    return chunk.embedded_text[len(header) :]


def recursive_cutter(encoder: TextEncoder, *, tokens: int, overlap: int) -> Cutter:
    """Return langchain's recursive splitter with Chroma's separators; sizes are in the encoder's word pieces."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=SEPARATORS, chunk_size=tokens, chunk_overlap=overlap, keep_separator=True,
        length_function=lru_cache(maxsize=None)(lambda text: len(encoder.word_pieces(text))),
    )  # fmt: skip

    def cut(document: Document) -> list[Chunk]:
        chunks: list[Chunk] = []
        end = 0
        for content in splitter.split_text(document.text):
            start = _place(document.text, content, end)
            end = start + len(content)
            chunks.append(Chunk(start, end, content, content, covered_start=start))
        return chunks

    return cut


def _place(text: str, piece: str, end: int) -> int:
    """Return where a piece starts: behind the one before it, white space apart, or, overlapping it, before its end."""
    behind = end + len(text[end:]) - len(text[end:].lstrip())
    if text.startswith(piece, behind):
        return behind
    return text.index(piece, max(0, end - len(piece) + 1), behind + len(piece))


def cutters(encoder: TextEncoder) -> dict[str, Cutter]:
    """Return every way of cutting that is measured, by name."""
    structural = pincite_cutter(encoder)
    made: dict[str, Cutter] = {name: pincite_cutter(encoder, strategy=name) for name in "ABCDEF"}
    made["structural"] = structural
    made["structural, no overlap"] = pincite_cutter(encoder, overlap=0)
    made["structural, no header"] = headless(structural)
    for name, (tokens, overlap) in BASELINES.items():
        made[name] = recursive_cutter(encoder, tokens=tokens, overlap=overlap)
    for target in TARGETS:
        made[f"structural {target}"] = pincite_cutter(encoder, target=target)
    return made
