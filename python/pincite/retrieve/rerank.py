"""A cross-encoder's order, and how it joins the hybrid one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pincite.core.arrays import as_vectors
from pincite.core.fusion import rrf
from pincite.errors import InvalidInputError
from pincite.retrieve.result import RerankOrder
from pincite.store.snapshot import RowKey
from pincite.types import TextReranker

__all__ = ["FUSION_K", "rerank"]

FUSION_K = 10
"""Of the sum of 1 / (10 + rank) over the two orders: the constant of the bundled reranker's card, where the fusion cost
nothing on scientific abstracts that the pure order hurts, and kept about half of what it gains on questions."""


class Contents(Protocol):
    """What chunks quote: a `Snapshot`, for instance."""

    def content(self, key: RowKey, /) -> str:
        """Return what a chunk quotes."""


def rerank(
    chunks: Contents, reranker: TextReranker, question: str, keys: Sequence[RowKey], *, order: RerankOrder
) -> tuple[dict[RowKey, float], int]:
    """Judge some candidates, which come in hybrid order.

    Returns
    -------
    logits : dict of RowKey to float
        In the order wanted; equal logits keep the hybrid order.
    truncated_tokens : int
        Word pieces of passages that the reranker's window cut off.

    Raises
    ------
    InvalidInputError
        If the reranker did not return one finite number a passage.
    """
    scored = reranker.score_batch(question, [chunks.content(key) for key in keys])
    logits = as_vectors(scored.scores, name="what the reranker returned", ndim=1)
    odd = np.count_nonzero(~np.isfinite(logits))
    if odd or len(logits) != len(keys):
        raise InvalidInputError(
            f"the reranker returned {len(logits)} scores, {odd} of them no finite number, for {len(keys)} passages, "
            "wanted one finite number a passage"
        )
    pure = np.argsort(-logits, kind="stable")
    if order == "fused":
        chosen, _ = rrf([np.arange(len(keys)), pure], k=FUSION_K)
    else:
        chosen = pure
    return {keys[place]: float(logits[place]) for place in chosen.tolist()}, int(scored.truncated_tokens.sum())
