"""An index kept equal to what it is about: documents that come and go, folders that change, files that failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pincite.errors import InvalidInputError
from pincite.store.catalog_rows import put_access, put_meta
from pincite.store.folder import IndexFolder
from pincite.store.ingest import DocumentOutcome, Ingestion, IngestReport
from pincite.store.preparing import document_bytes
from pincite.store.progress import Progress, shown
from pincite.store.records import FailureRecord, SourceFolder
from pincite.store.sources import FoundFile, discover, file_of_id, is_gone, missing_files
from pincite.store.syncing import compare
from pincite.store.writer import Writer
from pincite.types import Document, TextEncoder

__all__ = ["add_documents", "delete_documents", "require_known", "retry_failed", "set_access", "sync_sources"]


def add_documents(
    folder: IndexFolder,
    encoder: Callable[[], TextEncoder],
    paths: Sequence[Path],
    documents: Sequence[Document],
    *,
    name: str | None,
    groups: frozenset[str] | None,
    metadata: Mapping[str, Any] | None,
    progress: bool | Progress,
) -> IngestReport:
    """Do what `KnowledgeBase.add` says."""
    started = time.perf_counter()
    with folder.writer() as writer:
        found = discover(paths, known=folder.catalog.source_folders(), index_folder=folder.path, name=name)
        both = {file.id for file in found.files} & {each.id for each in documents}
        if both:
            raise InvalidInputError(f"a file and a document have the id {min(both)!r}; give each its own")
        _say_groups(folder, groups)
        total = sum(file.nbytes for file in found.files) + sum(len(document_bytes(each)) for each in documents)
        with shown(progress, total) as show:
            run = Ingestion(folder, writer, encoder(), metadata, groups, show)
            report = run.run([*found.files, *documents], found.sources)
        if paths:
            report.missing = missing_files(paths, folder.documents.live_files(), folder.catalog.sources())
    report.ignored = found.ignored
    report.seconds = time.perf_counter() - started
    return report


def delete_documents(folder: IndexFolder, ids: Sequence[str]) -> IngestReport:
    """Do what `KnowledgeBase.delete` says."""
    started = time.perf_counter()
    with folder.writer() as writer:
        require_known(folder, ids, "the ledger lists those that are there")
        report = IngestReport(deleted=sorted(set(ids)), generation=folder.snapshot().generation)
        if ids:
            report.generation = _commit(folder, writer, deleted=ids)
    report.seconds = time.perf_counter() - started
    return report


def sync_sources(
    folder: IndexFolder,
    encoder: Callable[[], TextEncoder],
    sources: Iterable[str] | None,
    *,
    metadata: Mapping[str, Any] | None,
    groups: frozenset[str] | None,
    allow_empty: bool,
    progress: bool | Progress,
) -> IngestReport:
    """Do what `KnowledgeBase.sync` says. What is new comes in first, so an interruption never leaves less."""
    started, looked = time.perf_counter(), time.time()
    with folder.writer() as writer:
        roots = _roots(folder, sources)
        there = [root for root in roots.values() if root.is_dir()]
        known = folder.catalog.source_folders()
        # To look into a folder whose files were added one by one makes no source of all that lies in it.
        looked_into = {name: SourceFolder(source.root, whole=True) for name, source in known.items()}
        found = discover(there, known=looked_into, index_folder=folder.path)
        own = {id for _, id in folder.documents.live_files()} | {failure.id for failure in folder.catalog.failures()}
        found.files = [
            file for file in found.files if file.source in roots and (known[file.source].whole or file.id in own)
        ]
        report = _ingest(folder, writer, encoder, found.files, metadata, progress, groups=groups)
        compared = compare(roots, found, folder.documents.live_files(), allow_empty=allow_empty)
        gone_failures = [
            failure.id
            for failure in folder.catalog.failures()
            if compared.troubles.get(failure.source or "") == "" and failure.id not in {file.id for file in found.files}
        ]
        if roots:
            report.generation = _commit(
                folder, writer, deleted=[*compared.gone, *gone_failures], syncs=compared.troubles, looked=looked
            )
    report.deleted = sorted(compared.gone)
    report.troubles = {name: trouble for name, trouble in compared.troubles.items() if trouble}
    report.ignored = found.ignored
    report.seconds = time.perf_counter() - started
    return report


def retry_failed(
    folder: IndexFolder, encoder: Callable[[], TextEncoder], ids: Iterable[str] | None, *, progress: bool | Progress
) -> IngestReport:
    """Do what `KnowledgeBase.retry` says."""
    started = time.perf_counter()
    with folder.writer() as writer:
        failures = {failure.id: failure for failure in folder.catalog.failures()}
        wanted = [id for id, failure in failures.items() if failure.source] if ids is None else list(ids)
        for id in wanted:
            if id not in failures:
                raise InvalidInputError(f"{id!r} has not failed; the status lists what has")
            if failures[id].source is None:
                raise InvalidInputError(f"{id!r} was given as a text; add it again")
        sources = folder.catalog.sources()
        files, gone = [], []
        for id in sorted(set(wanted)):
            source = failures[id].source or ""
            path = file_of_id(id, source, sources)
            if is_gone(path):
                gone.append(FailureRecord(id, source, "missing", _how_it_is_gone(id, Path(sources[source]))))
            else:
                files.append(FoundFile(id, source, path, path.stat().st_size if path.is_file() else 0))
        report = _ingest(folder, writer, encoder, files, None, progress)
        if gone:
            report.generation = _commit(folder, writer, failures=gone)
            report.documents += [_outcome(folder, failure) for failure in gone]
            report.documents.sort(key=lambda outcome: outcome.id)
    report.seconds = time.perf_counter() - started
    return report


def set_access(folder: IndexFolder, ids: Sequence[str], groups: frozenset[str]) -> None:
    """Do what `KnowledgeBase.grant` says. It is no generation: nothing that was indexed changes.

    Nor does it wait for a writer, who may be at it for hours: SQLite's own lock is enough.
    """
    folder.require_writable()
    with folder.catalog.transaction() as connection:
        folder.catalog.require_same_file()
        require_known(folder, ids, "the ledger lists those that are there")
        if ids:
            put_access(connection, dict.fromkeys(ids, groups))


def _say_groups(folder: IndexFolder, groups: frozenset[str] | None) -> None:
    """Note that the index has groups, also where nothing is found that could be given to them."""
    if groups is not None and not folder.catalog.epoch():
        with folder.catalog.transaction() as connection:
            put_meta(connection, {"epoch": 1})


def require_known(folder: IndexFolder, ids: Iterable[str], advice: str) -> None:
    """Refuse ids that are neither indexed nor failed."""
    failed = {failure.id for failure in folder.catalog.failures()}
    unknown = [id for id in dict.fromkeys(ids) if id not in failed and folder.documents.live(id) is None]
    if unknown:
        others = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise InvalidInputError(f"the index has no document {unknown[0]!r}{others}; {advice}")


def _how_it_is_gone(id: str, root: Path) -> str:
    if not root.is_dir():
        return f"{id}: the folder {root} is not there; bring it back and retry"
    return f"{id}: the file is gone; a sync forgets it, or delete the id"


def _outcome(folder: IndexFolder, failure: FailureRecord) -> DocumentOutcome:
    serving = folder.documents.live(failure.id) is not None
    return DocumentOutcome(failure.id, "failed", reason=failure.reason, message=failure.message, serving=serving)


def _ingest(
    folder: IndexFolder,
    writer: Writer,
    encoder: Callable[[], TextEncoder],
    files: Sequence[FoundFile],
    metadata: Mapping[str, Any] | None,
    progress: bool | Progress,
    *,
    groups: frozenset[str] | None = None,
) -> IngestReport:
    if not files:  # no model is needed to see that nothing is there
        return IngestReport(generation=folder.snapshot().generation)
    with shown(progress, sum(file.nbytes for file in files)) as show:
        return Ingestion(folder, writer, encoder(), metadata, groups, show, only_new=True).run(files, {})


def _roots(folder: IndexFolder, sources: Iterable[str] | None) -> dict[str, Path]:
    known = folder.catalog.sources()
    wanted = list(known) if sources is None else list(sources)
    if unknown := [name for name in wanted if name not in known]:
        raise InvalidInputError(
            f"the index has no source {unknown[0]!r}, it has: {', '.join(known) or 'none'}; add the folder first"
        )
    return {name: Path(known[name]) for name in wanted}


def _commit(folder: IndexFolder, writer: Writer, **changes: Any) -> int:
    """Make a generation without new documents."""
    generation = writer.commit(folder.snapshot(), **changes)
    folder.refresh()
    return generation
