"""The folder of an index: made, opened, read by generation, written by one."""

from __future__ import annotations

import errno
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pincite.config import IndexConfig
from pincite.errors import (
    IndexCorruptError,
    IndexLockedError,
    IndexNotFoundError,
    InvalidInputError,
    StorageError,
)
from pincite.store.access import Views
from pincite.store.catalog import Catalog
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.catalog_rows import put_version
from pincite.store.connection import closed
from pincite.store.files import make_folder, naming_refusals, sync_folder
from pincite.store.lock import WriterLock
from pincite.store.pins import READERS
from pincite.store.records import DocumentRecord, VersionRecord, VersionState
from pincite.store.segment import SEGMENTS, UNFINISHED, Segment, is_segment
from pincite.store.snapshot import Snapshot
from pincite.store.stamps import analyzer_probes, check_analyzer, check_encoder, encoder_probes, stamp_of
from pincite.store.sweeping import RESTORING, UNFINISHED_CATALOG
from pincite.store.writer import LOCK, Writer
from pincite.types import TextEncoder

__all__ = ["CATALOG", "IndexFolder", "belongs", "lock_to_create", "may_become_index", "require_index"]

CATALOG = "catalog.sqlite"
CREATION_S = 10.0
_LOOKS = 10


class IndexFolder:
    """An open index. Safe to use from any thread; readers see one generation at a time.

    Parameters
    ----------
    path : Path
    read_only, verify : bool
    version : int or {"serving", "previous", "built"}, optional
        Stay with this version; by default with the one that serves, whichever that is.
    mapped : bool, default True
        Map its segments now, and not before something asks for them: those of a damaged index cannot be.

    Attributes
    ----------
    pinned : int or None
        The version that it stays with.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool,
        verify: bool,
        version: int | VersionState | None = None,
        mapped: bool = True,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._verify = verify
        require_index(path)
        if not read_only:
            _require_writable(path)
        self.catalog = Catalog(path / CATALOG, writable=not read_only)
        if verify:
            self.catalog.check_log()
            self.catalog.check_schema()
        self.identity = self.catalog.identity()
        self._seen = self.catalog.data_version()
        self.pinned = None if version is None else self._record(version).number
        if verify:
            self.catalog.check_noted()
        self._closed = False
        self._snapshot = self._opened(None) if mapped else None
        self.views = Views(self.catalog, version=self.pinned)
        self._checked: dict[int, TextEncoder] = {}
        self._analyzed: set[int] = set()

    @classmethod
    def create(cls, path: Path, config: IndexConfig) -> None:
        """Make an empty index at a path where there is nothing, or an empty folder.

        The catalog is renamed into place last: an interrupted call leaves no half an index.
        """
        if path.exists() and (not may_become_index(path) or has_lost_its_catalog(path)):
            raise InvalidInputError(
                f"{path} exists and is no index, or not all of one; give a path where there is nothing"
            )
        with naming_refusals(path, "make an index"):
            make_folder(path / SEGMENTS)
            make_folder(path / READERS)  # whoever opened it first, root for example, would own it
            with lock_to_create(path):
                if (path / CATALOG).exists():
                    return  # another process made it meanwhile
                # A log without its catalog would be played into the new one.
                for leftover in (*path.glob(f"{UNFINISHED_CATALOG}*"), *path.glob(f"{CATALOG}-*")):
                    leftover.unlink()
                sync_folder(path)
                unfinished = path / UNFINISHED_CATALOG
                Catalog.create(unfinished, config, analyzer_probes(config), identity=uuid.uuid4().hex)
                unfinished.rename(path / CATALOG)
                sync_folder(path)

    @property
    def segments(self) -> Path:
        """The folder of the segments."""
        return self.path / SEGMENTS

    def snapshot(self) -> Snapshot:
        """Return the last generation, as far as others have committed it."""
        if self.catalog.data_version() != self._seen:
            return self.refresh()
        found = self._snapshot  # after the look: another thread may have refreshed it since
        return self.refresh() if found is None else found

    def refresh(self) -> Snapshot:
        """Look at what is committed now.

        Raises
        ------
        PinciteError
            If the folder was closed.
        """
        with self.catalog.alone():  # no lock of its own: who is in a transaction, which takes this one, may ask as well
            if self._closed:
                raise closed(self.path)
            # The version is read first: a commit in between is then seen at the next call.
            seen = self.catalog.data_version()
            found = self._snapshot = self._opened(self._snapshot)
            self._seen = seen
            return found

    def _opened(self, before: Snapshot | None) -> Snapshot:
        number = self.catalog.serving() if self.pinned is None else self.pinned
        documents = self.catalog.version(number)
        if (
            before is not None
            and before.version.number == number
            and before.version.encoder is not None
            and before.generation == documents.last_generation()
        ):
            return before  # it was changed who may see what, or another version
        return Snapshot.open(documents, self._record(number), self.segments, before=before, verify=self._verify)

    def _record(self, wanted: int | VersionState) -> VersionRecord:
        versions = self.catalog.versions()
        for version in versions:
            if wanted in {version.number, version.state}:
                return version
        there = ", ".join(f"{version.number} ({version.state})" for version in versions)
        raise InvalidInputError(f"{self.path} has no version {wanted!r}, it has: {there}")

    @property
    def version(self) -> VersionRecord:
        """The version that is read, as it was when its generation was opened."""
        return self.snapshot().version

    @property
    def config(self) -> IndexConfig:
        """How documents are cut and indexed."""
        return self.version.config

    @property
    def documents(self) -> DocumentCatalog:
        """What the catalog has of the version that is read."""
        return self.catalog.version(self.version.number)

    def writer(self) -> Writer:
        """Return the writer; enter it to hold the lock. Raises what `require_writable` does."""
        self.require_writable()
        return Writer(self.catalog, self.path)

    def require_writable(self) -> None:
        """Refuse to write what was opened to be read only.

        Raises
        ------
        InvalidInputError
            If it was.
        """
        if self.read_only:
            raise InvalidInputError(f"{self.path} was opened with read_only=True; open it without to write")

    @property
    def encoder_stamp(self) -> Mapping[str, Any] | None:
        """What the vectors depend on; None while there are none."""
        return self.version.encoder

    def stamp_encoder(self, encoder: TextEncoder) -> None:
        """Bind the version that is read to an encoder, or check that it is the one it is bound to, and the analyzer."""
        version = self.version
        self.check_analyzer(version)
        if version.encoder is None:
            probes = {**version.probes, **encoder_probes(encoder)}
            with self.catalog.transaction() as connection:
                put_version(
                    connection, version.number, config=version.config.to_dict(), encoder=stamp_of(encoder),
                    probes=probes, made=version.made, level=version.level,
                )  # fmt: skip
            self.refresh()
            self._checked[version.number] = encoder
        self.check_encoder(encoder)

    def check_analyzer(self, version: VersionRecord | None = None) -> None:
        """Refuse a version, by default the one that is read, whose words were cut otherwise than now; looks once.

        Raises
        ------
        IncompatibleIndexError
            If the same text gives other terms.
        """
        version = version or self.version
        if version.number not in self._analyzed:
            check_analyzer(version, self.path)
            self._analyzed.add(version.number)

    def check_encoder(self, encoder: TextEncoder, version: VersionRecord | None = None) -> None:
        """Refuse an encoder whose vectors are not comparable with those of a version; looks once an encoder.

        Parameters
        ----------
        encoder : TextEncoder
        version : VersionRecord, optional
            By default the one that is read.

        Raises
        ------
        IncompatibleIndexError
            If its stamp is another, or what comes out of known texts is.
        """
        version = version or self.version
        if version.encoder is None or encoder is self._checked.get(version.number):
            return
        check_encoder(version.encoder, version.probes, encoder, self.path)
        self._checked[version.number] = encoder

    def find(self, id: str) -> tuple[DocumentRecord, Segment, int] | None:
        """Return the live state of a document, its segment and its number there; None if there is none."""
        for _ in range(_LOOKS):
            snapshot = self.snapshot()
            live = self.catalog.version(snapshot.version.number).live(id)
            if live is None:
                return None
            row, record = live
            place = snapshot.place(row)
            if place is not None:
                return record, *place
            self.refresh()  # a commit came between the two looks
        raise IndexCorruptError(f"{self.path}: no segment holds the document {id!r}, which the catalog lists")

    def close(self) -> None:
        """Close the catalog, and hold no generation any more. Mapped files live on while results refer to them."""
        with self.catalog.alone():  # another thread may be about to put it back
            self._closed, self._snapshot = True, None
        self.views.forget()
        self.catalog.close(for_good=True)


def require_index(path: Path) -> None:
    """Refuse a path where no index is.

    Raises
    ------
    IndexNotFoundError
        Says how one is made.
    """
    if (path / CATALOG).is_file():
        return
    if path.exists() and not may_become_index(path):
        raise IndexNotFoundError(f"{path} is no index; give the folder of one")
    if has_lost_its_catalog(path):
        raise IndexNotFoundError(
            f"{path} holds segments of an index, and not its {CATALOG}; restore the index from a copy"
        )
    raise IndexNotFoundError(
        f"{path} {'is empty' if path.exists() else 'does not exist'}; make an index with "
        f"pincite.open({str(path)!r}, create=True), or on the command line: pincite index FOLDER --into {path}"
    )


def belongs(entry: Path) -> bool:
    """Return whether something in an index's folder has a name that making, writing or restoring an index gives."""
    return entry.name.startswith((SEGMENTS, LOCK, UNFINISHED_CATALOG, CATALOG, RESTORING, READERS))


def may_become_index(path: Path) -> bool:
    """Return whether a folder is empty, but for what making or restoring an index puts or left there."""
    return path.is_dir() and all(map(belongs, path.iterdir())) and all(map(is_segment, (path / SEGMENTS).glob("*")))


def has_lost_its_catalog(path: Path) -> bool:
    """Return whether segments lie in a folder without the catalog that lists them."""
    whole = [each for each in (path / SEGMENTS).glob("*") if not each.name.startswith(UNFINISHED)]
    return bool(whole) and not (path / CATALOG).exists()


def _require_writable(path: Path) -> None:
    for needed in (path, path / CATALOG):
        if not os.access(needed, os.W_OK):
            raise StorageError(
                errno.EACCES,
                f"{needed} may not be written to by this process; open the index with read_only=True, or see to it "
                "that its folder may be written to",
            )


@contextmanager
def lock_to_create(path: Path) -> Iterator[None]:
    """Hold the writer's lock; wait for one who is making the same index, which takes him milliseconds."""
    until = time.monotonic() + CREATION_S
    lock = WriterLock(path / LOCK)
    while True:
        try:
            lock.__enter__()
            break
        except IndexLockedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.005)
    try:
        yield
    finally:
        lock.__exit__(None, None, None)
