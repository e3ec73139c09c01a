"""Questions by the million; in all that comes back, nothing is of a document that the asker may not see.

Every document has a word of its own (`crowd.MARKER`) in its id, title, URI, metadata, headings and sentences. All that
a question gives is looked through for such words: results, citations, contexts, passages, their JSON, pickle and
`repr`, errors with what caused them, log records, warnings, standard output and error, what the command line prints,
and what the reranker is given to read. Documents come, change, go and change hands all the while; the same askers come
back, on two handles with what those remember.

A question may itself name a document. Its words come back with the answer, so that they prove nothing; instead the same
question about a document that never was has to give the same answer.
"""

from __future__ import annotations

import io
import json
import logging
import pickle
import random
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pincite
from crowd import MARKER, Crowd, Question, id_of, marker, text_of, told
from pincite.cite.verification import Verification
from pincite.cli import main
from pincite.errors import PinciteError
from soaks.outcome import Outcome, folder_in_memory
from stub_models import StubEncoder, StubReranker

POOL, ASKERS, QUESTIONS = 40, 4, 30
"""Askers who come and go, those who are there between two changes, and what each of them asks then."""

TWINS = 0.3
"""How many of the questions that name what is hidden are asked again of nobody."""

NOBODY = 999
"""A document that never was."""

HELD = 200
"""Citations that are kept to be looked at again."""

GONE = Verification("gone", "index")
VERSION = re.compile(r"Note zq(\d{3}) v(\d)")


class BlindEncoder(StubEncoder):
    """Takes all documents' own words for one, so that a question about none is as far away as one about another."""

    def encode_batch(self, texts, *, progress=None):
        return super().encode_batch([MARKER.sub(marker(NOBODY), text) for text in texts], progress=progress)


