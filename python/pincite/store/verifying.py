"""All of an index compared with its checksums, and its parts with each other. Nothing is written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pincite.core.bm25 import BM25Index
from pincite.core.flat import FlatIndex
from pincite.errors import IncompatibleIndexError, IndexCorruptError, StorageError
from pincite.store.catalog import Catalog
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.files import nbytes
from pincite.store.folder import CATALOG, require_index
from pincite.store.ledger import ledger_of
from pincite.store.pins import Pin
from pincite.store.progress import Progress, shown
from pincite.store.records import DocumentRecord, VersionRecord
from pincite.store.segment import SEGMENTS, Segment
from pincite.store.snapshot import Snapshot
from pincite.store.spans import Spans
from pincite.store.texts import CanonicalTexts

__all__ = ["Damage", "IndexVerification", "verify_index"]

FILES: dict[str, Callable[[Path], object]] = {
    "texts.pin": CanonicalTexts.open,
    "spans.pin": Spans.open,
    "bm25.pin": BM25Index.load,
    "vectors.pin": FlatIndex.load,
}
"""What every segment has, each readable without the others; a graph is read with the whole segment, by its vectors."""


REFUSALS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM, errno.EINTR}
"""Of the system, that say nothing about a file."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written.

    Attributes
    ----------
    file : str
        Below the index's folder.
    what : str
    """

    file: str
    what: str


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """What of an index is as it was written.

    Attributes
    ----------
    path : str
    versions, segments, documents, chunks, nbytes : int
        What was compared: of all versions, in bytes of segments' files.
    damages : tuple of Damage
    affected : tuple of str
        The ids of documents whose texts, chunks, postings or vectors lie in what is damaged.
    """

    path: str
    versions: int
    segments: int
    documents: int
    chunks: int
    nbytes: int
    damages: tuple[Damage, ...]
    affected: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damages

    def to_dict(self) -> dict[str, Any]:
        """Return the verification as JSON has it."""
        return {"sound": self.sound, **asdict(self)}


@dataclass(slots=True)
class _Found:
    """What is found on the way."""

    damages: list[Damage] = field(default_factory=list)
    affected: set[str] = field(default_factory=set)
    segments: set[str] = field(default_factory=set)
    documents: int = 0
    chunks: int = 0
    nbytes: int = 0

    @contextmanager
    def noting(self, file: str) -> Iterator[None]:
        """Note what is wrong, and go on behind the block."""
        try:
            yield
        except StorageError as error:
            if error.errno is None or error.errno in REFUSALS:
                raise
            self.damages.append(Damage(file, str(error)))
        except (IndexCorruptError, IncompatibleIndexError) as error:
            self.damages.append(Damage(file, str(error)))


def verify_index(path: Path, *, progress: bool | Progress = False) -> IndexVerification:
    """Do what `pincite.verify` says."""
    require_index(path)
    found = _Found()
    with closing(Catalog(path / CATALOG, writable=False)) as catalog:
        with suppress(IndexCorruptError):
            catalog.meta()  # that of an index which a later version of Pincite wrote is not damaged
        with found.noting(f"{CATALOG}-wal"):
            catalog.check_log()
        versions: dict[int, VersionRecord | None] = {}
        with found.noting(CATALOG):
            catalog.check_pages()
        with found.noting(CATALOG):
            catalog.check_schema()  # of other tables nothing can be read
            for check in (catalog.check_rows, catalog.check_noted):
                with found.noting(CATALOG):
                    check()
            versions = dict.fromkeys(catalog.version_numbers())
            versions |= {version.number: version for version in catalog.versions()}
        with shown(progress, nbytes(path / SEGMENTS), doing="verifying") as tell:
            for number, version in versions.items():
                _verify_version(path, catalog, number, version, found, tell)
    return IndexVerification(
        str(path), len(versions), len(found.segments), found.documents, found.chunks, found.nbytes,
        tuple(dict.fromkeys(found.damages)), tuple(sorted(found.affected)),
    )  # fmt: skip


def _verify_version(
    path: Path,
    catalog: Catalog,
    number: int,
    version: VersionRecord | None,
    found: _Found,
    tell: Callable[[float, str], None] | None,
) -> None:
    documents, before, held = catalog.version(number), len(found.damages), None
    generation, segments = -1, list[str]()
    with found.noting(CATALOG):
        while True:
            with catalog.reading():
                generation, segments = documents.last_generation(), [each.id for each in documents.segments()]
            held = Pin(path, number, generation)  # a writer leaves its files
            if documents.last_generation() == generation:
                break
    with found.noting(CATALOG):
        if number not in catalog.version_numbers():
            return  # it was dropped meanwhile
        documents.generation(verify=True)
    records: dict[int, DocumentRecord] = {}
    with found.noting(CATALOG), catalog.reading():  # in one state: a writer removes the dead ones
        for row in documents.row_numbers():
            with found.noting(CATALOG):
                records[row] = documents.document(row)  # which has its checksum
    whole = set[int]()
    for id in segments:
        whole.update(_verify_segment(path / SEGMENTS / id, found, tell))
        found.segments.add(id)
    with found.noting(CATALOG):
        living = documents.living_rows(generation)
        found.documents += len(living)
        found.chunks += sum(records[row].n_chunks for row, _ in living if row in records)
        found.affected.update(id for row, id in living if row not in whole or row not in records)
        if version is not None and len(found.damages) == before:
            _verify_texts(path, documents, version, found)
    del held


def _verify_segment(folder: Path, found: _Found, tell: Callable[[float, str], None] | None) -> list[int]:
    """Compare a segment's files, each for itself; return the catalog's rows of its documents, none if it is damaged."""
    name = f"{SEGMENTS}/{folder.name}"
    before, rows = len(found.damages), []
    for file, load in FILES.items():
        with found.noting(f"{name}/{file}"):
            load(folder / file)
    if len(found.damages) == before:
        with found.noting(name):
            rows = Segment(folder).spans.documents.tolist()
    size = nbytes(folder)
    found.nbytes += size
    if tell is not None:
        tell(size, name)
    return rows


def _verify_texts(path: Path, documents: DocumentCatalog, version: VersionRecord, found: _Found) -> None:
    """Account for every character: texts have the hashes that the catalog has, and chunks lie in them in order."""
    snapshot = Snapshot.open(documents, version, path / SEGMENTS, verify=False)
    living = documents.living(snapshot.generation)
    for account in ledger_of(snapshot, living, [], strategy=version.config.strategy):
        if account.faults:
            found.affected.add(account.id)
            found.damages.append(Damage(SEGMENTS, f"the document {account.id!r}: {'; '.join(account.faults)}"))
