"""Gold sets and documents in the forms that others publish them in."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pincite.errors import InvalidInputError
from pincite.evaluation.gold import Excerpt, GoldSet, Question, read_lines
from pincite.types import Document

__all__ = ["load_beir", "load_chroma"]


def load_beir(
    folder: str | os.PathLike[str], *, qrels: str | os.PathLike[str] = "qrels.tsv"
) -> tuple[list[Document], GoldSet]:
    """Read a folder in the format of BEIR: ``corpus.jsonl``, ``queries.jsonl`` and judgements.

    Thakur et al., "BEIR: A heterogenous benchmark for zero-shot evaluation of information retrieval models", 2021. A
    document's title is the title and its text the text, plain. Negative grades count as 0, as in trec_eval. Only
    queries with a relevant document come along.

    Parameters
    ----------
    folder : path
    qrels : path, default "qrels.tsv"
        The judgements below the folder, ``qrels/test.tsv`` for instance: query, document and grade with tabs between
        them, below a line of names.

    Returns
    -------
    documents : list of Document
    gold : GoldSet

    Raises
    ------
    InvalidInputError
        If a file cannot be read, or a line is not as it should be.
    """
    folder = Path(folder)
    documents = [
        Document(id=_string(line, "_id", where), title=_string(line, "title", where, ""),
                 text=_string(line, "text", where), markup="plain")
        for where, line in _lines(folder / "corpus.jsonl")
    ]  # fmt: skip
    grades = _judgements(folder / qrels)
    queries = {_string(line, "_id", where): _string(line, "text", where) for where, line in
               _lines(folder / "queries.jsonl")}  # fmt: skip
    if missing := [id for id in grades if id not in queries]:
        raise InvalidInputError(f"{folder / qrels} judges the query {missing[0]!r}, which queries.jsonl does not have")
    questions = tuple(
        Question(id, text, grades=grades[id])
        for id, text in queries.items()
        if any(grade > 0 for grade in grades.get(id, {}).values())
    )
    return documents, GoldSet(folder.resolve().name, questions)


def load_chroma(folder: str | os.PathLike[str]) -> tuple[list[Document], GoldSet]:
    """Read the chunking evaluation of Chroma: ``corpora/*.md``, and ``questions.jsonl`` with excerpts by offset.

    Smith and Troynikov, "Evaluating chunking strategies for retrieval", 2024. Offsets count code points of the corpus
    as it is, line ends included. A question's family is its corpus.

    Returns
    -------
    documents : list of Document
    gold : GoldSet

    Raises
    ------
    InvalidInputError
        If a file cannot be read, or a line is not as it should be.
    """
    folder = Path(folder)
    documents = []
    for file in sorted((folder / "corpora").glob("*.md")):
        with file.open(encoding="utf-8", newline="") as opened:
            documents.append(Document(id=file.stem, text=opened.read()))
    questions = []
    for where, line in _lines(folder / "questions.jsonl"):
        corpus = _string(line, "corpus_id", where)
        try:
            excerpts = tuple(
                Excerpt(corpus, int(found["start_index"]), int(found["end_index"]), str(found["content"]))
                for found in line["references"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(f"{where}: the references cannot be read: {error!r}") from None
        questions.append(
            Question(_string(line, "id", where), _string(line, "question", where), excerpts, family=corpus)
        )
    return documents, GoldSet(folder.resolve().name, tuple(questions))


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in read_lines(file):
        yield f"{file}, line {number}", line


def _string(line: dict[str, Any], key: str, where: str, *default: str) -> str:
    value = line.get(key, *default)
    if not isinstance(value, str):
        raise InvalidInputError(f"{where}: {key} is {value!r}, wanted a string")
    return value


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from error
    for number, row in enumerate(rows[1:], start=2):
        try:
            query, document, grade = row
            grades.setdefault(query, {})[document] = max(0, int(grade))
        except ValueError:
            raise InvalidInputError(
                f"{file}, line {number}: is {row!r}, wanted query, document and grade with tabs between them"
            ) from None
    return grades
