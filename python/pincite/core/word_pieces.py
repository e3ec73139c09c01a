"""How a chunker counts in an encoder's word pieces without knowing any encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pincite.core.arrays import as_ids
from pincite.errors import InvalidInputError

__all__ = ["SPECIAL_TOKENS", "PieceEnds", "piece_ends_of"]

PieceEnds = Callable[[str], Sequence[int]]

SPECIAL_TOKENS = 2
"""What BERT's encoders add to every text: [CLS] and [SEP]."""


def piece_ends_of(word_pieces: Any) -> PieceEnds:
    """Return the function that gives the ends of a string's word pieces, in code points, ascending.

    Parameters
    ----------
    word_pieces : callable or tokenizer
        That function itself, or an object like ``tokenizers.Tokenizer``. If the tokenizer truncates or pads, a
        copy that does neither is used, which costs a parse of its vocabulary; the object is never changed.

    Raises
    ------
    InvalidInputError
        If it is neither; later, if what it returns is no sequence of ends within the string.
    """
    if isinstance(word_pieces, str) or not (callable(word_pieces) or hasattr(word_pieces, "encode")):
        raise InvalidInputError(
            f"word_pieces is of type {type(word_pieces).__name__}, wanted a function from a string to the ends of its "
            "word pieces, or a tokenizer with encode()"
        )
    find = _ends_by_tokenizer(word_pieces) if hasattr(word_pieces, "encode") else word_pieces

    def ends(string: str) -> Sequence[int]:
        # An empty string has no pieces, whatever a callable makes of it.
        return _checked(find(string), string) if string else ()

    return ends


def _ends_by_tokenizer(tokenizer: Any) -> PieceEnds:
    if getattr(tokenizer, "truncation", None) is not None or getattr(tokenizer, "padding", None) is not None:
        tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
    return lambda string: [end for _, end in tokenizer.encode(string, add_special_tokens=False).offsets]


def _checked(ends: Any, string: str) -> Sequence[int]:
    if not isinstance(ends, (Sequence, np.ndarray)) or isinstance(ends, (str, bytes)):
        raise InvalidInputError(
            f"word_pieces returned a {type(ends).__name__}, wanted a sequence of int: the ends of the pieces"
        )
    array = as_ids(ends, name="what word_pieces returned")
    if array.size and not 0 <= int(array.min()) <= int(array.max()) <= len(string):
        raise InvalidInputError(
            f"word_pieces returned ends from {array.min()} to {array.max()} for a string of {len(string)} code points, "
            f"wanted 0 to {len(string)}; do its offsets count bytes?"
        )
    found: list[int] = array.tolist()
    return found
