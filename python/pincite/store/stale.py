"""Which documents may not say what is so any more, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath

from pincite.core.arguments import number
from pincite.errors import ExtractionError, InvalidInputError
from pincite.extract import extractor_of
from pincite.store.folder import IndexFolder
from pincite.store.preparing import chunker_of

__all__ = ["StaleDocument", "stale_documents"]


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """A document that may not say what is so any more.

    Attributes
    ----------
    id : str
    reasons : tuple of str
        "failed" (a newer version could not be indexed), "extractor" or "chunker" (an older one made it), "source" (its
        folder could not be compared at the last try), "age" (nobody looked for longer than was asked for).
    confirmed : float
        When it was last known to be what its file, or its giver, said: seconds since 1970.
    """

    id: str
    reasons: tuple[str, ...]
    confirmed: float


def stale_documents(folder: IndexFolder, older_than: float | timedelta | None) -> list[StaleDocument]:
    """Do what `KnowledgeBase.stale` says."""
    limit = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
    if limit is not None and not (limit := number(limit, "older_than")) >= 0.0:
        raise InvalidInputError(f"older_than is {older_than!r}, wanted seconds or a timedelta, not negative")
    catalog, rows = folder.catalog, folder.documents
    with catalog.reading():
        documents = [record for _, record in rows.living(rows.last_generation())]
        failed = {failure.id for failure in catalog.failures()}
        sources = {record.name: record for record in catalog.source_records()}
    now, chunker = time.time(), chunker_of(folder.config)
    found = []
    for record in documents:
        source = sources.get(record.source or "")
        confirmed = max(record.confirmed, (source.synced or 0.0) if source else 0.0)
        reasons = {
            "failed": record.id in failed,
            "extractor": source is not None and record.extractor != _extractor(record.id),
            "chunker": record.chunker != chunker,
            "source": bool(source and source.trouble),
            # A time to come says that the clock was set back: nothing is known of when that was.
            "age": limit is not None and not 0.0 <= now - confirmed <= limit,
        }
        if any(reasons.values()):
            found.append(StaleDocument(record.id, tuple(name for name, holds in reasons.items() if holds), confirmed))
    return found


def _extractor(id: str) -> str:
    try:
        return extractor_of(PurePosixPath(id).suffix)
    except ExtractionError:  # no extractor reads such files any more
        return ""
