"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.chunking import chunk
from pincite.core.fusion import rrf
from pincite.errors import PinciteError
from pincite.types import Chunk

__all__ = ["Chunk", "PinciteError", "__version__", "chunk", "errors", "rrf"]
