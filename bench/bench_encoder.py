"""MiniLM and the bundled reranker: small batches of like lengths against one padded batch, and against one by one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from harness import Row, compare, print_table, seconds
from pincite.models import sessions
from pincite.models.encoder import Encoder
from pincite.models.reranker import Reranker

QUESTION = "how does a tokenizer split rare words into pieces?"
SHARED = Path(os.environ.get("PINCITE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def passages(n: int) -> list[str]:
    """Chunks of the course files where they lie beside the checkout, else words of like lengths."""
    path = SHARED / "golden" / "mdcourse_chunks.jsonl"
    if path.is_file():
        texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        return texts[:: len(texts) // n][:n]
    random = np.random.default_rng(5)
    words = ["the", "model", "reads", "a", "text", "and", "gives", "one", "vector", "for", "each", "token"]
    return [" ".join(random.choice(words, size)) for size in random.integers(10, 200, n)]


def padded_batch(encoder: Encoder, texts: list[str]) -> np.ndarray:
    """All texts in one run, padded to the longest: what a plain call of a tokenizer and a session does."""
    tokens, room = encoder._tokens, encoder.window_tokens - 2
    output, mask = encoder._graph.run([[tokens.first, *tokens.ids(text)[:room], tokens.last] for text in texts])
    return encoder._pooled(output, mask)


def padded_scores(reranker: Reranker, texts: list[str], question: str = QUESTION) -> np.ndarray:
    pairs = reranker._pairs(question, texts)
    output, _ = reranker._graph.run([pair.ids for pair in pairs], segments=[pair.segment for pair in pairs])
    return output[:, 0]


def difference(a: np.ndarray, b: np.ndarray) -> str:
    return f"differ by {abs(a - b).max():.0e} at most"


def rows() -> list[Row]:
    threads = sessions.available_cpus()
    encoder, reranker = Encoder.load(threads=threads), Reranker.load(threads=threads)
    alone = Encoder.load(threads=1)
    print(f"load, hashes included: encoder {seconds(Encoder.load):.3f} s, reranker {seconds(Reranker.load):.3f} s")
    print(f"session at first use: encoder {seconds(encoder._graph._ready):.3f} s", end=", ")
    print(f"reranker {seconds(reranker._graph._ready):.3f} s")
    one, texts, candidates = [QUESTION], passages(128), passages(25)
    size = f"{threads} threads"
    return [
        compare(
            "encode a question",
            f"1 text, {size}",
            lambda: encoder.encode(one),
            lambda: alone.encode(one),
            other_name="1 thread",
            agreement=difference(encoder.encode(one), alone.encode(one)),
            repeats=9,
            inner=10,
            other_inner=10,
        ),
        compare(
            "encode passages",
            f"{len(texts)} texts, {size}",
            lambda: encoder.encode_batch(texts),
            lambda: padded_batch(encoder, texts),
            other_name="one padded batch",
            agreement=difference(encoder.encode(texts, truncation="allow"), padded_batch(encoder, texts)),
            repeats=3,
        ),
        compare(
            "rerank",
            f"{len(candidates)} passages, {size}",
            lambda: reranker.score_batch(QUESTION, candidates),
            lambda: padded_scores(reranker, candidates),
            other_name="one padded batch",
            agreement=difference(
                reranker.score(QUESTION, candidates, truncation="allow"), padded_scores(reranker, candidates)
            ),
            repeats=3,
        ),
    ]


if __name__ == "__main__":
    print_table(rows())
