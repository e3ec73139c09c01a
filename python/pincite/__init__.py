"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.bm25 import BM25Batch, BM25Index, BM25Term, BM25View
from pincite.core.chunking import chunk
from pincite.core.flat import FlatIndex, SearchBatch
from pincite.core.fusion import rrf
from pincite.core.highlights import highlights
from pincite.core.hnsw import HnswBatch, HnswIndex
from pincite.core.text import tokenize
from pincite.errors import PinciteError
from pincite.types import Chunk, Token

__all__ = [
    "BM25Batch",
    "BM25Index",
    "BM25Term",
    "BM25View",
    "Chunk",
    "FlatIndex",
    "HnswBatch",
    "HnswIndex",
    "PinciteError",
    "SearchBatch",
    "Token",
    "__version__",
    "chunk",
    "errors",
    "highlights",
    "rrf",
    "tokenize",
]
