"""The C++ core, as Python sees it. Private: the modules of `pincite.core` are its only importers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.int64]
_RowFilter = npt.NDArray[np.bool_] | IdArray | None

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

# bm25
class BM25Builder:
    def __init__(self, *, analyzer: str, n_fields: int) -> None: ...
    def add(self, columns: Sequence[Iterable[str]]) -> None: ...
    def words(self) -> list[str]: ...
    def finish(
        self,
        *,
        analyzer: str,
        k1: float,
        b: float,
        fields: Sequence[tuple[str, float]],
        stemmer: str,
        stems: Iterable[str],
    ) -> BM25Index: ...

class BM25View:
    def search(
        self,
        query: str,
        *,
        k: int,
        allowed: _RowFilter,
        operators: bool,
        stems: Mapping[str, str],
        exhaustive: bool = False,
    ) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
    def search_batch(
        self,
        queries: Iterable[str],
        *,
        k: int,
        allowed: _RowFilter,
        operators: bool,
        stems: Mapping[str, str],
        threads: int,
    ) -> tuple[IdArray, npt.NDArray[np.float64], IdArray]: ...
    def explain(
        self, query: str, id: int, *, operators: bool, stems: Mapping[str, str]
    ) -> list[tuple[str, int, list[int], int, float, float, list[list[int]]]]: ...
    def __len__(self) -> int: ...

class BM25Index:
    @staticmethod
    def load(path: str) -> BM25Index: ...
    def save(self, path: str) -> None: ...
    def view(self, *, visible: _RowFilter) -> BM25View: ...
    def unknown_words(self, query: str, *, operators: bool) -> list[str]: ...
    def __len__(self) -> int: ...
    @property
    def n_terms(self) -> int: ...
    @property
    def analyzer(self) -> str: ...
    @property
    def k1(self) -> float: ...
    @property
    def b(self) -> float: ...
    @property
    def stemmer(self) -> str: ...
    @property
    def fields(self) -> list[tuple[str, float]]: ...

def check_bm25_params(*, analyzer: str, k1: float, b: float, fields: Sequence[tuple[str, float]]) -> None: ...
def bm25_highlights(
    text: str, query: str, *, analyzer: str, operators: bool, stems: Mapping[str, str] | None
) -> list[tuple[int, int]]: ...
def bm25_words(text: str, query: str, *, analyzer: str, operators: bool) -> list[str]: ...

# flat

# hnsw

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], *, k: float, weights: Sequence[float], limit: int
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
