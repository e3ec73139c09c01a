"""The torch-free export: held against a plain numpy BERT, against ONNX's own checker, and against bad folders."""

from __future__ import annotations

import json
import shutil
import struct

import numpy as np
import pytest

import tiny_bert
from pincite.errors import ModelFileError
from pincite.models import protobuf
from pincite.models.export import to_onnx
from pincite.models.safetensors import read_tensors
from pincite.models.sessions import runtime
from reference import bert

SIZES = {"layers": tiny_bert.LAYERS, "heads": tiny_bert.HEADS}
IDS = [[2, 5, 6, 8, 9, 5, 10, 3], [2, 3], [2, 7, 3], [2, *range(4, 26), 3]]


def run(model: bytes, ids: list[list[int]], types: list[list[int]] | None = None, *, pad_to: int = 0) -> np.ndarray:
    width = max(pad_to, *map(len, ids))
    feed = {name: np.zeros((len(ids), width), np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, tokens in enumerate(ids):
        feed["input_ids"][row, : len(tokens)] = tokens
        feed["attention_mask"][row, : len(tokens)] = 1
        if types is not None:
            feed["token_type_ids"][row, : len(tokens)] = types[row]
    session = runtime().InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, feed)[0]


def write(folder, tensors, **changes):
    folder.mkdir(exist_ok=True)
    tiny_bert.save_safetensors(folder / "model.safetensors", tensors)
    return folder, tiny_bert.config(**changes)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("seed", [0, 1])
def test_an_encoder_agrees_with_plain_numpy_padded_or_not(tmp_path, pooling, seed):
    tensors = tiny_bert.weights(seed)
    model = to_onnx(*write(tmp_path, tensors), task="encoder", pooling=pooling)
    wanted = np.array([bert.sentence_vector(tensors, ids, **SIZES, pooling=pooling) for ids in IDS])
    np.testing.assert_allclose(run(model, IDS), wanted, atol=2e-6)
    np.testing.assert_allclose(run(model, IDS, pad_to=60), wanted, atol=2e-6)


def test_a_reranker_agrees_with_plain_numpy_and_minds_the_segments(tmp_path):
    tensors = tiny_bert.weights(3, labels=1)
    types = [[0] * (len(ids) // 2) + [1] * (len(ids) - len(ids) // 2) for ids in IDS]
    prefixed = {name if "classifier" in name else f"bert.{name}": tensor for name, tensor in tensors.items()}
    model = to_onnx(*write(tmp_path, prefixed), task="reranker")
    wanted = [bert.logit(tensors, ids, segments, **SIZES) for ids, segments in zip(IDS, types, strict=True)]
    np.testing.assert_allclose(run(model, IDS, types, pad_to=40)[:, 0], wanted, atol=1e-5)
    assert abs(run(model, IDS)[:, 0] - wanted).max() > 1e-3


def test_equal_folders_give_equal_bytes_with_and_without_the_prefix(tmp_path):
    tensors = tiny_bert.weights()
    model = to_onnx(*write(tmp_path / "a", tensors), task="encoder")
    assert model == to_onnx(*write(tmp_path / "b", dict(reversed(tensors.items()))), task="encoder")
    assert model == to_onnx(*write(tmp_path / "c", {f"bert.{k}": v for k, v in tensors.items()}), task="encoder")


@pytest.mark.parametrize("task", ["encoder", "reranker"])
def test_the_checker_of_onnx_finds_nothing(tmp_path, task):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(to_onnx(*write(tmp_path, tiny_bert.weights(labels=1)), task=task))
    onnx.checker.check_model(model, full_check=True)
    assert [entry.version for entry in model.opset_import] == [17]


def test_half_precision_weights_are_widened(tmp_path):
    tensors = tiny_bert.weights()
    halves = {name: tensor.astype(np.float16) for name, tensor in tensors.items()}
    upper = {name: (tensor.view(np.uint32) >> 16).astype(np.uint16) for name, tensor in tensors.items()}
    for folder, given, wanted in (
        ("half", halves, {name: tensor.astype(np.float32) for name, tensor in halves.items()}),
        ("bfloat", upper, {name: (tensor.astype(np.uint32) << 16).view(np.float32) for name, tensor in upper.items()}),
    ):
        model = to_onnx(*write(tmp_path / folder, given), task="encoder")
        assert model == to_onnx(*write(tmp_path / f"{folder}-wide", wanted), task="encoder")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "roberta"}, "model_type = 'roberta'; supported is model_type = 'bert'"),
        ({"hidden_act": "gelu_new"}, "hidden_act = 'gelu_new'; supported is hidden_act = 'gelu'"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type = 'relative_key'"),
        ({"num_attention_heads": 5}, "5 heads in 32 dimensions"),
        ({"num_hidden_layers": 3}, r"no tensor 'encoder\.layer\.2\."),
        ({"num_hidden_layers": "many"}, "lacks a usable"),
        ({"hidden_size": 64}, r"shape \(64, 32\)|shape \(64, 32\)|has shape"),
    ],
)
def test_another_architecture_is_refused_by_name(tmp_path, changes, said):
    with pytest.raises(ModelFileError, match=said):
        to_onnx(*write(tmp_path, tiny_bert.weights(), **changes), task="encoder")


