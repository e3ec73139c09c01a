"""The catalog's tables, and what a commit writes into them. Each function is called inside a transaction."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, Self

from pincite.store.records import DocumentRecord, FailureRecord, SourceFolder, SourceRecord

__all__ = [
    "DOCUMENT_FIELDS",
    "FAILURE_FIELDS",
    "SCHEMA",
    "SELECT_DOCUMENT",
    "SOURCE_FIELDS",
    "Sums",
    "checksum",
    "counted_sums",
    "document_checksum",
    "drop_version",
    "forget_access",
    "generation_checksum",
    "insert_document",
    "keep_version",
    "living_segments",
    "noted_checksum",
    "put_access",
    "put_deletions",
    "put_failures",
    "put_generation",
    "put_meta",
    "put_sources",
    "put_syncs",
    "put_version",
    "renew_generation",
    "set_serving",
    "version_checksum",
]

# Documents and segments belong to a version, and live there from the generation `born` up to, not including, the
# generation `died`. A segment's own files say which documents it holds, so a merge rewrites no row. What failed, the
# sources, what was deleted when, and who may see what belong to all versions; the last is no part of a generation, so
# that a grant that was taken back stays so, and every change of it makes the next `epoch` in meta. SQLite has no
# checksums of its own: `checksum` is the CRC-32 of a row. A generation's row has sums over the documents that are
# alive, so that a commit adds what it changes instead of reading all of them; they are added up again when an index is
# opened and verified.
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE versions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, config TEXT NOT NULL, encoder TEXT NOT NULL, probes TEXT NOT NULL,
  made REAL NOT NULL, level INTEGER, dropped REAL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE generations (
  number INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, committed REAL NOT NULL,
  documents INTEGER NOT NULL, chunks INTEGER NOT NULL, characters INTEGER NOT NULL, truncated_tokens INTEGER NOT NULL,
  unknown_tokens INTEGER NOT NULL, rows INTEGER NOT NULL, weighted INTEGER NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX version_generations ON generations (version, number);
CREATE TABLE sources (
  name TEXT PRIMARY KEY, root TEXT NOT NULL, whole INTEGER NOT NULL, synced REAL, tried REAL,
  trouble TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE segments (
  id TEXT PRIMARY KEY, version INTEGER NOT NULL, chunks INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER
) STRICT;
CREATE TABLE documents (
  row INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, id TEXT NOT NULL, born INTEGER NOT NULL,
  died INTEGER, uri TEXT NOT NULL, source TEXT, title TEXT NOT NULL, markup TEXT NOT NULL, media_type TEXT NOT NULL,
  encoding TEXT NOT NULL, extractor TEXT NOT NULL, chunker TEXT NOT NULL, content_hash TEXT NOT NULL,
  text_hash TEXT NOT NULL, length INTEGER NOT NULL, front_matter_end INTEGER NOT NULL, n_chunks INTEGER NOT NULL,
  truncated_tokens INTEGER NOT NULL, unknown_tokens INTEGER NOT NULL, dropped TEXT NOT NULL, metadata TEXT NOT NULL,
  modified REAL, confirmed REAL NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX live_documents ON documents (version, id) WHERE died IS NULL;
CREATE INDEX dead_documents ON documents (version, died) WHERE died IS NOT NULL;
CREATE INDEX live_uris ON documents (version, uri) WHERE died IS NULL;
CREATE TABLE deletions (id TEXT PRIMARY KEY, generation INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE access (id TEXT PRIMARY KEY, groups TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE failures (
  id TEXT PRIMARY KEY, source TEXT, reason TEXT NOT NULL, message TEXT NOT NULL, attempts INTEGER NOT NULL,
  first_failed REAL NOT NULL, last_failed REAL NOT NULL, metadata TEXT NOT NULL
) STRICT;
"""

DOCUMENT_FIELDS = tuple(field.name for field in fields(DocumentRecord) if field.name != "generation")
FAILURE_FIELDS = tuple(field.name for field in fields(FailureRecord))
SOURCE_FIELDS = tuple(field.name for field in fields(SourceRecord))
SELECT_DOCUMENT = f"SELECT row, version, born, {', '.join(DOCUMENT_FIELDS)}, checksum FROM documents "


class Sums(NamedTuple):
    """What is added up over the living documents of a version; `rows` and `weighted` tell which they are."""

    documents: int = 0
    chunks: int = 0
    characters: int = 0
    truncated_tokens: int = 0
    unknown_tokens: int = 0
    rows: int = 0
    weighted: int = 0

    def plus(self, row: int, record: DocumentRecord, sign: int = 1) -> Self:
        """Return the sums with one more document; with ``sign=-1``, with one less."""
        of_one = (1, record.n_chunks, record.length, record.truncated_tokens, record.unknown_tokens, row,
                  row * record.n_chunks)  # fmt: skip
        return type(self)(*(total + sign * value for total, value in zip(self, of_one, strict=True)))


