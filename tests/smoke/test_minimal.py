"""The wheel alone: one file, no extras, no network, no model, no compiler. Run it with plain Python."""

import tempfile
from pathlib import Path

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
