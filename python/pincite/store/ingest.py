"""Documents into an index: what is unchanged is skipped, what fails is noted, the rest is committed in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

import numpy as np

from pincite.errors import ExtractionError
from pincite.extract import extractor_of
from pincite.store.folder import IndexFolder
from pincite.store.heap import give_back
from pincite.store.preparing import (
    GIVEN,
    EmbeddedDocument,
    chunker_of,
    content_hash,
    document_bytes,
    embed,
    prepare_document,
    prepare_file,
)
from pincite.store.records import FailureRecord, PreparedDocument, SourceFolder
from pincite.store.sources import FoundFile, require_regular
from pincite.store.writer import Writer
from pincite.types import Document, TextEncoder

__all__ = ["DocumentOutcome", "IngestReport", "Ingestion"]

BATCH_CHUNKS = 1024
"""So many chunks are embedded before they are committed: what an interruption can cost."""

State = Literal["added", "updated", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of one document.

    Attributes
    ----------
    id : str
    state : {"added", "updated", "unchanged", "failed"}
    chunks : int
    truncated_tokens : int
        Word pieces that the encoder's window cut off.
    unknown_tokens : int
        Words that the encoder's tokenizer has no pieces for, such as those of more than 100 characters.
    reason, message : str
        Why it failed: a code, and what to do.
    serving : bool
        Whether searches find it: for a document that failed, in its last good version.
    """

    id: str
    state: State
    chunks: int = 0
    truncated_tokens: int = 0
    unknown_tokens: int = 0
    reason: str = ""
    message: str = ""
    serving: bool = True


@dataclass(slots=True)
class IngestReport:
    """What became of the documents of one call, committed so far.

    Attributes
    ----------
    documents : list of DocumentOutcome
        In the order of their ids.
    ignored : list of (str, str)
        Files and folders that were passed over, with the reason.
    missing : list of str
        Documents of these folders whose files are not there any more. The index still has them.
    deleted : list of str
        Documents that were taken out, by id.
    troubles : dict of str to str
        Of a sync: sources that could not be compared with their folders, and why. Nothing of them was deleted.
    generation : int
        The index's generation afterwards.
    seconds : float
    """

    documents: list[DocumentOutcome] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    seconds: float = 0.0

    def count(self, state: State) -> int:
        """Return how many documents ended in a state."""
        return sum(outcome.state == state for outcome in self.documents)

    @property
    def failed(self) -> list[DocumentOutcome]:
        """The documents that failed."""
        return [outcome for outcome in self.documents if outcome.state == "failed"]

    @property
    def chunks(self) -> int:
        """The chunks of the documents that were added or updated."""
        return sum(outcome.chunks for outcome in self.documents if outcome.state in {"added", "updated"})