def counted_sums(connection: sqlite3.Connection, version: int) -> Sums:
    """Add up what is there."""
    found = connection.execute(
        "SELECT count(*), coalesce(sum(n_chunks), 0), coalesce(sum(length), 0), coalesce(sum(truncated_tokens), 0),"
        " coalesce(sum(unknown_tokens), 0), coalesce(sum(row), 0), coalesce(sum(row * n_chunks), 0)"
        " FROM documents WHERE version = ? AND died IS NULL",
        [version],
    ).fetchone()
    return Sums(*found)


def insert_document(
    connection: sqlite3.Connection, record: DocumentRecord, row: int, *, version: int, generation: int
) -> None:
    """Add the state of a document that lives from `generation` on."""
    values = [getattr(record, name) for name in DOCUMENT_FIELDS]
    for i, name in enumerate(DOCUMENT_FIELDS):
        if name in {"dropped", "metadata"}:
            values[i] = json.dumps(dict(values[i]), ensure_ascii=False)
    columns = ", ".join(("row", "version", "born", *DOCUMENT_FIELDS, "checksum"))
    marks = ", ".join("?" * (len(DOCUMENT_FIELDS) + 4))
    values = [row, version, generation, *values]
    connection.execute(f"INSERT INTO documents ({columns}) VALUES ({marks})", [*values, checksum(values)])


def document_checksum(row: sqlite3.Row) -> int:
    """Return the checksum that a row of `SELECT_DOCUMENT` should have."""
    return checksum([row["row"], row["version"], row["born"], *(row[name] for name in DOCUMENT_FIELDS)])


def put_generation(connection: sqlite3.Connection, number: int, version: int, sums: Sums) -> None:
    """Note a commit, after all that it changes."""
    values = [number, version, time.time(), *sums]
    marks = ", ".join("?" * (len(values) + 1))
    found = generation_checksum(values, living_segments(connection, version))
    connection.execute(f"INSERT INTO generations VALUES ({marks})", [*values, found])


def living_segments(connection: sqlite3.Connection, version: int) -> list[tuple[str, int, int]]:
    """Return the id, the chunks and the birth of each segment that is alive, oldest first."""
    # NOT INDEXED: an index has copies of what it orders by, and what is checked has to be what is used.
    statement = "SELECT id, chunks, born FROM segments NOT INDEXED WHERE version = ? AND died IS NULL"
    found = [(row["id"], row["chunks"], row["born"]) for row in connection.execute(statement, [version])]
    return sorted(found, key=lambda segment: (segment[2], segment[0]))


def generation_checksum(values: Sequence[Any], segments: Sequence[tuple[str, int, int]]) -> int:
    """Cover a generation's row, and which segments are alive in its version."""
    return checksum([*values, sorted(segments)])


def renew_generation(connection: sqlite3.Connection, number: int) -> None:
    """Let a generation cover the segments that are alive now, in a copy where they hold the same."""
    found = connection.execute("SELECT * FROM generations WHERE number = ?", [number]).fetchone()
    renewed = generation_checksum(list(found)[:-1], living_segments(connection, found["version"]))
    connection.execute("UPDATE generations SET checksum = ? WHERE number = ?", [renewed, number])


