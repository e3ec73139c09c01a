"""A BERT-type folder (`config.json` and `model.safetensors`) into one ONNX graph, without PyTorch.

The arithmetic is that of BERT (Devlin et al. 2019, https://arxiv.org/abs/1810.04805) in plain opset-17 operators, which
ONNX Runtime fuses as it sees fit. Field numbers are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
Equal folders give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pincite.errors import ModelFileError
from pincite.models import protobuf
from pincite.models.safetensors import read_tensors

__all__ = ["Task", "to_onnx"]

Task = Literal["encoder", "reranker"]

OPSET, IR_VERSION = 17, 8
FLOAT, INT64 = 1, 7  # TensorProto.DataType
MASKED = -1e9
"""Added to the attention scores of padding: its weight becomes exactly 0 in float32."""
LARGEST = 2**31 - 1
"""What a protobuf message may hold."""

ATTRIBUTE_KINDS = {int: (3, 2), float: (2, 1), list: (8, 7)}  # field of the value, AttributeProto.AttributeType


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a BERT, from its `config.json`."""

    layers: int
    heads: int
    hidden: int
    epsilon: float

    @classmethod
    def of(cls, config: Mapping[str, Any], where: Path) -> Shape:
        """Check that the configuration is one this export knows."""
        wanted = {
            "model_type": ("bert", None),
            "hidden_act": ("gelu", "gelu"),
            "position_embedding_type": ("absolute", "absolute"),
        }
        for key, (value, default) in wanted.items():
            if config.get(key, default) != value:
                raise ModelFileError(
                    f"{where} says {key} = {config.get(key)!r}; supported is {key} = {value!r}: BERT with exact GELU "
                    "and absolute positions. Other models can be given as a folder with an .onnx file"
                )
        try:
            shape = cls(
                layers=int(config["num_hidden_layers"]),
                heads=int(config["num_attention_heads"]),
                hidden=int(config["hidden_size"]),
                epsilon=float(config.get("layer_norm_eps", 1e-12)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{where} lacks a usable {error}") from None
        if shape.layers < 1 or shape.heads < 1 or shape.hidden < 1 or shape.hidden % shape.heads:
            raise ModelFileError(f"{where} wants {shape.heads} heads in {shape.hidden} dimensions, which do not divide")
        return shape


def to_onnx(folder: Path, config: Mapping[str, Any], *, task: Task, pooling: str = "mean") -> bytes:
    """Return the ONNX model of a BERT-type folder.

    Inputs are `input_ids`, `attention_mask` and `token_type_ids`, int64 ``(batch, tokens)``.

    Parameters
    ----------
    folder : Path
        Holds `model.safetensors`; names with and without the prefix ``bert.`` are known.
    config : mapping
        Its `config.json`.
    task : {"encoder", "reranker"}
        An encoder gives `sentence_embedding` ``(batch, hidden)``: the token vectors pooled and scaled to length 1.
        A reranker (BertForSequenceClassification with one label) gives `logits` ``(batch, 1)``.
    pooling : {"mean", "cls"}
        Of an encoder: the mean over the mask, or the first token.

    Raises
    ------
    ModelFileError
        If the model is of another architecture, a weight is missing or has another shape, or there are several labels.
    """
    path = folder / "model.safetensors"
    shape = Shape.of(config, folder / "config.json")
    graph = _Graph(read_tensors(path), path)
    tokens = _bert(graph, shape)
    if task == "encoder":
        output, width = _pooled(graph, tokens, pooling), shape.hidden
    else:
        output, width = _classified(graph, tokens, shape), 1
    return graph.model(output, width)


def _bert(graph: _Graph, shape: Shape) -> str:
    """Token vectors ``(batch, tokens, hidden)``."""
    hidden, heads, size = shape.hidden, shape.heads, shape.hidden // shape.heads
    add = graph.add

    def normalised(x: str, name: str) -> str:
        scale, bias = graph.weight(f"{name}.weight", (hidden,)), graph.weight(f"{name}.bias", (hidden,))
        return add("LayerNormalization", x, scale, bias, axis=-1, epsilon=shape.epsilon)

    length = add("Shape", "input_ids", start=1, end=2)
    positions = graph.weight("embeddings.position_embeddings.weight", (None, hidden))
    x = add("Gather", graph.weight("embeddings.word_embeddings.weight", (None, hidden)), "input_ids")
    types = graph.weight("embeddings.token_type_embeddings.weight", (None, hidden))
    x = add("Add", x, add("Gather", types, "token_type_ids"))
    x = add("Add", x, add("Slice", positions, graph.integers([0]), length, graph.integers([0])))
    x = normalised(x, "embeddings.LayerNorm")

    seen = add("Unsqueeze", add("Cast", "attention_mask", to=FLOAT), graph.integers([1, 2]))
    mask = add("Mul", add("Sub", graph.number(1.0), seen), graph.number(MASKED))
    split, merged = graph.integers([0, 0, heads, size]), graph.integers([0, 0, hidden])

    def head(x: str, name: str, order: list[int]) -> str:
        return add("Transpose", add("Reshape", graph.dense(x, name, hidden, hidden), split), perm=order)

    for layer in range(shape.layers):
        here = f"encoder.layer.{layer}"
        query = head(x, f"{here}.attention.self.query", [0, 2, 1, 3])
        key = head(x, f"{here}.attention.self.key", [0, 2, 3, 1])
        value = head(x, f"{here}.attention.self.value", [0, 2, 1, 3])
        scores = add("Mul", add("MatMul", query, key), graph.number(1 / math.sqrt(size)))
        mixed = add("MatMul", add("Softmax", add("Add", scores, mask), axis=-1), value)
        mixed = add("Reshape", add("Transpose", mixed, perm=[0, 2, 1, 3]), merged)
        mixed = graph.dense(mixed, f"{here}.attention.output.dense", hidden, hidden)
        x = normalised(add("Add", mixed, x), f"{here}.attention.output.LayerNorm")
        inner = graph.dense(x, f"{here}.intermediate.dense", hidden, None)
        inner = graph.dense(_gelu(graph, inner), f"{here}.output.dense", None, hidden)
        x = normalised(add("Add", inner, x), f"{here}.output.LayerNorm")
    return x


def _gelu(graph: _Graph, x: str) -> str:
    """Exact GELU: x / 2 · (1 + erf(x / √2)), in the form that ONNX Runtime recognises."""
    erf = graph.add("Erf", graph.add("Div", x, graph.number(math.sqrt(2))))
    return graph.add("Mul", graph.add("Mul", x, graph.add("Add", erf, graph.number(1.0))), graph.number(0.5))


def _pooled(graph: _Graph, tokens: str, pooling: str) -> str:
    add = graph.add
    if pooling == "cls":
        mean = add("Gather", tokens, graph.index(0), axis=1)
    else:
        # A product with the mask (1, tokens) sums the tokens that it keeps.
        mask = add("Cast", "attention_mask", to=FLOAT)
        total = add("Squeeze", add("MatMul", add("Unsqueeze", mask, graph.integers([1])), tokens), graph.integers([1]))
        mean = add("Div", total, add("ReduceSum", mask, graph.integers([1]), keepdims=1))
    norm = add("ReduceL2", mean, axes=[1], keepdims=1)
    return add("Div", mean, add("Max", norm, graph.number(1e-12)), name="sentence_embedding")


def _classified(graph: _Graph, tokens: str, shape: Shape) -> str:
    first = graph.add("Gather", tokens, graph.index(0), axis=1)
    pooled = graph.add("Tanh", graph.dense(first, "pooler.dense", shape.hidden, shape.hidden))
    labels = graph.shape_of("classifier.weight")
    if labels != (1, shape.hidden):
        raise ModelFileError(
            f"classifier.weight of {graph.path} has shape {labels}, wanted (1, {shape.hidden}): "
            "a reranker has one label"
        )
    return graph.dense(pooled, "classifier", shape.hidden, 1, output="logits")


class _Graph:
    """Nodes and weights as they are written, in order."""

    def __init__(self, tensors: dict[str, np.ndarray], path: Path) -> None:
        self.path = path
        self._tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
        self._nodes: protobuf.Chunks = []
        self._weights: protobuf.Chunks = []
        self._constants: dict[str, str] = {}
        self._count = 0

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Append a node with one output and return the output's name."""
        self._count += 1
        name = name or f"{operator}_{self._count}"
        node = [chunk for value in inputs for chunk in protobuf.text(1, value)]
        node += protobuf.text(2, name) + protobuf.text(3, name) + protobuf.text(4, operator)
        for key, value in sorted(attributes.items()):
            node += protobuf.message(5, _attribute(key, value))
        self._nodes += protobuf.message(1, node)
        return name

    def dense(self, x: str, name: str, inputs: int | None, outputs: int | None, *, output: str | None = None) -> str:
        """Append x · Wᵀ + b; the weight is transposed here, once, not in every run."""
        weight = self.weight(f"{name}.weight", (outputs, inputs), transposed=True)
        bias = self.weight(f"{name}.bias", (outputs,))
        return self.add("Add", self.add("MatMul", x, weight), bias, name=output)

    def shape_of(self, name: str) -> tuple[int, ...]:
        if name not in self._tensors:
            raise ModelFileError(f"{self.path} has no tensor {name!r}, which a model of its kind needs")
        return self._tensors[name].shape

    def weight(self, name: str, shape: tuple[int | None, ...], *, transposed: bool = False) -> str:
        """Append a weight of the file; None in `shape` is any size."""
        found = self.shape_of(name)
        tensor = self._tensors[name]
        fits = len(found) == len(shape) and all(want in (None, got) for want, got in zip(shape, found, strict=True))
        if not fits or tensor.dtype != np.float32:
            raise ModelFileError(
                f"tensor {name!r} of {self.path} has shape {found} and type {tensor.dtype}, "
                f"wanted floating-point numbers of shape {shape} (None: any) as config.json says"
            )
        return self._initializer(name, tensor.T if transposed else tensor, FLOAT)

    def number(self, value: float) -> str:
        return self._constant(f"number_{value!r}", np.float32(value), FLOAT)

    def integers(self, values: list[int]) -> str:
        return self._constant("integers_" + "_".join(map(str, values)), np.array(values, "<i8"), INT64)

    def index(self, value: int) -> str:
        return self._constant(f"index_{value}", np.int64(value), INT64)

    def _constant(self, name: str, value: Any, kind: int) -> str:
        if name not in self._constants:
            self._constants[name] = self._initializer(name, np.asarray(value), kind)
        return name

    def _initializer(self, name: str, array: np.ndarray, kind: int) -> str:
        tensor = [chunk for size in array.shape for chunk in protobuf.integer(1, size)]
        raw = np.ascontiguousarray(array, dtype="<f4" if kind == FLOAT else "<i8").reshape(-1).view(np.uint8).data
        tensor += protobuf.integer(2, kind) + protobuf.text(8, name) + protobuf.message(9, [raw])
        self._weights += protobuf.message(5, tensor)
        return name

    def model(self, output: str, width: int) -> bytes:
        """Return the bytes of the ModelProto."""
        graph = self._nodes + protobuf.text(2, "bert") + self._weights
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            graph += protobuf.message(11, _value(name, INT64, ["batch", "tokens"]))
        graph += protobuf.message(12, _value(output, FLOAT, ["batch", width]))
        model = protobuf.integer(1, IR_VERSION) + protobuf.text(2, "pincite") + protobuf.message(7, graph)
        model += protobuf.message(8, protobuf.integer(2, OPSET))
        size = sum(map(len, model))
        if size > LARGEST:
            raise ModelFileError(f"{self.path} makes a graph of {size} bytes; one file can hold {LARGEST}")
        return b"".join(model)


def _attribute(name: str, value: Any) -> protobuf.Chunks:
    field, kind = ATTRIBUTE_KINDS[type(value)]
    chunks = protobuf.text(1, name)
    if isinstance(value, float):
        chunks += [bytes([field << 3 | protobuf.FIXED32]), np.float32(value).astype("<f4").tobytes()]
    else:
        for number in value if isinstance(value, list) else [value]:
            chunks += protobuf.integer(field, number)
    return chunks + protobuf.integer(20, kind)


def _value(name: str, kind: int, shape: list[Any]) -> protobuf.Chunks:
    """A ValueInfoProto: a str in `shape` is a size known only at run time."""
    sizes: protobuf.Chunks = []
    for size in shape:
        sizes += protobuf.message(1, protobuf.text(2, size) if isinstance(size, str) else protobuf.integer(1, size))
    tensor = protobuf.integer(1, kind) + protobuf.message(2, sizes)
    return protobuf.text(1, name) + protobuf.message(2, protobuf.message(1, tensor))
