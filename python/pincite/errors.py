"""The errors of Pincite. Each says what was given, what was wanted and what to do.

Every one is a `PinciteError`; where Python has a fitting built-in class, it is that as well, so that
``except ValueError`` catches an `InvalidInputError`.
"""

__all__ = [
    "ExtractionError",
    "IncompatibleIndexError",
    "IndexCorruptError",
    "IndexLockedError",
    "IndexNotFoundError",
    "InvalidInputError",
    "ModelFileError",
    "PassageNotFoundError",
    "PinciteError",
    "StorageError",
    "TruncationError",
    "TruncationWarning",
    "counted",
]


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, as messages and reports say it; `plural` is the noun with an s unless it is given.

    Examples
    --------
    >>> counted(1, "chunk"), counted(2661, "chunk"), counted(0, "try", "tries")
    ('1 chunk', '2,661 chunks', '0 tries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


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


class IndexNotFoundError(PinciteError, FileNotFoundError):
    """There is no index at the path."""

    def __str__(self) -> str:
        """Return the message alone."""
        return str(self.args[0])


class IndexLockedError(PinciteError):
    """Another writer has the index; the message names its process."""


class ModelFileError(PinciteError):
    """A file of a model that is missing, cannot be fetched, or is not what it should be."""


class PassageNotFoundError(PinciteError, LookupError):
    """A URI names nothing that the index holds."""


class TruncationError(InvalidInputError):
    """A text beyond the window of a model, where the caller asked for an error."""


class TruncationWarning(UserWarning):
    """A text beyond the window of a model, whose rest has no say."""


class ExtractionError(PinciteError):
    """A document without a text to index.

    Attributes
    ----------
    reason : str
        A code that stays the same between versions: "unsupported", "empty", "undecodable", "binary", "too_large",
        "malformed", "unreadable". A failed document can have one more, "missing": when it was retried, its file was
        not there.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
