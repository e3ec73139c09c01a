"""An open index with its models: what every question and every change needs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from pincite.config import DEFAULT_ENCODER, IndexConfig
from pincite.models.encoder import Encoder
from pincite.models.reranker import Reranker
from pincite.store.connection import closed
from pincite.store.folder import IndexFolder
from pincite.store.records import VersionRecord
from pincite.store.snapshot import Snapshot
from pincite.types import TextEncoder, TextReranker

__all__ = ["OpenIndex"]

_Found = TypeVar("_Found")


class OpenIndex:
    """An index of documents, with the models that it needs, each loaded at its first use."""

    def __init__(
        self,
        folder: IndexFolder,
        *,
        encoder: str | os.PathLike[str] | TextEncoder | None,
        reranker: str | os.PathLike[str] | TextReranker | None,
        report: Callable[[str], None] | None,
    ) -> None:
        self._opened: IndexFolder | None = folder
        self._path = folder.path
        self._encoder = encoder
        self._encoders: dict[int, TextEncoder] = {}
        self._models: dict[str, TextEncoder] = {}
        self._reranker = reranker
        self._report = report
        self._loading = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> Self:
        """Return the knowledge base itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled."""
        raise TypeError(f"a KnowledgeBase cannot be pickled; open {self._path} again in the other process")

    def __repr__(self) -> str:
        return f"<KnowledgeBase at {self._path}{'' if self._opened else ', closed'}>"

    def close(self) -> None:
        """Close the index. Results that were returned stay as they are; calling it again does nothing."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def _folder(self) -> IndexFolder:
        if self._opened is None:
            raise closed(self._path)
        return self._opened

    @property
    def config(self) -> IndexConfig:
        """How documents are cut and indexed."""
        return self._folder.config

    @property
    def generation(self) -> int:
        """The number of the last commit."""
        return self._folder.snapshot().generation

    @property
    def has_groups(self) -> bool:
        """Whether it was ever said who may see what: then questions have to come with groups."""
        return self._folder.catalog.epoch() > 0

    def view(self, *, groups: Iterable[str] | None = None) -> Snapshot:
        """Return the generation that a search with these groups would see now; without groups, all of it.

        What `pincite.evaluate` reads. It is for whoever runs the index, as are `status`, `ledger` and `stale`, which
        are about all documents.
        """
        folder = self._folder
        folder.check_analyzer()
        return folder.snapshot() if groups is None else self._undisturbed(lambda now: folder.views.of(now, groups))

    def _undisturbed(self, look: Callable[[Snapshot], _Found]) -> _Found:
        """Return what `look` finds in a generation that is still the last one afterwards.

        Who may see a document is read apart from what it says, and a commit may change both: looked at on either side
        of one, the old text would be seen by those whom the new one is for.
        """
        while True:
            now = self._folder.snapshot()
            found = look(now)
            if self._folder.snapshot() is now:
                return found

    def encoder(self) -> TextEncoder:
        """Return the embedding model, loaded at the first call and compared with the index's own.

        Raises
        ------
        ModelFileError
            If it cannot be found, fetched or used.
        IncompatibleIndexError
            If the index was built with another.
        """
        return self._encoder_of(self._folder.version)

    def _encoder_of(self, version: VersionRecord) -> TextEncoder:
        """Return the encoder of a version: the one that was given, or the one that the version was built with."""
        with self._loading_once():
            found = self._encoders.get(version.number)
            if found is None:
                given = self._encoder
                if given is None:
                    stamp = version.encoder
                    given = DEFAULT_ENCODER if stamp is None else str(stamp.get("model", DEFAULT_ENCODER))
                found = self._loaded(given)
            self._folder.check_encoder(found, version)
            self._encoders[version.number] = found
            return found

    def _loaded(self, given: str | os.PathLike[str] | TextEncoder) -> TextEncoder:
        if not isinstance(given, (str, os.PathLike)):
            return given
        name = os.fspath(given)
        if name not in self._models:
            self._models[name] = Encoder.load(name, report=self._report)
        return self._models[name]

    def reranker(self) -> TextReranker:
        """Return the cross-encoder, loaded at the first call.

        Raises
        ------
        ModelFileError
            If it cannot be found, fetched or used.
        """
        with self._loading_once():
            given = self._reranker
            if given is None or isinstance(given, (str, os.PathLike)):
                given = Reranker.load(given, report=self._report)
            self._reranker = given
            return given

    @contextmanager
    def _loading_once(self) -> Iterator[None]:
        if self._process != os.getpid():  # a thread of the parent may have held the lock while it forked
            self._loading, self._process = threading.RLock(), os.getpid()
        with self._loading:
            yield
