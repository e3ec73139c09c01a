"""Other ways to cut and embed, and the index in one file."""

from __future__ import annotations

import os
from pathlib import Path

from pincite.config import IndexConfig
from pincite.core.arguments import integer, path_text
from pincite.knowledge_base.opened import OpenIndex
from pincite.store.archive import SnapshotReport, write_archive
from pincite.store.progress import Progress
from pincite.store.stamps import check_config
from pincite.store.versions import RebuildReport, discard_version, rebuild, switch
from pincite.types import TextEncoder

__all__ = ["Versioning"]


class Versioning(OpenIndex):
    """What changes the index as a whole."""

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
        check_config(wanted)
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
