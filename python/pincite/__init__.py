"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.bm25 import BM25Index
from pincite.core.fusion import rrf
from pincite.errors import PinciteError

__all__ = ["BM25Index", "PinciteError", "__version__", "errors", "rrf"]
