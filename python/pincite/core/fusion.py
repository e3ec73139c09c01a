"""Reciprocal rank fusion: one ranking out of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pincite import _core
from pincite.core.arguments import integer, listed, number
from pincite.core.arrays import IdArray, as_ids
from pincite.errors import InvalidInputError

__all__ = ["rrf"]


def rrf(
    lists: Sequence[npt.ArrayLike],
    *,
    k: float = 60.0,
    weights: Sequence[float] | None = None,
    limit: int | None = None,
) -> tuple[IdArray, npt.NDArray[np.float64]]:
    """Fuse ranked lists by reciprocal rank.

    The score of an id is the sum over the lists that hold it of ``weight / (k + rank)``, with ranks from 1. An
    id that a list repeats counts once there, at its best rank. Equal scores are ordered by id. -1 is no id but what
    `search_batch` pads its rows with: it is passed over, so rows of a batch can be fused as they are.

    Parameters
    ----------
    lists : sequence of (n,) integer arrays
        Ids, best first. Lists may be empty and of different lengths.
    k : float, default 60
        How much the first ranks stand out: the smaller, the more. 60 is the value of the paper.
    weights : sequence of float, optional
        One non-negative weight a list; 1 each by default.
    limit : int, optional
        Return at most this many ids.

    Returns
    -------
    ids : (m,) int64 array
    scores : (m,) float64 array
        Best first.

    Raises
    ------
    InvalidInputError
        If a list holds no integers, `k` or a weight is negative or not finite, or `weights` has another length.

    References
    ----------
    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009.

    Examples
    --------
    >>> import pincite
    >>> ids, scores = pincite.rrf([[7, 3, 5], [3, 9]])
    >>> ids.tolist()
    [3, 7, 9, 5]
    """
    most = 0 if limit is None else integer(limit, "limit", at_least=1)
    arrays = [as_ids(ids, name=f"list {i}") for i, ids in enumerate(listed(lists, "lists"))]
    checked = [] if weights is None else [number(w, f"weight {i}") for i, w in enumerate(listed(weights, "weights"))]
    if weights is not None and len(checked) != len(arrays):
        raise InvalidInputError(
            f"{len(checked)} weights given for {len(arrays)} lists; give one weight a list, or none"
        )
    return _core.reciprocal_rank_fusion(arrays, number(k, "k"), checked, most)