class AttentiveReranker(StubReranker):
    """Keeps what it is given to read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def score_batch(self, query, passages):
        self.read += passages
        return super().score_batch(query, passages)


def run(questions: int, seed: int, until: float) -> Outcome:
    """Ask so many questions of an index with a random history, or fewer, where the time is over before."""
    with folder_in_memory() as path:
        soak = Soak(path, random.Random(seed))
        with soak.crowd.kb, soak.reader:
            while (done := soak.outcome.counts["questions"]) < questions and time.monotonic() < until:
                soak.round(min(QUESTIONS, -(-(questions - done) // ASKERS)))
                soak.outcome.tell(soak.outcome.counts["questions"], questions, since=done)
        return soak.outcome


class Soak:
    """An index, those who ask, and what came of it."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        self.chance = chance
        self.reranker = AttentiveReranker()
        models: dict[str, Any] = {"encoder": BlindEncoder(), "reranker": self.reranker}
        self.crowd = Crowd(path, chance, **models)
        self.crowd.add(range(100))
        self.crowd.grant()
        self.crowd.fail(list(range(0, 50, 5)))
        self.reader = pincite.open(path / "kb", read_only=True, **models)
        self.pool = [self.crowd.asker() for _ in range(POOL)]  # the first of them are there
        self.held: list[tuple[frozenset[str], pincite.Citation]] = []
        self.outcome = Outcome()
        self.asker: frozenset[str] = frozenset()
        self.seen: set[int] = set()

    def round(self, questions: int) -> None:
        """Change something, look at what was cited before, and let some ask."""
        self.crowd.change()
        self.outcome.counts["changes"] += 1
        one, other = self.chance.randrange(ASKERS), self.chance.randrange(POOL)
        self.pool[one], self.pool[other] = self.pool[other], self.pool[one]
        if self.chance.random() < 0.1:
            self.pool[-1] = self.crowd.asker()
        for asker, citation in self.chance.sample(self.held, min(len(self.held), 10)):
            self._enter(asker)
            self._look_again(citation)
        self.held = self.held[-HELD:]
        for asker in self.pool[:ASKERS]:
            self._enter(asker)
            asked = [self.crowd.question() for _ in range(questions)]
            with overheard() as heard:
                for question in asked:
                    self._ask(question)
            self._look_through("overheard", heard.getvalue(), " ".join(question.given for question in asked))

    def _enter(self, asker: frozenset[str]) -> None:
        self.asker, self.seen = asker, self.crowd.seen_by(asker)

    def _ask(self, question: Question) -> None:
        self.outcome.counts["questions"] += 1
        kb = self.chance.choice([self.crowd.kb, self.reader])
        self.reranker.read.clear()
        for place, text in self._everything(kb, question):
            self._look_through(place, text, question.given)
        self._look_through("what the reranker reads", "\n".join(self.reranker.read), "")
        self._ask_of_nobody(kb, question)

    def _everything(self, kb: pincite.KnowledgeBase, question: Question) -> Iterator[tuple[str, str]]:
        """Yield by which way something comes back, and all that does."""
        asker, name = self.asker, question.name
        if name:
            yield "passage", said(lambda: kb.resolve(name, groups=asker))
            yield "text", said(lambda: kb.current_text(name, against="index", groups=asker))
            yield "file's text", said(lambda: kb.current_text(name, against="source", groups=asker))
            yield "error", said(lambda: kb.resolve(f"{name.partition('#')[0]}#char=99999,", groups=asker))
            yield "error", said(lambda: kb.resolve(name))
            return
        options = dict(question.options)
        if self.chance.random() < 0.05:
            options["statistics"] = "global"  # tells scores, and nothing else
        context = kb.context(question.text, groups=asker, **options) if question.kind == "context" else None
        result = kb.search(question.text, groups=asker, **options) if context is None else context.result
        self._check_counts(result, question)
        yield "result", json.dumps(result.to_dict()) + repr(result)
        yield "records", repr([hit.document for hit in result])
        if question.kind == "citations":
            citations = kb.citations(result, groups=asker)
            self.held += [(asker, citation) for citation in citations[:1]]
            yield "citations", json.dumps([each.to_dict() for each in citations]) + repr(citations)
            yield "verifications", repr([each.verify() for each in citations])
        if context is not None:
            yield "context", json.dumps(context.to_dict()) + repr(context)
        if self.chance.random() < 0.1:
            yield "pickle", pickle.dumps(result).decode("latin-1")
            for wrong in ({"k": 0}, {"where": f"{options.get('where')} and ("}, {"groups": None}, {"groups": "crew"}):
                yield "error", said(lambda wrong=wrong: kb.search(question.text, **{"groups": asker, **wrong}))
            yield "error", said(lambda: kb.citations(result))
        if self.chance.random() < 0.001:
            yield from self._by_other_ways(kb, question)

    def _by_other_ways(self, kb: pincite.KnowledgeBase, question: Question) -> Iterator[tuple[str, str]]:
        audit = kb.audit(self.asker, questions=4)
        self.outcome.findings += [f"audit of {sorted(self.asker)}: {leak}" for leak in audit.leaks]
        yield "audit", json.dumps(audit.to_dict()) + repr(audit)
        given = [str(self.crowd.folder.parent / "kb"), "--groups", ",".join(sorted(self.asker))]
        form = self.chance.choice([[], ["--json"]])
        for verb in ("search", "context", "cite"):
            printed = io.StringIO()
            with with_models(kb), redirect_stdout(printed), redirect_stderr(printed):
                main([verb, *given, *form, "--", question.text])
            yield f"pincite {verb}", printed.getvalue()

    def _look_through(self, place: str, text: str, given: str) -> None:
        """Look for words of documents that the asker may not see, and for versions that were replaced."""
        self.outcome.counts["characters read"] += len(text)
        found = set(map(int, set(MARKER.findall(text)) - set(MARKER.findall(given)))) - self.seen
        old = {n for n, version in set(VERSION.findall(text)) if self.crowd.there.get(int(n)) != int(version)}
        if found or old:
            self._note(f"{place}: got {sorted(found)}, replaced {sorted(old)}, by {given!r}: {text[:2000]!r}")

    def _check_counts(self, result: pincite.SearchResult, question: Question) -> None:
        served = [number for number in self.seen if number in self.crowd.there]
        failed = len(self.seen & self.crowd.broken)
        told = (result.coverage.documents, result.coverage.chunks, result.coverage.failed)
        wanted = (len(served), sum(self.crowd.chunks[number] for number in served), failed)
        if "where" in question.options:
            wanted = (*told[:2], failed)
        if told != wanted or result.complete == bool(failed):
            self._note(f"coverage: got {told}, wanted {wanted}, by {question}")
        for id in {hit.document_id for hit in result} - set(map(id_of, served)):
            self._note(f"hits: got {id} by {question}")

    def _ask_of_nobody(self, kb: pincite.KnowledgeBase, question: Question) -> None:
        """Ask the same about a document that never was, where the question names one that the asker does not see."""
        hidden = set(map(int, MARKER.findall(question.given))) - self.seen
        if not hidden or self.chance.random() > TWINS:
            return
        self.outcome.counts["asked again of nobody"] += 1
        where = question.options.get("where")
        options = question.options if where is None else {**question.options, "where": _of_nobody(where, hidden)}
        of_nobody = replace(
            question, text=_of_nobody(question.text, hidden), name=_of_nobody(question.name, hidden), options=options
        )
        found, wanted = told(kb, question, self.asker), told(kb, of_nobody, self.asker)
        if _of_nobody(found, hidden) != wanted:
            self._note(f"by {question} got {found}, of nobody {wanted}")

    def _look_again(self, citation: pincite.Citation) -> None:
        """Verify a citation from before: of what the asker may not see any more it says nothing."""
        self.outcome.counts["citations looked at again"] += 1
        number = int(MARKER.findall(citation.document_id)[0])
        found = citation.verify()
        version = self.crowd.there.get(number) if number in self.seen else None
        stands = version is not None and citation.quote in text_of(number, version)
        if (found.status in {"exact", "moved"}) != stands or (version is None and found != GONE):
            self._note(f"got {found} of {citation}, document at {version}")
        self._look_through("verification", repr(found.found), "")

    def _note(self, finding: str) -> None:
        self.outcome.findings.append(f"{sorted(self.asker)}: {finding}")


def said(ask: Callable[[], object]) -> str:
    """Return what a call returns, or its error and the errors behind it."""
    try:
        return repr(ask())
    except PinciteError as error:
        chain: list[BaseException] = [error]
        while behind := chain[-1].__cause__ or chain[-1].__context__:
            chain.append(behind)
        return " from ".join(map(repr, chain))


def _of_nobody(text: str, hidden: set[int]) -> str:
    return MARKER.sub(lambda found: marker(NOBODY) if int(found[1]) in hidden else found[0], text)


@contextmanager
def overheard() -> Iterator[io.StringIO]:
    """Collect what is logged, warned of and printed."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(said), redirect_stderr(said):
            warnings.simplefilter("always")
            yield said
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    said.writelines(str(warning.message) for warning in warned)


@contextmanager
def with_models(kb: pincite.KnowledgeBase) -> Iterator[None]:
    """Let the command line load the models of a knowledge base."""
    with ExitStack() as stack:
        for kind, model in ((pincite.Encoder, kb.encoder()), (pincite.Reranker, kb.reranker())):
            stack.callback(setattr, kind, "load", kind.load)
            kind.load = lambda *arguments, model=model, **options: model  # type: ignore[method-assign]
        yield
