"""Questions that cannot be answered, made of those that can: near ones, from the documents' own field."""

from __future__ import annotations

import random
import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, get_args

from pincite.core.arguments import integer, one_of
from pincite.core.markdown import layout_of
from pincite.errors import InvalidInputError
from pincite.evaluation.gold import Documents, Excerpt, GoldSet, Question, Span
from pincite.types import Document, Section

__all__ = ["Deleted", "delete_answers", "swap_entities"]

Deleted = Literal["passage", "section", "document"]

_WORD = r"[A-Z](?:[\w-]|[’'](?!s\b))*\w"
_NAME = re.compile(rf"(?<=[\w,;:] ){_WORD}(?: (?:of |of the |and |the )?{_WORD})*")
"""Capitalised words in a row, not at the beginning of a sentence."""
_NUMBER = re.compile(r"(?<![\w.,])\d(?:[\d,.]*\d)?(?!\w)")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_CALENDAR = frozenset(month_name) | frozenset(day_name) | frozenset(month_abbr) | frozenset(day_abbr)
_ATTEMPTS = 100
_YEARS = 60


def delete_answers(gold: GoldSet, documents: Documents, *, what: Deleted = "section") -> GoldSet:
    """Ask the same questions of an index from which the answers are gone.

    The nearest of all near questions: every word is one that an answerable question has. What is left may answer in
    other words, so a few bluffs are none; delete the document to be sure, the passage to be close.

    Parameters
    ----------
    gold : GoldSet
        Its questions with excerpts are taken.
    documents : callable
        Gives a document by its id.
    what : {"section", "passage", "document"}
        All chunks that touch the excerpts, their sections (from a heading to the next one), or their documents.

    Returns
    -------
    GoldSet
        One question for each, ``<id> without its <what>``, of the family ``<what> deleted``.

    Raises
    ------
    InvalidInputError
        If a document is not there.
    """
    one_of(what, "what", get_args(Deleted))

    @lru_cache(maxsize=64)
    def sections(id: str) -> list[Section]:
        document = _document(id, documents)
        return layout_of(document.text, document.markup).outline

    def deleted(excerpt: Excerpt) -> Span:
        if what == "document":
            return Span(excerpt.document)
        if what == "passage":
            return Span(excerpt.document, excerpt.start, excerpt.end)
        here = [each for each in sections(excerpt.document) if each.start < excerpt.end and excerpt.start < each.end]
        return Span(excerpt.document, here[0].start, here[-1].end)

    questions = [
        Question(
            id=f"{question.id} without its {what}",
            text=question.text,
            answerable=False,
            family=f"{what} deleted",
            groups=question.groups,
            without=tuple(dict.fromkeys(map(deleted, question.excerpts))),
        )
        for question in gold
        if question.answerable and question.excerpts
    ]
    return GoldSet(f"{gold.name} without each {what}", tuple(questions))


def swap_entities(gold: GoldSet, documents: Documents, *, seed: int = 0) -> GoldSet:
    """Ask the same questions about something else: a name or a number is swapped for one that their document has not.

    A name, which is capitalised words within a sentence, is swapped for one of another question, a number for another
    one of as many digits. The old one occurs in a document that answers the question, the new one in none of them. A
    question without such a pair is left out, so a set about one document has its numbers swapped alone.

    Parameters
    ----------
    gold : GoldSet
        Its questions with excerpts are taken.
    documents : callable
        Gives a document by its id.
    seed : int, default 0
        Of the choice among several.

    Returns
    -------
    GoldSet
        One question for each that could be changed, ``<id> with <new> for <old>``, of the family ``entity swapped``.

    Raises
    ------
    InvalidInputError
        If a document is not there.
    """
    asked = [question for question in gold if question.answerable and question.excerpts]
    names = sorted({name for question in asked for name in _NAME.findall(question.text)} - _CALENDAR)
    chance = random.Random(integer(seed, "seed", at_least=0))
    of_excerpts = {excerpt.document for question in asked for excerpt in question.excerpts}
    texts_of = {id: _document(id, documents).text for id in sorted(of_excerpts)}
    questions = []
    for question in asked:
        texts = [texts_of[id] for id in sorted({excerpt.document for excerpt in question.excerpts})]
        if swap := _swap(question.text, texts, names, chance):
            old, new = swap
            questions.append(
                Question(
                    id=f"{question.id} with {new} for {old}",
                    text=re.sub(_whole(old), new.replace("\\", r"\\"), question.text),
                    answerable=False,
                    family="entity swapped",
                    groups=question.groups,
                )
            )
    return GoldSet(f"{gold.name} with entities swapped", tuple(questions))


def _swap(question: str, texts: Sequence[str], names: Sequence[str], chance: random.Random) -> tuple[str, str] | None:
    """Return something that the texts have, and something of its kind that none of them has."""

    def held(entity: str) -> bool:
        return any(re.search(_whole(entity), text, re.IGNORECASE) for text in texts)

    old_names = [name for name in _NAME.findall(question) if name not in _CALENDAR]
    choices: list[tuple[str, Callable[[str], str]]] = [(name, lambda _: chance.choice(names)) for name in old_names]
    choices += [(number, lambda old: _other_number(old, chance)) for number in _NUMBER.findall(question)]
    swappable = [(old, other) for old, other in choices if held(old)]
    chance.shuffle(swappable)
    for old, other in swappable:
        for _ in range(_ATTEMPTS):
            new = other(old)
            if not held(new) and not re.search(_whole(new), question, re.IGNORECASE):
                return old, new
    return None


def _other_number(old: str, chance: random.Random) -> str:
    """Return a number that is written alike; for a year one that might be meant."""
    if _YEAR.fullmatch(old):
        return str(min(2099, max(1500, int(old) + chance.randint(-_YEARS, _YEARS))))
    changed = "".join(chance.choice("0123456789") if digit.isdigit() else digit for digit in old[1:])
    return chance.choice("123456789") + changed


def _whole(entity: str) -> str:
    return rf"(?<!\w){re.escape(entity)}(?!\w)"


def _document(id: str, documents: Documents) -> Document:
    document = documents(id)
    if document is None:
        raise InvalidInputError(f"there is no document {id!r}, which an excerpt names; give all documents of the set")
    return document
