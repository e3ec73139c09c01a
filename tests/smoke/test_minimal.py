"""The wheel alone: one file, no extras, no network, no fetched model, no compiler. Run it with plain Python."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import pincite

TEXT = """# Notes

A preamble that nobody may lose.

## Storage

The catalog is a SQLite database. Segments are immutable files.

## Search

BM25 and vectors are fused by reciprocal rank.
"""


def test_chunk():
    for strategy in ("structural", "A", "B", "C", "D", "E", "F"):
        for chunk in pincite.chunk(TEXT, title="notes", strategy=strategy, target=80, overlap=16):
            assert TEXT[chunk.start : chunk.end] == chunk.content
    kept = "".join(chunk.content for chunk in pincite.chunk(TEXT, title="notes", target=80, overlap=16))
    assert "".join(kept.split()) == "".join(TEXT.split())


def test_bm25():
    chunks = pincite.chunk(TEXT, target=80, overlap=16)
    index = pincite.BM25Index.build([chunk.embedded_text for chunk in chunks])
    ids, scores = index.search("is the catalog a database", k=1)
    assert "SQLite" in chunks[ids[0]].content
    assert scores[0] > 0
    assert index.search("giraffe")[0].size == 0


def test_vectors():
    vectors = np.eye(8, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        for number, index in enumerate((pincite.FlatIndex.build(vectors), pincite.HnswIndex.build(vectors))):
            path = Path(folder, str(number))
            index.save(path)
            again = type(index).load(path)
            for row in range(8):
                ids, scores = again.search(vectors[row], k=1)
                assert ids.tolist() == [row]
                assert scores.tolist() == [1.0]
            del again


def test_fusion():
    ids, scores = pincite.rrf([[7, 3], [3]])
    assert ids.tolist() == [3, 7]
    assert scores[0] == 1 / 62 + 1 / 61


class LetterCounts:
    """An encoder without weights: how often each letter occurs."""

    dim, window_tokens, stamp = 26, 256, {"model": "letter counts"}

    def word_pieces(self, text):
        return list(range(1, len(text) + 1))

    def encode_batch(self, texts, *, progress=None):
        counts = [[text.lower().count(chr(97 + i)) + 1e-3 for i in range(26)] for text in texts]
        vectors = np.array(counts, dtype=np.float32).reshape(-1, 26)
        nothing = np.zeros(len(vectors), dtype=np.int64)
        return SimpleNamespace(
            vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
            truncated_tokens=nothing,
            unknown_tokens=nothing,
        )


def test_main_job_with_the_bundled_reranker():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").mkdir()
        (Path(folder) / "docs" / "notes.md").write_text(TEXT, encoding="utf-8")
        with pincite.open(Path(folder) / "kb", create=True, encoder=LetterCounts()) as kb:
            kb.add(Path(folder) / "docs", progress=False)
            assert kb.ledger().balanced
            context = kb.context("Which database is the catalog?", max_distance=None)
            assert "SQLite" in context.citations[0].quote
            assert context.result.hits[0].rerank_logit == max(hit.rerank_logit for hit in context.result)
            for citation in context.citations:
                assert citation.verify(against="source").status == "exact"
                assert kb.resolve(citation.uri).quote == citation.quote
            answer = kb.context("zzzzzzz qqqq", max_distance=0.2)
            assert not answer
            assert answer.message.startswith("NO ANSWER")


def test_errors():
    message = ""
    try:
        pincite.rrf([[1]], k=-1)
    except pincite.PinciteError as error:
        message = str(error)
    assert "k is -1" in message


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: ok")
