"""From a URI back to the passage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import unquote

from pincite.cite.locators import parse_uri, span_of
from pincite.cite.origin import Origin, origin_of
from pincite.errors import InvalidInputError, PassageNotFoundError, counted
from pincite.store.folder import IndexFolder

__all__ = ["Passage", "resolve_uri"]


@dataclass(frozen=True, slots=True)
class Passage:
    """What a URI names.

    Attributes
    ----------
    uri : str
    document_id, title : str
    start, end : int
        Code points of the canonical text.
    lines : (int, int)
        From 1.
    heading_path : tuple of str
        Of the section it starts in.
    quote : str
    integrity : {"ok", "changed", "unchecked"}
        Whether the document is the one that the URI was made for ("unchecked": the URI does not say). Where it has
        changed, the quote is what stands at that place now.
    origin : Origin
        Where the document comes from, when it was modified, and when its folder was last synced.
    """

    uri: str
    document_id: str
    title: str
    start: int
    end: int
    lines: tuple[int, int]
    heading_path: tuple[str, ...]
    quote: str
    integrity: Literal["ok", "changed", "unchecked"]
    origin: Origin

    def to_dict(self) -> dict[str, Any]:
        """Return the passage as JSON has it."""
        return {
            "uri": self.uri,
            "document_id": self.document_id,
            "title": self.title,
            "start": self.start,
            "end": self.end,
            "lines": list(self.lines),
            "heading_path": list(self.heading_path),
            "quote": self.quote,
            "integrity": self.integrity,
            "origin": asdict(self.origin),
        }


def resolve_uri(uri: str, *, folder: IndexFolder, ids: list[str], may_see: Callable[[str], bool]) -> Passage:
    """Return the passage that a URI names.

    Parameters
    ----------
    uri : str
        Of a citation; without a fragment, the whole document.
    folder : IndexFolder
    ids : list of str
        Further ids that the URI's document may have, such as that of the file at a file: URI.
    may_see : callable
        Says of a document, by id, whether it may be seen; another one is not there.

    Raises
    ------
    InvalidInputError
        If the URI cannot be read, or several documents have it and it does not say which is meant.
    PassageNotFoundError
        If the index has no such document.
    """
    document, fragment = parse_uri(uri)
    names = [*folder.documents.live_ids(document), document, unquote(document), *ids]
    places = map(folder.find, dict.fromkeys(names))
    found = sorted(
        (place for place in places if place is not None and may_see(place[0].id)),
        key=lambda place: place[0].id,  # by id, so that it does not show which was indexed first
    )
    if not found:
        raise PassageNotFoundError(f"the index has no document {document!r}; `pincite ledger` lists those it has")
    md5 = None if fragment is None else fragment.md5
    # Several documents may have one URI; the hash says which was meant.
    meant = [place for place in found if place[0].text_hash == md5] or found
    if len(meant) > 1 and md5 is None:
        raise InvalidInputError(
            f"{document!r} is the URI of {', '.join(repr(place[0].id) for place in meant[:5])} and possibly more; "
            "give the whole URI of a citation, whose md5= says which is meant"
        )
    record, segment, number = meant[0]
    text = segment.texts.text(number)
    start, end = (0, len(text)) if fragment is None else span_of(fragment, text)
    if start >= len(text) and fragment is not None and fragment.start > 0:
        raise InvalidInputError(
            f"the fragment starts behind the end of {record.id!r}, which has "
            f"{counted(len(text), 'character')}; has the document become shorter since the URI was made?"
        )
    section = segment.spans.section_at(number, start)
    integrity: Literal["ok", "changed", "unchecked"] = "unchecked"
    if md5 is not None:
        integrity = "ok" if md5 == record.text_hash else "changed"
    return Passage(
        uri=uri,
        document_id=record.id,
        title=record.title,
        start=start,
        end=end,
        lines=segment.texts.lines(number, start, end),
        heading_path=section.heading_path if section is not None else (),
        quote=text[start:end],
        integrity=integrity,
        origin=origin_of(record, folder.catalog.source_records()),
    )
