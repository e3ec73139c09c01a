"""A citation: an exact quote, and where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

from pincite.cite.locators import char_fragment
from pincite.cite.origin import Origin, is_origin
from pincite.cite.verification import TextProvider, Verification, compare
from pincite.errors import InvalidInputError, counted
from pincite.retrieve.result import Hit

__all__ = ["NEIGHBOURS", "Citation", "cite"]

NEIGHBOURS = 32
"""Code points on either side of a quote that are kept with it, to find it again when it has moved."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote, and where it is written.

    Attributes
    ----------
    number : int
        Its number in the sources block, from 1.
    document_id, title : str
    content_hash : str
        SHA-256 of the document's bytes, in hex.
    extractor : str
        What made the canonical text of them, with its version.
    start, end : int
        The quote is ``text[start:end]`` of the canonical text, in code points.
    lines : (int, int)
        Its first and last line, from 1.
    quote : str
    before, after : str
        Up to 32 characters on either side.
    heading_path : tuple of str
    uri : str
        The document's URI with the locator (RFC 5147): `pincite.resolve` gives the quote back.
    href : str
        The same for opening: a file: URI where the document was read from a file, else as `uri`.
    origin : Origin
        Where the document comes from, when it was modified, and when its folder was last synced.
    """

    number: int
    document_id: str
    title: str
    content_hash: str
    extractor: str
    start: int
    end: int
    lines: tuple[int, int]
    quote: str
    before: str
    after: str
    heading_path: tuple[str, ...]
    uri: str
    href: str
    origin: Origin
    _texts: TextProvider | None = field(default=None, repr=False, compare=False)

    def verify(
        self, texts: TextProvider | None = None, *, against: Literal["index", "source"] = "index"
    ) -> Verification:
        """Check that the quote is where the citation says.

        Parameters
        ----------
        texts : KnowledgeBase, optional
            Where to look; by default the one that the citation comes from. A citation that was read back by
            `from_dict` comes from none.
        against : {"index", "source"}, default "index"
            What to look at: the text that the index holds, or the file as it is on disk now (for a document that was
            given as a string, the index is the source).

        Returns
        -------
        Verification

        Raises
        ------
        InvalidInputError
            If there is nowhere to look, or `against` is another word.
        """
        where = texts if texts is not None else self._texts
        if where is None:
            raise InvalidInputError("the citation comes from no open index; call verify(kb) with one")
        if against not in {"index", "source"}:
            raise InvalidInputError(f"against is {against!r}, wanted 'index' or 'source'")
        current = where.current_text(self.document_id, against=against)
        text = None if current is None else current.text
        return compare(self.quote, self.start, self.before, self.after, text, against=against)

    def to_dict(self) -> dict[str, Any]:
        """Return the citation as JSON has it."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "_texts"}
        return {
            **values,
            "lines": list(self.lines),
            "heading_path": list(self.heading_path),
            "origin": asdict(self.origin),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the citation that `to_dict` gave.

        Raises
        ------
        InvalidInputError
            If something is missing, unknown, of another type, or a span that no quote can have.
        """
        if not isinstance(values, Mapping):
            raise InvalidInputError(f"a citation is of type {type(values).__name__}, wanted the dict of to_dict")
        known = {item.name for item in fields(cls)} - {"_texts"}
        if set(values) != known:
            raise InvalidInputError(
                f"a citation has {', '.join(sorted(known))}; missing: {sorted(known - set(values))}, "
                f"unknown: {sorted(set(values) - known)}"
            )
        for name, value in values.items():
            if not _KINDS.get(name, _is_str)(value):
                raise InvalidInputError(f"the citation's {name} is {value!r}, wanted what to_dict gives")
        if not 0 <= values["start"] < values["end"] == values["start"] + len(values["quote"]):
            raise InvalidInputError(
                f"it spans [{values['start']}, {values['end']}) and quotes "
                f"{counted(len(values['quote']), 'character')}; wanted as many as it spans, at least one"
            )
        return cls(
            **{
                **values,
                "lines": tuple(values["lines"]),
                "heading_path": tuple(values["heading_path"]),
                "origin": Origin(**values["origin"]),
            }
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it says, not where it comes from: `verify` then needs to be given a knowledge base."""
        return type(self).from_dict, (self.to_dict(),)


def _is_str(value: Any) -> bool:
    return isinstance(value, str)


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_lines(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_int, value))


def _is_path(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_str, value))


_KINDS = {
    "number": _is_int,
    "start": _is_int,
    "end": _is_int,
    "lines": _is_lines,
    "heading_path": _is_path,
    "origin": is_origin,
}


def cite(
    hit: Hit,
    *,
    number: int,
    path: Path | None,
    origin: Origin,
    texts: TextProvider | None = None,
    alone: bool = False,
) -> Citation:
    """Make the citation of a hit; `path` is the file that its document was read from, if it was.

    With `alone`, nothing is read on either side of the quote.
    """
    segment, document = hit.place
    beyond = 0 if alone else NEIGHBOURS
    first, last = max(0, hit.start - beyond), min(hit.document.length, hit.end + beyond)
    around = segment.texts.slice(document, first, last)
    fragment = char_fragment(
        hit.start,
        hit.end,
        crlf_before=(segment.texts.crlf_before(document, hit.start), segment.texts.crlf_before(document, hit.end)),
        text_hash=hit.document.text_hash,
    )
    uri = hit.document.uri
    return Citation(
        number=number,
        document_id=hit.document_id,
        title=hit.title,
        content_hash=hit.document.content_hash,
        extractor=hit.document.extractor,
        start=hit.start,
        end=hit.end,
        lines=hit.lines,
        quote=hit.content,
        before=around[: hit.start - first],
        after=around[len(around) - (last - hit.end) :] if last > hit.end else "",
        heading_path=hit.heading_path,
        uri=f"{uri}#{fragment}",
        href=f"{path.as_uri() if path is not None else uri}#{fragment}",
        origin=origin,
        _texts=texts,
    )
