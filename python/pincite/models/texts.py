"""Texts into the tokens of a BERT, with nothing cut, padded or lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from pincite.errors import InvalidInputError, ModelFileError

__all__ = ["Tokens", "Truncation", "checked_text", "checked_texts", "checked_truncation", "short_batches"]

Truncation = Literal["warn", "allow", "error"]

PADDED_TOKENS = 512
"""Of one batch. Small batches of like lengths are the fastest on a CPU; bench/bench_encoder.py measures it."""


class Tokens:
    """The tokenizer of a model. Texts are encoded one by one, so its thread pool never starts and forks are safe."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise ModelFileError(f"cannot use the tokenizer {path}: {error}") from error
        # Published files cut and pad to lengths of their own (all-MiniLM-L6-v2: to 128).
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer: Any = tokenizer
        around = tokenizer.encode("").ids
        if len(around) != 2 or tokenizer.num_special_tokens_to_add(is_pair=False) != 2:
            raise ModelFileError(
                f"{path} puts {len(around)} special tokens around a text, wanted BERT's two: [CLS] text [SEP]"
            )
        self.first, self.last = around
        unknown = getattr(tokenizer.model, "unk_token", None)
        found = None if unknown is None else tokenizer.token_to_id(unknown)
        self.unknown: int = -1 if found is None else found

    def ids(self, text: str) -> list[int]:
        """Return the word pieces of a text, without special tokens, however many."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def ends(self, text: str) -> list[int]:
        """Return where the word pieces end, in code points."""
        return [end for _, end in self._tokenizer.encode(text, add_special_tokens=False).offsets]


def checked_text(text: Any, name: str) -> str:
    """Return a str that has a UTF-8 form.

    Raises
    ------
    InvalidInputError
        If it is none, or holds a lone surrogate.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"{name} is of type {type(text).__name__}, wanted str")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"{name} holds a lone surrogate at code point {error.start}, which no tokenizer can read; "
                "decode the source with errors='replace'"
            ) from None
    return text


def checked_texts(texts: Any, name: str) -> list[str]:
    """Return several texts as a list.

    Raises
    ------
    InvalidInputError
        If they are one str, no iterable, or not all str with a UTF-8 form.
    """
    if isinstance(texts, (str, bytes)):
        raise InvalidInputError(f"{name} is one {type(texts).__name__}, wanted several in a list")
    try:
        found = list(texts)
    except TypeError:
        raise InvalidInputError(f"{name} is of type {type(texts).__name__}, wanted a sequence of str") from None
    return [checked_text(text, f"{name}[{index}]") for index, text in enumerate(found)]


def checked_truncation(truncation: Any) -> None:
    """Check the argument.

    Raises
    ------
    InvalidInputError
        If it is none of `Truncation`.
    """
    if truncation not in get_args(Truncation):
        raise InvalidInputError(f"truncation is {truncation!r}, wanted one of {', '.join(get_args(Truncation))}")


def short_batches(lengths: list[int], *, limit: int = PADDED_TOKENS) -> list[list[int]]:
    """Return rows in batches of like lengths, longest first, of at most `limit` tokens with padding (or one row)."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: (-lengths[row], row)):
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= limit:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches
