"""The C++ core, as Python sees it. Private: the modules of `pincite.core` are its only importers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.int64]

__version__: str

# kernels
def available_kernels() -> list[str]: ...
def default_kernel() -> str: ...
def dot(a: FloatArray, b: FloatArray, *, kernel: str = "") -> float: ...

# envelope
def write_envelope(path: str, *, kind: str, sections: Sequence[tuple[str, bytes]], stamp: bytes) -> None: ...
def read_envelope(path: str, *, kind: str, verify: bool = True) -> tuple[bytes, dict[str, bytes]]: ...

# text

# chunking

# structural
def pack_structural(
    text: str,
    *,
    sections: IdArray,
    cuts: IdArray,
    prose: IdArray,
    atoms: IdArray,
    target: int,
    overlap: int,
    piece_ends: IdArray,
    budgets: IdArray,
) -> IdArray: ...
def sentence_ends(text: str) -> IdArray: ...

# bm25

# flat

# hnsw

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], *, k: float, weights: Sequence[float], limit: int
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
