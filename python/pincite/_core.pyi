"""The C++ core, as Python sees it. Private: the modules of `pincite.core` are its only importers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pincite.core.arrays import FloatArray, IdArray

__version__: str

# kernels
def available_kernels() -> list[str]: ...
def default_kernel() -> str: ...
def dot(a: FloatArray, b: FloatArray, *, kernel: str = "") -> float: ...

# envelope
def write_envelope(path: str, *, kind: str, sections: Sequence[tuple[str, bytes]], stamp: bytes) -> None: ...
def read_envelope(path: str, *, kind: str, verify: bool = True) -> tuple[bytes, dict[str, bytes]]: ...

# text
def analyze(
    text: str, *, analyzer: str, query: bool
) -> tuple[
    list[str],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.bool_],
]: ...
def word_boundaries(text: str) -> npt.NDArray[np.uint32]: ...
def unicode_properties(
    text: str,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]: ...
def normalize_nfkc(text: str) -> str: ...
def fold_case(text: str) -> str: ...
def fold_term(text: str) -> str: ...

# chunking
def chunk_blind(text: str, *, target: int, overlap: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
def chunk_sections(
    text: str, *, target: int, overlap: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...

# structural

# bm25

# flat

# hnsw

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], *, k: float, weights: Sequence[float], limit: int
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
