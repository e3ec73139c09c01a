"""What every index of the core has in common."""

from __future__ import annotations

import os
from typing import Any, Generic, Protocol, Self, TypeVar

from pincite.core.arguments import path_text

__all__ = ["SavedIndex"]


class _Native(Protocol):
    def save(self, path: str) -> None: ...
    def __len__(self) -> int: ...


Native = TypeVar("Native", bound=_Native)


class SavedIndex(Generic[Native]):
    """An immutable index that lives in the core and can be saved."""

    __slots__ = ("_index",)

    _index: Native

    def __init__(self) -> None:
        name = type(self).__name__
        raise TypeError(f"{name} takes no arguments: make one with {name}.build or {name}.load")

    @classmethod
    def _of(cls, index: Native) -> Self:
        made = object.__new__(cls)
        made._index = index
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, whole or not at all.

        What was at `path`, also a link, is replaced at the end; who has it open or loaded keeps the old file.

        Raises
        ------
        InvalidInputError
            If `path` is no path.
        StorageError
            If the file cannot be written; what was at `path` is then still there.
        """
        self._index.save(path_text(path))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._index)

    def __copy__(self) -> Self:
        """Return the index itself: it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the index itself: it is immutable."""
        return self

    def __reduce__(self) -> Any:
        """Refuse to be pickled."""
        name = type(self).__name__
        raise TypeError(f"{name} cannot be pickled; save it, and load it in the other process")
