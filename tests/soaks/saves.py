"""K01: an index is saved over a smaller one on a disk of 1 MiB, and killed at every call, also where there is room."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import disks
import fsfault
from fsfault import Fault
from pincite import BM25Index, FlatIndex, HnswIndex
from pincite.errors import StorageError
from soaks.crashes import in_a_child
from soaks.outcome import Outcome, folder_in_memory

DISK = 1 << 20
DIM = 64


def _vectors(n: int) -> np.ndarray:
    vectors = np.random.default_rng(6).standard_normal((n, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _texts(n: int) -> list[str]:
    return [" ".join(f"word{number * 7 + i}" for i in range(40)) for number in range(n)]


KINDS: dict[str, tuple[type[Any], Callable[[int], Any], Any]] = {
    "bm25": (BM25Index, lambda n: BM25Index.build(_texts(n)), "word0 word7"),
    "flat": (FlatIndex, lambda n: FlatIndex.build(_vectors(n)), _vectors(1)[0]),
    "hnsw": (HnswIndex, lambda n: HnswIndex.build(_vectors(n), ef_construction=16), _vectors(1)[0]),
}
SIZES = 2, 5_000


def sweep_saves() -> Outcome:
    """Save each kind of index over another of its kind."""
    outcome = Outcome()
    with ExitStack() as stack:
        folder = stack.enter_context(folder_in_memory())
        places = {"room enough": folder}
        if not disks.missing():
            places["a full disk"] = stack.enter_context(disks.tiny_disk(folder / "tiny", DISK))
        for kind in KINDS:
            for where, place in places.items():
                saving = _Saving(kind, place, outcome, fits=place is folder)
                for at in range(1, saving.whole() + 1):
                    saving.kill(at, Fault.KILL)
                    saving.kill(at, Fault.KILL_HALFWAY)
                print(f"{kind}, {where}: {len(outcome.findings)} findings", file=sys.stderr, flush=True)
    return outcome


class _Saving:
    """A large index over a small one."""

    def __init__(self, kind: str, folder: Path, outcome: Outcome, *, fits: bool) -> None:
        self._kind, self._outcome, self._fits = kind, outcome, fits
        self._loader, build, self._query = KINDS[kind]
        self._small, self._large = map(build, SIZES)
        self._folder = folder / kind
        self._folder.mkdir()
        self._path = self._folder / "index.pin"

    def whole(self) -> int:
        """Save undisturbed; return how many calls that took."""
        self._small.save(self._path)
        fsfault.arm(self._folder, Fault.COUNT)
        try:
            self._large.save(self._path)
            said = "nothing"
        except StorageError as error:
            said = f"{errno.errorcode.get(error.errno or 0)} {error}"
        calls = fsfault.disarm()
        wanted = ("nothing",) if self._fits else ("ENOSPC", str(self._path))
        if any(word not in said for word in wanted):
            self._outcome.findings.append(f"{self._kind}: a save said {said}, wanted {' and '.join(wanted)}")
        self._check([self._large if self._fits else self._small])
        return calls

    def kill(self, at: int, fault: Fault) -> None:
        """End the process at a call, and look at what is left."""
        self._small.save(self._path)

        def save() -> None:
            fsfault.arm(self._folder, fault, at)
            self._large.save(self._path)

        code, _ = in_a_child(save)
        if code == -signal.SIGKILL:  # else that call was no write
            self._outcome.counts["kills"] += 1
            self._check([self._small, self._large] if self._fits else [self._small], f"{fault.name} at call {at}")

    def _check(self, may_be: list[Any], what: str = "undisturbed") -> None:
        """One of some indexes answers; after the next save nothing else is there."""
        found = self._answer(self._loader.load(self._path))
        if found not in map(self._answer, may_be):
            self._outcome.findings.append(f"{self._kind}, {what}: another index answers: {found}")
        self._small.save(self._path)
        if lying := [entry.name for entry in self._folder.iterdir() if entry != self._path]:
            self._outcome.findings.append(f"{self._kind}, {what}: left lying after the next save: {lying}")

    def _answer(self, index: Any) -> Any:
        ids, scores = index.search(self._query, k=5)
        return len(index), ids.tolist(), scores.tolist()
