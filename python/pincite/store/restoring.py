"""An index made of a snapshot, or put back to it."""

from __future__ import annotations

import json
import os
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pincite.errors import IncompatibleIndexError, IndexCorruptError, InvalidInputError, PinciteError
from pincite.store.archive import ABOUT, BLOCK, FORMAT, NAMES, remove_catalog
from pincite.store.catalog import Catalog
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.catalog_rows import drop_version, forget_access, put_meta
from pincite.store.files import make_folder, naming_refusals, sync_folder
from pincite.store.folder import CATALOG, IndexFolder, lock_to_create, may_become_index
from pincite.store.pins import READERS
from pincite.store.snapshot import Snapshot
from pincite.store.staging import carried, text_of
from pincite.store.sweeping import RESTORING
from pincite.store.versions import at_version, begin_version, serve
from pincite.store.writer import Writer

__all__ = ["RestoreReport", "restore_archive"]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What a restore did.

    Attributes
    ----------
    path : str
    generation : int
        Of the index, now.
    documents : int
        That searches find.
    left_out : tuple of str
        Documents of the snapshot that were deleted since, by id; they did not come back.
    removed : tuple of str
        Documents that came after the snapshot, by id; they are gone.
    narrowed : tuple of str
        Documents that say again what they once said, and that fewer groups see now: those that might then and might
        now.
    without_groups : int
        Documents that nobody sees until it is granted, in an index that has groups.
    """

    path: str
    generation: int
    documents: int
    left_out: tuple[str, ...]
    removed: tuple[str, ...]
    narrowed: tuple[str, ...]
    without_groups: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return asdict(self)


def restore_archive(file: Path, path: Path, *, keep_grants: bool) -> RestoreReport:
    """Do what `pincite.restore` says."""
    if file.exists() and not file.is_file():
        raise InvalidInputError(f"{file} is no file; give one that `snapshot` wrote")
    if (path / CATALOG).is_file():
        if keep_grants:
            raise InvalidInputError(
                f"keep_grants is for a new index; {path} has its own grants, which stay as they are"
            )
        return _put_back(file, path)
    if path.exists() and not may_become_index(path):
        raise InvalidInputError(f"{path} exists and is no index; give a path where there is nothing, or an index")
    make_folder(path / READERS)
    with lock_to_create(path):
        if (path / CATALOG).exists():
            raise InvalidInputError(f"another process made an index at {path} meanwhile; restore again to put it back")
        remove_catalog(path / CATALOG)  # a log without its catalog would be played into the one that comes
        for leftover in (path / "segments", *path.glob(f"{RESTORING}*")):
            shutil.rmtree(leftover, ignore_errors=True)
        with _extracted(file, path) as place:
            with closing(IndexFolder(place, read_only=False, verify=True)) as folder:
                with folder.catalog.transaction() as connection:
                    # Another index from now on: what is deleted in the one is unknown to the other.
                    put_meta(connection, {"identity": uuid.uuid4().hex})
                    if not keep_grants:
                        forget_access(connection)
                _check_texts(folder.snapshot())
                report = _report(folder, path)
                folder.catalog.finish()
            (place / "segments").rename(path / "segments")
            sync_folder(path)
            (place / CATALOG).rename(path / CATALOG)
            sync_folder(path)
    return report


def _check_texts(snapshot: Snapshot) -> None:
    """Compare all texts with the catalog: an archive's files may be whole and not belong together."""
    for segment in snapshot.segments:
        for number, row in enumerate(segment.spans.documents.tolist()):
            if snapshot.is_alive(segment, number):
                text_of(segment, number, snapshot.document(row))


def _report(
    folder: IndexFolder,
    path: Path,
    left_out: Iterable[str] = (),
    removed: Iterable[str] = (),
    narrowed: Iterable[str] = (),
) -> RestoreReport:
    snapshot = folder.snapshot()
    without = folder.documents.without_groups() if folder.catalog.epoch() else 0
    return RestoreReport(
        str(path), snapshot.generation, snapshot.totals["documents"], tuple(sorted(left_out)), tuple(sorted(removed)),
        tuple(sorted(narrowed)), without,
    )  # fmt: skip


def _put_back(file: Path, path: Path) -> RestoreReport:
    """Give an index the documents of a snapshot, as a version that then serves."""
    with (
        # What it says now is not asked for: damage to it is a reason to restore it.
        closing(IndexFolder(path, read_only=False, verify=True, mapped=False)) as folder,
        folder.writer() as writer,
        _extracted(file, path) as place,
    ):
        # In a call of its own: what it has mapped is let go before the files are removed, as Windows wants it.
        return _taken_over(folder, writer, file, place)


