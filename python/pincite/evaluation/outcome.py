"""What became of one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pincite.core.arguments import one_of
from pincite.evaluation.chunks import KnownChunks
from pincite.evaluation.coverage import (
    CharacterOverlap,
    character_overlap,
    document_run,
    excerpt_ranks,
    excerpt_run,
    touches,
)
from pincite.evaluation.gold import Question
from pincite.evaluation.metrics import average_precision, ndcg, recall
from pincite.evaluation.retriever import Retrieval, Retrieved

__all__ = ["ANSWER_K", "CUTOFFS", "ExcerptsWanted", "Outcome", "judge"]

ExcerptsWanted = Literal["any", "all"]

CUTOFFS = (1, 4, 8, 20)
ANSWER_K = 4
"""Passages that make an answer: as many as `KnowledgeBase.search` returns by default."""

OVERLAP_K = 5
"""Passages whose characters are compared with the excerpts': as many as the published tables retrieve."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question.

    Attributes
    ----------
    id, question, family : str
    answerable, forbidden : bool
        What the gold set says.
    refused : bool
        Whether there was no passage.
    rank : int or None
        Of the first passage with which the question is answered, from 1; where documents are graded, of the first
        relevant document. None where there is none.
    destroyed : bool or None
        Whether no chunk of the index holds the answer: then nothing can find it. None where the chunks are unknown.
    leaked : bool
        Whether a passage shows some of what is forbidden.
    distance : float or None
        The nearest candidate's, whether or not it passed.
    answer_distance : float or None
        That of the passage at `rank`.
    logit, answer_logit : float or None
        The reranker's highest, and that of the passage at `rank`.
    absent, answer_absent : float or None
        The least share of the question's words, by weight, that one of the first 4 passages lacks, and that of the
        passage at `rank`.
    ndcg, average_precision : float
        The former at 10.
    recalls : dict of int to float
        The share of all excerpts, or of all relevant documents, among the first 1, 4, 8, 20.
    overlap : CharacterOverlap or None
        None for a question without excerpts.
    """

    id: str
    question: str
    family: str
    answerable: bool
    forbidden: bool
    refused: bool
    rank: int | None
    destroyed: bool | None
    leaked: bool
    distance: float | None
    answer_distance: float | None
    logit: float | None
    answer_logit: float | None
    absent: float | None
    answer_absent: float | None
    ndcg: float
    average_precision: float
    recalls: Mapping[int, float]
    overlap: CharacterOverlap | None

    @property
    def reciprocal_rank(self) -> float:
        """1 / rank; 0 where there is none."""
        return 0.0 if self.rank is None else 1.0 / self.rank

    def within(self, k: int) -> bool:
        """Return whether the first `k` passages, or documents, answer the question."""
        return self.rank is not None and self.rank <= k

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON has it."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["recalls"] = {str(k): share for k, share in self.recalls.items()}
        plain["overlap"] = None if self.overlap is None else self.overlap._asdict()
        return plain


def judge(question: Question, retrieval: Retrieval, *, excerpts: ExcerptsWanted, chunks: KnownChunks | None) -> Outcome:
    """Hold what was retrieved against what answers the question.

    By its excerpts where it has any, else by the grades of documents.
    """
    one_of(excerpts, "excerpts", get_args(ExcerptsWanted))
    passages = retrieval.passages
    by_excerpts = question.answerable and bool(question.excerpts)
    answer: Retrieved | None
    if by_excerpts:
        ranks = excerpt_ranks(passages, question.excerpts)
        rank = _answered_at(ranks, excerpts)
        answer = None if rank is None else passages[rank - 1]
        run, grades = excerpt_run(passages, ranks)
        recalls = {k: sum(found is not None and found <= k for found in ranks) / len(ranks) for k in CUTOFFS}
    else:
        run, grades = document_run(passages), {id: grade for id, grade in question.grades.items() if grade > 0}
        rank = next((place for place, id in enumerate(run, start=1) if id in grades), None)
        answer = next((passage for passage in passages if passage.document_id in grades), None)
        recalls = {k: recall(run, grades, k=k) for k in CUTOFFS}
    return Outcome(
        id=question.id,
        question=question.text,
        family=question.family,
        answerable=question.answerable,
        forbidden=question.forbidden,
        refused=not passages,
        rank=rank,
        destroyed=None if chunks is None else _destroyed(question, excerpts, chunks),
        leaked=question.forbidden and touches(passages, question.excerpts),
        distance=retrieval.nearest_distance,
        answer_distance=None if answer is None else answer.distance,
        logit=max((passage.logit for passage in passages if passage.logit is not None), default=None),
        answer_logit=None if answer is None else answer.logit,
        absent=min((passage.absent for passage in passages[:ANSWER_K] if passage.absent is not None), default=None),
        answer_absent=None if answer is None else answer.absent,
        ndcg=ndcg(run, grades, k=10),
        average_precision=average_precision(run, grades),
        recalls=recalls,
        overlap=character_overlap(passages[:OVERLAP_K], question.excerpts) if by_excerpts else None,
    )


def _answered_at(ranks: Sequence[int | None], excerpts: ExcerptsWanted) -> int | None:
    found = [rank for rank in ranks if rank is not None]
    if excerpts == "any":
        return min(found, default=None)
    return max(found) if len(found) == len(ranks) else None


def _destroyed(question: Question, excerpts: ExcerptsWanted, chunks: KnownChunks) -> bool:
    if not question.answerable:
        return False
    if question.excerpts:
        held = [chunks.hold(excerpt) for excerpt in question.excerpts]
        return not (any(held) if excerpts == "any" else all(held))
    return not any(id in chunks for id, grade in question.grades.items() if grade > 0)
