"""Where a cited document comes from, and how fresh what is cited is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC
from typing import Any

from pincite.filters.conditions import moment
from pincite.store.records import DocumentRecord, SourceRecord
from pincite.store.uris import document_uri

__all__ = ["Origin", "is_origin", "origin_of"]

_WEB = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document comes from, and how fresh it is. Times are in seconds since 1970.

    Attributes
    ----------
    url : str or None
        The web address it was taken from, without a fragment: what its metadata say under "url", else its URI where
        that is one.
    modified : float or None
        When its file had last been modified as it was read; of a document that was given, what its metadata say under
        "modified", as seconds or in ISO 8601.
    source : str or None
        The folder that it was read from, by name; None: it was given.
    synced : float or None
        When that folder was last made equal to its files; None: never.
    sync_broken : bool
        Whether the last try failed. What kept it is in `KnowledgeBase.status` alone: it may be about documents that an
        asker may not see.
    """

    url: str | None
    modified: float | None
    source: str | None
    synced: float | None
    sync_broken: bool


def origin_of(document: DocumentRecord, sources: Iterable[SourceRecord]) -> Origin:
    """Return the origin of a document of an index that has these sources."""
    own = {source.name: source for source in sources}.get(document.source or "")
    return Origin(
        url=_url_of(document),
        modified=_seconds(document.metadata.get("modified") if document.source is None else document.modified),
        source=document.source,
        synced=None if own is None else own.synced,
        sync_broken=own is not None and bool(own.trouble),
    )


def is_origin(value: Any) -> bool:
    """Return whether something is an `Origin` as a dict."""
    return (
        isinstance(value, Mapping)
        and set(value) == {item.name for item in fields(Origin)}
        and all(value[name] is None or isinstance(value[name], str) for name in ("url", "source"))
        and all(value[name] is None or type(value[name]) in {int, float} for name in ("modified", "synced"))
        and isinstance(value["sync_broken"], bool)
    )


def _url_of(document: DocumentRecord) -> str | None:
    for address in (document.metadata.get("url"), document.uri):
        if isinstance(address, str) and _WEB.match(address):
            return document_uri(address)
    return None


def _seconds(value: Any) -> float | None:
    """Return a time that can be shown as one; other values are none."""
    when = moment(value)
    try:
        return None if when is None else when.astimezone(UTC).timestamp()
    except OverflowError:  # in its own zone the first or last day of the calendar
        return None