def _taken_over(folder: IndexFolder, writer: Writer, file: Path, place: Path) -> RestoreReport:
    """Commit the documents of a snapshot that was taken apart."""
    path = folder.path
    with closing(IndexFolder(place, read_only=True, verify=True)) as old:
        if old.identity != folder.identity:
            raise InvalidInputError(f"{file} is of another index than {path}; restore it to a path where there is none")
        serving = folder.catalog.version(folder.catalog.serving())
        then, now = old.snapshot(), set(serving.live_ids())
        was = set(old.documents.live_ids())
        # What was deleted, and given again since with another text, is another document: neither of them stays.
        again = now & was & folder.catalog.deleted_since(then.generation)
        kept = (now & was) - {id for id in again if _hash(old.documents, id) != _hash(serving, id)}
        version = then.version
        number = begin_version(folder, version.config, version.encoder, version.probes, restoring=True)
        try:
            with at_version(folder, number) as target:
                for segment in then.segments:
                    found = [
                        carried(segment, number_there, record)
                        for number_there, row in enumerate(segment.spans.documents.tolist())
                        if then.is_alive(segment, number_there) and (record := then.document(row)).id in kept
                    ]
                    if found:
                        vectors = np.concatenate([vectors for _, vectors in found])
                        writer.commit(target.snapshot(), [document for document, _ in found], vectors)
            narrowed: dict[str, frozenset[str]] = {}
            epoch, might = old.catalog.access()  # before the transaction, which is on another catalog

            def granted() -> dict[str, frozenset[str]]:
                if epoch:  # otherwise everybody might
                    narrowed.update(_narrowed(folder, might, number))
                return narrowed

            serve(folder, number, restored=True, granted=granted)
        except BaseException:
            with folder.catalog.transaction() as connection:
                if folder.catalog.serving() != number:  # an interruption may have come right after the commit
                    drop_version(connection, number)
            raise
        return _report(folder, path, was - kept, now - kept, narrowed)


def _hash(documents: DocumentCatalog, id: str) -> str:
    live = documents.live(id)
    return "" if live is None else live[1].content_hash


def _narrowed(folder: IndexFolder, then: Mapping[str, frozenset[str]], number: int) -> dict[str, frozenset[str]]:
    """Return who may see the documents that say something else than now: those who might then, and may now."""
    _, now = folder.catalog.access()
    same = folder.catalog.same_in(folder.catalog.serving(), number)
    nobody: frozenset[str] = frozenset()
    other = set(folder.catalog.version(number).live_ids()) - same
    both = {id: now.get(id, nobody) & then.get(id, nobody) for id in other}
    return {id: groups for id, groups in both.items() if groups != now.get(id, nobody)}


@contextmanager
def _extracted(file: Path, path: Path) -> Iterator[Path]:
    """Take an archive apart into a folder within an index's, which is gone afterwards."""
    place = path / f"{RESTORING}{uuid.uuid4().hex}"
    try:
        (place / "segments").mkdir(parents=True)
        try:
            with naming_refusals(file, "read the snapshot"), zipfile.ZipFile(file) as archive:
                _extract(archive, file, place)
        except (zipfile.BadZipFile, EOFError, ValueError, KeyError, NotImplementedError, RuntimeError) as error:
            if isinstance(error, PinciteError):
                raise
            raise IndexCorruptError(f"{file}: it is no snapshot, or a damaged one ({error})") from error
        with closing(Catalog(place / CATALOG, writable=False)) as catalog:
            catalog.check_schema()
            catalog.check_pages()
            catalog.check_rows()
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _extract(archive: zipfile.ZipFile, file: Path, place: Path) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names) or not {ABOUT, CATALOG} <= set(names) or not all(map(NAMES.fullmatch, names)):
        raise IndexCorruptError(f"{file}: it is no snapshot: it holds {', '.join(sorted(names)[:3]) or 'nothing'}")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise IndexCorruptError(f"{file}: it holds compressed files, which no snapshot does")
    if sum(entry.file_size for entry in entries) > file.stat().st_size:
        raise IndexCorruptError(f"{file}: its files overlap, or are longer than it is")
    about = json.loads(archive.read(ABOUT))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else about
        raise IncompatibleIndexError(f"{file}: the snapshot has format {found!r}, this version reads {FORMAT}")
    with naming_refusals(place, f"unpack the snapshot {file} here"):
        for entry in entries:
            if entry.filename == ABOUT:
                continue
            target = place / entry.filename
            target.parent.mkdir(exist_ok=True)
            with archive.open(entry) as source, target.open("xb") as copy:
                shutil.copyfileobj(source, copy, BLOCK)
                copy.flush()
                os.fsync(copy.fileno())
        for folder in (*(place / "segments").iterdir(), place / "segments", place):
            sync_folder(folder)
