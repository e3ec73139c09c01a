"""Gold sets: questions, and the excerpts of documents that answer them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pincite.core.arguments import path_text
from pincite.errors import InvalidInputError
from pincite.evaluation.gold_check import occurrences, problems_of
from pincite.store.files import naming_refusals
from pincite.types import Document

__all__ = ["Documents", "Excerpt", "GoldSet", "Question", "Span", "read_lines"]

Documents = Callable[[str], Document | None]
"""Gives a document with its canonical text by its id; None where there is none."""

_QUESTION_KEYS = ("id", "question", "excerpts", "answerable", "forbidden", "groups", "family", "grades", "without")
_EXCERPT_KEYS = ("document", "start", "end", "text")
_SPAN_KEYS = ("document", "start", "end")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage that answers: ``text == document[start:end]``, in code points."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Some of a document, in code points; all of it where `end` is None."""

    document: str
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answers.

    Attributes
    ----------
    id, text : str
    excerpts : tuple of Excerpt
        What answers it; of a forbidden question, what must not be shown.
    answerable : bool
        False where the right result is a refusal.
    forbidden : bool
        Whether there is an answer that this asker may not see; then `answerable` is False.
    groups : tuple of str or None
        Of the asker; None where the set says nothing of them.
    family : str
        How it is phrased, such as "course" or "ticket": results are given by family as well.
    grades : dict of str to int
        How relevant a document is, by its id; above 0 means relevant.
    without : tuple of Span
        What is taken out of the index before the question is asked: every chunk that touches it.
    """

    id: str
    text: str
    excerpts: tuple[Excerpt, ...] = ()
    answerable: bool = True
    forbidden: bool = False
    groups: tuple[str, ...] | None = None
    family: str = ""
    grades: Mapping[str, int] = field(default_factory=dict)
    without: tuple[Span, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the question as its line has it, without what is as by default."""
        line: dict[str, Any] = {"id": self.id, "question": self.text}
        if self.excerpts:
            line["excerpts"] = [{key: getattr(excerpt, key) for key in _EXCERPT_KEYS} for excerpt in self.excerpts]
        if not self.answerable:
            line["answerable"] = False
        if self.forbidden:
            line["forbidden"] = True
        if self.groups is not None:
            line["groups"] = list(self.groups)
        if self.family:
            line["family"] = self.family
        if self.grades:
            line["grades"] = dict(self.grades)
        if self.without:
            line["without"] = [
                {key: getattr(span, key) for key in _SPAN_KEYS[: 1 if span.end is None else 3]} for span in self.without
            ]
        return line


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Questions with their answers, in order."""

    name: str
    questions: tuple[Question, ...]

    def __iter__(self) -> Iterator[Question]:
        """Iterate over the questions."""
        return iter(self.questions)

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.questions)

    @property
    def sha256(self) -> str:
        """The hash of what `save` writes: equal sets have equal ones."""
        return hashlib.sha256(self.to_jsonl().encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, documents: Documents | None = None) -> Self:
        """Read a JSONL file: a question a line.

        Each line has ``question`` and may have ``id`` (by default the line's number), ``excerpts`` (each ``document``,
        ``text``, ``start`` and ``end`` in code points), ``answerable``, ``forbidden``, ``groups``, ``family``,
        ``grades`` (of documents by id) and ``without`` (what is taken out of the index before the question is asked:
        each ``document``, and ``start`` and ``end`` where it is not all of it).

        Parameters
        ----------
        path : path
        documents : callable, optional
            Gives a document by its id. With it an excerpt may come without ``start`` and ``end`` if its text occurs
            exactly once in its document.

        Raises
        ------
        InvalidInputError
            If the file cannot be read, a line is no such question (the message says which), or an excerpt without
            offsets does not occur exactly once.
        """
        file = Path(path_text(path))
        questions = []
        for number, line in read_lines(file):
            try:
                questions.append(_question(line, str(number), documents))
            except InvalidInputError as error:
                raise InvalidInputError(f"{file}, line {number}: {error}") from None
        if not questions:
            raise InvalidInputError(f"{file} has no line, wanted a question a line")
        return cls(file.stem, tuple(questions))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set as `load` reads it."""
        file = Path(path_text(path))
        with naming_refusals(file, "write the questions"):
            file.write_text(self.to_jsonl(), encoding="utf-8", newline="\n")

    def to_jsonl(self) -> str:
        """Return the set as `load` reads it, a question a line."""
        return "".join(json.dumps(question.to_dict(), ensure_ascii=False) + "\n" for question in self.questions)

    def check(self, documents: Documents | None, *, may_lack: bool = False) -> list[str]:
        """Return what is wrong with the set, a sentence each; an empty list where nothing is.

        Ids are given once; excerpts are where they say, not blank, and not inside a heading, which would be found by
        its words and answers nothing; documents of excerpts exist, and some of the graded ones; a question that cannot
        be answered has no answer; what a question does `without` is there, and leaves no answer. Without `documents`,
        what needs the texts is not checked; with `may_lack`, documents may be missing.
        """
        return problems_of(self.questions, documents, may_lack=may_lack)


