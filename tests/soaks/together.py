"""Readers beside a writer, in many processes and threads: each answer is that of one state of the index, and of now.

A process adds, updates, deletes, grants and merges. Eight others, of eight threads each, search (with conditions and
groups), resolve and verify citations all the while. Each look is noted with the times between which it was taken, each
change with those between which it was made. Afterwards a place is sought for every look among the states: its answer
has to be that of a fresh index which holds what the asker might see in that state and nothing else; its generation that
of the state; the state none that was over before the look began, none that came after it ended, and none before the
state that the same thread saw last. In each process one thread opens the index anew for each round of looks,
and verifies all of it; two more processes do nothing but open and close it: what one lets go of, others still hold.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import pincite
from pincite.errors import PassageNotFoundError
from pincite.store import merging, sweeping
from small_index import QUESTIONS, document, opened
from soaks.outcome import Outcome, folder_in_memory

PROCESSES, THREADS, PASSERS = 8, 8, 2
N_DOCUMENTS = 24
GROUPS = ["crew", "deck"]
ASKERS: list[tuple[str, ...]] = [("crew", "deck"), ("crew",), ("deck",)]
CONDITIONS = [None, "version >= 1"]
GONE, STANDS, CHANGED = "gone", "stands", "changed"

Seen = frozenset[tuple[int, int]]
"""Documents that somebody sees: their numbers and versions."""


class Look(NamedTuple):
    """What a thread asked of which generation (None where it was not told), when, and what came back."""

    kind: str
    asker: tuple[str, ...]
    about: str
    further: str | None
    generation: int | None
    found: str
    began: float
    ended: float


class State(NamedTuple):
    """What an index holds after a change: each document's version and groups; and when that was made."""

    generation: int
    documents: dict[int, tuple[int, frozenset[str]]]
    began: float
    ended: float

    def seen_by(self, asker: tuple[str, ...]) -> Seen:
        """Return what an asker sees of it."""
        return frozenset((number, version) for number, (version, to) in self.documents.items() if to & set(asker))


class Reader:
    """One thread's looks."""

    def __init__(self, path: Path, shared: pincite.KnowledgeBase | None, seed: int) -> None:
        self._path = path
        self._shared = shared
        self._chance = random.Random(seed)
        self.looks: list[Look] = []
        self.error: BaseException | None = None

    def run(self, over: threading.Event) -> None:
        """Look until it is over, and once more then."""
        try:
            while not over.is_set():
                self._round()
            self._round()
        except BaseException as error:
            self.error = error

    def _round(self) -> None:
        with ExitStack() as stack:
            kb = self._shared or stack.enter_context(opened(self._path, create=False))
            asker = self._chance.choice(ASKERS)
            for citation in self._search(kb, asker)[:2]:
                self._verify(citation, asker)
            self._resolve(kb, asker)
            if self._shared is None:
                assert not (damages := pincite.verify(self._path).damages), damages

    def _search(self, kb: pincite.KnowledgeBase, asker: tuple[str, ...]) -> tuple[pincite.Citation, ...]:
        question, where = self._chance.choice(QUESTIONS), self._chance.choice(CONDITIONS)
        began = time.monotonic()
        result = kb.search(question, where=where, groups=asker, max_distance=None, k=8)
        self._note("search", asker, question, where, result.generation, answer(result), began)
        citations = kb.citations(result, groups=asker)
        assert [each.quote for each in citations] == [hit.content for hit in result]
        return citations

    def _verify(self, citation: pincite.Citation, asker: tuple[str, ...]) -> None:
        began = time.monotonic()
        status = citation.verify().status
        found = {"gone": GONE, "exact": STANDS, "moved": STANDS}.get(status, CHANGED)
        self._note("verify", asker, citation.document_id, citation.quote, None, found, began)

    def _resolve(self, kb: pincite.KnowledgeBase, asker: tuple[str, ...]) -> None:
        id = document(self._chance.randrange(N_DOCUMENTS)).id
        began = time.monotonic()
        try:
            found = kb.resolve(id, groups=asker).quote
        except PassageNotFoundError:
            found = GONE
        self._note("resolve", asker, id, None, None, found, began)

    def _note(
        self, kind: str, asker: tuple[str, ...], about: str, further: str | None, generation: int | None, found: str,
        began: float,
    ) -> None:  # fmt: skip
        # Interned: most answers come a thousand times, and all of them are kept.
        self.looks.append(Look(kind, asker, about, further, generation, sys.intern(found), began, time.monotonic()))


