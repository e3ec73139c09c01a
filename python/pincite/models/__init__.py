"""Encoder and reranker: ONNX Runtime and tokenizers, loaded at first use."""
