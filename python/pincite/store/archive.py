"""An index in one file: a zip archive of its catalog and of the segments of one generation, nothing compressed."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pincite.errors import InvalidInputError, PinciteError, StorageError
from pincite.store.catalog import Catalog
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.catalog_rows import keep_version, renew_generation
from pincite.store.files import naming_refusals, sync_folder
from pincite.store.folder import CATALOG, IndexFolder
from pincite.store.lock import WriterLock
from pincite.store.segment import SEGMENTS
from pincite.store.snapshot import Snapshot
from pincite.store.staging import Staged
from pincite.store.writer import LOCK, NO_VECTORS

__all__ = ["ABOUT", "BLOCK", "FORMAT", "NAMES", "SnapshotReport", "remove_catalog", "write_archive"]

ABOUT = "pincite-snapshot.json"
WORK = ".pincite-snapshot-"
"""How the name of a folder begins in which a snapshot is made."""

YOUNG_S = 10.0
"""How long a folder without a lock that is held may be one whose maker has yet to take it."""

FORMAT = 1
NAMES = re.compile(rf"{ABOUT}|{CATALOG}|segments/[0-9a-f]{{32}}/[a-z0-9]+\.pin")
_ATTEMPTS = 10
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """What a snapshot holds.

    Attributes
    ----------
    path : str
    generation, documents, chunks : int
    nbytes : int
    """

    path: str
    generation: int
    documents: int
    chunks: int
    nbytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return asdict(self)


def write_archive(folder: IndexFolder, path: Path) -> SnapshotReport:
    """Do what `KnowledgeBase.snapshot` says."""
    if os.path.lexists(path):
        raise InvalidInputError(f"{path} exists; give the name of a new file")
    if path.resolve().is_relative_to(folder.path.resolve()):
        raise InvalidInputError(f"{path} lies within the index; give a place outside of it")
    with naming_refusals(path, "write the snapshot"), _work_folder(path.parent) as place, ExitStack() as stack:
        about, files = _held(folder, place, stack)
        with (place / "archive").open("wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(ABOUT, json.dumps(about, indent=1))
                archive.write(place / CATALOG, CATALOG)
                for name, source in files:
                    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as target:
                        shutil.copyfileobj(source, target, BLOCK)
            file.flush()
            os.fsync(file.fileno())
        (place / "archive").rename(path)
        sync_folder(path.parent)
    return SnapshotReport(str(path), about["generation"], about["documents"], about["chunks"], path.stat().st_size)


@contextmanager
def _work_folder(beside: Path) -> Iterator[Path]:
    """Make a folder, gone afterwards, where the snapshot is to lie; remove what killed ones left there."""
    for left in beside.glob(f"{WORK}*"):
        with suppress(OSError, PinciteError):
            if time.time() - left.stat().st_mtime > YOUNG_S:
                with WriterLock(left / LOCK):
                    pass  # its process has died
                shutil.rmtree(left, ignore_errors=True)
    place = beside / f"{WORK}{uuid.uuid4().hex}"
    place.mkdir()
    try:
        with WriterLock(place / LOCK):
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _held(folder: IndexFolder, place: Path, stack: ExitStack) -> tuple[dict[str, Any], list[tuple[str, IO[bytes]]]]:
    """Copy the catalog, and open the files that it lists: what is open stays readable, whatever a writer sweeps."""
    copy = place / CATALOG
    for attempt in range(_ATTEMPTS):
        remove_catalog(copy)
        folder.catalog.copy(copy)
        with closing(Catalog(copy, writable=True)) as catalog:
            number = catalog.serving()  # of the copy: a swap may have come since
            if folder.pinned not in {None, number}:
                raise InvalidInputError(
                    f"{folder.path} was opened at version {folder.pinned}, a snapshot is of the one that serves, "
                    f"{number}; open the index without version"
                )
            with catalog.transaction() as connection:
                keep_version(connection, number)
            documents = catalog.version(number)
            generation, sums, _ = documents.generation(verify=True)
            try:
                places = _without_the_dead(catalog, documents, folder.segments, place / SEGMENTS)
            except StorageError:  # a writer merged and swept some of it; then the catalog does not list it any more
                if attempt + 1 == _ATTEMPTS:
                    raise
                continue
            catalog.compact()
            catalog.finish()  # to close it could leave some of it in its log, and say nothing
        about: dict[str, Any] = {
            "format": FORMAT,
            "generation": generation,
            "documents": sums.documents,
            "chunks": sums.chunks,
            "written": time.time(),
        }
        try:
            files: list[tuple[str, IO[bytes]]] = [
                (f"segments/{place.name}/{file.name}", stack.enter_context(file.open("rb")))
                for place in places
                for file in sorted(place.iterdir())
                if NAMES.fullmatch(f"segments/{place.name}/{file.name}")  # not what a file manager left there
            ]
        except FileNotFoundError:  # a writer merged and swept it since; then the catalog does not list it any more
            if attempt + 1 == _ATTEMPTS:
                raise
            continue
        return about, files
    raise AssertionError("unreachable")


def _without_the_dead(catalog: Catalog, documents: DocumentCatalog, segments: Path, fresh: Path) -> list[Path]:
    """Return the folders of a version's segments; those that hold deleted texts are written anew, without these."""
    (version,) = catalog.versions()
    snapshot = Snapshot.open(documents, version, segments)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    places, listed = [], []
    for segment in snapshot.segments:
        if all(snapshot.is_alive(segment, number) for number in range(len(segment.spans.documents))):
            places.append(segments / segment.id)
            continue
        staged = Staged((), NO_VECTORS, 0, snapshot)
        staged.carry(segment)
        if staged:
            places.append(fresh / staged.write(fresh, version.config))
            listed.append((places[-1].name, staged.chunks))
        with catalog.transaction() as connection:
            connection.execute("DELETE FROM segments WHERE id = ?", [segment.id])
    with catalog.transaction() as connection:
        connection.execute("DELETE FROM documents WHERE died IS NOT NULL")
        connection.executemany(
            "INSERT INTO segments VALUES (?, ?, ?, ?, NULL)",
            [(id, version.number, chunks, snapshot.generation) for id, chunks in listed],
        )
        renew_generation(connection, snapshot.generation)
    return places


def remove_catalog(path: Path) -> None:
    """Remove a catalog, with what SQLite put beside it."""
    for beside in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
