"""The folder of an index: made, opened, read by generation, written by one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pincite.config import IndexConfig
from pincite.errors import (
    IncompatibleIndexError,
    IndexCorruptError,
    IndexLockedError,
    IndexNotFoundError,
    InvalidInputError,
)
from pincite.store.access import Views
from pincite.store.catalog import Catalog
from pincite.store.files import naming_refusals, sync_folder
from pincite.store.lock import WriterLock
from pincite.store.records import DocumentRecord
from pincite.store.segment import Segment
from pincite.store.snapshot import Snapshot
from pincite.store.writer import LOCK, Writer
from pincite.types import TextEncoder

__all__ = ["IndexFolder"]

CATALOG = "catalog.sqlite"
UNFINISHED_CATALOG = ".catalog.sqlite"
"""The catalog until it is whole; SQLite puts files beside it whose names begin so."""

CREATION_S = 10.0
_LOOKS = 10
PROBES = ("Where is the answer written?", "[Guide > Set-up]\nInstall it, then run `tool --check` in 2 steps: α, β.")
"""Texts whose vectors are stored: another model under the same name is noticed by them."""

PROBE_TOLERANCE = 1e-3
"""How far the components of equal texts may be apart: other processors and batches give 1e-6, other weights 1e-2."""


class IndexFolder:
    """An open index. Safe to use from any thread; readers see one generation at a time."""

    def __init__(self, path: Path, *, read_only: bool, verify: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._verify = verify
        if not (path / CATALOG).is_file():
            if path.exists() and not _may_become_index(path):
                raise IndexNotFoundError(f"{path} is no index; give the folder of one")
            raise IndexNotFoundError(
                f"{path} {'is empty' if path.exists() else 'does not exist'}; make an index with "
                f"pincite.open({str(path)!r}, create=True), or on the command line: pincite index FOLDER --into {path}"
            )
        self.catalog = Catalog(path / CATALOG, writable=not read_only)
        self._meta = self.catalog.meta()
        self.config = IndexConfig.from_dict(self._meta["config"])
        self._refreshing = threading.Lock()
        self._process = os.getpid()
        self._version = self.catalog.data_version()
        self._snapshot = Snapshot.open(self.catalog, self.segments, verify=verify)
        self.views = Views(self.catalog)
        self._checked: TextEncoder | None = None

    @classmethod
    def create(cls, path: Path, config: IndexConfig) -> None:
        """Make an empty index at a path where there is nothing, or an empty folder.

        The catalog is renamed into place last: an interrupted call leaves no half an index.
        """
        if path.exists() and not _may_become_index(path):
            raise InvalidInputError(f"{path} exists and is no index; give a path where there is nothing")
        with naming_refusals(path, "make an index"):
            (path / "segments").mkdir(parents=True, exist_ok=True)
            with _lock_to_create(path):
                if (path / CATALOG).exists():
                    return  # another process made it meanwhile
                for leftover in path.glob(f"{UNFINISHED_CATALOG}*"):
                    leftover.unlink()
                unfinished = path / UNFINISHED_CATALOG
                Catalog.create(unfinished, {"config": config.to_dict(), "created": time.time()})
                unfinished.rename(path / CATALOG)
                sync_folder(path)

    @property
    def segments(self) -> Path:
        """The folder of the segments."""
        return self.path / "segments"

    def snapshot(self) -> Snapshot:
        """Return the last generation, as far as others have committed it."""
        if self._process != os.getpid():
            # A thread of the parent may have held the lock while it forked.
            self._refreshing, self._process = threading.Lock(), os.getpid()
        if self.catalog.data_version() != self._version:
            self.refresh()
        return self._snapshot

    def refresh(self) -> Snapshot:
        """Look at what is committed now."""
        with self._refreshing:
            # The version is read first: a commit in between is then seen at the next call.
            version = self.catalog.data_version()
            if self.catalog.last_generation() == self._snapshot.generation:  # it was changed who may see what
                self._version = version
                return self._snapshot
            self._snapshot = Snapshot.open(
                self.catalog, self.segments, known=self._snapshot.segments, before=self._snapshot, verify=self._verify
            )
            self._version = version
            return self._snapshot

    def writer(self) -> Writer:
        """Return the writer; enter it to hold the lock."""
        if self.read_only:
            raise InvalidInputError(f"{self.path} was opened with read_only=True; open it without to write")
        return Writer(self.catalog, self.path, config=self.config, stamp={"config": self.config.to_dict()})

    @property
    def encoder_stamp(self) -> Mapping[str, Any] | None:
        """What the vectors depend on; None while there are none."""
        if "encoder" not in self._meta:
            self._meta = self.catalog.meta()  # another process may have bound it meanwhile
        stamp: Mapping[str, Any] | None = self._meta.get("encoder")
        return stamp

    def stamp_encoder(self, encoder: TextEncoder) -> None:
        """Bind the index to an encoder, or check that it is the one it is bound to (`check_encoder`)."""
        if self.encoder_stamp is None:
            probes = encoder.encode_batch(PROBES).vectors
            self.catalog.set_meta({"encoder": dict(encoder.stamp), "probes": probes.tolist()})
            self._meta = self.catalog.meta()
            self._checked = encoder
        self.check_encoder(encoder)

    def check_encoder(self, encoder: TextEncoder) -> None:
        """Refuse an encoder whose vectors are not comparable with those of the index; once an encoder.

        Raises
        ------
        IncompatibleIndexError
            If its stamp is another, or the vectors of the probe texts are.
        """
        if encoder is self._checked:
            return
        stamp = self.encoder_stamp
        if stamp is None:
            return
        if dict(stamp) != dict(encoder.stamp):
            differing = sorted(
                key for key in {*stamp, *encoder.stamp} if stamp.get(key) != encoder.stamp.get(key)
            )  # fmt: skip
            given = ", ".join(f"{key}={encoder.stamp.get(key)!r}" for key in differing)
            wanted = ", ".join(f"{key}={stamp.get(key)!r}" for key in differing)
            raise IncompatibleIndexError(
                f"{self.path} was built with another encoder: the index has {wanted}, given was {given}; open it with "
                "the encoder it was built with, or index the documents again"
            )
        stored = np.array(self._meta["probes"], dtype=np.float32)
        apart = float(np.abs(encoder.encode_batch(PROBES).vectors - stored).max())
        if not apart <= PROBE_TOLERANCE:
            raise IncompatibleIndexError(
                f"{self.path} was built with an encoder of the same name that gives other vectors: those of the probe "
                f"texts are {apart:.2g} apart, at most {PROBE_TOLERANCE} is wanted; use the model it was built with"
            )
        self._checked = encoder

    def find(self, id: str) -> tuple[DocumentRecord, Segment, int] | None:
        """Return the live version of a document, its segment and its number there; None if there is none."""
        for _ in range(_LOOKS):
            snapshot = self.snapshot()
            live = self.catalog.live(id)
            if live is None:
                return None
            row, record = live
            place = snapshot.place(row)
            if place is not None:
                return record, *place
            self.refresh()  # a commit came between the two looks
        raise IndexCorruptError(f"{self.path}: no segment holds the document {id!r}, which the catalog lists")

    def close(self) -> None:
        """Close the catalog. Mapped files live on while results refer to them."""
        self.catalog.close()


def _may_become_index(path: Path) -> bool:
    """Return whether a folder is empty, but for what `IndexFolder.create` puts there, or left when interrupted."""
    ours = ("segments", LOCK, UNFINISHED_CATALOG, CATALOG)
    return path.is_dir() and all(entry.name.startswith(ours) for entry in path.iterdir())


@contextmanager
def _lock_to_create(path: Path) -> Iterator[None]:
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
