"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.flat import FlatIndex, SearchBatch
from pincite.core.fusion import rrf
from pincite.errors import PinciteError

__all__ = ["FlatIndex", "PinciteError", "SearchBatch", "__version__", "errors", "rrf"]
