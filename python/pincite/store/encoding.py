"""Vectors of an encoder, which may be anybody's, looked at before anything is built on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pincite.core.arrays import FloatArray, as_vectors
from pincite.errors import InvalidInputError
from pincite.types import EncodedTexts, TextEncoder

__all__ = ["encoded"]

NORM_TOLERANCE = 1e-3
"""As in the core: a vector that misses norm 1 by more was not normalised."""


def encoded(
    encoder: TextEncoder, texts: Sequence[str], *, of: str, progress: Callable[[int], None] | None = None
) -> tuple[FloatArray, EncodedTexts]:
    """Return the vectors that an encoder makes of texts, and all that it says; `of` tells in errors whose they are.

    Raises
    ------
    InvalidInputError
        If it did not return one vector a text, of its own dimension and of norm 1.
    """
    found = encoder.encode_batch(texts, progress=progress)
    vectors = as_vectors(found.vectors, name=f"what the encoder returned for {of}")
    if vectors.shape != (len(texts), encoder.dim):
        raise InvalidInputError(
            f"the encoder returned {len(vectors)} vectors of {vectors.shape[1]} dimensions for {len(texts)} texts of "
            f"{of}, wanted one a text, of {encoder.dim}"
        )
    # A component that is no finite number makes a norm that is none either, and no comparison holds for a NaN.
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1) <= NORM_TOLERANCE))
    if len(bad):
        raise InvalidInputError(
            f"the encoder returned a vector of norm {norms[bad[0]]:.6g} for text {bad[0]} of {of}, wanted finite "
            f"numbers of norm 1 within {NORM_TOLERANCE}"
        )
    return vectors, found
