"""What the catalog and the segments say of documents, sections and chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pincite.config import IndexConfig
from pincite.types import Chunk, Section

__all__ = [
    "ChunkRecord",
    "DocumentRecord",
    "FailureRecord",
    "PreparedDocument",
    "SourceFolder",
    "SourceRecord",
    "StoredDocument",
    "VersionRecord",
    "VersionState",
]

VersionState = Literal["serving", "previous", "built", "building"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One version of a document, as the catalog has it.

    Attributes
    ----------
    id : str
        Its name in the index.
    uri : str
        What it is cited by, without a fragment: its id, or the URI that the caller gave, percent-encoded.
    source : str or None
        The folder it was read from, by its name in the catalog: the id is ``source/path/of/the/file``. None for a
        document that was given as a string.
    title, markup, media_type, encoding, extractor : str
        What the extractor found, and its name with its version.
    chunker : str
        Its name with its version.
    content_hash : str
        SHA-256 of the bytes that were read, in hex.
    text_hash : str
        MD5 of the canonical text in UTF-8, in hex: the integrity check of its URIs (RFC 5147).
    length : int
        Code points of the canonical text.
    front_matter_end : int
        Where the front matter ends; 0 without one.
    n_chunks, truncated_tokens, unknown_tokens : int
        Its chunks; word pieces that the encoder's window cut off, and words it has no pieces for.
    dropped : dict of str to int
        What the extractor left out on purpose, in characters by reason.
    metadata : dict
    modified : float or None
        The file's time of modification, in seconds since 1970.
    confirmed : float
        When it was read, or given, in seconds since 1970.
    generation : int
        The commit that brought it.
    """

    id: str
    uri: str
    source: str | None
    title: str
    markup: str
    media_type: str
    encoding: str
    extractor: str
    chunker: str
    content_hash: str
    text_hash: str
    length: int
    front_matter_end: int = 0
    n_chunks: int = 0
    truncated_tokens: int = 0
    unknown_tokens: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    modified: float | None = None
    confirmed: float = 0.0
    generation: int = 0


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of an index, to be cut and embedded anew: what is known of it, and its canonical text."""

    record: DocumentRecord
    text: str

    @property
    def id(self) -> str:
        """The document's id."""
        return self.record.id


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document on its way into a segment: read, cut, not yet embedded."""

    record: DocumentRecord
    text: str
    chunks: Sequence[Chunk]
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """Where a chunk is; `document` is its document's row in the catalog."""

    document: int
    start: int
    end: int
    covered_start: int
    section: Section
    heading_path: tuple[str, ...]
    header: str
    truncated_tokens: int


class SourceFolder(NamedTuple):
    """Where a source lies, and whether all of the folder belongs to it: see `SourceRecord`."""

    root: str
    whole: bool


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A folder that documents come from.

    Attributes
    ----------
    name, root : str
    whole : bool
        Whether all that lies in it belongs to the index; otherwise the files that were added by themselves.
    synced : float or None
        When its documents were last made equal to its files, in seconds since 1970; None: never.
    tried : float or None
        When that was last tried.
    trouble : str
        What kept the last try from it; empty where it succeeded.
    """

    name: str
    root: str
    whole: bool
    synced: float | None
    tried: float | None
    trouble: str


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """A document that could not be indexed.

    Attributes
    ----------
    id : str
    source : str or None
    reason : str
        A code: see `pincite.errors.ExtractionError`.
    message : str
    attempts : int
    first_failed, last_failed : float
        Seconds since 1970.
    metadata : dict or None
        What it was given, for the next try.
    """

    id: str
    source: str | None
    reason: str
    message: str
    attempts: int = 1
    first_failed: float = 0.0
    last_failed: float = 0.0
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """All documents, cut, indexed and embedded in one way. An index has one that serves, and may have others beside it.

    Attributes
    ----------
    number : int
        From 1; none is used twice.
    config : IndexConfig
        How documents are cut and indexed.
    encoder : dict or None
        What the vectors depend on; None while there are none.
    probes : dict
        What the encoder and the analyzer made of known texts: others under the same name are noticed by it.
    made : float
        When it was begun, in seconds since 1970.
    level : int or None
        The generation of the serving version whose documents it has; None while it is being built.
    state : {"serving", "previous", "built", "building"}
        "previous" is the one that `rollback` goes back to.
    """

    number: int
    config: IndexConfig
    encoder: Mapping[str, Any] | None
    probes: Mapping[str, Any]
    made: float
    level: int | None
    state: VersionState

    def to_dict(self) -> dict[str, Any]:
        """Return the version as JSON has it, without the probes."""
        return {
            "number": self.number,
            "state": self.state,
            "config": self.config.to_dict(),
            "encoder": None if self.encoder is None else dict(self.encoder),
            "made": self.made,
        }
