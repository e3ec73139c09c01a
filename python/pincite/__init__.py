"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.fusion import rrf
from pincite.core.hnsw import HnswIndex
from pincite.errors import PinciteError

__all__ = ["HnswIndex", "PinciteError", "__version__", "errors", "rrf"]
