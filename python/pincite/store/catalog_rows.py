"""The catalog's tables, and what a commit writes into them. Each function is called inside a transaction."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pincite.store.records import DocumentRecord, FailureRecord, SourceRecord

__all__ = [
    "DOCUMENT_FIELDS",
    "FAILURE_FIELDS",
    "SCHEMA",
    "SELECT_DOCUMENT",
    "SOURCE_FIELDS",
    "checksum",
    "generation_checksum",
    "insert_document",
    "put_access",
    "put_failures",
    "put_generation",
    "put_meta",
    "put_sources",
    "put_syncs",
]

# Documents and segments live from the generation `born` up to, not including, the generation `died`. A segment's own
# files say which documents it holds, so a merge rewrites no row. Who may see a document is no part of a generation, so
# that a grant that was taken back stays so; every change of it makes the next `epoch` in meta. SQLite has no checksums
# of its own: `checksum` is the CRC-32 of a row, and that of a generation covers which rows are alive.
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE generations (number INTEGER PRIMARY KEY, committed REAL NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE sources (
  name TEXT PRIMARY KEY, root TEXT NOT NULL, synced REAL, tried REAL, trouble TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE segments (
  id TEXT PRIMARY KEY, chunks INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER
) STRICT;
CREATE TABLE documents (
  row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER,
  uri TEXT NOT NULL, source TEXT, title TEXT NOT NULL, markup TEXT NOT NULL, media_type TEXT NOT NULL,
  encoding TEXT NOT NULL, extractor TEXT NOT NULL, chunker TEXT NOT NULL, content_hash TEXT NOT NULL,
  text_hash TEXT NOT NULL, length INTEGER NOT NULL, front_matter_end INTEGER NOT NULL, n_chunks INTEGER NOT NULL,
  truncated_tokens INTEGER NOT NULL, unknown_tokens INTEGER NOT NULL, dropped TEXT NOT NULL, metadata TEXT NOT NULL,
  modified REAL, checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX live_documents ON documents (id) WHERE died IS NULL;
CREATE INDEX dead_documents ON documents (died) WHERE died IS NOT NULL;
CREATE INDEX live_uris ON documents (uri) WHERE died IS NULL;
CREATE TABLE access (id TEXT PRIMARY KEY, groups TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE failures (
  id TEXT PRIMARY KEY, source TEXT, reason TEXT NOT NULL, message TEXT NOT NULL, attempts INTEGER NOT NULL,
  first_failed REAL NOT NULL, last_failed REAL NOT NULL
) STRICT;
"""

DOCUMENT_FIELDS = (
    "id", "uri", "source", "title", "markup", "media_type", "encoding", "extractor", "chunker", "content_hash",
    "text_hash", "length", "front_matter_end", "n_chunks", "truncated_tokens", "unknown_tokens", "dropped",
    "metadata", "modified",
)  # fmt: skip
FAILURE_FIELDS = tuple(field.name for field in fields(FailureRecord))
SOURCE_FIELDS = tuple(field.name for field in fields(SourceRecord))
SELECT_DOCUMENT = f"SELECT row, born, {', '.join(DOCUMENT_FIELDS)}, checksum FROM documents "


def insert_document(connection: sqlite3.Connection, record: DocumentRecord, row: int, generation: int) -> None:
    """Add the version of a document that lives from `generation` on."""
    values = [getattr(record, name) for name in DOCUMENT_FIELDS]
    for i, name in enumerate(DOCUMENT_FIELDS):
        if name in {"dropped", "metadata"}:
            values[i] = json.dumps(dict(values[i]), ensure_ascii=False)
    columns = ", ".join(("row", "born", *DOCUMENT_FIELDS, "checksum"))
    marks = ", ".join("?" * (len(DOCUMENT_FIELDS) + 3))
    values = [row, generation, *values]
    connection.execute(f"INSERT INTO documents ({columns}) VALUES ({marks})", [*values, checksum(values)])


def put_generation(connection: sqlite3.Connection, number: int) -> None:
    """Note a commit, after all that it changes."""
    values = [number, time.time(), generation_checksum(connection, number)]
    connection.execute("INSERT INTO generations VALUES (?, ?, ?)", values)


def put_meta(connection: sqlite3.Connection, values: dict[str, Any]) -> None:
    """Keep values as JSON, by key."""
    rows = [(key, json.dumps(value)) for key, value in values.items()]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", [(*row, checksum(row)) for row in rows])


def generation_checksum(connection: sqlite3.Connection, number: int) -> int:
    """Cover which documents and segments are alive, and the rows that have no checksum of their own."""
    statements = (
        "SELECT count(*), sum(row), sum(row * n_chunks) FROM documents WHERE died IS NULL",
        "SELECT id, chunks, born FROM segments WHERE died IS NULL ORDER BY id",
        "SELECT * FROM failures ORDER BY id",
        "SELECT * FROM sources ORDER BY name",
    )
    found = [[tuple(row) for row in connection.execute(statement)] for statement in statements]
    return checksum([number, found])


def checksum(values: Sequence[Any]) -> int:
    """Return the CRC-32 of a row's values."""
    return zlib.crc32(json.dumps(values).encode())


def put_failures(connection: sqlite3.Connection, failures: Iterable[FailureRecord]) -> None:
    """Note documents that failed; one that had failed before gets another attempt."""
    now = time.time()
    connection.executemany(
        "INSERT INTO failures VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (id) DO UPDATE SET source = excluded.source,"
        " reason = excluded.reason, message = excluded.message, attempts = attempts + 1,"
        " last_failed = excluded.last_failed",
        [(failure.id, failure.source, failure.reason, failure.message, now, now) for failure in failures],
    )


def put_access(
    connection: sqlite3.Connection, granted: Mapping[str, Iterable[str]], *, gone: Iterable[str] = ()
) -> None:
    """Note who may see documents, instead of who might before; nothing is left of those that are gone."""
    values = [(id, json.dumps(sorted(set(groups)))) for id, groups in granted.items()]
    changed = connection.executemany("DELETE FROM access WHERE id = ?", [(id,) for id in gone]).rowcount > 0
    connection.executemany("INSERT OR REPLACE INTO access VALUES (?, ?, ?)", [(*v, checksum(v)) for v in values])
    if values or changed:
        found = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
        put_meta(connection, {"epoch": (json.loads(found["value"]) if found else 0) + 1})


def put_sources(connection: sqlite3.Connection, roots: Mapping[str, str]) -> None:
    """Note where sources lie; what is known of them stays."""
    connection.executemany(
        "INSERT INTO sources (name, root) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET root = excluded.root",
        list(roots.items()),
    )


def put_syncs(connection: sqlite3.Connection, troubles: Mapping[str, str]) -> None:
    """Note that sources were compared with their folders, or what kept them from it; no trouble is a success."""
    now = time.time()
    connection.executemany(
        "UPDATE sources SET tried = ?, trouble = ?, synced = CASE WHEN ? = '' THEN ? ELSE synced END WHERE name = ?",
        [(now, trouble, trouble, now, name) for name, trouble in troubles.items()],
    )
