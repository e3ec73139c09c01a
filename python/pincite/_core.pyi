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
def dot_rows(query: FloatArray, rows: FloatArray, *, kernel: str = "") -> FloatArray: ...
def dot_rows_f16(query: FloatArray, rows: npt.NDArray[np.uint16], *, kernel: str = "") -> FloatArray: ...
def dot_rows_i8(
    query: npt.NDArray[np.int8], rows: npt.NDArray[np.int8], *, kernel: str = ""
) -> npt.NDArray[np.int32]: ...
def half_bits(values: FloatArray) -> npt.NDArray[np.uint16]: ...

# envelope
def write_envelope(path: str, *, kind: str, sections: Sequence[tuple[str, bytes]], stamp: bytes) -> None: ...
def read_envelope(path: str, *, kind: str, verify: bool = True) -> tuple[bytes, dict[str, bytes]]: ...

# text

# chunking

# structural

# bm25

# flat

# hnsw
class HnswIndex:
    @staticmethod
    def build(
        vectors: FloatArray, *, m: int, ef_construction: int, seed: int, threads: int, normalize: bool
    ) -> HnswIndex: ...
    @staticmethod
    def load(path: str, *, verify: bool) -> HnswIndex: ...
    def save(self, path: str) -> None: ...
    def search(
        self,
        queries: FloatArray,
        *,
        k: int,
        ef: int,
        allowed: npt.NDArray[np.bool_] | IdArray | None,
        threads: int,
        normalize: bool,
        path: str,
    ) -> tuple[IdArray, FloatArray, IdArray, npt.NDArray[np.bool_], IdArray]: ...
    def graph(
        self,
    ) -> tuple[
        int,
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint32],
    ]: ...
    def __len__(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def repairs(self) -> int: ...

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], *, k: float, weights: Sequence[float], limit: int
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
