"""The encoder on a tiny model: counts, windows, batches, bad input, graphs of all kinds (cases O01 and O03)."""

from __future__ import annotations

import json
import pickle
import shutil
import threading
import warnings

import numpy as np
import pytest

import pincite
import tiny_bert
import tiny_onnx
from pincite.errors import InvalidInputError, ModelFileError, TruncationError, TruncationWarning
from pincite.models.encoder import Encoder
from pincite.models.sessions import available_cpus
from pincite.models.texts import short_batches
from reference import bert
from tiny_bert import TEXTS, WINDOW

LONG = "the cat sat on the mat. " * 20


@pytest.fixture(scope="module")
def encoder(tiny_encoder_folder):
    return Encoder.load(tiny_encoder_folder, threads=2)


def test_vectors_are_those_of_the_reference(encoder):
    tensors, tokenizer = tiny_bert.weights(0), {word: index for index, word in enumerate(tiny_bert.VOCABULARY)}
    ids = [tokenizer[word] for word in ["[CLS]", "the", "cat", "##s", "sat", ".", "[SEP]"]]
    wanted = bert.sentence_vector(tensors, ids, layers=tiny_bert.LAYERS, heads=tiny_bert.HEADS)
    vectors = encoder.encode(["The cats sat."])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [wanted], atol=2e-6)


def test_a_vector_owes_nothing_to_its_batch_or_place(encoder):
    texts = TEXTS * 7
    alone = np.concatenate([encoder.encode([text], truncation="allow") for text in texts])
    order = np.random.default_rng(5).permutation(len(texts))
    shuffled = encoder.encode([texts[row] for row in order], truncation="allow")
    np.testing.assert_allclose(encoder.encode(texts, truncation="allow"), alone, atol=1e-5)
    np.testing.assert_allclose(shuffled, alone[order], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("empty", [[], (), iter(())])
def test_no_texts_give_no_vectors(encoder, empty):
    assert encoder.encode(empty).shape == (0, encoder.dim)


def test_no_texts_give_no_counts(encoder):
    batch = encoder.encode_batch([])
    assert batch.vectors.shape == (0, encoder.dim)
    assert [field.dtype for field in batch[1:]] == [np.int64] * 3
    assert [field.shape for field in batch[1:]] == [(0,)] * 3


def test_counts_are_of_the_whole_text(encoder):
    unknown = "x" * 101
    batch = encoder.encode_batch(["the cat", LONG, f"the {unknown} dog quux", ""])
    assert batch.token_counts.tolist() == [4, 142, 6, 2]
    assert batch.truncated_tokens.tolist() == [0, 142 - WINDOW, 0, 0]
    assert batch.unknown_tokens.tolist() == [0, 0, 2, 0]
    assert [encoder.count_tokens(text) for text in ("the cat", LONG, "")] == [4, 142, 2]


def test_truncation_is_never_silent(encoder):
    """O01: the same beginning, another end."""
    other = LONG[: -len("mat. ")] + "moon. "
    with pytest.warns(TruncationWarning, match=r"2 of 3 texts exceed the 24 word pieces .* texts\[1\] with 142"):
        vectors = encoder.encode(["the cat", LONG, other])
    assert vectors[1].tolist() == vectors[2].tolist()
    with pytest.raises(TruncationError, match=r"2 of 3 texts"):
        encoder.encode(["the cat", LONG, other], truncation="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder.encode(["x", LONG], truncation="allow").shape == (2, encoder.dim)
        assert encoder.encode(["the cat"], truncation="error").shape == (1, encoder.dim)
    assert encoder.encode_batch([LONG, other]).truncated_tokens.tolist() == [118, 118]
    with pytest.raises(InvalidInputError, match="truncation is 'cut', wanted one of warn, allow, error"):
        encoder.encode(["x"], truncation="cut")


def test_the_window_is_exact_at_its_edge(encoder):
    fits, over = "the " * (WINDOW - 2), "the " * (WINDOW - 1)
    assert encoder.encode_batch([fits, over]).truncated_tokens.tolist() == [0, 1]
    assert encoder.encode([fits], truncation="error").tolist() == encoder.encode([over], truncation="allow").tolist()


def test_what_the_tokenizer_file_cuts_and_pads_is_overridden(encoder):
    """The tiny file says 8 of both, as the published one says 128."""
    assert encoder.count_tokens("the " * 50) == 52
    assert encoder.count_tokens("the") == 3
    texts = ["the " * 10 + "cat", "the " * 10 + "moon"]
    assert abs(np.subtract(*encoder.encode(texts))).max() > 1e-3


def test_the_chunker_keeps_within_the_window(encoder):
    """O01: chunks cut by the encoder's own word pieces never exceed it."""
    chunks = pincite.chunk(LONG * 5, window_tokens=WINDOW, word_pieces=encoder.word_pieces)
    counts = encoder.encode_batch([chunk.embedded_text for chunk in chunks])
    assert len(chunks) > 20
    assert not counts.truncated_tokens.any()
    assert counts.token_counts.max() > WINDOW // 2


def test_word_pieces_end_in_code_points(encoder):
    """Case T01: astral and combined characters count once each."""
    text = "é 📷 cats 猫\r\nthe e\u0301"
    ends = encoder.word_pieces(text)
    assert ends[:5] == [1, 3, 7, 8, 10]
    assert ends[-1] == len(text)
    assert encoder.word_pieces("") == []
    assert encoder.count_tokens(text) == len(ends) + 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("the cat", "texts is one str, wanted several in a list"),
        (b"the cat", "texts is one bytes"),
        (5, "texts is of type int, wanted a sequence of str"),
        (["a", None], r"texts\[1\] is of type NoneType, wanted str"),
        ([b"a"], r"texts\[0\] is of type bytes"),
        (["a", "b\ud800"], r"texts\[1\] holds a lone surrogate at code point 1"),
    ],
)
def test_bad_texts_are_refused_with_their_place(encoder, given, said):
    for encode in (encoder.encode, encoder.encode_batch):
        with pytest.raises(InvalidInputError, match=said):
            encode(given)


