"""Models that remember give what they gave, and are asked once."""

from __future__ import annotations

import numpy as np
import pytest

import pincite
from pincite.errors import InvalidInputError
from pincite.evaluation.cached import CachedEncoder, CachedReranker
from stub_models import StubEncoder, StubReranker

TEXTS = ["A pump moves water.", "ünd 📷", "", "A pump moves water.", "word " * 300]


def test_vectors_are_those_of_the_encoder_and_are_made_once(tmp_path):
    wanted = StubEncoder().encode_batch(TEXTS)
    encoder = StubEncoder()
    told = []
    first = CachedEncoder(encoder, tmp_path / "kept").encode_batch(TEXTS, progress=told.append)
    again = CachedEncoder(encoder, tmp_path / "kept").encode_batch([*TEXTS, "new"])
    assert encoder.n_encoded == 5  # four different ones, and the new one
    assert told == [4]
    for found in (first, again):
        assert found.vectors.dtype == np.float32
        assert found.vectors.flags.c_contiguous
        np.testing.assert_array_equal(found.vectors[:5], wanted.vectors)
        np.testing.assert_array_equal(found.truncated_tokens[:5], wanted.truncated_tokens)
        np.testing.assert_array_equal(found.unknown_tokens[:5], wanted.unknown_tokens)
    assert first.truncated_tokens[4] > 0
    assert CachedEncoder(encoder, tmp_path / "kept").encode_batch([]).vectors.shape == (0, 64)


def test_scores_are_those_of_the_reranker_and_are_made_once(tmp_path):
    passages = ["a pump", "a sail", "a pump"]
    reranker = StubReranker()
    for _ in range(2):
        cached = CachedReranker(reranker, tmp_path / "kept")
        found = cached.score_batch("pump", passages)
        np.testing.assert_array_equal(found.scores, StubReranker().score_batch("pump", passages).scores)
        assert found.truncated_tokens.tolist() == [0, 0, 0]
    assert reranker.n_scored == 2
    cached.score_batch("sail", passages)
    assert reranker.n_scored == 4


def test_other_models_do_not_share_what_is_kept(tmp_path):
    one, other = StubEncoder(seed=1), StubEncoder(seed=2, model="other")
    CachedEncoder(one, tmp_path / "kept").encode_batch(["a pump"])
    found = CachedEncoder(other, tmp_path / "kept").encode_batch(["a pump"])
    np.testing.assert_array_equal(found.vectors, other.encode_batch(["a pump"]).vectors)


def test_an_index_takes_them_for_the_models_themselves(tmp_path):
    encoder = StubEncoder()
    document = pincite.Document("pumps", "# Pumps\n\nA pump moves water.\n")
    for name in ("one", "two"):
        models = {
            "encoder": CachedEncoder(encoder, tmp_path / "kept"),
            "reranker": CachedReranker(StubReranker(), tmp_path / "kept"),
        }
        with pincite.open(tmp_path / name, create=True, **models) as kb:
            kb.add([document], progress=False)
            found = kb.search("pump", max_distance=None)
    with pincite.open(tmp_path / "two", encoder=StubEncoder(), reranker=StubReranker()) as kb:
        assert kb.search("pump", max_distance=None).hits == found.hits


def test_what_is_no_cache_is_refused(tmp_path):
    (tmp_path / "text").write_text("no database, but a text that is long enough to be looked at" * 20)
    for path in (tmp_path / "text", tmp_path / "gone" / "kept"):
        with pytest.raises(InvalidInputError, match="cannot be used as a cache"):
            CachedEncoder(StubEncoder(), path)
