"""`pincite.evaluate`: ask every question, judge what comes back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from pincite.core.arguments import integer
from pincite.errors import InvalidInputError, counted
from pincite.evaluation.chunks import IndexChunks, KnownChunks
from pincite.evaluation.gold import Documents, GoldSet, Question
from pincite.evaluation.outcome import ExcerptsWanted, judge
from pincite.evaluation.report import Report
from pincite.evaluation.retriever import (
    ChunkRetriever,
    Indexed,
    IndexRetriever,
    Pipeline,
    Retriever,
    ask,
    of_knowledge_base,
)
from pincite.store.progress import Progress, shown
from pincite.types import Document

__all__ = ["evaluate"]

_SHOWN = 5


def evaluate(
    subject: Indexed | Retriever,
    gold: GoldSet | str | os.PathLike[str],
    *,
    pipeline: Pipeline = "default",
    depth: int = 20,
    threshold: float | None = None,
    excerpts: ExcerptsWanted = "any",
    may_lack: bool = False,
    seed: int = 0,
    documents: Iterable[Document] | None = None,
    name: str | None = None,
    progress: bool | Progress = False,
) -> Report:
    """Measure how well questions are answered, and how well those without an answer are refused.

    A question counts as answered at the rank of the first passage that covers one of its excerpts whole, by offsets,
    within ``[covered_start, end)``; where documents are graded instead, at that of the first relevant document.

    Parameters
    ----------
    subject : KnowledgeBase or callable
        A callable takes the text of a question and returns `Retrieved` passages, best first, none for a refusal; so any
        other retriever is measured on the same questions.
    gold : GoldSet or path
    pipeline : {"default", "bm25", "dense", "hybrid", "hybrid+rerank", "rerank-alone"}
        Of a knowledge base: see `of_knowledge_base`.
    depth : int, default 20
        How many passages to ask for. R@20 needs 20.
    threshold : float, optional
        The greatest distance at which a passage of a knowledge base is an answer: see `of_knowledge_base`.
    excerpts : {"any", "all"}, default "any"
        Whether one excerpt is an answer, or all of them are, each from whatever passage.
    may_lack : bool, default False
        Count an excerpt as lost, and not as a fault of the gold set, where its document is not in the index: for an
        index that is compared with one that has it.
    seed : int, default 0
        Of the bootstrap.
    documents : iterable of Document, optional
        For a callable: the documents with the texts that offsets count in, so that the gold set can be checked. A
        knowledge base has its own.
    name : str, optional
        What to call it in tables; by default the pipeline or the callable's name.
    progress : bool or callable, default False
        Show a bar where standard error is a terminal; or call this with the questions done, all questions, and an id.

    Returns
    -------
    Report

    Raises
    ------
    InvalidInputError
        If the gold set is not in order (the message lists why), an argument is out of its range, or a callable returns
        something else.

    Examples
    --------
    >>> import pincite
    >>> with pincite.open("kb") as kb:  # doctest: +SKIP
    ...     print(pincite.evaluate(kb, "gold.jsonl").table())
    """
    depth = integer(depth, "depth", at_least=1)
    seed = integer(seed, "seed", at_least=0)
    retriever = _retriever(subject, pipeline, depth, threshold)
    known = retriever if isinstance(retriever, ChunkRetriever) else None
    chunks = None if known is None else known.chunks()
    texts = _texts(chunks, documents)
    if not isinstance(gold, GoldSet):
        gold = GoldSet.load(gold, documents=texts)
    if problems := gold.check(texts, may_lack=may_lack):
        first = "; ".join(problems[:_SHOWN])
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        faults = counted(len(problems), "fault")
        raise InvalidInputError(f"the gold set {gold.name} has {faults}, wanted none: {first}{more}")
    outcomes, milliseconds = [], []
    with shown(progress, len(gold), doing=name or "asking", unit=" questions") as tell:
        for question in gold:
            retrieval = ask(_as_asked(retriever, question, chunks), question.text, depth=depth)
            outcomes.append(judge(question, retrieval, excerpts=excerpts, chunks=chunks))
            milliseconds.append(retrieval.timings)
            if tell is not None:
                tell(1, question.id)
    described = _description(retriever)
    return Report(
        name=name or described.get("pipeline") or described["retriever"],
        gold={"name": gold.name, "questions": len(gold), "sha256": gold.sha256, "checked": texts is not None},
        configuration={**described, "depth": depth, "excerpts": excerpts, "seed": seed},
        generation=None if known is None else known.generation,
        documents_sha256=None if chunks is None else chunks.sha256,
        outcomes=tuple(outcomes),
        cost=None if chunks is None else chunks.cost(),
        milliseconds=tuple(milliseconds),
    )


def _retriever(subject: Any, pipeline: Pipeline, depth: int, threshold: float | None) -> Retriever:
    if not callable(subject):
        if not hasattr(subject, "snapshot"):
            raise InvalidInputError(
                f"given was {type(subject).__name__}, wanted a KnowledgeBase, or a callable from a question to passages"
            )
        return of_knowledge_base(subject, pipeline=pipeline, depth=depth, max_distance=threshold)
    if pipeline != "default" or threshold is not None:
        raise InvalidInputError("pipeline and threshold are those of a knowledge base; a callable has its own")
    if isinstance(subject, ChunkRetriever) and subject.depth < depth:
        raise InvalidInputError(f"depth is {depth}, the retriever returns {subject.depth} passages at most")
    return subject  # type: ignore[no-any-return]


def _texts(chunks: KnownChunks | None, documents: Iterable[Document] | None) -> Documents | None:
    if chunks is not None:
        if documents is not None:
            raise InvalidInputError("documents are given, a knowledge base has its own; leave them out")
        return chunks.document
    return None if documents is None else {document.id: document for document in documents}.get


def _as_asked(retriever: Retriever, question: Question, chunks: KnownChunks | None) -> Retriever:
    """Return what a question is asked of: the index as its asker sees it, without what the question does without."""
    if isinstance(retriever, IndexRetriever) and (question.groups is not None or retriever.has_groups):
        if question.groups is None:
            raise InvalidInputError(
                f"question {question.id!r} names no groups, and the index has them; give the set's questions `groups`"
            )
        retriever = retriever.seen_by(question.groups)
    if not question.without:
        return retriever
    if not isinstance(chunks, IndexChunks) or not isinstance(retriever, IndexRetriever):
        raise InvalidInputError(
            f"question {question.id!r} is asked of an index without some of its documents, which only one on disk can "
            "do; leave out the questions that have `without`"
        )
    return retriever.without(key for span in question.without for key in chunks.touching(span))


def _description(retriever: Retriever) -> dict[str, Any]:
    if isinstance(retriever, ChunkRetriever):
        return retriever.describe()
    return {"retriever": getattr(retriever, "__qualname__", type(retriever).__qualname__)}
