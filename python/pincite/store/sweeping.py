"""What is removed from an index's folder: what no generation lists, and what no reader needs any more."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

from pincite.errors import PinciteError
from pincite.store.catalog import Catalog
from pincite.store.catalog_rows import drop_version
from pincite.store.pins import pinned
from pincite.store.segment import UNFINISHED, is_segment
from pincite.store.spans import Spans

__all__ = ["RESTORING", "UNFINISHED_CATALOG", "sweep"]

UNFINISHED_CATALOG = ".catalog.sqlite"
"""The catalog until it is whole; SQLite puts files beside it whose names begin so."""

RESTORING = ".restoring-"
"""How the name of a folder begins in which a snapshot is taken apart."""

GRACE_S = 60.0
"""How long what a commit replaced is kept, for readers that cannot hold it (`pins`); a time to come says nothing."""


def sweep(catalog: Catalog, segments: Path) -> None:
    """Remove unfinished and merged segments, dropped versions, and the rows of documents that lay in them.

    The version of a restore that was killed is dropped.

    Called by a writer that holds the lock. Costs what is removed, whatever the size of the index.
    """
    now = time.time()
    until = now - GRACE_S
    for row in catalog.rows("SELECT value FROM meta WHERE key = 'restoring' AND value <> 'null'"):
        with catalog.transaction() as connection:
            drop_version(connection, int(row["value"]))  # nobody restores while a writer holds the lock
    held = pinned(segments.parent)
    dropped = [
        row["number"]
        for row in catalog.rows("SELECT number FROM versions WHERE dropped <= ? OR dropped > ?", [until, now])
        if row["number"] not in {version for version, _ in held}
    ]
    merged = [
        row
        for row in catalog.rows(
            "SELECT id, version, died FROM segments WHERE died IS NOT NULL AND died IN"
            " (SELECT number FROM generations WHERE committed <= ? OR committed > ?)",
            [until, now],
        )
        if all(version != row["version"] or generation >= row["died"] for version, generation in held)
    ]
    if merged or dropped:
        # A document that died before its segment did is in no other: a merge carries the living alone.
        rows = [(row, each["died"]) for each in merged for row in _documents(segments / each["id"])]
        with catalog.transaction() as connection:
            connection.executemany("DELETE FROM documents WHERE row = ? AND died <= ?", rows)
            connection.executemany("DELETE FROM segments WHERE id = ?", [(each["id"],) for each in merged])
            for table in ("documents", "segments", "generations"):
                connection.executemany(f"DELETE FROM {table} WHERE version = ?", [(number,) for number in dropped])
            connection.executemany("DELETE FROM versions WHERE number = ?", [(number,) for number in dropped])
    for folder in segments.parent.glob(f"{RESTORING}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for file in segments.parent.glob(f"{UNFINISHED_CATALOG}*"):
        with suppress(OSError):
            file.unlink()
    _unlist(catalog, segments)
    for folder in segments.glob(f"{UNFINISHED}*"):
        # What cannot be removed now (a file that is mapped, on Windows) goes at the next sweep.
        shutil.rmtree(folder, ignore_errors=True)


def _unlist(catalog: Catalog, segments: Path) -> None:
    """Take away the names of segments that no generation lists.

    Within a transaction: should another writer be there after all, its lock removed by somebody, then what it has
    written is listed by now, or is missed when it comes to list it.
    """
    whole = [folder for folder in segments.iterdir() if is_segment(folder) and not folder.name.startswith(UNFINISHED)]
    if {folder.name for folder in whole} <= {row["id"] for row in catalog.rows("SELECT id FROM segments")}:
        return
    with catalog.transaction() as connection:
        listed = {row["id"] for row in connection.execute("SELECT id FROM segments")}
        for folder in whole:
            if folder.name not in listed:
                with suppress(OSError):
                    folder.rename(folder.with_name(UNFINISHED + folder.name))


def _documents(folder: Path) -> list[int]:
    try:
        rows: list[int] = Spans.open(folder / "spans.pin").documents.tolist()  # verified: by them, rows are removed
    except PinciteError:  # an earlier sweep came as far as the files, or they are damaged: the rows do no harm
        return []
    return rows