def answer(result: pincite.SearchResult) -> str:
    """Return all of a result that must not depend on how the index came about."""
    hits = [
        (hit.document_id, hit.start, hit.end, hit.content, hit.ranks, hit.bm25, hit.distance, hit.rerank_logit,
         hit.document.metadata["version"])
        for hit in result
    ]  # fmt: skip
    return json.dumps([hits, result.coverage.documents, result.coverage.chunks])


def read(path: Path, seed: int, connection: Connection) -> None:
    """Look in several threads until something is received; send what they saw, by thread."""
    over = threading.Event()
    with opened(path, create=False) as kb:
        readers = [Reader(path, kb if number else None, seed * THREADS + number) for number in range(THREADS)]
        threads = [threading.Thread(target=reader.run, args=(over,)) for reader in readers]
        for thread in threads:
            thread.start()
        connection.send(None)  # they are at it
        connection.recv()
        over.set()
        for thread in threads:
            thread.join()
    connection.send([(reader.looks, None if reader.error is None else repr(reader.error)) for reader in readers])


def pass_by(path: Path, connection: Connection) -> None:
    """Open and close an index until something is received; send how often."""
    connection.send(None)
    openings = 0
    while not connection.poll():
        with opened(path, create=False, read_only=bool(openings % 2)) as kb:
            kb.status()
        openings += 1
    connection.send(openings)


class History:
    """The states that an index went through, as the writer knows them; what each of them has to answer."""

    def __init__(self, kb: pincite.KnowledgeBase, chance: random.Random) -> None:
        self._kb = kb
        self._chance = chance
        self.states: list[State] = []
        self.merges = 0
        for number in range(0, N_DOCUMENTS, 2):
            self._change("add", number)

    def change(self) -> str:
        """Change something, and return what was done."""
        there = self.states[-1].documents
        kind = self._chance.choices(["add", "grant", "delete", "merge"], weights=[10, 3, 3, 1])[0]
        number = self._chance.randrange(N_DOCUMENTS)
        if kind in {"grant", "delete"}:
            number = self._chance.choice(list(there))
            if len(there) < N_DOCUMENTS // 3:
                kind = "add"
        elif kind == "add" and number in there:
            kind = "update"
        self._change(kind, number)
        return kind

    def _change(self, kind: str, number: int) -> None:
        documents = dict(self.states[-1].documents) if self.states else {}
        version, groups = documents.get(number, (-1, frozenset()))
        before = {segment.id for segment in self._kb.view().segments}
        began = time.monotonic()
        if kind == "merge":
            self._kb.merge()
        elif kind == "delete":
            self._kb.delete(document(number).id)
            del documents[number]
        elif kind == "grant":
            documents[number] = version, frozenset(self._chance.sample(GROUPS, self._chance.randint(0, 2)))
            self._kb.grant(document(number).id, documents[number][1])
        else:
            # Another version than any before, or a citation of what was deleted since might hold again.
            version = 1 + max((state.documents[number][0] for state in self.states if number in state.documents),
                              default=-1)  # fmt: skip
            documents[number] = version, groups or frozenset(self._chance.sample(GROUPS, self._chance.randint(1, 2)))
            self._kb.add(document(number, version), groups=documents[number][1], progress=False)
        ended = time.monotonic()
        self.states.append(State(self._kb.generation, documents, began, ended))
        self.merges += bool(before - {segment.id for segment in self._kb.view().segments})

    def place(self, looks: Iterable[Look], outcome: Outcome) -> Iterator[int]:
        """Yield for each look of a thread the first state that it can be of; note those that are of none."""
        at = 0
        for look in looks:
            while at + 1 < len(self.states) and self.states[at + 1].ended < look.began:
                at += 1
            found = at
            while found < len(self.states) and not self._fits(look, self.states[found]):
                found += 1
            if found == len(self.states):
                outcome.findings.append(f"no state from {at} of {len(self.states)} on gives {look}")
                continue
            yield (at := found)

    def _fits(self, look: Look, state: State) -> bool:
        if state.began > look.ended or look.generation not in {None, state.generation}:
            return False
        seen = state.seen_by(look.asker)
        if look.kind == "search":
            return look.found == answers(seen)[look.about, look.further]
        text = next((text_of(*each) for each in seen if document(each[0]).id == look.about), None)
        if look.kind == "resolve" or text is None:
            return look.found == (GONE if text is None else text)
        return look.found == (STANDS if str(look.further) in text else CHANGED)


