"""Whether a quote is still where a citation says it is."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["CurrentText", "TextProvider", "Verification", "compare"]

LEAST_SIMILARITY = 0.5
"""Below this share of matching characters a passage counts as gone, not as changed."""


@dataclass(frozen=True, slots=True)
class CurrentText:
    """A document's canonical text as it is now."""

    text: str


class TextProvider(Protocol):
    """Who knows documents' texts: a knowledge base."""

    def current_text(self, document_id: str, *, against: Literal["index", "source"]) -> CurrentText | None:
        """Return the text of a document as it is in the index, or at its source; None if it is not there."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a quote.

    Attributes
    ----------
    status : {"exact", "moved", "changed", "gone"}
        "exact": it stands where the citation says. "moved": it stands elsewhere in the document, whole. "changed":
        something like it stands there. "gone": neither, or the document is not there.
    against : {"index", "source"}
        What was looked at.
    start, end : int or None
        Where the quote, or what it became, is now; None where it is gone.
    found : str or None
        What stands there now.
    difference : str
        For a changed quote, lines that were taken out (-) and put in (+).
    """

    status: Literal["exact", "moved", "changed", "gone"]
    against: Literal["index", "source"]
    start: int | None = None
    end: int | None = None
    found: str | None = None
    difference: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the verification as JSON has it."""
        return {
            "status": self.status,
            "against": self.against,
            "start": self.start,
            "end": self.end,
            "found": self.found,
            "difference": self.difference,
        }


def compare(
    quote: str, start: int, before: str, after: str, text: str | None, *, against: Literal["index", "source"]
) -> Verification:
    """Look for a quote in a text.

    Parameters
    ----------
    quote : str
    start : int
        Where it was, in code points.
    before, after : str
        What stood on either side of it.
    text : str or None
        The document now; None if it is gone.
    """
    if text is None:
        return Verification("gone", against)
    if text.startswith(quote, start):
        return Verification("exact", against, start, start + len(quote), quote)
    moved = _nearest(text, quote, start, before, after)
    if moved is not None:
        return Verification("moved", against, moved, moved + len(quote), quote)
    first, last = _region(text, quote, start, before, after)
    found = text[first:last]
    if not found.strip() or difflib.SequenceMatcher(None, quote, found, autojunk=False).ratio() < LEAST_SIMILARITY:
        return Verification("gone", against)
    lines = difflib.unified_diff(quote.splitlines(), found.splitlines(), "cited", "found", lineterm="", n=1)
    return Verification("changed", against, first, last, found, "\n".join(lines))


def _nearest(text: str, quote: str, start: int, before: str, after: str) -> int | None:
    """Return where the quote stands now: with its neighbours if there is such a place, else nearest to where it was."""
    whole = text.find(before + quote + after)
    return whole + len(before) if whole >= 0 else _near(text, quote, start)


def _region(text: str, quote: str, start: int, before: str, after: str) -> tuple[int, int]:
    """Return what stands between the quote's old neighbours, or else about its old place."""
    left = _near(text, before, start - len(before)) if before else 0
    first = None if left is None else left + len(before)
    last = _near(text, after, (start if first is None else first) + len(quote)) if after else len(text)
    if first is not None and last is not None and first <= last <= first + 2 * len(quote) + 256:
        return first, last
    if first is None and last is not None:
        return max(0, last - len(quote)), last
    first = min(start, len(text)) if first is None else first
    return first, min(len(text), first + len(quote))


def _near(text: str, part: str, place: int) -> int | None:
    """Return the occurrence of `part` that is nearest to `place`."""
    place = max(0, place)
    found = [at for at in (text.rfind(part, 0, place + len(part)), text.find(part, place)) if at >= 0]
    return min(found, key=lambda at: abs(at - place), default=None)
