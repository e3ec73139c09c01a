"""The errors of Pincite. Each says what was given, what was wanted and what to do.

Every one is a `PinciteError`; where Python has a fitting built-in class, it is that as well, so that
``except ValueError`` catches an `InvalidInputError`.
"""

__all__ = [
    "IncompatibleIndexError",
    "IndexCorruptError",
    "InvalidInputError",
    "PinciteError",
    "StorageError",
]


class PinciteError(Exception):
    """Base of all errors that Pincite raises on purpose."""


class InvalidInputError(PinciteError, ValueError):
    """An argument that cannot be worked with."""


class IndexCorruptError(PinciteError):
    """Bytes of an index that are damaged, cut short or forged."""


class IncompatibleIndexError(PinciteError):
    """A sound file that this version, or this kind of index, cannot use."""


class StorageError(PinciteError, OSError):
    """The operating system refused to read or write a file; `errno` says why."""

    def __str__(self) -> str:
        """Return the message alone: it already names the system's reason."""
        return str(self.args[1]) if len(self.args) > 1 else super().__str__()
