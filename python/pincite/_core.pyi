"""The C++ core, as Python sees it. Private: the modules of `pincite.core` are its only importers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pincite.core.arrays import ByteArray, FloatArray, IdArray, RowFilter

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
def write_envelope(path: str, *, kind: str, sections: Sequence[tuple[str, ByteArray]], stamp: bytes) -> None: ...

class Envelope:
    @staticmethod
    def open(path: str, *, kind: str, verify: bool) -> Envelope: ...
    @property
    def stamp(self) -> bytes: ...
    def names(self) -> list[str]: ...
    def section(self, name: str, *, unit: int = 1) -> ByteArray: ...

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
class BM25Builder:
    def __init__(self, *, analyzer: str, n_fields: int) -> None: ...
    def add(self, columns: Sequence[Iterable[str]], *, first: int) -> None: ...
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
        allowed: RowFilter,
        operators: bool,
        stems: Mapping[str, str],
        exhaustive: bool = False,
    ) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
    def search_batch(
        self,
        queries: Iterable[str],
        *,
        k: int,
        allowed: RowFilter,
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
    def load(path: str, *, verify: bool) -> BM25Index: ...
    def save(self, path: str) -> None: ...
    def view(self, *, visible: RowFilter) -> BM25View: ...
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

# bm25_collection
class BM25Collection:
    def __init__(self, parts: Sequence[BM25View]) -> None: ...
    def search(
        self,
        query: str,
        *,
        k: int,
        allowed: Sequence[RowFilter],
        operators: bool,
        stems: Mapping[str, str],
        exhaustive: bool = False,
    ) -> list[tuple[IdArray, npt.NDArray[np.float64]]]: ...
    def document_frequency(self, text: str, *, stems: Mapping[str, str]) -> int: ...
    def unknown_words(self, query: str, *, operators: bool) -> list[str]: ...
    def __len__(self) -> int: ...

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
        allowed: RowFilter,
        threads: int,
        normalize: bool,
        min_score: float,
    ) -> tuple[IdArray, FloatArray]: ...
    def search_batch(
        self,
        queries: FloatArray,
        *,
        k: int,
        allowed: RowFilter,
        threads: int,
        normalize: bool,
        min_score: float,
    ) -> tuple[IdArray, FloatArray, IdArray]: ...
    def __len__(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def storage(self) -> str: ...
    @property
    def vectors(self) -> FloatArray: ...

# hnsw
class HnswIndex:
    @staticmethod
    def build(
        vectors: FloatArray, *, m: int, ef_construction: int, seed: int, threads: int, normalize: bool
    ) -> HnswIndex: ...
    @staticmethod
    def over(flat: FlatIndex, *, m: int, ef_construction: int, seed: int, threads: int) -> HnswIndex: ...
    @staticmethod
    def load(path: str, *, verify: bool) -> HnswIndex: ...
    def save(self, path: str) -> None: ...
    @staticmethod
    def load_graph(path: str, flat: FlatIndex, *, verify: bool) -> HnswIndex: ...
    def save_graph(self, path: str) -> None: ...
    def search(
        self, query: FloatArray, *, k: int, ef: int, allowed: RowFilter, normalize: bool
    ) -> tuple[IdArray, FloatArray]: ...
    def search_batch(
        self,
        queries: FloatArray,
        *,
        k: int,
        ef: int,
        allowed: RowFilter,
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
    def vectors(self) -> FloatArray: ...
    @property
    def m(self) -> int: ...
    @property
    def repairs(self) -> int: ...

# fusion
def reciprocal_rank_fusion(
    lists: Sequence[IdArray], k: float, weights: Sequence[float], limit: int, /
) -> tuple[IdArray, npt.NDArray[np.float64]]: ...
