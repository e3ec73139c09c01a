"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.bm25 import BM25Index
from pincite.core.chunking import chunk
from pincite.core.flat import FlatIndex, SearchBatch
from pincite.core.fusion import rrf
from pincite.core.hnsw import HnswIndex
from pincite.core.text import tokenize
from pincite.errors import PinciteError
from pincite.types import Chunk, Token

__all__ = [
    "BM25Index",
    "Chunk",
    "FlatIndex",
    "HnswIndex",
    "PinciteError",
    "SearchBatch",
    "Token",
    "__version__",
    "chunk",
    "errors",
    "rrf",
    "tokenize",
]
