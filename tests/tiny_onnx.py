"""Little ONNX models with the inputs and outputs that exports in the wild have (case O03)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from pincite.models import protobuf
from tiny_bert import HIDDEN, config, save_tokenizer

FLOAT, INT32, INT64 = 1, 6, 7
PIECE, SEGMENT = np.linspace(-1, 1, HIDDEN, dtype=np.float32), np.linspace(3, 1, HIDDEN, dtype=np.float32)


def node(operator: str, inputs: list[str], output: str, **attributes: int) -> protobuf.Chunks:
    chunks = [chunk for name in inputs for chunk in protobuf.text(1, name)]
    chunks += protobuf.text(2, output) + protobuf.text(4, operator)
    for name, value in attributes.items():
        chunks += protobuf.message(5, protobuf.text(1, name) + protobuf.integer(3, value) + protobuf.integer(20, 2))
    return protobuf.message(1, chunks)


def tensor(name: str, array: np.ndarray, *, external: bool = False) -> protobuf.Chunks:
    chunks = [chunk for size in array.shape for chunk in protobuf.integer(1, size)]
    chunks += protobuf.integer(2, FLOAT if array.dtype == np.float32 else INT64) + protobuf.text(8, name)
    if external:
        where = protobuf.text(1, "location") + protobuf.text(2, "weights.bin")
        return chunks + protobuf.message(13, where) + protobuf.integer(14, 1)
    return chunks + protobuf.message(9, [array.tobytes()])


def value(name: str, kind: int, rank: int) -> protobuf.Chunks:
    sizes = [chunk for axis in range(rank) for chunk in protobuf.message(1, protobuf.text(2, f"{name}_{axis}"))]
    shape = protobuf.integer(1, kind) + protobuf.message(2, sizes)
    return protobuf.text(1, name) + protobuf.message(2, protobuf.message(1, shape))


def model(
    *,
    kind: int = INT64,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    outputs: tuple[str, ...] = ("last_hidden_state",),
    labels: int = 1,
    external: bool = False,
) -> bytes:
    """Token vectors ``id * PIECE + segment * SEGMENT``; `logits` are ``sum(mask * id) + 1000 * sum(segment)``."""
    graph: protobuf.Chunks = []
    for name in inputs:
        graph += node("Cast", [name], f"{name}_float", to=FLOAT)
    typed = "token_type_ids" in inputs
    for name, weight in (("input_ids", "piece"), ("token_type_ids", "segment")):
        if name in inputs:
            graph += node("Unsqueeze", [f"{name}_float", "two"], f"{name}_column")
            graph += node("Mul", [f"{name}_column", weight], f"{name}_part")
    second = "token_type_ids_part" if typed else "nothing"
    graph += node("Add", ["input_ids_part", second], "tokens")
    ranks = {"logits": 2, "pooler_output": 2}
    for name in outputs:
        if name == "logits":
            graph += node("Mul", ["input_ids_float", "attention_mask_float"], "kept")
            graph += node("ReduceSum", ["kept", "one"], "kept_sum", keepdims=1)
            graph += node("Mul", ["token_type_ids_float" if typed else "nothing", "thousand"], "weighed")
            graph += node("Add", ["kept", "weighed"], "summands")
            graph += node("ReduceSum", ["summands", "one"], "logit", keepdims=1)
            graph += node("Concat", ["logit"] * labels, "logits", axis=1)
        else:
            graph += node("ReduceMax" if ranks.get(name) == 2 else "Identity", ["tokens"], name)
    graph += protobuf.text(2, "tiny")
    constants = {
        "two": np.array([2]),
        "one": np.array([1]),
        "nothing": np.zeros(1, np.float32),
        "thousand": np.array([1000], np.float32),
        "piece": PIECE,
        "segment": SEGMENT,
    }
    for name, array in constants.items():
        graph += protobuf.message(5, tensor(name, array, external=external and name == "piece"))
    for name in inputs:
        graph += protobuf.message(11, value(name, kind, 2))
    for name in outputs:
        graph += protobuf.message(12, value(name, FLOAT, ranks.get(name, 3)))
    opset = protobuf.message(8, protobuf.integer(2, 17))
    return b"".join(protobuf.integer(1, 8) + protobuf.message(7, graph) + opset)


def save(folder: Path, **how) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model(**how))
    (folder / "config.json").write_text(json.dumps(config()), encoding="utf-8")
    save_tokenizer(folder / "tokenizer.json")
    return folder
