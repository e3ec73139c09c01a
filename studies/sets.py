"""The sets of questions that pipelines are measured on, each with its documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from setting import Setting, say

import pincite
from pincite.evaluation import GoldSet, Report, load_beir, load_chroma
from pincite.evaluation.retriever import Pipeline, of_knowledge_base
from pincite.retrieve.pipeline import CANDIDATES, RERANK_LIMIT
from pincite.types import Document

__all__ = ["NAMES", "QuestionSet", "opened", "question_set", "report_of"]

NAMES = ("mdcourse", "chroma", "scifact", "scifact train", "cranfield")


@dataclass(frozen=True)
class QuestionSet:
    """Questions with their documents.

    Attributes
    ----------
    name : str
    documents : list of Document, or Path
    gold : GoldSet
    graded : bool
        Whether documents are judged; otherwise excerpts answer.
    """

    name: str
    documents: list[Document] | Path
    gold: GoldSet
    graded: bool

    @property
    def index(self) -> str:
        """The name of the index: SciFact's claims, for tests and for training, are about the same abstracts."""
        return self.name.partition(" ")[0]

    @property
    def depth(self) -> int:
        """How many passages are looked at: R@20 needs 20, and 10 documents rank among more passages than 10."""
        return 100 if self.graded else 20


def question_set(setting: Setting, name: str) -> QuestionSet:
    """Read one of `NAMES`."""
    data = setting.data
    if name == "mdcourse":
        asked = GoldSet.load(setting.gold)
        answerable = GoldSet(asked.name, tuple(question for question in asked if question.answerable))
        return QuestionSet(name, data / "mdcourse", answerable, graded=False)
    if name == "chroma":
        return QuestionSet(name, *load_chroma(data / "chroma_chunking"), graded=False)
    folder, _, split = name.partition(" ")
    qrels = f"qrels.{split}.tsv" if split else "qrels.tsv"
    return QuestionSet(name, *load_beir(data / folder, qrels=qrels), graded=True)


@contextmanager
def opened(setting: Setting, questions: QuestionSet) -> Iterator[pincite.KnowledgeBase]:
    """Open the set's index, as `pincite.open` makes it without further settings; what is there is not made again."""
    folder = setting.work / "pipelines" / questions.index
    folder.parent.mkdir(exist_ok=True)
    with pincite.open(folder, create=True, encoder=setting.encoder, reranker=setting.reranker) as kb:
        kb.add(questions.documents, progress=False)
        say(f"{questions.name}: {len(questions.gold)} questions, {kb.status().chunks} chunks")
        yield kb


def report_of(
    kb: pincite.KnowledgeBase,
    questions: QuestionSet,
    pipeline: Pipeline,
    *,
    candidates: int = CANDIDATES,
    rerank_limit: int = RERANK_LIMIT,
    name: str | None = None,
) -> Report:
    """Measure a pipeline; with 50 candidates a leg as in a search, however many passages are looked at."""
    say(f"{questions.name}: {name or pipeline}")
    retriever = of_knowledge_base(
        kb, pipeline=pipeline, depth=questions.depth, candidates=candidates, rerank_limit=rerank_limit
    )
    return pincite.evaluate(retriever, questions.gold, depth=questions.depth, name=name)
