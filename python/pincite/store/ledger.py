"""Where every character of every document went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Literal

from pincite.errors import counted
from pincite.store.preparing import text_hash
from pincite.store.records import DocumentRecord, FailureRecord
from pincite.store.segment import Segment
from pincite.store.snapshot import Snapshot

__all__ = ["CharacterClass", "DocumentLedger", "Ledger", "ledger_of"]

CharacterClass = Literal["chunk", "heading", "front_matter", "white_space", "dropped"]


@dataclass(frozen=True, slots=True)
class DocumentLedger:
    """The account of one document.

    Attributes
    ----------
    id : str
    state : {"indexed", "failed"}
    length : int
        Code points of the canonical text; 0 of a document that failed.
    spans : tuple of (start, end, class)
        In order, covering the text from 0 to `length`. What is in a chunk is "chunk", whatever else it is; of the rest,
        "white_space", "front_matter" and "heading" say what it is, and "dropped" that no search can find it.
    reasons : dict of str to int
        Why characters were dropped, with their numbers.
    not_extracted : dict of str to int
        What the extractor left out of the canonical text on purpose, in characters of the source.
    faults : tuple of str
        What does not balance; empty where all is well.
    reason, message : str
        Of a document that failed.
    """

    id: str
    state: Literal["indexed", "failed"]
    length: int = 0
    spans: tuple[tuple[int, int, CharacterClass], ...] = ()
    reasons: dict[str, int] = field(default_factory=dict)
    not_extracted: dict[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""

    @property
    def counts(self) -> dict[CharacterClass, int]:
        """The number of characters by class."""
        found: dict[CharacterClass, int] = dict.fromkeys(
            ("chunk", "heading", "front_matter", "white_space", "dropped"), 0
        )
        for start, end, kind in self.spans:
            found[kind] += end - start
        return found

    @property
    def balanced(self) -> bool:
        """Whether every character is in exactly one class, and the stored text is the one that was read."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounts of all documents, by id."""

    documents: tuple[DocumentLedger, ...]

    @property
    def balanced(self) -> bool:
        """Whether every account balances."""
        return all(document.balanced for document in self.documents)

    @property
    def counts(self) -> dict[str, int]:
        """The number of characters by class, over all documents."""
        totals: dict[str, int] = {}
        for kind, count in chain.from_iterable(document.counts.items() for document in self.documents):
            totals[kind] = totals.get(kind, 0) + count
        return totals

    def __iter__(self) -> Iterator[DocumentLedger]:
        """Iterate over the documents' accounts."""
        return iter(self.documents)


def ledger_of(
    snapshot: Snapshot,
    documents: list[tuple[int, DocumentRecord]],
    failures: list[FailureRecord],
    *,
    strategy: str,
) -> Ledger:
    """Account for the documents of a snapshot, and for those that failed.

    `strategy` is the chunker's, for the reason of what it left out. Reads every text once.
    """
    accounts = [_account(record, snapshot.place(row), strategy) for row, record in documents]
    accounts += [
        DocumentLedger(failure.id, "failed", reason=failure.reason, message=failure.message) for failure in failures
    ]
    return Ledger(tuple(sorted(accounts, key=lambda account: (account.id, account.state))))


def _account(record: DocumentRecord, place: tuple[Segment, int] | None, strategy: str) -> DocumentLedger:
    if place is None:
        return DocumentLedger(record.id, "indexed", length=record.length, faults=("no segment holds the document",))
    segment, number = place
    text = segment.texts.text(number)
    rows = segment.spans.chunks_of(number)
    column = segment.spans.chunks
    chunks = [(int(column["start"][row]), int(column["end"][row])) for row in rows]
    headings = [(section.start, section.heading_end) for section in segment.spans.sections_of(number)]

    faults = []
    if len(text) != record.length:
        faults.append(f"the text has {counted(len(text), 'character')}, the catalog says {record.length}")
    if text_hash(text) != record.text_hash:
        faults.append("the text is not the one that was read")
    if len(chunks) != record.n_chunks:
        faults.append(f"it has {counted(len(chunks), 'chunk')}, the catalog says {record.n_chunks}")

    spans: list[tuple[int, int, CharacterClass]] = []
    at = 0
    for start, end in chunks:
        if not at <= start < end <= len(text):
            faults.append(f"the chunk [{start}, {end}) overlaps the one before, or leaves the text")
            continue
        spans += _outside(text, at, start, headings, record.front_matter_end)
        spans.append((start, end, "chunk"))
        at = end
    spans += _outside(text, at, len(text), headings, record.front_matter_end)
    dropped = sum(end - start for start, end, kind in spans if kind == "dropped")
    return DocumentLedger(
        record.id,
        "indexed",
        length=len(text),
        spans=tuple(spans),
        reasons={f"strategy {strategy} takes no text here": dropped} if dropped else {},
        not_extracted=dict(record.dropped),
        faults=tuple(faults),
    )


def _outside(
    text: str, start: int, end: int, headings: list[tuple[int, int]], front_matter_end: int
) -> Iterator[tuple[int, int, CharacterClass]]:
    """Classify what lies between chunks."""
    if start >= end:
        return
    edges = {start, end, *(edge for heading in headings for edge in heading), front_matter_end}
    cuts = sorted(edge for edge in edges if start <= edge <= end)
    for first, last in pairwise(cuts):
        kind: CharacterClass = "dropped"
        if any(begin <= first and last <= stop for begin, stop in headings):
            kind = "heading"
        elif last <= front_matter_end:
            kind = "front_matter"
        yield from _white_space_apart(text, first, last, kind)


def _white_space_apart(
    text: str, start: int, end: int, kind: CharacterClass
) -> Iterator[tuple[int, int, CharacterClass]]:
    inside = text[start:end].strip()
    if not inside:
        yield start, end, "white_space"
        return
    lead = start + len(text[start:end]) - len(text[start:end].lstrip())
    tail = lead + len(inside)
    if start < lead:
        yield start, lead, "white_space"
    yield lead, tail, kind
    if tail < end:
        yield tail, end, "white_space"
