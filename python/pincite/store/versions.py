"""Versions of an index: another way to cut and embed is built beside the one that serves, which it may then replace."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from pincite.config import IndexConfig
from pincite.errors import IndexCorruptError, InvalidInputError
from pincite.store import ingest
from pincite.store.catalog_rows import (
    Sums,
    drop_version,
    put_access,
    put_deletions,
    put_generation,
    put_meta,
    put_version,
    set_serving,
)
from pincite.store.folder import IndexFolder
from pincite.store.preparing import EmbeddedDocument, chunker_of, embed, prepare_stored
from pincite.store.progress import Progress, shown
from pincite.store.records import DocumentRecord, StoredDocument, VersionRecord, VersionState
from pincite.store.snapshot import Snapshot
from pincite.store.staging import text_of
from pincite.store.stamps import analyzer_probes, encoder_probes, stamp_of
from pincite.store.writer import NO_VECTORS, Writer
from pincite.types import TextEncoder

__all__ = ["RebuildReport", "at_version", "begin_version", "discard_version", "rebuild", "serve", "switch"]

MADE_BY_VERSION = {"chunker", "front_matter_end", "n_chunks", "truncated_tokens", "unknown_tokens", "generation"}
"""What of a document's record depends on how it is cut and embedded; the rest is equal in all versions."""

