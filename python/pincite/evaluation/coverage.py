"""Which answers a list of passages covers, and how much of them, by offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pincite.evaluation.gold import Excerpt
from pincite.evaluation.retriever import Retrieved

__all__ = [
    "CharacterOverlap",
    "answered_within",
    "character_overlap",
    "document_run",
    "excerpt_ranks",
    "excerpt_run",
    "touches",
]

Span = tuple[int, int]


def excerpt_ranks(passages: Sequence[Retrieved], excerpts: Sequence[Excerpt]) -> list[int | None]:
    """Return the rank, from 1, of the first passage that covers each excerpt; None where none does.

    A passage covers an excerpt that lies wholly in its ``[covered_start, end)``, overlap included: that is the text
    that was searched.
    """
    ranks: list[int | None] = []
    for excerpt in excerpts:
        covering = (
            rank
            for rank, passage in enumerate(passages, start=1)
            if passage.document_id == excerpt.document
            and passage.covered_start <= excerpt.start
            and excerpt.end <= passage.end
        )
        ranks.append(next(covering, None))
    return ranks


def excerpt_run(passages: Sequence[Retrieved], ranks: Sequence[int | None]) -> tuple[list[str], dict[str, int]]:
    """Return passages as a ranking of excerpts, with its judgements, for the measures of a ranking.

    Every excerpt is one relevant item, found where it is covered first. A passage that covers none anew is an item
    that is not relevant; one that covers several is as many items in a row.
    """
    run: list[str] = []
    for rank in range(1, len(passages) + 1):
        covered = [f"excerpt {number}" for number, found in enumerate(ranks) if found == rank]
        run += covered or [f"passage {rank}"]
    return run, {f"excerpt {number}": 1 for number in range(len(ranks))}


def answered_within(passages: Sequence[Retrieved], excerpts: Sequence[Excerpt], *, characters: int) -> bool:
    """Return whether somebody who reads so many characters of the passages, best first, meets an excerpt whole.

    Each passage is read from its `covered_start`, and the last one only as far as the characters last. That holds ways
    of cutting of different sizes against each other: of larger passages fewer are read, where R@k grows with the size.
    """
    left = characters
    for passage in passages:
        end = min(passage.end, passage.covered_start + left)
        read = [Retrieved(passage.document_id, passage.covered_start, end, passage.covered_start)]
        if any(rank is not None for rank in excerpt_ranks(read, excerpts)):
            return True
        left -= end - passage.covered_start
        if not left:
            break
    return False


def document_run(passages: Iterable[Retrieved]) -> list[str]:
    """Return passages as a ranking of documents, each at its best passage."""
    return list(dict.fromkeys(passage.document_id for passage in passages))


def touches(passages: Iterable[Retrieved], excerpts: Sequence[Excerpt]) -> bool:
    """Return whether a passage shows any character of an excerpt."""
    return any(
        passage.document_id == excerpt.document and passage.covered_start < excerpt.end and excerpt.start < passage.end
        for passage in passages
        for excerpt in excerpts
    )


class CharacterOverlap(NamedTuple):
    """Recall, precision and intersection over union of two sets of characters."""

    recall: float
    precision: float
    iou: float


def character_overlap(passages: Sequence[Retrieved], excerpts: Sequence[Excerpt]) -> CharacterOverlap:
    """Return how well the quoted characters match those of the excerpts.

    What Smith and Troynikov ("Evaluating chunking strategies for retrieval", 2024) call token-wise recall, precision
    and IoU, which their code counts in characters. As there, a character that two passages quote counts twice among
    what was retrieved, so that overlaps cost precision.
    """
    wanted = _merged((excerpt.document, excerpt.start, excerpt.end) for excerpt in excerpts)
    given = _merged((passage.document_id, passage.start, passage.end) for passage in passages)
    common = sum(_common(spans, given.get(document, [])) for document, spans in wanted.items())
    n_wanted = _size(wanted)
    n_retrieved = sum(passage.end - passage.start for passage in passages)
    union = n_retrieved + n_wanted - common
    return CharacterOverlap(
        common / n_wanted if n_wanted else 0.0,
        common / n_retrieved if n_retrieved else 0.0,
        common / union if union else 0.0,
    )


def _merged(spans: Iterable[tuple[str, int, int]]) -> dict[str, list[Span]]:
    """Return the union of spans, by document and in order."""
    merged: dict[str, list[Span]] = {}
    for document, start, end in sorted(spans):
        here = merged.setdefault(document, [])
        if here and start <= here[-1][1]:
            here[-1] = (here[-1][0], max(end, here[-1][1]))
        else:
            here.append((start, end))
    return merged


def _size(spans: Mapping[str, Sequence[Span]]) -> int:
    return sum(end - start for here in spans.values() for start, end in here)


def _common(left: Sequence[Span], right: Sequence[Span]) -> int:
    """Return how many characters two unions have in common."""
    return sum(max(0, min(a_end, b_end) - max(a, b)) for a, a_end in left for b, b_end in right)
