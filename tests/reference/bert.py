"""BERT's forward pass in plain numpy, float64, one text at a time: no batch, no padding, no mask.

Devlin et al. 2019 (https://arxiv.org/abs/1810.04805); the exact GELU; post-layer normalisation.
"""

from __future__ import annotations

import math

import numpy as np

Weights = dict[str, np.ndarray]


def linear(x: np.ndarray, weights: Weights, name: str) -> np.ndarray:
    return x @ weights[f"{name}.weight"].astype(np.float64).T + weights[f"{name}.bias"]


def layer_norm(x: np.ndarray, weights: Weights, name: str, epsilon: float = 1e-12) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def token_vectors(weights: Weights, ids: list[int], types: list[int], *, layers: int, heads: int) -> np.ndarray:
    """(tokens, hidden)"""
    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + weights["embeddings.token_type_embeddings.weight"][types]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    size = x.shape[1] // heads
    for layer in range(layers):
        here = f"encoder.layer.{layer}"
        query, key, value = (linear(x, weights, f"{here}.attention.self.{part}") for part in ("query", "key", "value"))
        mixed = np.empty_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            mixed[:, part] = softmax(query[:, part] @ key[:, part].T / math.sqrt(size)) @ value[:, part]
        mixed = linear(mixed, weights, f"{here}.attention.output.dense")
        x = layer_norm(mixed + x, weights, f"{here}.attention.output.LayerNorm")
        inner = linear(gelu(linear(x, weights, f"{here}.intermediate.dense")), weights, f"{here}.output.dense")
        x = layer_norm(inner + x, weights, f"{here}.output.LayerNorm")
    return x


def sentence_vector(weights: Weights, ids: list[int], *, layers: int, heads: int, pooling: str = "mean") -> np.ndarray:
    x = token_vectors(weights, ids, [0] * len(ids), layers=layers, heads=heads)
    pooled = x.mean(axis=0) if pooling == "mean" else x[0]
    return pooled / np.linalg.norm(pooled)


def logit(weights: Weights, ids: list[int], types: list[int], *, layers: int, heads: int) -> float:
    first = token_vectors(weights, ids, types, layers=layers, heads=heads)[:1]
    return float(linear(np.tanh(linear(first, weights, "pooler.dense")), weights, "classifier")[0, 0])
