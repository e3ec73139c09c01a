"""A document is granted, seen, and taken back: from then on no handle and no process sees it, however it asks."""

from __future__ import annotations

import math
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pincite
from crowd import GROUPS, document, marker
from pincite.errors import PassageNotFoundError
from small_index import opened
from soaks.outcome import Outcome, folder_in_memory

N_DOCUMENTS = 30
Sight = dict[str, bool]


class Eye:
    """A handle, with the citations that it was given while it could see."""

    def __init__(self, path: Path) -> None:
        self.kb = opened(path, create=False, read_only=True)
        self._held: dict[str, pincite.Citation] = {}

    def sees(self, id: str, asker: list[str]) -> Sight:
        """Return by which ways it sees a document."""
        result = self.kb.search(f"A note of {id}", groups=asker, max_distance=None, k=3 * N_DOCUMENTS)
        held = self._held.get(id)
        found = {
            "verify": held is not None and held.verify().status != "gone",
            "search": id in {hit.document_id for hit in result},
            "count": result.coverage.documents > 0,
            "resolve": self._resolves(id, asker),
            "current_text": self.kb.current_text(id, against="index", groups=asker) is not None,
        }
        for citation in self.kb.citations(result, groups=asker):
            self._held[citation.document_id] = citation
        found["verify"] |= id in {hit.document_id for hit in result} and self._held[id].verify().status == "exact"
        return found

    def _resolves(self, id: str, asker: list[str]) -> bool:
        try:
            return self.kb.resolve(id, groups=asker).document_id == id
        except PassageNotFoundError:
            return False


def serve(path: Path, connection: Connection) -> None:
    """Answer what `Eye.sees` is asked, in another process, until nothing more comes."""
    eye = Eye(path)
    with eye.kb:
        while asked := connection.recv():
            connection.send(eye.sees(*asked))


@contextmanager
def elsewhere(path: Path) -> Iterator[Callable[[str, list[str]], Sight]]:
    """Give `Eye.sees` of another process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(path, there))
    process.start()
    there.close()

    def sees(id: str, asker: list[str]) -> Sight:
        here.send((id, asker))
        return here.recv()

    try:
        yield sees
        here.send(None)
    finally:
        here.close()
        process.join()


def run(revocations: int, seed: int, until: float) -> Outcome:
    """Grant and take back so often, in a folder of its own, or until the time is over."""
    with folder_in_memory() as path:
        return grant_and_revoke(path / "kb", revocations, random.Random(seed), until=until)


def grant_and_revoke(path: Path, revocations: int, chance: random.Random, *, until: float = math.inf) -> Outcome:
    """Grant a document to an asker who sees nothing, and take it back in one of four ways; look each time.

    The asker may see no other document, so that a count tells as well.
    """
    outcome = Outcome()
    with opened(path) as kb:
        kb.add([document(number, 0) for number in range(N_DOCUMENTS)], groups=["crew"], progress=False)
        other = Eye(path)
        with other.kb, elsewhere(path) as elsewhere_sees:
            looks = {"another handle": other.sees, "another process": elsewhere_sees}
            for done in range(revocations):
                if time.monotonic() > until:
                    break
                number, asker = chance.randrange(N_DOCUMENTS), chance.sample(GROUPS, chance.randint(1, 50))
                kb.grant(marker(number), chance.sample(asker, 1))
                _look(looks, marker(number), asker, True, outcome)
                way = chance.choices(["hide", "give", "replace", "delete"], weights=[9, 9, 1, 1])[0]
                _revoke(kb, number, way, chance.randrange(9))
                _look(looks, marker(number), asker, False, outcome, way=way)
                outcome.counts["revocations"] += 1
                outcome.tell(done + 1, revocations, since=done)
    return outcome


def _revoke(kb: pincite.KnowledgeBase, number: int, way: str, version: int) -> None:
    if way == "hide":
        kb.grant(marker(number), [])
    elif way == "give":
        kb.grant(marker(number), ["crew"])
    elif way == "replace":
        kb.add(document(number, version), groups=["crew"], progress=False)
    else:
        kb.delete(marker(number))
        kb.add(document(number, version), progress=False)


def _look(
    looks: dict[str, Callable[[str, list[str]], Sight]],
    id: str,
    asker: list[str],
    wanted: bool,
    outcome: Outcome,
    *,
    way: str = "grant",
) -> None:
    for where, sees in looks.items():
        sight = sees(id, asker)
        outcome.counts["looks"] += len(sight)
        if any(seen != wanted for seen in sight.values()):
            outcome.findings.append(f"after {way}, {where} has {sight} of {id}, wanted {wanted}")
