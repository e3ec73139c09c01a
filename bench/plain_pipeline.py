"""The main job's stages as a plain Python pipeline has them: what the benchmark times beside Pincite's."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import Stemmer

import pincite
from bench_bm25 import Loop
from pincite.core.markdown import parse_layout
from pincite.models.encoder import Encoder
from pincite.models.safetensors import read_tensors
from reference import bert, retrieval
from reference.bm25 import ascii_tokens
from reference.structural import pack
from reference.text import tokenize

STEMMER = Stemmer.Stemmer("english")


def english_terms(text: str) -> list[str]:
    return STEMMER.stemWords([term for term, *_ in tokenize(text)])


def chunk_texts(text: str, title: str, ends: Callable[[str], Iterable[int]], window: int) -> list[str]:
    """Return what the structural chunker embeds, packed by the pure-Python twin (the Markdown parser is the same)."""
    layout = parse_layout(text)
    headers = [f"[{' > '.join([title, *section.heading_path])}]\n" for section in layout.sections]
    spans = pack(
        text,
        sections=[*(section.start for section in layout.sections), len(text)],
        cuts=sorted(layout.cuts.items()),
        prose=layout.prose,
        atoms=layout.atoms,
        target=512,
        overlap=64,
        piece_ends=[int(end) for end in ends(text)],
        budgets=[max(1, window - 2 - len(list(ends(header)))) for header in headers],
    )
    return [headers[section] + text[covered:end] for start, end, covered, section, _ in spans]


def index(paths: Iterable[Path], encoder: object) -> tuple[list[list[float]], Loop]:
    """Chunk, encode one text at a time, and count terms; everything stays in memory."""
    texts = []
    for path in paths:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        texts += chunk_texts(data.decode(), path.stem, encoder.word_pieces, encoder.window_tokens)
    vectors = [encoder.encode_batch([text]).vectors[0].tolist() for text in texts]
    return vectors, Loop(texts, english_terms)


class Search:
    """The chunks of an index, searched by the pure-Python twin."""

    def __init__(self, kb: pincite.KnowledgeBase) -> None:
        snapshot = kb.view()
        self.encoder = kb.encoder()
        self.chunks, texts = [], []
        for segment in snapshot.segments:
            for row in range(len(segment)):
                document = snapshot.document(segment.spans.chunk(row).document)
                start = int(segment.spans.chunks["start"][row])
                vector = array("f", segment.vectors.vectors[row].tobytes())
                texts.append(segment.embedded_text(row))
                self.chunks.append(retrieval.Chunk(document.id, start, segment.content(row), texts[-1], vector))
        if kb.config.analyzer == "ascii":
            self.loop = Loop(texts, ascii_tokens)
        else:  # the core's tokens, which equal those of the twin and are there in a hundredth of the time
            self.loop = Loop(texts, lambda text: STEMMER.stemWords([token.term for token in pincite.tokenize(text)]))

    def __call__(self, question: str, *, max_distance: float | None) -> list[tuple[str, int]]:
        """Return the hits as (document id, start)."""
        hits, _ = retrieval.search(
            self.chunks,
            question,
            self.encoder.encode_batch([question]).vectors[0].tolist(),
            by_words={-number: score for score, number in self.loop.scored(question) if score > 0},
            frequency=self._frequency,
            k=4,
            max_distance=max_distance,
            candidates=50,
            order="none",
            rerank=lambda question, passages: [],
            words=lambda text: {},
        )
        return [(hit.chunk.document, hit.chunk.start) for hit in hits]

    def _frequency(self, word: str) -> int:
        terms = self.loop.terms(word)
        return sum(all(term in counts for term in terms) for counts in self.loop.counts)


class NumpyEncoder:
    """The encoder's forward pass in numpy, float64, on its word pieces."""

    def __init__(self, encoder: Encoder) -> None:
        self._tokens = encoder._tokens
        self._config = encoder._model.config
        self._weights = read_tensors(encoder._model.weights)

    def __call__(self, text: str) -> np.ndarray:
        """Return the vector of a text."""
        ids = [self._tokens.first, *self._tokens.ids(text), self._tokens.last]
        layers, heads = self._config["num_hidden_layers"], self._config["num_attention_heads"]
        return bert.sentence_vector(self._weights, ids, layers=layers, heads=heads)
