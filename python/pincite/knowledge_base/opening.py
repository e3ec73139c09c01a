"""Indexes opened, made and restored, and the URIs of their citations resolved."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pincite.cite.resolve import Passage
from pincite.config import IndexConfig
from pincite.core.arguments import flag, integer, one_of, path_text
from pincite.errors import InvalidInputError
from pincite.knowledge_base.facade import KnowledgeBase
from pincite.store.files import naming_refusals
from pincite.store.folder import IndexFolder
from pincite.store.progress import Progress
from pincite.store.records import VersionState
from pincite.store.restoring import RestoreReport, restore_archive
from pincite.store.stamps import check_config
from pincite.store.verifying import IndexVerification, verify_index
from pincite.types import TextEncoder, TextReranker

__all__ = ["open", "resolve", "restore", "verify"]

STATES: dict[str, VersionState] = {"serving": "serving", "built": "built", "previous": "previous"}


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
        Compare the files with their checksums. Without, an index of 100,000 chunks opens in less than half the time,
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
        check_config(wanted)
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


def verify(path: str | os.PathLike[str], *, progress: bool | Progress = False) -> IndexVerification:
    """Compare all of an index with its checksums, and its parts with each other; nothing is written.

    Every file of every version, every row of the catalog, and every text with its hash; that chunks cover the texts and
    nothing lies twice. It goes on behind what it finds, so that all damage is told of, where `open` ends at the first.
    Others may read and write meanwhile.

    Parameters
    ----------
    path : path
        The index's folder.
    progress : bool or callable, default False
        As for `KnowledgeBase.add`.

    Raises
    ------
    IndexNotFoundError
        If there is no index.
    IncompatibleIndexError
        If a later version of Pincite wrote it.
    StorageError
        If its folder cannot be read.

    Examples
    --------
    >>> import pincite
    >>> pincite.verify("kb").sound  # doctest: +SKIP
    True
    """
    folder = Path(path_text(path)).resolve()
    with naming_refusals(folder, "verify the index"):
        return verify_index(folder, progress=progress)


def resolve(uri: str, kb: KnowledgeBase) -> Passage:
    """Return the passage that the URI of a citation names: `KnowledgeBase.resolve`."""
    return kb.resolve(uri)