def put_meta(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Keep values as JSON, by key."""
    rows = [(key, json.dumps(value)) for key, value in values.items()]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", [(*row, checksum(row)) for row in rows])


def put_version(
    connection: sqlite3.Connection,
    number: int | None,
    *,
    config: Mapping[str, Any],
    encoder: Mapping[str, Any] | None,
    probes: Mapping[str, Any],
    made: float,
    level: int | None,
) -> int:
    """Keep a version, a new one where `number` is None, and return its number."""
    if number is None:
        found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'versions'").fetchone()
        number = 1 + (found["seq"] if found else 0)
    encoded = [json.dumps(value) for value in (config, encoder, probes)]
    values = [number, *encoded, made, level]
    connection.execute(
        "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?, NULL, ?)", [*values, version_checksum(values)]
    )
    return number


def version_checksum(values: Sequence[Any]) -> int:
    """Cover a version's row: its number, config, encoder, probes, when it was made, and its level."""
    return checksum(values)


def set_serving(connection: sqlite3.Connection, version: int, *, previous: int | None) -> None:
    """Let a version serve, and keep the one that can be gone back to; the one that could be until now is dropped."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'previous'").fetchone()
    before = json.loads(found["value"]) if found else None
    put_meta(connection, {"serving": version, "previous": previous})
    if before not in {None, version, previous}:
        connection.execute("UPDATE versions SET dropped = ? WHERE number = ?", [time.time(), before])


def drop_version(connection: sqlite3.Connection, number: int) -> None:
    """Leave a version, which does not serve, to the next sweep."""
    for key in ("previous", "restoring"):
        found = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        if found and json.loads(found["value"]) == number:
            put_meta(connection, {key: None})
    connection.execute("UPDATE versions SET dropped = ? WHERE number = ?", [time.time(), number])


def keep_version(connection: sqlite3.Connection, number: int) -> None:
    """Leave one version alone in a copy of a catalog, and nothing of it that no reader needs."""
    put_meta(connection, {"serving": number, "previous": None})
    connection.execute("DELETE FROM versions WHERE number <> ?", [number])
    connection.execute("DELETE FROM segments WHERE version <> ? OR died IS NOT NULL", [number])
    for table in ("generations", "documents"):
        connection.execute(f"DELETE FROM {table} WHERE version <> ?", [number])


def put_deletions(connection: sqlite3.Connection, ids: Iterable[str], generation: int) -> None:
    """Remember that documents were deleted: an older snapshot must not bring them back."""
    rows = [(id, generation) for id in ids]
    connection.executemany("INSERT OR REPLACE INTO deletions VALUES (?, ?, ?)", [(*row, checksum(row)) for row in rows])


def forget_access(connection: sqlite3.Connection) -> None:
    """Let nobody see anything, if there were groups."""
    put_access(connection, {}, gone=[row["id"] for row in connection.execute("SELECT id FROM access").fetchall()])


def checksum(values: Sequence[Any]) -> int:
    """Return the CRC-32 of a row's values."""
    # A damaged row may hold bytes where a text was, which JSON has no form for: no row of ours has their checksum.
    return zlib.crc32(json.dumps(values, default=repr).encode())


def put_failures(
    connection: sqlite3.Connection, failures: Iterable[FailureRecord], *, over: Iterable[str] = ()
) -> None:
    """Note documents that failed; one that had failed before gets another attempt. Those in `over` are forgotten."""
    now = time.time()
    connection.executemany("DELETE FROM failures WHERE id = ?", [(id,) for id in over])
    connection.executemany(
        "INSERT INTO failures VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET source = excluded.source,"
        " reason = excluded.reason, message = excluded.message, attempts = attempts + 1,"
        " last_failed = excluded.last_failed, metadata = excluded.metadata",
        [
            (each.id, each.source, each.reason, each.message, now, now, json.dumps(each.metadata, ensure_ascii=False))
            for each in failures
        ],
    )


def put_access(
    connection: sqlite3.Connection,
    granted: Mapping[str, Iterable[str]],
    *,
    gone: Iterable[str] = (),
    only_new: bool = False,
) -> None:
    """Note who may see documents, instead of who might before; nothing is left of those that are gone.

    With `only_new`, what was said of a document before stays.
    """
    values = [(id, json.dumps(sorted(set(groups)))) for id, groups in granted.items()]
    changed = connection.executemany("DELETE FROM access WHERE id = ?", [(id,) for id in gone]).rowcount > 0
    rows = [(*value, checksum(value)) for value in values]
    connection.executemany(f"INSERT OR {'IGNORE' if only_new else 'REPLACE'} INTO access VALUES (?, ?, ?)", rows)
    if values or changed:
        found = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
        put_meta(connection, {"epoch": (json.loads(found["value"]) if found else 0) + 1})


def put_sources(connection: sqlite3.Connection, folders: Mapping[str, SourceFolder]) -> None:
    """Note where sources lie; what is known of them stays, and one that is whole stays so."""
    connection.executemany(
        "INSERT INTO sources (name, root, whole) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
        " root = excluded.root, whole = max(whole, excluded.whole)",
        [(name, *folder) for name, folder in folders.items()],
    )


def put_syncs(connection: sqlite3.Connection, troubles: Mapping[str, str], looked: float) -> None:
    """Note when sources were compared with their folders, or what kept them from it; no trouble is a success."""
    connection.executemany(
        "UPDATE sources SET tried = ?, trouble = ?, synced = CASE WHEN ? = '' THEN ? ELSE synced END WHERE name = ?",
        [(looked, trouble, trouble, looked, name) for name, trouble in troubles.items()],
    )


def noted_checksum(connection: sqlite3.Connection) -> int:
    """Cover what failed and the sources, whose rows have no checksums of their own."""
    statements = ("SELECT * FROM failures ORDER BY id", "SELECT * FROM sources ORDER BY name")
    return checksum([[tuple(row) for row in connection.execute(statement)] for statement in statements])
