"""Pincite: retrieval that shows where the answer is written."""

from pincite import errors
from pincite._core import __version__
from pincite.core.fusion import rrf
from pincite.core.text import tokenize
from pincite.errors import PinciteError
from pincite.types import Token

__all__ = ["PinciteError", "Token", "__version__", "errors", "rrf", "tokenize"]
