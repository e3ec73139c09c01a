"""What can be wrong with a gold set, found before anything is measured with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pincite.core.markdown import layout_of
from pincite.errors import counted
from pincite.types import Document

if TYPE_CHECKING:
    from pincite.evaluation.gold import Excerpt, Question

__all__ = ["occurrences", "problems_of"]


def problems_of(
    questions: Sequence[Question], documents: Callable[[str], Document | None] | None, *, may_lack: bool = False
) -> list[str]:
    """Return a sentence for everything that is wrong: see `GoldSet.check`."""
    ids = Counter(question.id for question in questions)
    problems = [f"the id {id!r} is given to {count} questions" for id, count in ids.items() if count > 1]
    read = None if documents is None else _Texts(documents)
    for question in questions:
        problems += [f"question {question.id!r}: {problem}" for problem in _of_question(question, read, may_lack)]
    # A judged document that is not there counts as not found, as in trec_eval; all of them are a wrong set.
    judged = {id for question in questions for id, grade in question.grades.items() if grade > 0}
    if read is not None and judged and not may_lack and all(read.document(id) is None for id in judged):
        graded = counted(len(judged), "document that is graded as relevant", "documents that are graded as relevant")
        problems.append(f"of {graded}, none is there")
    return problems


def occurrences(text: str, wanted: str, *, limit: int = 3) -> list[int]:
    """Return where a text occurs, overlaps included; at most `limit` places."""
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < limit:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


class _Texts:
    """Documents and their headings, each parsed once."""

    def __init__(self, documents: Callable[[str], Document | None]) -> None:
        self.document = lru_cache(maxsize=64)(documents)
        self.headings = lru_cache(maxsize=64)(self._headings)

    def _headings(self, id: str) -> list[tuple[int, int]]:
        document = self.document(id)
        outline = [] if document is None else layout_of(document.text, document.markup).outline
        return [(section.start, section.heading_end) for section in outline if section.level]


def _texts_of(question: Question) -> Iterator[str]:
    yield from (question.id, question.text, question.family, *(question.groups or ()), *question.grades)


def _of_question(question: Question, texts: _Texts | None, may_lack: bool) -> Iterator[str]:
    if not question.text.strip():
        yield "has no words"
    if any("\ud800" <= letter <= "\udfff" for letter in "".join(_texts_of(question))):
        yield "holds half a character, a lone surrogate"
    relevant = [id for id, grade in question.grades.items() if grade > 0]
    if question.answerable and not question.excerpts and not relevant:
        yield "is answerable, and no excerpt or grade says by what"
    if not question.answerable and (relevant or (question.excerpts and not question.forbidden)):
        yield "is not answerable and has an answer"
    for excerpt in question.excerpts:
        for problem in _of_excerpt(excerpt, texts, may_lack):
            yield f"the excerpt [{excerpt.start}, {excerpt.end}) of {excerpt.document!r} {problem}"
    if question.answerable and question.without:
        yield "is answerable without what answers it"
    for span in question.without:
        document = None if texts is None else texts.document(span.document)
        if texts is not None and document is None and not may_lack:
            yield f"takes out {span.document!r}, which names no document"
        elif span.end is not None and not 0 <= span.start < span.end <= (len(document.text) if document else span.end):
            yield f"takes out [{span.start}, {span.end}) of {span.document!r}, which is not there"


def _of_excerpt(excerpt: Excerpt, texts: _Texts | None, may_lack: bool) -> Iterator[str]:
    if not excerpt.text.strip():
        yield "is blank"
        return
    if excerpt.start < 0 or excerpt.end - excerpt.start != len(excerpt.text):
        yield f"does not span its text of {counted(len(excerpt.text), 'code point')}"
        return
    if texts is None:
        return
    document = texts.document(excerpt.document)
    if document is None:
        if not may_lack:
            yield "names no document"
        return
    if document.text[excerpt.start : excerpt.end] != excerpt.text:
        elsewhere = occurrences(document.text, excerpt.text)
        where = f"it occurs at {', '.join(map(str, elsewhere))}" if elsewhere else "it occurs nowhere"
        yield f"is not there; {where}"
    elif any(start <= excerpt.start and excerpt.end <= end for start, end in texts.headings(excerpt.document)):
        yield "lies inside a heading, which is no answer"