class Ingestion:
    """One run over some documents.

    Parameters
    ----------
    folder : IndexFolder
    writer : Writer
        That holds the lock.
    encoder : TextEncoder
    metadata : mapping or None
        Kept with each file's document; None: a file keeps what it had.
    groups : iterable of str or None
        Who may see the documents; None: who might before.
    only_new : bool
        Whether the groups are those of new documents alone.
    progress : callable, optional
        Told the bytes that are done, as the documents' sizes count them, and the document's id.
    """

    def __init__(
        self,
        folder: IndexFolder,
        writer: Writer,
        encoder: TextEncoder,
        metadata: Mapping[str, Any] | None,
        groups: Iterable[str] | None,
        progress: Callable[[float, str], None] | None,
        *,
        only_new: bool = False,
    ) -> None:
        self.report = IngestReport(generation=folder.snapshot().generation)
        self._folder = folder
        self._documents = folder.documents
        self._config = folder.config
        self._writer = writer
        self._encoder = encoder
        self._metadata = metadata
        self._groups = None if groups is None else frozenset(groups)
        self._only_new = only_new
        self._granted: dict[str, frozenset[str]] = {}
        self._progress = progress or (lambda done, id: None)
        self._had_failed = {failure.id: failure for failure in folder.catalog.failures()}
        self._sources: dict[str, SourceFolder] = {}
        self._pending: list[tuple[PreparedDocument, int, bool]] = []  # document, bytes, whether it is an update
        self._failures: list[FailureRecord] = []
        self._recovered: list[str] = []
        self._outcomes: list[DocumentOutcome] = []

    def run(self, items: Iterable[FoundFile | Document], sources: dict[str, SourceFolder]) -> IngestReport:
        """Take in documents. What was committed stays, however this ends."""
        self._sources = sources
        for item in items:
            self._take(item)
            if sum(len(document.chunks) for document, _, _ in self._pending) >= BATCH_CHUNKS:
                self._commit()
                give_back()
        self._commit()
        give_back()
        self.report.documents.sort(key=lambda outcome: outcome.id)
        return self.report

    def _take(self, item: FoundFile | Document) -> None:
        live = self._documents.live(item.id)
        if self._groups is not None:
            had = self._folder.catalog.groups_of(item.id)
            keeps = self._only_new and (live is not None or had is not None)
            if had != self._groups and not keeps:
                self._granted[item.id] = self._groups
        failed = self._had_failed.get(item.id)
        given = self._metadata if self._metadata is not None or failed is None else failed.metadata
        metadata = given if given is not None else {} if live is None else live[1].metadata
        try:
            if isinstance(item, Document):
                data, modified, extractor = document_bytes(item), None, GIVEN
            else:
                data, modified = self._read(item)
                extractor = extractor_of(PurePosixPath(item.id).suffix)
            if live is not None:
                _, record = live
                old = (record.content_hash, record.extractor, record.chunker)
                new = (content_hash(data), extractor, chunker_of(self._config))
                if old == new and (isinstance(item, Document) or dict(record.metadata) == dict(metadata)):
                    self._unchanged(item, record.n_chunks, len(data))
                    return
            if isinstance(item, Document):
                prepared = prepare_document(item, config=self._config, encoder=self._encoder)
            else:
                prepared = prepare_file(
                    data, id=item.id, source=item.source, modified=modified, metadata=metadata,
                    config=self._config, encoder=self._encoder,
                )  # fmt: skip
        except ExtractionError as error:
            source = None if isinstance(item, Document) else item.source
            self._failures.append(FailureRecord(item.id, source, error.reason, str(error), metadata=given))
            self._outcomes.append(
                DocumentOutcome(
                    item.id, "failed", reason=error.reason, message=str(error), serving=live is not None
                )
            )  # fmt: skip
            self._progress(_size(item), item.id)
            return
        self._pending.append((prepared, len(data), live is not None))

    def _read(self, file: FoundFile) -> tuple[bytes, float | None]:
        try:
            require_regular(file.path, file.id)
            return file.path.read_bytes(), file.path.stat().st_mtime
        except OSError as error:
            raise ExtractionError(
                f"{file.id}: cannot be read: {error.strerror or error}", reason="unreadable"
            ) from error

    def _unchanged(self, item: FoundFile | Document, chunks: int, nbytes: int) -> None:
        if item.id in self._had_failed:
            self._recovered.append(item.id)
        self._outcomes.append(DocumentOutcome(item.id, "unchanged", chunks=chunks))
        self._progress(nbytes, item.id)

    def _commit(self) -> None:
        """Embed what is pending and make it a generation; nothing to write makes none."""
        embedded = [self._embed(*pending) for pending in self._pending]
        changed = embedded or self._failures or self._recovered or self._sources or self._granted
        if changed:
            empty = np.empty((0, self._encoder.dim), dtype=np.float32)
            self._folder.stamp_encoder(self._encoder)
            self.report.generation = self._writer.commit(
                self._folder.snapshot(),
                [document for document, _ in embedded],
                np.concatenate([empty, *(vectors for _, vectors in embedded)]),
                failures=self._failures,
                recovered=self._recovered,
                sources=self._sources,
                granted=self._granted,
                only_new=self._only_new,
            )
            self._folder.refresh()
        self.report.documents += self._outcomes
        self._pending, self._failures, self._recovered, self._outcomes = [], [], [], []
        self._sources, self._granted = {}, {}

    def _embed(self, prepared: PreparedDocument, nbytes: int, update: bool) -> EmbeddedDocument:
        id = prepared.record.id
        embedded = embed(prepared, self._encoder, lambda share: self._progress(share * nbytes, id))
        record = embedded[0].record
        if id in self._had_failed:
            self._recovered.append(id)
        self._outcomes.append(
            DocumentOutcome(
                id,
                "updated" if update else "added",
                chunks=record.n_chunks,
                truncated_tokens=record.truncated_tokens,
                unknown_tokens=record.unknown_tokens,
            )
        )
        return embedded


def _size(item: FoundFile | Document) -> int:
    return item.nbytes if isinstance(item, FoundFile) else len(document_bytes(item))
