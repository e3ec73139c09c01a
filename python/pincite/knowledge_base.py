"""The facade: an index with its models, behind `pincite.open`. Only wires the floors together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pincite.cite.citation import Citation, cite
from pincite.cite.context import Context, NoAnswer, context_of
from pincite.cite.origin import origin_of
from pincite.cite.resolve import Passage, resolve_uri
from pincite.cite.verification import CurrentText, TextProvider
from pincite.config import DEFAULT_ENCODER, DEFAULT_MAX_DISTANCE, IndexConfig
from pincite.core.arguments import flag, integer, one_of, path_text, word
from pincite.core.bm25 import BM25Index
from pincite.core.chunking import chunk
from pincite.errors import ExtractionError, InvalidInputError, PinciteError
from pincite.extract import extract
from pincite.filters import Condition, condition_of
from pincite.models.encoder import Encoder
from pincite.models.reranker import Reranker
from pincite.retrieve.audit import Audit, audit
from pincite.retrieve.decide import checked_limits
from pincite.retrieve.pipeline import CANDIDATES, search
from pincite.retrieve.result import RerankOrder, SearchResult
from pincite.store.access import checked_groups
from pincite.store.archive import SnapshotReport, write_archive
from pincite.store.files import naming_refusals
from pincite.store.folder import IndexFolder
from pincite.store.ingest import IngestReport
from pincite.store.ledger import Ledger, ledger_of
from pincite.store.preparing import checked_metadata, sorted_out
from pincite.store.progress import Progress
from pincite.store.records import VersionRecord, VersionState
from pincite.store.restoring import RestoreReport, restore_archive
from pincite.store.snapshot import Snapshot
from pincite.store.sources import file_of, ids_of_file, require_regular
from pincite.store.stale import StaleDocument, stale_documents
from pincite.store.status import Status, status_of
from pincite.store.upkeep import add_documents, delete_documents, require_known, retry_failed, set_access, sync_sources
from pincite.store.versions import RebuildReport, discard_version, rebuild, switch
from pincite.types import Document, TextEncoder, TextReranker

__all__ = ["KnowledgeBase", "Status", "open", "resolve", "restore"]

STATES: dict[str, VersionState] = {"serving": "serving", "built": "built", "previous": "previous"}

_Found = TypeVar("_Found")

RERANK_ORDERS: dict[Any, RerankOrder] = {True: "fused", False: "none", "fused": "fused", "pure": "pure", "none": "none"}


def open(
    path: str | os.PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    version: int | Literal["serving", "built", "previous"] | None = None,
    verify: bool = True,
    config: IndexConfig | None = None,
    encoder: str | os.PathLike[str] | TextEncoder | None = None,
    reranker: str | os.PathLike[str] | TextReranker | None = None,
    report: Callable[[str], None] | None = None,
) -> KnowledgeBase:
    """Open an index.

    Costs the mapping of its files and, with `verify`, reading them once; models are loaded when they are needed first.

    Parameters
    ----------
    path : path
        The index's folder.
    create : bool, default False
        Make an empty index if there is none.
    read_only : bool, default False
        Refuse to write.
    version : int or {"serving", "built", "previous"}, optional
        Read one version of the index, and go on reading it whichever serves: see `KnowledgeBase.rebuild`. It is read
        only. By default the one that serves.
    verify : bool, default True
        Compare the files with their checksums. Without, an index of 100,000 chunks opens about three times as fast,
        and damage to its texts or numbers can go unseen.
    config : IndexConfig, optional
        How a new index is built. An index that exists keeps its own; another is an error.
    encoder : name, path or TextEncoder, optional
        The embedding model: see `Encoder.load`. By default the one that the index was built with, or
        "all-MiniLM-L6-v2" for a new one.
    reranker : name, path or TextReranker, optional
        By default the one that comes with the package: see `Reranker.load`.
    report : callable, optional
        Takes a line about what takes long, such as the fetching of a model.

    Returns
    -------
    KnowledgeBase
        A context manager.

    Raises
    ------
    IndexNotFoundError
        If there is no index and `create` is False.
    IndexCorruptError, IncompatibleIndexError, StorageError
        If it cannot be used.
    InvalidInputError
        If `config` is not that of the index, or `path` holds something else.

    Examples
    --------
    >>> import pincite
    >>> with pincite.open("kb", create=True) as kb:  # doctest: +SKIP
    ...     kb.add("docs")
    ...     kb.context("why do all kernels give equal bits").citations[0].uri
    """
    folder = Path(path_text(path))
    with naming_refusals(folder, "open the index"):
        return _open(folder, create, read_only, version, verify, config, encoder, reranker, report)


def _open(
    folder: Path,
    create: bool,
    read_only: bool,
    version: int | Literal["serving", "built", "previous"] | None,
    verify: bool,
    config: IndexConfig | None,
    encoder: str | os.PathLike[str] | TextEncoder | None,
    reranker: str | os.PathLike[str] | TextReranker | None,
    report: Callable[[str], None] | None,
) -> KnowledgeBase:
    if flag(create, "create") and not (folder / "catalog.sqlite").exists():
        if flag(read_only, "read_only"):
            raise InvalidInputError("create and read_only are both True, wanted one of them")
        wanted = config or IndexConfig()
        _check_config(wanted)
        IndexFolder.create(folder, wanted)
    if version is not None and not isinstance(version, str):
        version = integer(version, "version", at_least=1)
    opened = IndexFolder(
        # The place itself: where a link is turned, or the process changes its folder, the name leads to another index.
        folder.resolve(),
        read_only=flag(read_only, "read_only") or version is not None,
        verify=flag(verify, "verify"),
        version=STATES[one_of(version, "version", tuple(STATES))] if isinstance(version, str) else version,
    )
    if config is not None and config != (own := opened.config):
        opened.close()
        raise InvalidInputError(
            f"{folder} was built with {own}, given was {config}; leave config out, or make another index"
        )
    return KnowledgeBase(opened, encoder=encoder, reranker=reranker, report=report)


def _check_config(config: IndexConfig) -> None:
    """Raise what is wrong with it, before anything is written."""
    chunk("x", strategy=config.strategy, target=config.target, overlap=config.overlap)
    BM25Index.build([], analyzer=config.analyzer, stemmer=config.stemmer)
    if config.graph_from is not None:
        integer(config.graph_from, "graph_from", at_least=1)


def restore(file: str | os.PathLike[str], path: str | os.PathLike[str], *, keep_grants: bool = False) -> RestoreReport:
    """Make an index of a file that `KnowledgeBase.snapshot` wrote, or put an index back to what is in it.

    Where `path` is an index, it has to be the one that the file was made of. Then its documents become, in one commit,
    what they were, but for those that were deleted since, which do not come back, and for who may see what, which stays
    as it is. `KnowledgeBase.rollback` goes back to how it was cut and embedded before.

    Where there is nothing at `path`, a new index is made. Nobody knows there what was deleted or whose grant was taken
    back since: if the index had groups, nobody sees anything until it is said again by `KnowledgeBase.grant`.

    Parameters
    ----------
    file, path : path
    keep_grants : bool, default False
        In a new index, take who might see what at the time of the snapshot for who may see it. A grant that was taken
        back since comes to life again.

    Raises
    ------
    InvalidInputError
        If something else is at `path`, or another index than that of the file.
    IndexCorruptError, IncompatibleIndexError
        If the file is damaged, no snapshot, or of another version.
    IndexLockedError, StorageError
        As for `KnowledgeBase.add`. The index is as it was.
    """
    folder = Path(path_text(path)).resolve()
    with naming_refusals(folder, "restore the index"):
        return restore_archive(Path(path_text(file)), folder, keep_grants=flag(keep_grants, "keep_grants"))


def resolve(uri: str, kb: KnowledgeBase) -> Passage:
    """Return the passage that the URI of a citation names: `KnowledgeBase.resolve`."""
    return kb.resolve(uri)


class KnowledgeBase:
    """An index of documents, open for questions; made by `pincite.open`. Safe to use from any number of threads.

    Every search runs on one generation, the last that was committed, by whomever, when it began.
    """

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
            raise PinciteError(f"the index {self._path} was closed; open it again with pincite.open")
        return self._opened

    @property
    def config(self) -> IndexConfig:
        """How documents are cut and indexed."""
        return self._folder.config

    @property
    def generation(self) -> int:
        """The number of the last commit."""
        return self._folder.snapshot().generation

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

    @property
    def has_groups(self) -> bool:
        """Whether it was ever said who may see what: then questions have to come with groups."""
        return self._folder.catalog.epoch() > 0

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

    def add(
        self,
        paths_or_documents: Any,
        *,
        name: str | None = None,
        groups: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        progress: bool | Progress = True,
    ) -> IngestReport:
        """Index files, folders and documents. What has not changed since it was indexed is skipped.

        A document that has changed is replaced in one commit; until then the old one is found. About 1,000 chunks make
        a commit, and what is committed stays: after an interruption, the same call does the rest. Files that no
        extractor reads, or that hold no text, are noted as failed, and the others are indexed.

        Parameters
        ----------
        paths_or_documents : path, Document, or an iterable of them
            Folders are searched to any depth; what begins with a full stop is passed over. A file's id is the name of
            its folder and its path below it.
        name : str, optional
            What to call the folder, where its own name will not do.
        groups : iterable of str, optional
            Who may see the documents: see `grant`. Without it, a document keeps the groups that it had.
        metadata : dict, optional
            Kept with each document, as JSON. Without it a file keeps what it had.
        progress : bool or callable, default True
            Show a bar where standard error is a terminal; or call this with the bytes done, all bytes, and an id.

        Returns
        -------
        IngestReport

        Raises
        ------
        InvalidInputError
            If a path does not exist, an id is given twice, or two folders would have the same name.
        IndexLockedError
            If another process is writing.
        IncompatibleIndexError
            If the index was built with another encoder.
        ModelFileError
            If the encoder cannot be found or fetched.
        StorageError
            If something cannot be written; what was committed before stays.
        """
        paths, documents = sorted_out(paths_or_documents)
        shared = None if metadata is None else checked_metadata(metadata, "metadata")
        documents = [
            replace(each, metadata={**(shared or {}), **checked_metadata(each.metadata, f"metadata of {each.id!r}")})
            for each in documents
        ]
        return add_documents(
            self._folder,
            self.encoder,
            paths,
            documents,
            name=name,
            groups=None if groups is None else checked_groups(groups),
            metadata=shared,
            progress=progress,
        )

    def update(
        self,
        documents: Document | Iterable[Document],
        *,
        metadata: Mapping[str, Any] | None = None,
        progress: bool | Progress = True,
    ) -> IngestReport:
        """Replace documents that the index has: `add`, but an id that is not there is an error and nothing is written.

        Raises
        ------
        InvalidInputError
            If the index has no document of some id, beside what `add` raises.
        """
        _, given = sorted_out(documents)
        require_known(self._folder, [document.id for document in given], "add takes new ones")
        return self.add(given, metadata=metadata, progress=progress)

    def delete(self, ids: str | Iterable[str]) -> IngestReport:
        """Take documents out, in one commit: no search finds them from then on, and nothing counts them.

        Their files stay where they are, and the next `add` or `sync` of their folder brings them back.

        Parameters
        ----------
        ids : str or iterable of str
            Of documents that are indexed or have failed.

        Returns
        -------
        IngestReport
            With `deleted` and `generation`.

        Raises
        ------
        InvalidInputError
            If the index has no document of some id; then nothing is deleted.
        IndexLockedError
            If another process is writing.
        """
        wanted = [ids] if isinstance(ids, str) else [word(id, "ids") for id in ids]
        return delete_documents(self._folder, wanted)

    def grant(self, ids: str | Iterable[str], groups: Iterable[str]) -> None:
        """Say who may see documents, instead of who might before; at once, in every process, without indexing anything.

        It waits for no writer: who adds documents meanwhile goes on.

        From the first grant on, an index has groups, and every question has to come with those of its asker. A document
        is seen by whoever is in one of its groups; one without groups by nobody.

        Parameters
        ----------
        ids : str or iterable of str
            Of documents that are indexed or have failed.
        groups : iterable of str
            Names of your own; none at all hides the documents.

        Raises
        ------
        InvalidInputError
            If the index has no document of some id; then nothing is changed.
        """
        wanted = [ids] if isinstance(ids, str) else [word(id, "ids") for id in ids]
        set_access(self._folder, wanted, checked_groups(groups))

    def audit(self, groups: Iterable[str], *, questions: int = 20, seed: int = 0) -> Audit:
        """Return what groups can see, and check on sampled questions that nothing else shows through.

        The words of chunks that they can see, and of such that they cannot, are asked; both legs have to answer as an
        index that is built, in memory, of what they can see.

        Parameters
        ----------
        groups : iterable of str
        questions : int, default 20
        seed : int, default 0
            Of the sample.
        """
        asked = checked_groups(groups)
        everything, view = self._undisturbed(lambda now: (now, self._folder.views.of(now, asked)))
        self._folder.check_analyzer(everything.version)
        return audit(
            everything,
            view,
            asked,
            encoder=lambda: self._encoder_of(everything.version),
            questions=integer(questions, "questions", at_least=1),
            seed=integer(seed, "seed", at_least=0),
        )

    def sync(
        self,
        sources: str | Iterable[str] | None = None,
        *,
        groups: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        allow_empty: bool = False,
        progress: bool | Progress = True,
    ) -> IngestReport:
        """Make the documents of folders equal to their files: new and changed ones come in, those that are gone go.

        A source whose folder is not there, cannot be read, or holds no file any more keeps its documents; its trouble
        is in the report and in `status`, until a sync succeeds.

        Parameters
        ----------
        sources : str or iterable of str, optional
            By name: see `Status.sources`; by default all. `add` a folder first.
        groups : iterable of str, optional
            Who may see the documents that are new; others keep their groups.
        metadata : dict, optional
            Of the documents, as for `add`.
        allow_empty : bool, default False
            Take a folder that holds no file at its word.
        progress : bool or callable, default True
            As for `add`.

        Returns
        -------
        IngestReport
            With `deleted` and `troubles`.

        Raises
        ------
        InvalidInputError
            If there is no such source, beside what `add` raises.
        """
        return sync_sources(
            self._folder,
            self.encoder,
            [sources] if isinstance(sources, str) else sources,
            groups=None if groups is None else checked_groups(groups),
            metadata=None if metadata is None else checked_metadata(metadata, "metadata"),
            allow_empty=flag(allow_empty, "allow_empty"),
            progress=progress,
        )

    def retry(self, ids: Iterable[str] | None = None, *, progress: bool | Progress = True) -> IngestReport:
        """Try files again that failed. One whose file is gone fails again, as "missing", until a sync or `delete`.

        Parameters
        ----------
        ids : iterable of str, optional
            By default all that failed and were read from files; documents that were given as texts have to be given
            again.

        Raises
        ------
        InvalidInputError
            If one of them has not failed, or was not read from a file.
        """
        return retry_failed(self._folder, self.encoder, ids, progress=progress)

    def stale(self, *, older_than: float | timedelta | None = None) -> list[StaleDocument]:
        """Return the documents that may not say what is so any more, by id, each with the reasons.

        Parameters
        ----------
        older_than : timedelta or float, optional
            Or seconds: documents whose source was not compared for longer, and documents that were given as texts
            longer ago. Without it: those that failed since, those that an older extractor or chunker made, and those of
            a source in trouble.
        """
        return stale_documents(self._folder, older_than)

    def merge(self) -> int:
        """Make one segment of all, without what was deleted or replaced; return the generation's number.

        Commits merge small segments by themselves, up to a bound on what one may cost. This has none: it reads and
        writes the whole index, and keeps its texts and vectors in memory meanwhile. Readers go on.

        Raises
        ------
        IndexLockedError
            If another process is writing.
        """
        with self._folder.writer() as writer:
            return writer.merge(self._folder.snapshot())

    def rebuild(
        self,
        *,
        config: IndexConfig | None = None,
        encoder: str | os.PathLike[str] | TextEncoder | None = None,
        progress: bool | Progress = True,
    ) -> RebuildReport:
        """Build a version of the index beside the one that serves: all documents cut, indexed and embedded anew.

        What is cut are the texts that the index holds; no file is read. Questions are answered by the version that
        serves, until `swap`. About 1,000 chunks make a commit: after an interruption the same call does the rest, and
        called again later it takes in what has changed since.

        Parameters
        ----------
        config : IndexConfig, optional
            How documents are cut and indexed; by default as they are.
        encoder : name, path or TextEncoder, optional
            As for `pincite.open`; by default the one of the version that serves.
        progress : bool or callable, default True
            As for `add`, in characters.

        Returns
        -------
        RebuildReport

        Raises
        ------
        InvalidInputError
            If a version with other settings has been begun: `discard` it first.
        IndexLockedError, ModelFileError, StorageError
            As for `add`.

        Examples
        --------
        >>> kb.rebuild(config=pincite.IndexConfig(target=1024))  # doctest: +SKIP
        >>> pincite.open("kb", version="built").search("does it still know this?")  # doctest: +SKIP
        >>> kb.swap()  # doctest: +SKIP
        """
        folder = self._folder
        wanted = config or folder.config
        _check_config(wanted)
        model = self.encoder() if encoder is None else self._loaded(encoder)
        report = rebuild(folder, wanted, model, progress=progress)
        self._encoders[report.version] = model
        return report

    def swap(self, *, progress: bool | Progress = True) -> int:
        """Let the version that `rebuild` built serve, in one commit, and return the generation's number.

        Documents that came, changed or went since it was built are taken in first. The version that served until now is
        kept, until the next swap: `rollback` goes back to it. Other processes follow with their next question, and have
        to have the encoder: one that was opened with another by name or object says so.

        Raises
        ------
        InvalidInputError
            If none has been built to the end.
        IncompatibleIndexError, ModelFileError
            If the version's encoder is needed and cannot be had, or its words were cut by another version of the
            analyzer; then everything is as it was.
        IndexLockedError, StorageError
            As for `add`.
        """
        return switch(self._folder, "built", self._encoder_of, progress=progress)

    def rollback(self, *, progress: bool | Progress = True) -> int:
        """Undo a `swap`: let the version that served before it serve again; calling it again undoes that.

        Only the way of cutting and embedding goes back. What was deleted since stays deleted, what was added or changed
        since is taken in first, and who may see what stays as it is. Raises what `swap` raises.
        """
        return switch(self._folder, "previous", self._encoder_of, progress=progress)

    def discard(self, version: int) -> None:
        """Remove a version that does not serve: one that was built, or the one that `rollback` would go back to.

        Raises
        ------
        InvalidInputError
            If there is no such version, or it serves.
        """
        discard_version(self._folder, integer(version, "version", at_least=1))

    def snapshot(self, path: str | os.PathLike[str]) -> SnapshotReport:
        """Write the index, as it is now, to one file, which `pincite.restore` makes an index of.

        It holds the version that serves. Others go on reading and writing meanwhile; the file shows one generation.

        Parameters
        ----------
        path : path
            Of the file; one that is there is not replaced.

        Raises
        ------
        InvalidInputError
            If something is there, it would lie within the index, or this was opened with a version that does not serve.
        StorageError
            If it cannot be written; then nothing is left of it.
        """
        return write_archive(self._folder, Path(path_text(path)))

    def search(
        self,
        question: str,
        *,
        k: int = 4,
        max_distance: float | None = DEFAULT_MAX_DISTANCE,
        rerank: bool | RerankOrder = True,
        candidates: int = CANDIDATES,
        min_logit: float | None = None,
        max_absent: float | None = None,
        where: Condition | Mapping[str, Any] | str | None = None,
        groups: Iterable[str] | None = None,
        statistics: Literal["visible", "global"] = "visible",
    ) -> SearchResult:
        """Find the passages that answer a question.

        BM25 and the vectors each give their best `candidates`, fused by reciprocal rank. Of those within `max_distance`
        the best 25 are judged by the reranker, whose order is fused with theirs.

        Parameters
        ----------
        question : str
        k : int, default 4
            Return at most this many passages.
        max_distance : float or None, default 0.675
            The greatest cosine distance, 1 - cosine, at which a passage is an answer; None: any. A passage beyond it
            passes only if it holds a rare, code-like word of the question, and says so.
        rerank : bool or {"fused", "pure", "none"}, default True
            True and "fused": the reranker's order fused with the hybrid one; "pure": its order alone; False and "none":
            the hybrid order, without the reranker.
        candidates : int, default 50
            Wanted of each leg; at least `k`.
        min_logit : float, optional
            A second stage: a passage whose rerank logit is below it is no answer. Only reranked passages have one.
        max_absent : float, optional
            A second stage as well: a passage that lacks more than this share, 0 to 1, of the weight of the question's
            words is no answer: see `Hit.absent_weight`. Both are off by default, as neither suits questions in other
            words than the documents'; `pincite.evaluation.calibrate` sets them.
        where : Condition, dict or str, optional
            Only documents that fulfil it are searched: ``F("lang") == "de"``, its `to_dict`, or a text such as
            ``'lang == "de" and modified >= 2024-01-01'``. It reaches inside both legs, so `k` passages are returned as
            long as so many fulfil it. Word statistics are those of all documents that may be seen.
        groups : iterable of str, optional
            Of the asker: see `grant`. The result is that of an index which holds only what they may see: ids, order,
            scores, counts and coverage (not timings, `plan` and generation). An index with groups has to be given some;
            none at all see nothing.
        statistics : {"visible", "global"}, default "visible"
            "global" ranks what the asker may see by the word statistics of all documents. It leaks: scores and order
            then tell how frequent a word is in documents that the asker may not see.

        Returns
        -------
        SearchResult
            Refused, with the reason, where nothing passes.

        Raises
        ------
        InvalidInputError
            If the question is blank or an argument is out of its range.
        ModelFileError, IncompatibleIndexError
            As for `encoder` and `reranker`.
        """
        if not word(question, "question").strip():
            raise InvalidInputError(f"the question is {question!r}, wanted some words")
        k = integer(k, "k", at_least=1)
        if not isinstance(rerank, (bool, str)) or rerank not in RERANK_ORDERS:
            raise InvalidInputError(f"rerank is {rerank!r}, wanted True, False, 'fused', 'pure' or 'none'")
        order = RERANK_ORDERS[rerank]
        max_distance, min_logit, max_absent = checked_limits(
            max_distance, min_logit, max_absent, reranks=order != "none"
        )
        allowed = self._folder.views.checked(groups)
        everything, view = self._undisturbed(lambda now: (now, self._folder.views.of(now, allowed)))
        self._folder.check_analyzer(everything.version)
        return search(
            everything if one_of(statistics, "statistics", ("visible", "global")) == "global" else view,
            question,
            encoder=lambda: self._encoder_of(everything.version),
            reranker=self.reranker,
            k=k,
            max_distance=max_distance,
            candidates=max(k, integer(candidates, "candidates", at_least=1)),  # or legs that agree would leave fewer
            order=order,
            min_logit=min_logit,
            max_absent=max_absent,
            where=None if where is None else condition_of(where),
            within=view if statistics == "global" and allowed is not None else None,
        )

    def context(
        self,
        question: str,
        *,
        k: int = 4,
        max_distance: float | None = DEFAULT_MAX_DISTANCE,
        rerank: bool | RerankOrder = True,
        candidates: int = CANDIDATES,
        min_logit: float | None = None,
        max_absent: float | None = None,
        where: Condition | Mapping[str, Any] | str | None = None,
        groups: Iterable[str] | None = None,
        statistics: Literal["visible", "global"] = "visible",
    ) -> Context | NoAnswer:
        """Return what a language model needs to answer a question, or the reason not to call one.

        Takes what `search` takes, and raises what it raises.

        Returns
        -------
        Context or NoAnswer
            A Context is true and has `sources`, `prompt` and `citations`; a NoAnswer is false and has `message`.
        """
        allowed = None if groups is None else checked_groups(groups)
        result = self.search(
            question,
            k=k,
            max_distance=max_distance,
            rerank=rerank,
            candidates=candidates,
            min_logit=min_logit,
            max_absent=max_absent,
            where=where,
            groups=allowed,
            statistics=statistics,
        )
        return context_of(result, self.citations(result, groups=allowed))

    def citations(self, result: SearchResult, *, groups: Iterable[str] | None = None) -> tuple[Citation, ...]:
        """Return the citations of a result's hits, numbered from 1; `groups` as for the search.

        Whether a citation still holds is looked up with these groups, by who may see what at that time. Of a document
        that they may not see any more, nothing is added to what the result holds.
        """
        views = self._folder.views
        allowed = views.checked(groups)
        sources = self._folder.catalog.source_records()
        roots = {source.name: source.root for source in sources}
        texts = self._seen_by(allowed)
        return tuple(
            cite(
                hit,
                number=number,
                path=file_of(hit.document, roots),
                origin=origin_of(hit.document, sources),
                texts=texts,
                alone=not views.may_see(hit.document_id, allowed),
            )
            for number, hit in enumerate(result, start=1)
        )

    def resolve(self, uri: str, *, groups: Iterable[str] | None = None) -> Passage:
        """Return the passage that the URI of a citation names.

        Parameters
        ----------
        uri : str
            `Citation.uri` or `Citation.href`; without a fragment, the whole document.
        groups : iterable of str, optional
            Of the asker, as for `search`.

        Raises
        ------
        InvalidInputError
            If the URI cannot be read, or the index has groups and none are given.
        PassageNotFoundError
            If the index has no such document that may be seen.
        """
        folder, views = self._folder, self._folder.views
        allowed = views.checked(groups)
        ids = ids_of_file(word(uri, "uri"), folder.catalog.sources())
        return self._undisturbed(
            lambda now: resolve_uri(uri, folder=folder, ids=ids, may_see=lambda id: views.may_see(id, allowed))
        )

    def current_text(
        self, document_id: str, *, against: Literal["index", "source"], groups: Iterable[str] | None = None
    ) -> CurrentText | None:
        """Return a document's canonical text as the index has it, or as its file says now; None if it is gone.

        `groups` as for `search`: what they may not see is gone.
        """
        id, folder = word(document_id, "document_id"), self._folder
        one_of(against, "against", ("index", "source"))
        allowed = folder.views.checked(groups)
        found = self._undisturbed(lambda now: folder.find(id) if folder.views.may_see(id, allowed) else None)
        if found is None:
            return None
        record, segment, number = found
        path = file_of(record, folder.catalog.sources())
        if against == "source" and path is not None:
            try:
                require_regular(path, id)
                return CurrentText(extract(path.read_bytes(), suffix=path.suffix).text)
            except (OSError, ExtractionError):
                return None
        return CurrentText(segment.texts.text(number))

    def _seen_by(self, groups: Iterable[str] | None) -> TextProvider:
        allowed = self._folder.views.checked(groups)
        return self if allowed is None else _SeenBy(self, allowed)

    def status(self) -> Status:
        """Return what the index holds."""
        return status_of(self._folder)

    def ledger(self) -> Ledger:
        """Account for every character of every document, and for the documents that failed.

        Reads all texts once.
        """
        folder = self._folder
        snapshot = folder.snapshot()
        documents = folder.catalog.version(snapshot.version.number).living(snapshot.generation)
        strategy = snapshot.version.config.strategy
        return ledger_of(snapshot, documents, folder.catalog.failures(), strategy=strategy)


class _SeenBy:
    """A knowledge base as some groups see it, by who may see what when it is asked."""

    def __init__(self, kb: KnowledgeBase, groups: frozenset[str]) -> None:
        self._kb = kb
        self._groups = groups

    def current_text(self, document_id: str, *, against: Literal["index", "source"]) -> CurrentText | None:
        """Return the text of a document that may be seen."""
        return self._kb.current_text(document_id, against=against, groups=self._groups)
