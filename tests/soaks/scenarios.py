"""What a process may be in the middle of when it ends: each with the states that the index may be in afterwards."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pincite
from pincite.errors import IndexNotFoundError
from pincite.store import archive, ingest, merging, sweeping
from pincite.store import folder as folders
from small_index import QUESTIONS, document, opened

OTHER = pincite.IndexConfig(target=40, stemmer=None)
EVERYBODY = ["crew", "deck"]


def state(path: Path) -> str:
    """Everything that an index says, as a fresh handle reads it; of none, that there is none."""
    try:
        kb = opened(path, create=False)
    except IndexNotFoundError:
        return "no index"
    with kb:
        status = kb.status()
        ledger = kb.ledger()
        assert ledger.balanced
        found = [
            [(hit.document_id, hit.start, hit.end, hit.content, hit.bm25, hit.distance) for hit in kb.search(
                question, groups=groups, max_distance=None, k=9)]
            for question in QUESTIONS
            for groups in (EVERYBODY if kb.has_groups else None, ["crew"])
        ]  # fmt: skip
        return json.dumps(
            [found, kb.config.to_dict(), sorted(account.id for account in ledger), [each.id for each in status.failed],
             [source.name for source in status.sources], _kept(path)]
        )  # fmt: skip


def _kept(path: Path) -> str | None:
    """What a snapshot beside an index says, restored; None where there is none."""
    if not path.with_name("kept").exists():
        return None
    with tempfile.TemporaryDirectory(dir=path.parents[1]) as folder:
        pincite.restore(path.with_name("kept"), Path(folder) / "kb", keep_grants=True)
        return state(Path(folder) / "kb")


@dataclass
class Scenario:
    """Some work on an index.

    Attributes
    ----------
    prepare : callable
        Takes the index's path, and makes what the work begins with.
    work : list of callable
        Take the path; each is acknowledged when it returns. They can be done again, whatever came of them before.
    states : list of str
        That the index goes through, the first before and the last after the work.
    acknowledged : list of int
        The number of the state that each part of the work ends in.
    beside : bool
        Whether it writes beside the index as well.
    """

    name: str
    prepare: Callable[[Path], None]
    work: list[Callable[[Path], None]]
    states: list[str] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    beside: bool = False

    def run(self, path: Path, acknowledge: Callable[[int], None] = lambda number: None) -> None:
        """Do the work; tell the number of each part that is done."""
        for number, part in enumerate(self.work):
            part(path)
            acknowledge(number)

    def rehearse(self, path: Path) -> None:
        """Note the states that the index goes through, on a copy that may be spoilt."""
        self.states, self.acknowledged = [state(path)], []
        refresh = folders.IndexFolder.refresh

        def noting(folder: folders.IndexFolder) -> object:
            found = refresh(folder)
            if folder.path == path.resolve() and (now := state(path)) != self.states[-1]:
                self.states.append(now)
            return found

        folders.IndexFolder.refresh = noting  # type: ignore[method-assign,assignment]
        try:
            for part in self.work:
                part(path)
                if (now := state(path)) != self.states[-1]:
                    self.states.append(now)
                self.acknowledged.append(len(self.states) - 1)
        finally:
            folders.IndexFolder.refresh = refresh  # type: ignore[method-assign]


def small_parts() -> None:
    """Let few documents make a commit, few segments a merge, and nothing wait for a sweep."""
    ingest.BATCH_CHUNKS, merging.FANOUT, sweeping.GRACE_S, archive.YOUNG_S = 2, 2, -1.0, -1.0


def _base(path: Path) -> None:
    with opened(path) as kb:
        kb.add([document(0), document(1)], groups=["crew"], progress=False)
        kb.add([document(2)], groups=["deck"], progress=False)


def _with(*changes: Callable[[pincite.KnowledgeBase], object]) -> Callable[[Path], None]:
    def work(path: Path) -> None:
        with opened(path) as kb:
            for change in changes:
                change(kb)

    return work


def _add(*documents: pincite.Document, groups: list[str] | None = None) -> Callable[[pincite.KnowledgeBase], object]:
    return lambda kb: kb.add(list(documents), groups=groups, progress=False)


def _delete(id: str) -> Callable[[pincite.KnowledgeBase], object]:
    def change(kb: pincite.KnowledgeBase) -> None:
        if id in {account.id for account in kb.ledger()}:
            kb.delete(id)

    return change


def _rebuild(kb: pincite.KnowledgeBase) -> None:
    if kb.config != OTHER:
        kb.rebuild(config=OTHER, progress=False)


def _swap(kb: pincite.KnowledgeBase) -> None:
    if kb.config != OTHER:
        kb.swap(progress=False)


def _rollback(kb: pincite.KnowledgeBase) -> None:
    if kb.config == OTHER:
        kb.rollback(progress=False)


def _restore(path: Path) -> None:
    pincite.restore(path.with_name("saved"), path)


def _restore_anew(path: Path) -> None:
    if not (path / "catalog.sqlite").exists():
        pincite.restore(path.with_name("saved"), path)


def _snapshot(path: Path) -> None:
    with opened(path) as kb:
        if not path.with_name("kept").exists():
            kb.snapshot(path.with_name("kept"))


def _half_dead(path: Path) -> None:
    _base(path)
    with opened(path) as kb:
        kb.add([document(number) for number in range(3, 6)], groups=["crew"], progress=False)
        kb.delete("d004")  # its segment has to be written anew for a snapshot


def _saved(path: Path) -> None:
    _base(path)
    with opened(path) as kb:
        if not path.with_name("saved").exists():
            kb.snapshot(path.with_name("saved"))
        kb.delete("d002")
        kb.add([document(0, version=1), document(5)], progress=False)


def _saved_and_gone(path: Path) -> None:
    _saved(path)
    shutil.rmtree(path)


def _folder(path: Path) -> Path:
    notes = path.with_name("notes")
    if not notes.is_dir():
        notes.mkdir()
        (notes / "a.md").write_text("# A\n\nA ship at number 3.")
        (notes / "b.md").write_text("# B\n\nA mast on deck.")
        (notes / "c.png").write_bytes(b"\x89PNG")
    return notes


def _synced(path: Path) -> None:
    _base(path)
    notes = _folder(path)
    with opened(path) as kb:
        kb.add(notes, groups=["crew"], progress=False)
    (notes / "a.md").unlink()
    (notes / "b.md").write_text("# B\n\nA pump on deck.")
    (notes / "d.md").write_text("# D\n\nOil, number 7.")


def _built(path: Path) -> None:
    _base(path)
    with opened(path) as kb:
        kb.rebuild(config=OTHER, progress=False)
        kb.add(document(0, version=1), progress=False)
        kb.delete("d001")


def _swapped(path: Path) -> None:
    _built(path)
    with opened(path) as kb:
        kb.swap(progress=False)
        kb.add(document(2, version=1), progress=False)


def scenarios() -> list[Scenario]:
    """Return them all."""
    return [
        Scenario("create", lambda path: None, [lambda path: opened(path).close()]),
        Scenario("create and add", lambda path: None, [_with(_add(document(0)))]),
        Scenario("add", _base, [_with(_add(document(3), document(4))), _with(_add(document(5), groups=["crew"]))]),
        Scenario("update", _base, [_with(_add(document(0, version=1))), _with(_add(document(1, version=2)))]),
        Scenario("delete", _base, [_with(_delete("d000")), _with(_delete("d002"))]),
        Scenario("grant", _base, [_with(lambda kb: kb.grant(["d000", "d002"], ["deck"]))]),
        Scenario("sync", _synced, [_with(lambda kb: kb.sync(progress=False))]),
        Scenario("merge", _base, [_with(_add(document(6)), lambda kb: kb.merge())]),
        Scenario("rebuild", _base, [_with(_rebuild)]),
        Scenario("swap", _built, [_with(_swap)]),
        Scenario("rollback", _swapped, [_with(_rollback)]),
        Scenario("snapshot", _half_dead, [_snapshot], beside=True),
        Scenario("restore", _saved, [_restore]),
        Scenario("restore anew", _saved_and_gone, [_restore_anew]),
    ]
