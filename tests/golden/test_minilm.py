"""all-MiniLM-L6-v2 as PyTorch computes it: vectors, word pieces, batches (cases O01 and O03)."""

from __future__ import annotations

import json

import numpy as np
import pytest

TOLERANCE = 1e-4
AMONG_BATCHES = 1e-5


@pytest.fixture(scope="module")
def golden(shared):
    records = json.loads((shared / "golden" / "minilm_texts.json").read_text(encoding="utf-8"))
    vectors = np.load(shared / "golden" / "minilm_vectors.npy")
    return [record["text"] for record in records], [record["word_pieces"] for record in records], vectors


@pytest.fixture(scope="module")
def whole(minilm, golden):
    return minilm.encode_batch(golden[0])


def test_vectors_and_counts_equal_those_of_pytorch(minilm, golden, whole):
    texts, pieces, vectors = golden
    assert whole.vectors.shape == vectors.shape
    assert abs(whole.vectors - vectors).max() < TOLERANCE
    assert whole.token_counts.tolist() == pieces
    assert whole.truncated_tokens.tolist() == [max(0, count - 256) for count in pieces]
    assert whole.truncated_tokens.any(), "a golden text beyond the window"
    assert [minilm.count_tokens(text) for text in texts] == pieces
    assert [len(minilm.word_pieces(text)) + 2 for text in texts] == pieces


def neighbours(vectors: np.ndarray) -> list[list[int]]:
    return np.argsort(-(vectors @ vectors.T), axis=1, kind="stable").tolist()


@pytest.mark.parametrize("size", [1, 7, 32])
@pytest.mark.parametrize("shuffled", [False, True])
def test_no_batch_changes_a_vector_or_the_order_of_neighbours(minilm, golden, whole, size, shuffled):
    texts, _, vectors = golden
    order = np.random.default_rng(size).permutation(len(texts)) if shuffled else np.arange(len(texts))
    found = np.empty_like(vectors)
    for start in range(0, len(texts), size):
        rows = order[start : start + size]
        found[rows] = minilm.encode([texts[row] for row in rows], truncation="allow")
    assert abs(found - whole.vectors).max() < AMONG_BATCHES
    assert abs(found - vectors).max() < TOLERANCE
    assert neighbours(found) == neighbours(whole.vectors)


def test_what_it_is(minilm):
    assert (minilm.name, minilm.dim, minilm.window_tokens) == ("all-MiniLM-L6-v2", 384, 256)
    assert minilm.stamp == {
        "model": "all-MiniLM-L6-v2",
        "model_sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer_sha256": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "pooling": "mean",
        "dim": 384,
        "window_tokens": 256,
    }


def test_a_word_of_over_100_characters_is_unknown_and_counted(minilm):
    batch = minilm.encode_batch(["a" * 100, "a" * 101, "two " + "b" * 200 + " " + "c" * 300])
    assert batch.unknown_tokens.tolist() == [0, 1, 2]
    assert batch.token_counts.tolist()[1:] == [3, 5]


def test_the_export_is_sound_to_the_checker_of_onnx(minilm):
    onnx = pytest.importorskip("onnx")
    onnx.checker.check_model(onnx.load_from_string(minilm._graph._read()), full_check=True)
