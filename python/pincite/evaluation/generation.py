"""Whether a language model's answers rest on what it was given, and on what they cite."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.errors import InvalidInputError
from pincite.evaluation.statistics import Interval, bootstrap_mean, wilson

__all__ = ["Answer", "AnswerReport", "Claim", "Judge", "claims_of", "evaluate_answers"]

Judge = Callable[[str, str], bool]
"""Says whether a passage supports a claim: ``judge(claim, passage)``."""

_MARK = re.compile(r"\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")
# A sentence takes along the marks that stand after its full stop.
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)]*(?:\s*\[[\d,\s]+\])*(?=\s|$)|\n+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model wrote, and what it was given for it.

    Attributes
    ----------
    id : str
        Of the question.
    text : str
        With marks such as ``[1]``; empty for a refusal.
    passages : sequence of str
        The numbered sources: ``[1]`` is the first.
    answerable : bool
        What the gold set says of the question.
    """

    id: str
    text: str
    passages: Sequence[str] = ()
    answerable: bool = True

    @property
    def refused(self) -> bool:
        """Whether it is a refusal."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without its marks, and the numbers of the sources that it cites."""

    text: str
    marks: tuple[int, ...]


def claims_of(text: str) -> list[Claim]:
    """Return the sentences of an answer that have words, each with its marks.

    Examples
    --------
    >>> claims_of("It stops at 80.5 degrees [1]. Then it cools. [2, 3]")
    [Claim(text='It stops at 80.5 degrees.', marks=(1,)), Claim(text='Then it cools.', marks=(2, 3))]
    """
    claims = []
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        sentence, start = text[start:end], end
        words = _MARK.sub("", sentence).strip()
        if any(character.isalnum() for character in words):
            marks = [int(number) for group in _MARK.findall(sentence) for number in group.split(",")]
            claims.append(Claim(words, tuple(dict.fromkeys(marks))))
    return claims


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """What became of a model's answers.

    Attributes
    ----------
    judge : str
        Who judged: a number means what its judge is worth.
    faithfulness : Interval
        The share of an answer's claims that some passage it was given supports; the mean over the answers.
    citation_precision : Interval
        The share of an answer's marks whose passage supports the sentence; over the answers that have marks.
    citation_recall : Interval
        The share of an answer's claims that a passage they cite supports.
    refusal_precision, refusal_recall : Interval
        Of the refusals, those of unanswerable questions; of the unanswerable questions, those that were refused.
    unsupported : tuple of (str, str)
        The claims that no passage supports, with the ids of their questions.
    unknown_marks : tuple of (str, int)
        The marks that name no source, likewise.
    """

    judge: str
    faithfulness: Interval
    citation_precision: Interval
    citation_recall: Interval
    refusal_precision: Interval
    refusal_recall: Interval
    unsupported: tuple[tuple[str, str], ...]
    unknown_marks: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: value.to_dict() if isinstance(value, Interval) else [list(pair) for pair in value]
            for name, value in plain.items()
            if name != "judge"
        } | {"judge": self.judge}


def evaluate_answers(answers: Sequence[Answer], judge: Judge, *, seed: int = 0) -> AnswerReport:
    """Measure how faithful answers are, how well they cite, and how well they refuse.

    Faithfulness as in Es et al., "RAGAS: Automated evaluation of retrieval augmented generation", 2023; precision and
    recall of citations after Gao et al., "Enabling large language models to generate text with citations", EMNLP 2023.
    Each claim is a sentence, and each passage is judged alone: a sentence that needs two passages counts as
    unsupported. Intervals of the first three are bootstraps over answers, since claims of one answer go together.

    Parameters
    ----------
    answers : sequence of Answer
    judge : callable
        ``judge(claim, passage) -> bool``. `WordsAndReranker` is built in, and no judge of entailment.
    seed : int, default 0
        Of the bootstrap.

    Raises
    ------
    InvalidInputError
        If the judge says something else than True or False.
    """
    faithful: list[float] = []
    precise: list[float] = []
    recalled: list[float] = []
    unsupported: list[tuple[str, str]] = []
    unknown: list[tuple[str, int]] = []
    for answer in answers:
        claims = claims_of(answer.text)
        if not claims:
            continue
        held = [[_verdict(judge, claim.text, passage) for passage in answer.passages] for claim in claims]
        cited = [
            [0 < mark <= len(supports) and supports[mark - 1] for mark in claim.marks]
            for claim, supports in zip(claims, held, strict=True)
        ]
        faithful.append(sum(map(any, held)) / len(claims))
        recalled.append(sum(map(any, cited)) / len(claims))
        marks = [right for each in cited for right in each]
        if marks:
            precise.append(sum(marks) / len(marks))
        unsupported += [(answer.id, claim.text) for claim, each in zip(claims, held, strict=True) if not any(each)]
        unknown += [
            (answer.id, mark) for claim in claims for mark in claim.marks if not 0 < mark <= len(answer.passages)
        ]
    refused = [answer for answer in answers if answer.refused]
    unanswerable = [answer for answer in answers if not answer.answerable]
    right = sum(not answer.answerable for answer in refused)
    return AnswerReport(
        judge=str(getattr(judge, "name", None) or getattr(judge, "__qualname__", type(judge).__qualname__)),
        faithfulness=bootstrap_mean(faithful, seed=seed),
        citation_precision=bootstrap_mean(precise, seed=seed),
        citation_recall=bootstrap_mean(recalled, seed=seed),
        refusal_precision=wilson(right, len(refused)),
        refusal_recall=wilson(right, len(unanswerable)),
        unsupported=tuple(unsupported),
        unknown_marks=tuple(unknown),
    )


def _verdict(judge: Judge, claim: str, passage: str) -> bool:
    verdict = judge(claim, passage)
    if not isinstance(verdict, bool):
        raise InvalidInputError(f"the judge said {verdict!r}, wanted True or False")
    return verdict
