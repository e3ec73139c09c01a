"""How an index is built. A leaf."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from pincite.errors import InvalidInputError

__all__ = ["DEFAULT_ENCODER", "DEFAULT_MAX_DISTANCE", "IndexConfig"]

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
DEFAULT_MAX_DISTANCE = 0.675
"""Cosine distance beyond which a passage does not answer, for the default encoder: between the 20 answerable and the
20 far-domain questions that it was set on. `pincite.evaluate` measures it for other documents."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How documents become an index. Chosen once, when the index is made.

    Attributes
    ----------
    strategy : str, default "structural"
        How documents are cut: see `pincite.chunk`.
    target : int, default 512
        The size that chunks are filled up to, in code points.
    overlap : int or None
        What is embedded of the preceding chunk, in code points; None: as `pincite.chunk` has it.
    analyzer : str, default "unicode"
        How text becomes terms: see `pincite.BM25Index.build`.
    stemmer : str or None, default "english"
        A Snowball algorithm, or None.
    graph_from : int or None, default None
        Segments of at least so many chunks get an HNSW graph when they are written, by which the dense leg then finds
        nearly all of the nearest chunks instead of all. With it, an index that was changed need not answer as one that
        was built afresh. A question with groups or a condition never goes by a graph. None: no graphs.
    """

    strategy: str = "structural"
    target: int = 512
    overlap: int | None = None
    analyzer: str = "unicode"
    stemmer: str | None = "english"
    graph_from: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the settings that `to_dict` gave.

        Raises
        ------
        InvalidInputError
            If one of them is unknown here.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise InvalidInputError(f"the settings name {', '.join(unknown)}, known are {', '.join(sorted(known))}")
        return cls(**values)