@pytest.mark.parametrize("given", [None, 3, b"a", "\udfff"])
def test_bad_text_is_refused(encoder, given):
    for call in (encoder.word_pieces, encoder.count_tokens):
        with pytest.raises(InvalidInputError, match="text "):
            call(given)


@pytest.mark.parametrize("threads", [0, -1, 2.0, True, "2", 10**9])
def test_threads_are_a_small_integer(tiny_encoder_folder, threads):
    with pytest.raises(InvalidInputError, match="threads is"):
        Encoder.load(tiny_encoder_folder, threads=threads)


def test_threads_follow_the_cpus_of_the_process(tiny_encoder_folder):
    assert available_cpus() >= 1
    assert Encoder.load(tiny_encoder_folder)._graph.threads == available_cpus()


def test_progress_adds_up_and_may_end_the_work(encoder):
    done = []
    encoder.encode_batch(TEXTS * 30, progress=done.append)
    assert sum(done) == 30 * len(TEXTS)
    assert len(done) > 1

    def stop(count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder.encode_batch(TEXTS, progress=stop)
    assert encoder.encode(["the cat"]).shape == (1, encoder.dim)


def test_threads_share_one_session(tiny_encoder_folder):
    encoder = Encoder.load(tiny_encoder_folder, threads=2)
    wanted = Encoder.load(tiny_encoder_folder).encode(TEXTS, truncation="allow")
    found, start = [], threading.Barrier(8)

    def work():
        start.wait()
        found.extend(encoder.encode(TEXTS, truncation="allow") for _ in range(20))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 160
    for vectors in found:
        np.testing.assert_allclose(vectors, wanted, atol=1e-5)


def test_the_stamp_says_what_a_vector_depends_on(encoder, tiny_encoder_folder, tmp_path):
    """The kind of case I01: other weights, another window or another pooling is another stamp."""
    assert encoder.stamp["window_tokens"] == encoder.window_tokens == WINDOW
    assert encoder.stamp["dim"] == encoder.dim == tiny_bert.HIDDEN
    assert encoder.stamp["pooling"] == "mean"
    stamps = [encoder.stamp]
    for index, change in enumerate(("weights", "window", "pooling", "tokenizer")):
        folder = shutil.copytree(tiny_encoder_folder, tmp_path / str(index) / tiny_encoder_folder.name)
        if change == "weights":
            tiny_bert.save_safetensors(folder / "model.safetensors", tiny_bert.weights(9))
        elif change == "window":
            (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}', encoding="utf-8")
        elif change == "pooling":
            (folder / "1_Pooling").mkdir()
            (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
        else:
            text = (folder / "tokenizer.json").read_text(encoding="utf-8")
            (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
        stamps.append(Encoder.load(folder).stamp)
    assert all(a != b for row, a in enumerate(stamps) for b in stamps[:row])
    assert json.loads(json.dumps(encoder.stamp)) == encoder.stamp


def test_the_window_never_exceeds_the_positions(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 500}', encoding="utf-8")
    encoder = Encoder.load(folder)
    assert encoder.window_tokens == tiny_bert.POSITIONS
    assert encoder.encode([LONG], truncation="allow").shape == (1, encoder.dim)


def test_an_encoder_travels_to_another_process(encoder):
    other = pickle.loads(pickle.dumps(encoder))
    assert other.stamp == encoder.stamp
    assert other.encode(["the cat"]).tolist() == encoder.encode(["the cat"]).tolist()


def test_weights_that_change_before_the_first_use_are_refused(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    encoder = Encoder.load(folder)
    tiny_bert.save_safetensors(folder / "model.safetensors", tiny_bert.weights(9))
    with pytest.raises(ModelFileError, match="has changed since it was hashed"):
        encoder.encode(["the cat"])


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.json", "{", "is no JSON"),
        ("config.json", "[]", "holds a list"),
        ("config.json", '{"hidden_size": 0}', "hidden_size = 0, wanted a positive integer"),
        ("config.json", '{"hidden_size": 32}', "max_position_embeddings = None"),
        ("sentence_bert_config.json", '{"max_seq_length": "256"}', "max_seq_length = '256'"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "asks for pooling_mode_max_tokens; supported"),
        ("tokenizer.json", "{}", "cannot use the tokenizer"),
    ],
)
def test_a_broken_folder_is_refused_with_the_file(tiny_encoder_folder, tmp_path, file, text, said):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=said) as caught:
        Encoder.load(folder)
    assert file in str(caught.value)


def test_a_tokenizer_of_another_kind_is_refused(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "x")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(ModelFileError, match="puts 0 special tokens around a text, wanted BERT's two"):
        Encoder.load(folder)


ALL = ("input_ids", "attention_mask", "token_type_ids")


@pytest.mark.parametrize("kind", [tiny_onnx.INT32, tiny_onnx.INT64])
@pytest.mark.parametrize("inputs", [ALL, ALL[:2], ALL[::-1]])
@pytest.mark.parametrize("outputs", [("last_hidden_state",), ("pooler_output", "last_hidden_state"), ("any_name",)])
def test_inputs_and_outputs_are_taken_from_the_graph(tmp_path, kind, inputs, outputs):
    """O03: with and without segments, int32 and int64, more outputs than needed."""
    encoder = Encoder.load(tiny_onnx.save(tmp_path / "x", kind=kind, inputs=inputs, outputs=outputs))
    vectors = encoder.encode(["the cat", "a dog sat on the moon", ""])
    wanted = tiny_onnx.PIECE / np.linalg.norm(tiny_onnx.PIECE)  # segments are zeros
    np.testing.assert_allclose(vectors, [wanted] * 3, atol=1e-6)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"inputs": ("input_ids",)}, "it lacks attention_mask, without which"),
        ({"inputs": (*ALL, "position_ids")}, "wants an input position_ids of type"),
        ({"kind": tiny_onnx.FLOAT}, r"wants an input input_ids of type tensor\(float\)"),
        ({"outputs": ("a", "b")}, "gives a, b; wanted sentence_embedding or last_hidden_state"),
        ({"external": True}, r"keeps weights in other files \(ONNX external data\)"),
    ],
)
def test_a_graph_of_no_use_is_refused(tmp_path, how, said):
    """O03, the other half: a clear error."""
    encoder = Encoder.load(tiny_onnx.save(tmp_path / "x", **how))
    with pytest.raises(ModelFileError, match=said):
        encoder.encode(["the cat"])


@pytest.mark.parametrize("data", [b"", b"\x00", b"not a model", b"\x3a\xff\xff\xff\xff\x0f", b"\x3a\x02\x08\x01" * 3])
def test_bytes_that_are_no_graph_are_refused(tmp_path, data, capfd):
    folder = tiny_onnx.save(tmp_path / "x")
    (folder / "model.onnx").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model\.onnx"):
        Encoder.load(folder).encode(["the cat"])
    assert capfd.readouterr() == ("", "")


def test_a_graph_of_another_width_is_refused(tmp_path):
    folder = tiny_onnx.save(tmp_path / "x")
    (folder / "config.json").write_text(json.dumps(tiny_bert.config(hidden_size=48)), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"wanted \(batch, 48\)"):
        Encoder.load(folder).encode(["the cat"])


def test_batches_hold_every_row_once_and_like_lengths():
    random = np.random.default_rng(3)
    for _ in range(200):
        lengths = random.integers(2, 300, random.integers(0, 60)).tolist()
        batches = short_batches(lengths, limit=400)
        assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
        for batch in batches:
            assert len(batch) == 1 or max(lengths[row] for row in batch) * len(batch) <= 400
        assert [lengths[row] for batch in batches for row in batch] == sorted(lengths, reverse=True)
