"""The catalog: which versions, failures, sources and grants there are."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pincite.config import IndexConfig
from pincite.errors import IncompatibleIndexError
from pincite.store.catalog_documents import DocumentCatalog
from pincite.store.catalog_rows import (
    FAILURE_FIELDS,
    SCHEMA,
    SOURCE_FIELDS,
    Sums,
    checksum,
    noted_checksum,
    put_generation,
    put_meta,
    put_version,
    set_serving,
    version_checksum,
)
from pincite.store.connection import CatalogConnection
from pincite.store.records import FailureRecord, SourceFolder, SourceRecord, VersionRecord, VersionState

__all__ = ["FORMAT", "Catalog"]

FORMAT = 4


class Catalog(CatalogConnection):
    """What an index knows of itself. Safe to use from any thread, and after a fork.

    Every method that writes is called inside `transaction`, which is the commit.
    """

    @classmethod
    def create(cls, path: Path, config: IndexConfig, probes: Mapping[str, Any], *, identity: str) -> None:
        """Make the catalog of an empty index: generation 0 of version 1."""
        path.unlink(missing_ok=True)
        path.touch()
        catalog = cls(path, writable=True)
        now = time.time()
        with catalog.transaction() as connection:
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            put_meta(connection, {"format": FORMAT, "identity": identity, "created": now})
            version = put_version(
                connection, None, config=config.to_dict(), encoder=None, probes=probes, made=now, level=0
            )
            set_serving(connection, version, previous=None)
            put_generation(connection, 0, version, Sums())
            put_meta(connection, {"noted": noted_checksum(connection)})
        catalog.finish()

    def meta(self) -> dict[str, Any]:
        """Return the settings that are no version's.

        Raises
        ------
        IndexCorruptError
            If it is damaged.
        IncompatibleIndexError
            If the catalog was written by a later version.
        """
        rows = self.rows("SELECT key, value, checksum FROM meta")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in rows) or not rows:
            raise self.damaged("its settings do not have their checksums")
        found = {row["key"]: json.loads(row["value"]) for row in rows}
        if found.get("format") != FORMAT:
            raise IncompatibleIndexError(
                f"{self.path}: the catalog has format {found.get('format')}, this version reads {FORMAT}; "
                "use the version that wrote it, or index the documents again"
            )
        return found

    def version(self, number: int) -> DocumentCatalog:
        """Return the documents and segments of a version."""
        return DocumentCatalog(self, number)

    def serving(self) -> int:
        """Return the number of the version that answers."""
        return int(self._setting("serving"))

    def identity(self) -> str:
        """Return what tells this index from others; raises what `meta` raises."""
        self.meta()
        return str(self._setting("identity"))

    def _setting(self, key: str) -> Any:
        found = self.rows("SELECT key, value, checksum FROM meta WHERE key = ?", [key])
        if not found or found[0]["checksum"] != checksum([found[0]["key"], found[0]["value"]]):
            raise self.damaged(f"its setting {key!r} is missing or does not have its checksum")
        return json.loads(found[0]["value"])

    def versions(self) -> list[VersionRecord]:
        """Return the versions, oldest first, without those that were dropped."""
        with self.reading():
            serving, previous = self._setting("serving"), self._setting("previous")
            rows = self.rows("SELECT * FROM versions WHERE dropped IS NULL ORDER BY number")
        found = [self._version(row, serving, previous) for row in rows]
        if serving not in {version.number for version in found}:
            raise self.damaged(f"version {serving}, which serves, is missing")
        return found

    def version_numbers(self) -> list[int]:
        """Return the numbers of the versions, oldest first, whether or not their rows are sound."""
        return [row["number"] for row in self.rows("SELECT number FROM versions WHERE dropped IS NULL ORDER BY number")]

    def _version(self, row: sqlite3.Row, serving: int, previous: int | None) -> VersionRecord:
        number, level = row["number"], row["level"]
        values = [number, row["config"], row["encoder"], row["probes"], row["made"], level]
        if row["checksum"] != version_checksum(values):
            raise self.damaged(f"the row of version {number} does not have its checksum")
        state: VersionState = "building" if level is None else "built"
        if number in {serving, previous}:
            state = "serving" if number == serving else "previous"
        return VersionRecord(
            number=number,
            config=IndexConfig.from_dict(json.loads(row["config"])),
            encoder=json.loads(row["encoder"]),
            probes=json.loads(row["probes"]),
            made=row["made"],
            level=level,
            state=state,
        )

    def same_in(self, one: int, other: int) -> set[str]:
        """Return the ids of the documents that say the same in two versions."""
        living = "SELECT id, content_hash, text_hash FROM documents WHERE version = ? AND died IS NULL"
        return {row["id"] for row in self.rows(f"{living} INTERSECT {living}", [one, other])}

    def last_row(self) -> int:
        """Return the highest row that a document ever had; rows are not used again."""
        found = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
        return int(found[0]["seq"]) if found else 0

    def last_generation(self) -> int:
        """Return the number of the last commit, to whichever version; no number is used again."""
        found = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'generations'")
        return int(found[0]["seq"]) if found else 0

    def check_schema(self) -> None:
        """Compare the tables with those that `create` makes: a file from elsewhere can have triggers and views.

        Raises
        ------
        IndexCorruptError
            If there is anything else, or something is missing.
        """
        found = {row["sql"] for row in self.rows("SELECT sql FROM sqlite_master WHERE name NOT GLOB 'sqlite_*'")}
        if found != {statement.strip() for statement in SCHEMA.strip().rstrip(";").split(";\n")}:
            raise self.damaged("its tables are not those of an index")

    def check_pages(self) -> None:
        """Let SQLite hold its pages and indexes against each other; reads all of the file.

        Raises
        ------
        IndexCorruptError
            If they contradict each other.
        """
        said = [str(row[0]) for row in self.rows("PRAGMA integrity_check(10)")]
        if said != ["ok"]:
            raise self.damaged("; ".join(said))

    def check_rows(self) -> None:
        """Compare the rows that belong to no version with their checksums, and the numbers that come next.

        Raises
        ------
        IndexCorruptError
            If one is not what was written, or a number would be given twice.
        """
        with self.reading():
            self.meta()
            self.access()
            self.deleted_since(-1)
            for table, number, next_after in (
                ("documents", "row", self.last_row()),
                ("generations", "number", self.last_generation()),
            ):
                (found,) = self.rows(f"SELECT coalesce(max({number}), 0) AS most FROM {table}")
                if found["most"] > next_after:
                    raise self.damaged(f"{table} has number {found['most']}, its sequence is at {next_after}")

    def check_noted(self) -> None:
        """Compare the failures and sources with their checksum.

        Raises
        ------
        IndexCorruptError
            If they are not what was noted last.
        """
        with self.reading() as connection:
            if self._setting("noted") != noted_checksum(connection):
                raise self.damaged("its failures or sources are not what was noted last")

    def failures(self) -> list[FailureRecord]:
        """Return the documents that could not be indexed, by id."""
        names = ", ".join(FAILURE_FIELDS)
        rows = self.rows(f"SELECT {names} FROM failures ORDER BY id")
        return [FailureRecord(**{**dict(row), "metadata": json.loads(row["metadata"])}) for row in rows]

    def sources(self) -> dict[str, str]:
        """Return the folder of each source by its name."""
        return {record.name: record.root for record in self.source_records()}

    def source_folders(self) -> dict[str, SourceFolder]:
        """Return where each source lies, by its name, and whether all of the folder belongs to it."""
        return {record.name: SourceFolder(record.root, record.whole) for record in self.source_records()}

    def source_records(self) -> list[SourceRecord]:
        """Return the sources, by name."""
        names = ", ".join(SOURCE_FIELDS)
        rows = self.rows(f"SELECT {names} FROM sources ORDER BY name")
        return [SourceRecord(**{**dict(row), "whole": bool(row["whole"])}) for row in rows]

    def epoch(self) -> int:
        """Return how often it was changed who may see what; 0: there are no groups, and never were."""
        found = self.rows("SELECT key, value, checksum FROM meta WHERE key = 'epoch'")
        if any(row["checksum"] != checksum([row["key"], row["value"]]) for row in found):
            raise self.damaged("its permission epoch does not have its checksum")
        if not found and self.rows("SELECT id FROM access LIMIT 1"):
            raise self.damaged("it has groups and no permission epoch")
        return int(json.loads(found[0]["value"])) if found else 0

    def deleted_since(self, generation: int) -> set[str]:
        """Return the ids that were deleted after a generation, also those that were given again since."""
        rows = self.rows("SELECT id, generation, checksum FROM deletions")
        if any(row["checksum"] != checksum([row["id"], row["generation"]]) for row in rows):
            raise self.damaged("a deletion does not have its checksum")
        return {row["id"] for row in rows if row["generation"] > generation}

    def groups_of(self, id: str) -> frozenset[str] | None:
        """Return the groups that may see a document; None where nothing was said of it."""
        found = self.rows("SELECT id, groups, checksum FROM access WHERE id = ?", [id])
        return self._groups(found).get(id)

    def access(self) -> tuple[int, dict[str, frozenset[str]]]:
        """Return the epoch, and the groups that may see a document, by id."""
        with self.reading():
            epoch = self.epoch()
            rows = self.rows("SELECT id, groups, checksum FROM access")
        return epoch, self._groups(rows)

    def _groups(self, rows: Sequence[sqlite3.Row]) -> dict[str, frozenset[str]]:
        if any(row["checksum"] != checksum([row["id"], row["groups"]]) for row in rows):
            raise self.damaged("the groups of a document do not have their checksum")
        return {row["id"]: frozenset(json.loads(row["groups"])) for row in rows}
