"""What is wrong with an index's folder, or soon will be, and what to do about it. Nothing is written."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pincite.errors import IndexCorruptError, PinciteError, counted
from pincite.store.catalog import Catalog
from pincite.store.files import nbytes
from pincite.store.folder import CATALOG, IndexFolder, belongs
from pincite.store.lock import holder
from pincite.store.pins import READERS
from pincite.store.segment import SEGMENTS, is_segment
from pincite.store.stale import stale_documents
from pincite.store.writer import LOCK

__all__ = ["Finding", "of_documents", "of_error", "of_folder", "of_upkeep"]

NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "glusterfs", "9p", "virtiofs", "fuse.sshfs",
           "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "webdav", "davfs", "fuse.davfs"}  # fmt: skip
"""File systems whose locks and renames may not hold from one machine to another, by their names in Linux."""

MOUNTS = Path("/proc/self/mountinfo")
LONG_LOG = 64 << 20
MANY_SEGMENTS = 16
DEAD_SHARE = 0.25
"""Of the chunks of its segments: from here on, merging gives back much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at.

    Attributes
    ----------
    level : {"fine", "note", "problem"}
        "problem": something does not work, or will not hold. "note": something that its owner may want to know.
    subject : str
    what : str
    advice : str
        What to do; empty where there is nothing to be done.
    """

    level: Literal["fine", "note", "problem"]
    subject: str
    what: str
    advice: str = ""


def of_folder(path: Path) -> Iterator[Finding]:
    """Look at the place of an index, and at what lies there."""
    kind = _file_system(path)
    if kind in NETWORK:
        yield Finding(
            "problem", "file system", f"{kind}, shared over a network: locks and renames may not hold there",
            "keep the index on a disk of this machine, and copy it with `pincite snapshot`",
        )  # fmt: skip
    elif kind:
        yield Finding("fine", "file system", kind)
    size, free = nbytes(path), shutil.disk_usage(path).free
    space = f"{size / 1e6:,.1f} MB used, {free / 1e6:,.1f} MB free"
    writable = os.access(path, os.W_OK)
    if not free and writable:
        yield Finding("problem", "space", space, "make room: nothing can be changed, and not every question answered")
    elif free < size and writable:
        yield Finding("note", "space", space, "a merge or a rebuild writes all of it anew; make room before")
    else:
        yield Finding("fine", "space", space)
    if not writable:
        yield Finding("note", "access", "read only: questions are answered, nothing can be changed")
    writer = holder(path / LOCK)
    if writer is not None:
        yield Finding("note", "writer", f"process {writer} is writing")
    log = path / f"{CATALOG}-wal"
    with suppress(OSError):
        if log.stat().st_size > LONG_LOG:
            yield Finding(
                "note", "log", f"{log.stat().st_size / 1e6:,.1f} MB that are not in the catalog yet",
                "a reader that looks at one old state for long keeps them from it",
            )  # fmt: skip
    if (path / CATALOG).stat().st_nlink > 1:
        yield Finding(
            "problem", "copies", f"{CATALOG} has another name elsewhere: what changes one changes both",
            "copy an index with `pincite snapshot`, not by links",
        )  # fmt: skip
    if not (path / READERS).is_dir():
        yield Finding(
            "note", "readers", f"there is no folder {READERS!r}: what is replaced is kept for a minute alone",
            "the next reader makes it, unless something else has its name",
        )  # fmt: skip
    strangers = sorted(entry.name for entry in path.iterdir() if not belongs(entry))
    strangers += sorted(f"{SEGMENTS}/{each.name}" for each in (path / SEGMENTS).glob("*") if not is_segment(each))
    if strangers:
        yield Finding("note", "strangers", f"not the index's: {', '.join(strangers[:5])}", "keep other files elsewhere")


def of_upkeep(folder: IndexFolder) -> Iterator[Finding]:
    """Look at what commits have left, and at versions beside the one that serves."""
    snapshot, catalog = folder.snapshot(), folder.catalog
    lying = {each.name for each in folder.segments.glob("*") if is_segment(each)}
    left = lying - {row["id"] for row in catalog.rows("SELECT id FROM segments WHERE died IS NULL")}
    if left:
        size = sum(nbytes(folder.segments / name) for name in left)
        yield Finding(
            "note", "leftovers", f"{counted(len(left), 'segment')} of {size / 1e6:,.1f} MB that no generation needs",
            "the next writer removes what no reader holds any more",
        )  # fmt: skip
    held = sum(len(segment) for segment in snapshot.segments)
    what = f"{counted(len(snapshot.segments), 'segment')} of {counted(held, 'chunk')}, {len(snapshot):,} of them alive"
    if len(snapshot.segments) > MANY_SEGMENTS or held - len(snapshot) > DEAD_SHARE * held:
        yield Finding("note", "segments", what, "`pincite merge` makes one of them, and searches faster")
    else:
        yield Finding("fine", "segments", what)
    for version in catalog.versions():
        if version.state == "building":
            yield Finding(
                "note", "versions", f"the rebuild of version {version.number} was not finished",
                f"`pincite rebuild` goes on with it, `pincite versions --discard {version.number}` removes it",
            )  # fmt: skip
        if version.state == "built":
            yield Finding(
                "note", "versions", f"version {version.number} is built and does not serve",
                "compare it with `pincite eval gate --versions serving built`, then `pincite swap`",
            )  # fmt: skip


def of_documents(folder: IndexFolder) -> Iterator[Finding]:
    """Look at what became of documents and sources."""
    failures = Counter(failure.reason for failure in folder.catalog.failures())
    if failures:
        reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(failures.items()))
        yield Finding(
            "note", "failed", f"{counted(failures.total(), 'document')} could not be indexed: {reasons}",
            "`pincite status --failed` lists them, `pincite retry` tries again",
        )  # fmt: skip
    for source in folder.catalog.source_records():
        if source.trouble:
            yield Finding(
                "problem", "source", f"{source.name} ({source.root}) could not be compared: {source.trouble}",
                f"`pincite sync KB {source.name}` when that is mended",
            )  # fmt: skip
    stale = Counter(reason for document in stale_documents(folder, None) for reason in document.reasons)
    old = [f"{stale[maker]:,} by an older {maker}" for maker in ("extractor", "chunker") if stale[maker]]
    if old:
        yield Finding("note", "stale", f"documents were made {', '.join(old)}", "`pincite rebuild`, or `index` again")
    totals, epoch = folder.documents.totals(), folder.catalog.epoch()
    if epoch and (unseen := folder.documents.without_groups()):
        yield Finding("note", "groups", f"{counted(unseen, 'document')} that nobody sees", "`pincite grant`")
    if totals.truncated_tokens:
        yield Finding(
            "note", "truncated", f"{counted(totals.truncated_tokens, 'word piece')} behind the encoder's window",
            "smaller chunks keep within it: `pincite rebuild --target`",
        )  # fmt: skip
    yield Finding("fine", "documents", f"{totals.documents:,} in {counted(totals.chunks, 'chunk')}")


def opened(path: Path) -> IndexFolder | Finding:
    """Open an index to look at it, or say why that cannot be done."""
    try:
        Catalog(path / CATALOG, writable=False).check_log()
        return IndexFolder(path, read_only=True, verify=False)
    except PinciteError as error:
        return of_error(error)


def of_error(error: PinciteError) -> Finding:
    """Return the finding for what an index answered when it was looked at."""
    damaged = isinstance(error, IndexCorruptError)
    return Finding("problem", "index", str(error), "`pincite verify` says all that is damaged" if damaged else "")


def _file_system(path: Path) -> str:
    """Return the name of the file system that a path lies on; empty where the system does not say."""
    if not sys.platform.startswith("linux"):
        return ""
    found = ("", "")
    with suppress(OSError):
        for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").split("\n")[:-1]:
            mount, _, rest = line.partition(" - ")
            at = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), mount.split()[4])
            if path.is_relative_to(at) and len(at) >= len(found[0]):
                found = (at, rest.split()[0])
    return found[1]
