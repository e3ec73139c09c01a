"""What the main job's benchmark works on: documents, questions, indexes, and encoders that cost nothing."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pincite
from bench_bm25 import passages
from pincite.store import ingest
from pincite.types import EncodedTexts, TextEncoder

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PINCITE_SHARED", ROOT.parent / "shared"))
DIM = 384
LETTERS = str.maketrans("0123456789", "abcdefghij")  # a word with digits would look like a code


class Encoded(NamedTuple):
    """Vectors of texts of which nothing was cut."""

    vectors: np.ndarray
    truncated_tokens: np.ndarray
    unknown_tokens: np.ndarray


class HashedEncoder:
    """A vector by the checksum of the text, near one of 200 centres: an embedding's work left out."""

    dim, window_tokens = DIM, 256
    stamp = {"model": "hashed", "dim": DIM}  # noqa: RUF012

    def __init__(self) -> None:
        self._centres = np.random.default_rng(0).standard_normal((200, DIM), dtype=np.float32)

    def word_pieces(self, text: str) -> np.ndarray:
        """Return the ends of pieces of four characters."""
        return np.arange(4, len(text) + 1, 4)

    def encode_batch(self, texts, *, progress=None) -> Encoded:
        """Return the vectors of texts."""
        vectors = np.empty((len(texts), DIM), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            seed = zlib.crc32(text.encode())
            noise = np.random.Generator(np.random.SFC64(seed)).standard_normal(DIM, dtype=np.float32)
            row[:] = self._centres[seed % len(self._centres)] + 0.7 * noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        none = np.zeros(len(texts), dtype=np.int64)
        return Encoded(vectors, none, none)


class Remembering:
    """An encoder that looks up what it has encoded before: what is left of a search is retrieval."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._known: dict[tuple[str, ...], EncodedTexts] = {}
        self.dim, self.window_tokens, self.stamp = encoder.dim, encoder.window_tokens, encoder.stamp
        self.word_pieces = encoder.word_pieces

    def encode_batch(self, texts, *, progress=None) -> EncodedTexts:
        """Return the vectors of texts, the same arrays for the same texts."""
        texts = tuple(texts)
        if texts not in self._known:
            self._known[texts] = self._encoder.encode_batch(texts, progress=progress)
        return self._known[texts]


def documents(folder: Path) -> tuple[str, Path]:
    """Return a name and a folder of Markdown: the course where it lies beside the checkout, else Pincite's own docs."""
    course = SHARED / "data" / "mdcourse"
    if course.is_dir():
        return "course files", course
    copies = folder / "docs"
    for number in range(12):
        for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]:
            there = copies / str(number) / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, there)
    return "copies of Pincite's docs", copies


def questions() -> list[str]:
    path = SHARED / "data" / "questions_mdcourse.jsonl"
    if path.is_file():
        asked = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [question["question"] for question in asked if question["answerable"]]
    return ["how are ties broken?", "why do all kernels give equal bits?", "what does a commit write?"]


def hundred_thousand(folder: Path) -> pincite.KnowledgeBase:
    """Return an index of about 100,000 chunks in three segments: 700 documents of generated plain text."""
    texts = [text.translate(LETTERS) for text in passages(np.random.default_rng(3), 70_000)]
    given = [
        pincite.Document(id=f"d{start // 100:04}", text="\n\n".join(texts[start : start + 100]), markup="plain")
        for start in range(0, len(texts), 100)
    ]
    config = pincite.IndexConfig(target=512, overlap=0, analyzer="ascii", stemmer=None)
    kb = pincite.open(folder, create=True, config=config, encoder=Remembering(HashedEncoder()))
    usual = ingest.BATCH_CHUNKS
    try:
        ingest.BATCH_CHUNKS = 40_000  # a commit each thousand would rewrite every chunk several times
        kb.add(given, progress=False)
    finally:
        ingest.BATCH_CHUNKS = usual
    return kb
