"""How a chunker counts in an encoder's word pieces without knowing any encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
        If it is neither.
    """
    if hasattr(word_pieces, "encode"):
        tokenizer = word_pieces
        if getattr(tokenizer, "truncation", None) is not None or getattr(tokenizer, "padding", None) is not None:
            tokenizer = type(tokenizer).from_str(tokenizer.to_str())
            tokenizer.no_truncation()
            tokenizer.no_padding()
        return lambda string: [end for _, end in tokenizer.encode(string, add_special_tokens=False).offsets]
    if callable(word_pieces):
        ends: PieceEnds = word_pieces
        return ends
    raise InvalidInputError(
        f"word_pieces is of type {type(word_pieces).__name__}, wanted a function from a string to the ends of its "
        "word pieces, or a tokenizer with encode()"
    )
