"""Reciprocal rank fusion against its pure-Python twin."""

from __future__ import annotations

import numpy as np
from harness import Row, compare, print_table
from reference.fusion import rrf as reference_rrf

import pincite


def rows() -> list[Row]:
    random = np.random.default_rng(7)
    out = []
    for n_lists, length in ((2, 50), (4, 1000)):
        arrays = [random.permutation(length * 2)[:length] for _ in range(n_lists)]
        lists = [array.tolist() for array in arrays]
        ids, scores = pincite.rrf(arrays)
        expected_ids, expected_scores = reference_rrf(lists)
        same = ids.tolist() == expected_ids and scores.tolist() == expected_scores
        out.append(
            compare(
                "rrf",
                f"{n_lists} lists of {length}",
                lambda arrays=arrays: pincite.rrf(arrays),
                lambda lists=lists: reference_rrf(lists),
                agreement="ids and scores equal" if same else "DIFFERS",
                repeats=9,
                inner=50,
                other_inner=5,
            )
        )
    return out


if __name__ == "__main__":
    print_table(rows())