SAME = [field.name for field in fields(DocumentRecord) if field.name not in MADE_BY_VERSION]


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did.

    Attributes
    ----------
    version : int
        What was built; `KnowledgeBase.swap` lets it serve.
    documents, chunks : int
        That it holds.
    made : int
        Documents that were cut and embedded now; the others were there from an earlier call.
    seconds : float
    """

    version: int
    documents: int
    chunks: int
    made: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return asdict(self)


def rebuild(
    folder: IndexFolder, config: IndexConfig, encoder: TextEncoder, *, progress: bool | Progress
) -> RebuildReport:
    """Do what `KnowledgeBase.rebuild` says."""
    started = time.perf_counter()
    with folder.writer() as writer:
        number = _begin(folder, config, encoder)
        with at_version(folder, number) as target:
            made = _level(folder, target, writer, lambda: encoder, progress)
            totals = target.documents.totals()
    return RebuildReport(number, totals.documents, totals.chunks, made, time.perf_counter() - started)


def switch(
    folder: IndexFolder,
    state: VersionState,
    encoder: Callable[[VersionRecord], TextEncoder],
    *,
    progress: bool | Progress,
) -> int:
    """Let the version of a state, "built" or "previous", serve; return the generation's number.

    First it is made level with the one that serves now, so that nothing that was deleted comes back, and nothing that
    was added is lost.
    """
    with folder.writer() as writer:
        found = [version for version in folder.catalog.versions() if version.state == state]
        if not found:
            raise InvalidInputError(f"{folder.path}: {_ADVICE[state]}")
        target_version = found[-1]
        folder.check_analyzer(target_version)
        with at_version(folder, target_version.number) as target:
            _level(folder, target, writer, lambda: encoder(target_version), progress)
        return serve(folder, target_version.number)


_ADVICE = {
    "built": "no version has been built that could serve; `rebuild` builds one",
    "previous": "there is no version to go back to; `swap` leaves one",
}


def serve(
    folder: IndexFolder,
    number: int,
    *,
    restored: bool = False,
    granted: Callable[[], Mapping[str, Iterable[str]]] = dict,
) -> int:
    """Let a version serve, in one commit; the one that does now can be gone back to. Call it with the lock held.

    Parameters
    ----------
    folder : IndexFolder
    number : int
    restored : bool, default False
        Whether it may lack documents, or have them as they once were. Nothing is left of who may see those it lacks.
    granted : callable, optional
        Gives who may see documents from then on, by id. It is called within the transaction: a grant waits for no
        writer's lock, and one that is taken back meanwhile stays so.

    Raises
    ------
    IndexCorruptError
        If its documents are not those of the version that serves.
    """
    catalog = folder.catalog
    with catalog.transaction() as connection:
        now = catalog.serving()

        def only_in(one: int, other: int, columns: str) -> list[str]:
            living = f"SELECT {columns} FROM documents WHERE version = ? AND died IS NULL"
            return [row["id"] for row in connection.execute(f"{living} EXCEPT {living}", [one, other])]

        same = "id" if restored else ", ".join(SAME)
        lacking = only_in(now, number, same)
        if differing := only_in(number, now, same) or ([] if restored else lacking):
            raise IndexCorruptError(
                f"{folder.path}: {differing[0]!r} and {len(differing) - 1} more differ between version {now}, which "
                f"serves, and version {number}; discard that version and rebuild it"
            )
        generation = catalog.last_generation() + 1
        put_access(connection, granted(), gone=lacking)
        put_deletions(connection, lacking, generation)
        put_generation(connection, generation, number, catalog.version(number).generation().sums)
        for version in catalog.versions():
            if version.number == number or (version.number == now and not restored):
                _put_level(connection, version, generation)
        set_serving(connection, number, previous=now)
        if restored:
            put_meta(connection, {"restoring": None})
    folder.refresh()
    return generation


def discard_version(folder: IndexFolder, number: int) -> None:
    """Do what `KnowledgeBase.discard` says."""
    with folder.writer():
        version = {each.number: each for each in folder.catalog.versions()}.get(number)
        if version is None or version.state == "serving":
            wanted = [f"{each.number} ({each.state})" for each in folder.catalog.versions() if each.state != "serving"]
            raise InvalidInputError(
                f"version {number} {'is not there' if version is None else 'serves'}; wanted one of: "
                f"{', '.join(wanted) or 'none, there is no other version'}"
            )
        with folder.catalog.transaction() as connection:
            drop_version(connection, number)


def begin_version(
    folder: IndexFolder,
    config: IndexConfig,
    encoder: Mapping[str, Any] | None,
    probes: Mapping[str, Any],
    *,
    restoring: bool = False,
) -> int:
    """Make a version without documents, and return its number. Call it with the lock held.

    With `restoring`, the next writer drops it unless it serves by then.
    """
    with folder.catalog.transaction() as connection:
        number = put_version(
            connection, None, config=config.to_dict(), encoder=encoder, probes=probes, made=time.time(), level=None
        )
        put_generation(connection, folder.catalog.last_generation() + 1, number, Sums())
        if restoring:
            put_meta(connection, {"restoring": number})
    return number


@contextmanager
def at_version(folder: IndexFolder, number: int) -> Iterator[IndexFolder]:
    """Open one version of an index beside the one that serves."""
    opened = IndexFolder(folder.path, read_only=False, verify=True, version=number)
    try:
        yield opened
    finally:
        opened.close()


def _begin(folder: IndexFolder, config: IndexConfig, encoder: TextEncoder) -> int:
    """Return the version that an earlier call began with the same settings, or a new one."""
    stamp = stamp_of(encoder)
    for version in folder.catalog.versions():
        if version.state not in {"building", "built"}:
            continue
        if version.config == config and version.encoder == stamp:
            return version.number
        raise InvalidInputError(
            f"version {version.number} is {'being built' if version.state == 'building' else 'built'} with "
            f"{version.config} and the encoder {dict(version.encoder or {})}, given was {config} and {stamp}; discard "
            "that version first"
        )
    return begin_version(folder, config, stamp, {**analyzer_probes(config), **encoder_probes(encoder)})


def _level(
    folder: IndexFolder,
    target: IndexFolder,
    writer: Writer,
    encoder: Callable[[], TextEncoder],
    progress: bool | Progress,
) -> int:
    """Give a version the documents of the one that serves; return how many had to be made."""
    source = folder.snapshot()
    if target.version.level == source.generation:
        return 0
    documents = folder.catalog.version(source.version.number).living(source.generation)
    chunker = chunker_of(target.config)
    missing = [
        (row, record) for row, record in documents if not _is_level(target.documents.live(record.id), record, chunker)
    ]
    pending: list[EmbeddedDocument] = []

    def commit(withdrawn: Iterable[str] = ()) -> None:
        if pending or withdrawn:
            vectors = np.concatenate([vectors for _, vectors in pending]) if pending else NO_VECTORS
            writer.commit(target.snapshot(), [made for made, _ in pending], vectors, withdrawn=withdrawn)
            target.refresh()
            pending.clear()

    total = sum(record.length for _, record in missing)
    with shown(progress, total, doing="rebuilding", unit=" characters") as show:
        tell = show or (lambda more, id: None)
        for row, record in missing:
            model = encoder()
            target.stamp_encoder(model)
            document = StoredDocument(record, _text(source, row, record))
            prepared = prepare_stored(document, config=target.config, encoder=model)
            pending.append(embed(prepared, model, partial(_tell, tell, record)))
            if sum(len(vectors) for _, vectors in pending) >= ingest.BATCH_CHUNKS:
                commit()
    commit(sorted(set(target.documents.live_ids()) - {record.id for _, record in documents}))
    with folder.catalog.transaction() as connection:
        _put_level(connection, target.version, source.generation)
    return len(missing)


def _tell(tell: Callable[[float, str], None], record: DocumentRecord, share: float) -> None:
    tell(share * record.length, record.id)


def _is_level(live: tuple[int, DocumentRecord] | None, record: DocumentRecord, chunker: str) -> bool:
    return (
        live is not None
        and live[1].chunker == chunker
        and all(getattr(live[1], name) == getattr(record, name) for name in SAME)
    )


def _text(snapshot: Snapshot, row: int, record: DocumentRecord) -> str:
    place = snapshot.place(row)
    if place is None:
        raise IndexCorruptError(f"no segment holds the document {record.id!r}, which the catalog lists")
    return text_of(*place, record)


def _put_level(connection: sqlite3.Connection, version: VersionRecord, generation: int) -> None:
    put_version(
        connection, version.number, config=version.config.to_dict(), encoder=version.encoder, probes=version.probes,
        made=version.made, level=generation,
    )  # fmt: skip
