"""The reranker: the bundled model, a tiny one against the reference, windows, segments, bad input."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import tiny_bert
import tiny_onnx
from pincite.errors import InvalidInputError, ModelFileError, TruncationError, TruncationWarning
from pincite.models.reranker import Reranker
from reference import bert
from tiny_bert import TEXTS

QUERY = "what is the moon made of?"


@pytest.fixture(scope="module")
def tiny(tiny_reranker_folder):
    return Reranker.load(tiny_reranker_folder, threads=2)


@pytest.fixture(scope="module")
def bundled():
    return Reranker.load()


def test_scores_are_those_of_the_reference(tiny):
    place = {word: index for index, word in enumerate(tiny_bert.VOCABULARY)}
    pair = ["[CLS]", "where", "is", "the", "cat", "?", "[SEP]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]"]
    ids, types = [place[word] for word in pair], [0] * 7 + [1] * 8
    tensors = tiny_bert.weights(1, labels=1)
    wanted = bert.logit(tensors, ids, types, layers=tiny_bert.LAYERS, heads=tiny_bert.HEADS)
    scores = tiny.score("Where is the cat?", ["the cat sat on the mat."])
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, [wanted], atol=1e-5)


@pytest.mark.parametrize("which", ["tiny", "bundled"])
def test_a_score_owes_nothing_to_its_batch_mates(which, request):
    reranker = request.getfixturevalue(which)
    passages = TEXTS * 4
    alone = np.concatenate([reranker.score(QUERY, [passage]) for passage in passages])
    np.testing.assert_allclose(reranker.score(QUERY, passages), alone, atol=1e-5)
    np.testing.assert_allclose(reranker.score(QUERY, passages[::-1]), alone[::-1], atol=1e-5)


def test_the_bundled_model_finds_the_answer(bundled):
    assert bundled.name == "reranker-en-small"
    assert bundled.window_tokens == 256
    scores = bundled.score(
        "Who wrote the first compiler?",
        [
            "Compilers translate programs into machine code in several passes.",
            "Grace Hopper wrote the first compiler, A-0, in 1952.",
            "The recipe asks for two eggs and a pinch of salt.",
        ],
    )
    assert scores.argmax() == 1
    assert scores.argmin() == 2


def test_no_passages_give_no_scores(tiny):
    assert tiny.score("what?", []).shape == (0,)
    assert [field.shape for field in tiny.score_batch("what?", [])] == [(0,)] * 3


def test_an_empty_question_or_passage_has_a_score(bundled):
    assert np.isfinite(bundled.score("", ["", "a passage"])).all()


@pytest.mark.parametrize(
    ("question", "passage", "cut"),
    [  # the tiny window is 64: 61 pieces beside [CLS], [SEP] and [SEP]
        (11, 50, (0, 0)),
        (11, 51, (1, 0)),
        (30, 100, (69, 0)),
        (31, 30, (0, 0)),
        (31, 31, (1, 0)),
        (60, 1, (0, 0)),
        (60, 10, (0, 9)),
        (60, 100, (70, 29)),
        (200, 0, (0, 139)),
        (0, 62, (1, 0)),
    ],
)
def test_the_passage_is_cut_first_down_to_half_and_both_are_counted(tiny, question, passage, cut):
    """O01 for pairs."""
    query, passages = "moon " * question, ["cat " * passage]
    batch = tiny.score_batch(query, passages)
    assert (int(batch.truncated_tokens[0]), int(batch.question_truncated_tokens[0])) == cut
    shorter = tiny.score("moon " * (question - cut[1]), ["cat " * (passage - cut[0])], truncation="error")
    assert batch.scores.tolist() == shorter.tolist()


def test_truncation_is_never_silent(tiny):
    passages = ["the cat", "the cat " * 40]
    with pytest.warns(TruncationWarning, match=r"1 of 2 pairs exceed the 64 word pieces .* passages\[1\]"):
        scores = tiny.score("where?", passages)
    assert scores.tolist() == tiny.score("where?", passages, truncation="allow").tolist()
    with pytest.raises(TruncationError, match="1 of 2 pairs"):
        tiny.score("where?", passages, truncation="error")
    with pytest.raises(InvalidInputError, match="truncation is None"):
        tiny.score("where?", passages, truncation=None)


@pytest.mark.parametrize(
    ("query", "passages", "said"),
    [
        (None, ["a"], "query is of type NoneType, wanted str"),
        ("\ud800", ["a"], "query holds a lone surrogate"),
        ("a", "b", "passages is one str"),
        ("a", ["b", 3], r"passages\[1\] is of type int"),
        ("a", ["b\udfff"], r"passages\[0\] holds a lone surrogate"),
    ],
)
def test_bad_texts_are_refused(tiny, query, passages, said):
    for score in (tiny.score, tiny.score_batch):
        with pytest.raises(InvalidInputError, match=said):
            score(query, passages)


@pytest.mark.parametrize("kind", [tiny_onnx.INT32, tiny_onnx.INT64])
@pytest.mark.parametrize("outputs", [("logits",), ("last_hidden_state", "logits")])
def test_segments_are_0_and_1_where_the_graph_takes_them(tmp_path, kind, outputs):
    """O03: the little graph adds 1,000 for every piece of the second segment, its [SEP] included."""
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    pieces = [2 + 5 + 3 + 6 + 3, 2 + 5 + 3 + 6 + 7 + 8 + 3]  # [CLS] the [SEP] cat (dog sat) [SEP]
    for taken, thousands in ((inputs, [2, 4]), (inputs[:2], [0, 0])):
        folder = tiny_onnx.save(tmp_path / str(len(taken)), kind=kind, inputs=taken, outputs=outputs)
        scores = Reranker.load(folder).score("the", ["cat", "cat dog sat"])
        assert scores.tolist() == [sum_ + 1000 * n for sum_, n in zip(pieces, thousands, strict=True)]


def test_several_labels_are_refused(tmp_path):
    folders = [
        tiny_bert.save_reranker(tmp_path / "safetensors", labels=3),
        tiny_onnx.save(tmp_path / "onnx", outputs=("logits",), labels=3),
    ]
    for folder in folders:
        with pytest.raises(ModelFileError, match="a reranker has one label"):
            Reranker.load(folder).score("the", ["cat"])


def test_an_encoder_is_no_reranker(tiny_encoder_folder):
    with pytest.raises(ModelFileError, match=r"no tensor 'classifier\.weight'"):
        Reranker.load(tiny_encoder_folder).score("the", ["cat"])


def test_the_stamp_and_the_copy_for_another_process(bundled):
    assert json.loads(json.dumps(bundled.stamp)) == bundled.stamp
    assert len(bundled.stamp["model_sha256"]) == 64
    other = pickle.loads(pickle.dumps(bundled))
    assert other.score("a", ["b"]).tolist() == bundled.score("a", ["b"]).tolist()
