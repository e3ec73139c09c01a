"""Documents in and out, and who may see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pincite.core.arguments import flag, word
from pincite.knowledge_base.opened import OpenIndex
from pincite.store.access import checked_groups
from pincite.store.ingest import IngestReport
from pincite.store.preparing import checked_metadata, sorted_out
from pincite.store.progress import Progress
from pincite.store.upkeep import add_documents, delete_documents, require_known, retry_failed, set_access, sync_sources
from pincite.types import Document

__all__ = ["Changing"]


class Changing(OpenIndex):
    """What changes the documents of an open index."""

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
