"""A BERT of random weights, small enough to be written, exported and run in milliseconds."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HIDDEN, HEADS, LAYERS, INNER, POSITIONS, WINDOW = 32, 4, 2, 64, 64, 24
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = """
a the cat dog sat on mat moon is made of cheese who what where é ##s ##ing ##er sleep walk talk ? . , 猫
"""
VOCABULARY = SPECIAL + WORDS.split()

TEXTS = [
    "the cat sat on the mat",
    "a dog",
    "",
    "the moon is made of cheese, who sleeps on the moon?",
    "cats walking the talker. " * 4,
    "where is the cat?",
]


def config(**changes) -> dict:
    return {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS,
        "vocab_size": len(VOCABULARY),
        "layer_norm_eps": 1e-12,
        **changes,
    }


def weights(seed: int = 0, *, labels: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": normal(len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": normal(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": normal(2, HIDDEN),
    }
    sizes = {
        "attention.self.query": (HIDDEN, HIDDEN),
        "attention.self.key": (HIDDEN, HIDDEN),
        "attention.self.value": (HIDDEN, HIDDEN),
        "attention.output.dense": (HIDDEN, HIDDEN),
        "intermediate.dense": (INNER, HIDDEN),
        "output.dense": (HIDDEN, INNER),
    }
    dense = {f"encoder.layer.{layer}.{name}": size for layer in range(LAYERS) for name, size in sizes.items()}
    dense["pooler.dense"] = (HIDDEN, HIDDEN)
    if labels:
        dense["classifier"] = (labels, HIDDEN)
    for name, (outputs, inputs) in dense.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = normal(outputs, inputs), normal(outputs)
    norms = [f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in ("attention.output", "output")]
    for name in ("embeddings", *norms):
        found[f"{name}.LayerNorm.weight"], found[f"{name}.LayerNorm.bias"] = 1 + normal(HIDDEN), normal(HIDDEN)
    return found


def save_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> None:
    header, data = {"__metadata__": {"format": "pt"}}, b""
    names = {"float32": "F32", "float16": "F16", "int64": "I64", "uint16": "BF16"}
    for name, tensor in tensors.items():
        start, data = len(data), data + tensor.tobytes()
        header[name] = {"dtype": names[tensor.dtype.name], "shape": tensor.shape, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save_tokenizer(path: Path) -> None:
    vocabulary = {word: index for index, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(SPECIAL)
    # What published files do, and what must be overridden.
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(path))


def save_encoder(folder: Path, *, seed: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    save_safetensors(folder / "model.safetensors", weights(seed))
    (folder / "config.json").write_text(json.dumps(config()), encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": WINDOW}), encoding="utf-8")
    save_tokenizer(folder / "tokenizer.json")
    return folder


def save_reranker(folder: Path, *, seed: int = 1, labels: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name if "classifier" in name else f"bert.{name}": w for name, w in weights(seed, labels=labels).items()}
    save_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config()), encoding="utf-8")
    save_tokenizer(folder / "tokenizer.json")
    return folder