def test_several_labels_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match=r"classifier.weight .* has shape \(3, 32\), wanted \(1, 32\)"):
        to_onnx(*write(tmp_path, tiny_bert.weights(labels=3)), task="reranker")
    with pytest.raises(ModelFileError, match=r"no tensor 'classifier\.weight'"):
        to_onnx(*write(tmp_path, tiny_bert.weights()), task="reranker")


def entry(**changes) -> bytes:
    described = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}
    header = json.dumps({"x": described}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 100) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{{",
        struct.pack("<Q", 200_000) + b"[" * 200_000,
        entry(dtype="C64"),
        entry(dtype=[]),
        entry(shape=[3]),
        entry(shape=[-2]),
        entry(shape=[2.0]),
        entry(shape=[True, 2]),
        entry(shape=None),
        entry(data_offsets=[0, 16]),
        entry(data_offsets=[-8, 0]),
        entry(data_offsets=[8, 0]),
        entry(data_offsets=[0]),
        entry(shape=[2**62, 2**62, 0], data_offsets=[0, 8]),
    ],
)
def test_weights_that_do_not_fit_their_header_are_refused(tmp_path, data):
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model\.safetensors"):
        read_tensors(path)


def test_every_cut_of_a_file_is_refused(tiny_encoder_folder, tmp_path):
    whole = (tiny_encoder_folder / "model.safetensors").read_bytes()
    path = tmp_path / "model.safetensors"
    for size in [*range(64), *range(64, len(whole), 4001), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            read_tensors(path)
    shutil.copy(tiny_encoder_folder / "model.safetensors", path)
    assert len(read_tensors(path)) == len(tiny_bert.weights())


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31, 2**63 - 1])
def test_protobuf_integers_come_back(value):
    assert list(protobuf.fields(memoryview(b"".join(protobuf.integer(5, value))))) == [(5, value)]


def test_protobuf_messages_come_back_and_cuts_are_refused():
    data = b"".join(protobuf.text(1, "añb") + protobuf.message(2, protobuf.integer(16, 300)) + protobuf.integer(3, -1))
    found = list(protobuf.fields(memoryview(data)))
    assert [number for number, _ in found] == [1, 2, 3]
    assert bytes(found[0][1]).decode() == "añb"
    assert list(protobuf.fields(found[1][1])) == [(16, 300)]
    assert found[2][1] == 2**64 - 1
    ends = {0, 6, 12}
    for size in set(range(len(data))) - ends:
        with pytest.raises(ValueError, match="at byte"):
            list(protobuf.fields(memoryview(data[:size])))