@cache
def answers(seen: Seen) -> dict[tuple[str, str | None], str]:
    """Return what a fresh index of some documents and no others answers, by question and condition."""
    with folder_in_memory() as folder, opened(folder / "kb") as kb:
        kb.add([document(*each) for each in sorted(seen)], progress=False)
        return {
            (question, where): answer(kb.search(question, where=where, max_distance=None, k=8))
            for question in QUESTIONS
            for where in CONDITIONS
        }


@cache
def text_of(number: int, version: int) -> str:
    """Return the canonical text of a document."""
    return str(document(number, version).text)


def run(changes: int, *, processes: int = PROCESSES, seed: int = 0) -> Outcome:
    """Change an index so often beside readers, and compare all that they saw."""
    outcome = Outcome()
    merging.SMALLEST_TIER, sweeping.GRACE_S = 4, -1.0  # few documents make a merge, and no file outlives its readers
    context = multiprocessing.get_context("spawn")
    with folder_in_memory() as folder, opened(folder / "kb") as kb:
        history = History(kb, random.Random(seed))
        pipes = [context.Pipe() for _ in range(processes + PASSERS)]
        readers = [
            context.Process(target=read, args=(folder / "kb", number, there)) if number < processes else
            context.Process(target=pass_by, args=(folder / "kb", there))
            for number, (_, there) in enumerate(pipes)
        ]  # fmt: skip
        for reader, (_, there) in zip(readers, pipes, strict=True):
            reader.start()
            there.close()  # or a reader that dies would be waited for
        for here, _ in pipes:
            here.recv()
        for done in range(changes):
            outcome.counts[history.change()] += 1
            outcome.tell(done + 1, changes, since=done)
        threads: list[tuple[list[Look], str | None]] = []
        for number, (here, _) in enumerate(pipes):
            try:
                here.send(None)
                if number < processes:
                    threads += here.recv()
                else:
                    outcome.counts["passed by"] += here.recv()
            except (EOFError, BrokenPipeError):
                readers[number].join()
                outcome.findings.append(f"process {number} ended by {readers[number].exitcode}")
        for reader in readers:
            reader.join()
    _compare(history, threads, outcome)
    return outcome


def _compare(history: History, threads: list[tuple[list[Look], str | None]], outcome: Outcome) -> None:
    outcome.counts["merges"] = history.merges
    outcome.counts["threads"] = len(threads)
    outcome.counts["openings"] = sum(look.kind == "resolve" for looks, _ in threads[::THREADS] for look in looks)
    places = set()
    for looks, error in threads:
        if error is not None:
            outcome.findings.append(error)
        places.update(history.place(looks, outcome))
        for look in looks:
            outcome.counts[look.kind] += 1
    outcome.counts["states"] = len(history.states)
    outcome.counts["states seen"] = len(places)
