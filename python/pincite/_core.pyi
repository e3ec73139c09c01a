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
class FlatIndex:
    @staticmethod
    def build(vectors: FloatArray, *, normalize: bool, storage: str) -> FlatIndex: ...
    @staticmethod
    def load(path: str, *, verify: bool) -> FlatIndex: ...
    def save(self, path: str) -> None: ...
    def search(
        self,
        query: FloatArray,
        *,
        k: int,
        allowed: npt.NDArray[np.bool_] | IdArray | None,
        threads: int,
        normalize: bool,
    ) -> tuple[IdArray, FloatArray]: ...
    def search_batch(
        self,
        queries: FloatArray,
        *,
        k: int,
        allowed: npt.NDArray[np.bool_] | IdArray | None,
        threads: int,
        normalize: bool,
    ) -> tuple[IdArray, FloatArray, IdArray]: ...
    def __len__(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def storage(self) -> str: ...
    @property
    def vectors(self) -> FloatArray: ...

# hnsw

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], *, k: float, weights: Sequence[float], limit: int
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
