"""O06: an index that was opened and used, then forked, also while its threads search: its children answer like it.

With stub models, and with those that users have: the bundled reranker and all-MiniLM-L6-v2, whose sessions have threads
of their own, which no child inherits.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pincite
from children import HANG_S, codes_of, forked
from pincite.errors import ModelFileError
from small_index import answers, document, opened
from soaks.outcome import Outcome, folder_in_memory

MODELS: dict[str, dict[str, Any]] = {
    "stub": {},
    "real": {"encoder": "all-MiniLM-L6-v2", "reranker": None},
}
THREADS = 4
SPAWNED = 10
"""Of so many children one is spawned: it imports everything anew."""


def run(rounds: int, kinds: list[str] | None = None) -> Outcome:
    """Fork so often in each way; without the real encoder, with stub models alone."""
    outcome = Outcome()
    warnings.filterwarnings("ignore", ".*multi-threaded.*fork.*", DeprecationWarning)  # of CPython; it is the case
    for kind in kinds or MODELS:
        with folder_in_memory() as folder:
            try:
                _fork(folder / "kb", kind, rounds, outcome)
            except ModelFileError as error:
                print(f"{kind} models: left out: {error}", file=sys.stderr)
    return outcome


def _fork(path: Path, kind: str, rounds: int, outcome: Outcome) -> None:
    with opened(path, **MODELS[kind]) as kb:
        kb.add([document(number) for number in range(6)], progress=False)
        kb.add(document(2, version=1), progress=False)
        expected = answers(kb)

        def same() -> bool:
            return answers(kb) == expected

        for name, beside in {"os.fork": nullcontext(), "os.fork beside threads": searching(path, kb, outcome)}.items():
            with beside:
                for _ in range(rounds):
                    _note(f"{kind}, {name}", lambda: codes_of([forked(same)])[0], outcome)
        fork, spawn = multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")
        for _ in range(rounds):
            _note(f"{kind}, multiprocessing fork", lambda: _code(fork.Process(target=_end, args=(same,))), outcome)
        for _ in range(-(-rounds // SPAWNED)):
            process = spawn.Process(target=_ask, args=(path, kind, expected))
            _note(f"{kind}, multiprocessing spawn", lambda process=process: _code(process), outcome)
        if not same():
            outcome.findings.append(f"{kind}: the parent answers otherwise afterwards")


def _note(way: str, code: Callable[[], int | None], outcome: Outcome) -> None:
    started = time.perf_counter()
    ended = code()
    milliseconds = round(1000 * (time.perf_counter() - started))
    outcome.counts[way] += 1
    slowest = f"ms at most ({way})"
    outcome.counts[slowest] = max(outcome.counts[slowest], milliseconds)
    if ended != 0:
        outcome.findings.append(f"{way}: a child ended by {ended} after {milliseconds} ms (-9: hung)")


def _code(process: Any) -> int | None:
    process.start()
    process.join(HANG_S)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode


def _end(same: Callable[[], bool]) -> None:
    sys.exit(0 if same() else 1)


def _ask(path: Path, kind: str, expected: list[Any]) -> None:
    with opened(path, create=False, **MODELS[kind]) as kb:
        found = answers(kb)
    sys.exit(0 if found == expected else 1)


@contextmanager
def searching(path: Path, kb: pincite.KnowledgeBase, outcome: Outcome) -> Iterator[None]:
    """Search and open in threads meanwhile, so that whatever lock there is is held at a fork sooner or later."""
    over = threading.Event()

    def search() -> None:
        answers(kb)

    def open_and_close() -> None:
        with opened(path, create=False) as other:
            other.status()

    def repeat(act: Callable[[], None]) -> None:
        try:
            while not over.is_set():
                act()
        except BaseException as error:
            outcome.findings.append(f"a thread of the parent: {error!r}")

    acts = [search] * (THREADS - 1) + [open_and_close]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
