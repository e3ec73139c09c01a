"""What an index holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pincite.store.files import nbytes
from pincite.store.folder import IndexFolder
from pincite.store.records import FailureRecord, SourceRecord, VersionRecord

__all__ = ["Status", "status_of"]


@dataclass(frozen=True, slots=True)
class Status:
    """What an index holds, counted from what is there.

    Attributes
    ----------
    path : str
    generation : int
        The number of its last commit.
    documents, chunks, characters : int
        That searches find.
    truncated_tokens, unknown_tokens : int
        Word pieces of chunks that the encoder's window cut off, and words that it has no pieces for.
    failed : tuple of FailureRecord
        Documents that could not be indexed.
    without_groups : int
        Documents that nobody sees who comes with groups, in an index that has groups; else 0.
    segments : int
    nbytes : int
        On disk, all files.
    encoder : dict or None
        What the vectors depend on; None while there are none.
    config : dict
        How documents are cut and indexed.
    sources : tuple of SourceRecord
        The folders that files came from, by name: when they were last synced, and what trouble there was.
    versions : tuple of VersionRecord
        The one that serves, and those beside it: see `KnowledgeBase.rebuild`.
    """

    path: str
    generation: int
    documents: int
    chunks: int
    characters: int
    truncated_tokens: int
    unknown_tokens: int
    failed: tuple[FailureRecord, ...]
    without_groups: int
    segments: int
    nbytes: int
    encoder: Mapping[str, Any] | None
    config: Mapping[str, Any]
    sources: tuple[SourceRecord, ...]
    versions: tuple[VersionRecord, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        return {
            "path": self.path,
            "generation": self.generation,
            "documents": self.documents,
            "chunks": self.chunks,
            "characters": self.characters,
            "truncated_tokens": self.truncated_tokens,
            "unknown_tokens": self.unknown_tokens,
            "failed": [
                {"id": failure.id, "reason": failure.reason, "message": failure.message, "attempts": failure.attempts,
                 "first_failed": failure.first_failed, "last_failed": failure.last_failed}
                for failure in self.failed
            ],
            "without_groups": self.without_groups,
            "segments": self.segments,
            "nbytes": self.nbytes,
            "encoder": None if self.encoder is None else dict(self.encoder),
            "config": dict(self.config),
            "sources": [asdict(source) for source in self.sources],
            "versions": [version.to_dict() for version in self.versions],
        }  # fmt: skip


def status_of(folder: IndexFolder) -> Status:
    """Count what an open index holds."""
    snapshot = folder.snapshot()
    documents = folder.documents
    totals = documents.totals()
    return Status(
        path=str(folder.path),
        generation=snapshot.generation,
        documents=totals.documents,
        chunks=totals.chunks,
        characters=totals.characters,
        truncated_tokens=totals.truncated_tokens,
        unknown_tokens=totals.unknown_tokens,
        failed=tuple(folder.catalog.failures()),
        without_groups=documents.without_groups() if folder.catalog.epoch() else 0,
        segments=len(snapshot.segments),
        nbytes=nbytes(folder.path),
        encoder=snapshot.version.encoder,
        config=snapshot.version.config.to_dict(),
        sources=tuple(folder.catalog.source_records()),
        versions=tuple(folder.catalog.versions()),
    )