def read_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with the numbers of their lines; empty lines are passed over.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or a line is no JSON object.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_each_once)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"{file}, line {number}: no JSON: {error}") from None
        if not isinstance(value, dict):
            raise InvalidInputError(f"{file}, line {number}: is {type(value).__name__}, wanted a JSON object")
        yield number, value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def _question(line: Mapping[str, Any], number: str, documents: Documents | None) -> Question:
    _known(line, _QUESTION_KEYS)
    forbidden = _typed(line, "forbidden", bool, False)
    answerable = _typed(line, "answerable", bool, not forbidden)
    if forbidden and answerable:
        raise InvalidInputError("the question is forbidden and answerable; what an asker may not see is no answer")
    groups = None if line.get("groups") is None else tuple(_strings(line["groups"], "groups"))
    grades = _typed(line, "grades", dict, {})
    if not all(type(grade) is int for grade in grades.values()):
        raise InvalidInputError("grades holds something that is no integer")
    excerpts = _typed(line, "excerpts", list, [])
    return Question(
        id=_typed(line, "id", str, number),
        text=_typed(line, "question", str),
        excerpts=tuple(_excerpt(value, place, documents) for place, value in enumerate(excerpts, start=1)),
        answerable=answerable,
        forbidden=forbidden,
        groups=groups,
        family=_typed(line, "family", str, ""),
        grades=grades,
        without=tuple(_span(value, place) for place, value in enumerate(_typed(line, "without", list, []), start=1)),
    )


def _span(value: Any, place: int) -> Span:
    if not isinstance(value, dict):
        raise InvalidInputError(f"without {place} is of type {type(value).__name__}, wanted an object")
    _known(value, _SPAN_KEYS)
    if ("start" in value) != ("end" in value):
        raise InvalidInputError(f"without {place} has start or end, wanted both or neither")
    if "start" not in value:
        return Span(_typed(value, "document", str))
    return Span(_typed(value, "document", str), _typed(value, "start", int), _typed(value, "end", int))


def _excerpt(value: Any, place: int, documents: Documents | None) -> Excerpt:
    if not isinstance(value, dict):
        raise InvalidInputError(f"excerpt {place} is of type {type(value).__name__}, wanted an object")
    _known(value, _EXCERPT_KEYS)
    document, text = _typed(value, "document", str), _typed(value, "text", str)
    if ("start" in value) != ("end" in value):
        raise InvalidInputError(f"excerpt {place} has start or end, wanted both or neither")
    if "start" in value:
        return Excerpt(document, _typed(value, "start", int), _typed(value, "end", int), text)
    found = None if documents is None else documents(document)
    if found is None:
        why = "documents were not given" if documents is None else f"there is no document {document!r}"
        raise InvalidInputError(f"excerpt {place} has no start and end, and {why}")
    starts = occurrences(found.text, text)
    if len(starts) != 1:
        many = f"{len(starts)} times" if len(starts) < 3 else "3 times or more"
        raise InvalidInputError(
            f"excerpt {place} has no start and end and occurs {many} in {document!r}, wanted exactly once"
        )
    return Excerpt(document, starts[0], starts[0] + len(text), text)


def _known(value: Mapping[str, Any], keys: Sequence[str]) -> None:
    if unknown := [key for key in value if key not in keys]:
        raise InvalidInputError(f"unknown key {unknown[0]!r}, known are {', '.join(keys)}")


def _strings(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidInputError(f"{name} is {value!r}, wanted a list of strings")
    return value


def _typed(value: Mapping[str, Any], key: str, kind: type, *default: Any) -> Any:
    if key not in value:
        if default:
            return default[0]
        raise InvalidInputError(f"{key!r} is missing")
    if type(value[key]) is not kind:
        raise InvalidInputError(f"{key} is {value[key]!r}, wanted {kind.__name__}")
    return value[key]
