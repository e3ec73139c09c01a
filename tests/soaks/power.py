"""A loss of power at any moment: what was not synced is there or not, in any order, and torn at 512 bytes.

What a file system may do is taken from POSIX, not from one that is kinder: data are on disk once their file was synced,
names once their folder was. Names of one folder come in order; everything else comes as it likes, names before what
they name included.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import fsfault
from fsfault import Fault, Operation
from soaks.crashes import in_a_child
from soaks.outcome import Outcome, folder_in_memory
from soaks.scenarios import Scenario, scenarios, small_parts, state

SECTOR = 512
NEVER_DURABLE = re.compile(r"-shm$|/readers(/|$)|writer\.lock$")
"""SQLite's shared memory, which it makes anew, and locks, which are only for those who live."""


@dataclass
class Inode:
    """A file: the bytes that are on disk, and the writes that may be."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.durable, offset, data)
        self.pending.clear()

    def after(self, chance: random.Random) -> bytes:
        """Return what may be found."""
        content = bytearray(self.durable)
        for offset, data in self.pending:
            if data is None:
                if chance.random() < 0.5:
                    _apply(content, offset, None)
                continue
            fate = chance.random()
            if fate < 0.4:
                _apply(content, offset, data)
            elif fate < 0.6:  # torn
                for start in range(0, len(data), SECTOR):
                    if chance.random() < 0.5:
                        _apply(content, offset + start, data[start : start + SECTOR])
        return bytes(content)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:  # a new size
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


Name = tuple[str, str, Inode | None]
"""A change of a folder: "set" or "drop", the path, and the file; None is a folder."""


class Disk:
    """What is on disk, and what may be."""

    def __init__(self, base: Path) -> None:
        self._root = str(base)
        self.files: dict[str, Inode | None] = {}  # as the process sees them
        self.durable: dict[str, Inode | None] = {}
        self.pending: dict[str, list[list[Name]]] = {}  # by folder: of each call, what it does there
        for path in sorted(base.rglob("*")):
            if not NEVER_DURABLE.search(str(path)):
                inode = None if path.is_dir() else Inode(bytearray(path.read_bytes()))
                self.files[str(path)] = self.durable[str(path)] = inode

    def play(self, operation: Operation) -> None:
        """Let a call have happened."""
        path = operation.path
        match operation.call:
            case "create" | "mkdir":
                self.files[path] = Inode() if operation.call == "create" else None
                self._pend([("set", path, self.files[path])])
            case "write":
                self._file(path).pending.append((operation.offset, operation.data))
            case "truncate":
                self._file(path).pending.append((operation.offset, None))
            case "unlink" | "rmdir":
                self.files.pop(path, None)
                self._pend([("drop", path, None)])
            case "rename":
                moved = {name: inode for name, inode in self.files.items() if _is_below(name, path)}
                for name, inode in moved.items():
                    del self.files[name]
                    self.files[operation.to + name[len(path) :]] = inode
                self._pend([("drop", path, None), ("set", operation.to, moved.get(path))], renamed=moved)
            case "sync":
                inode = self.files.get(path)
                if inode is not None:
                    inode.sync()
                else:
                    self._sync_folder(path)

    def _file(self, path: str) -> Inode:
        inode = self.files.setdefault(path, Inode())
        assert inode is not None, path
        return inode

    def _pend(self, names: list[Name], renamed: dict[str, Inode | None] | None = None) -> None:
        path = names[-1][1]
        if renamed and names[-1][2] is None:  # a folder, with what the process sees in it
            source = names[0][1]
            names = [("drop", source, None), *(("set", path + name[len(source) :], inode)
                                               for name, inode in renamed.items())]  # fmt: skip
        self.pending.setdefault(str(PurePosixPath(path).parent), []).append(names)

    def _sync_folder(self, folder: str) -> None:
        for names in self.pending.pop(folder, []):
            _rename(self.durable, names, moved_only=True)

    def found(self, chance: random.Random) -> dict[str, bytes | None]:
        """Return what may be found after the power went, by path."""
        names = dict(self.durable)
        for folder in sorted(self.pending):
            calls = self.pending[folder]
            for call in calls[: chance.randint(0, len(calls))]:
                _rename(names, call, moved_only=True)
        there: dict[str, bytes | None] = {}
        for path in sorted(names, key=len):
            parent = str(PurePosixPath(path).parent)
            if parent == self._root or (parent in there and there[parent] is None):
                inode = names[path]
                there[path] = None if inode is None else inode.after(chance)
        return there


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _rename(names: dict[str, Inode | None], call: list[Name], *, moved_only: bool) -> None:
    """Do to a tree of names what a call does. A folder takes along what is on disk of it, and no more."""
    source = call[0][1] if call[0][0] == "drop" and len(call) > 1 else None
    if source is not None:
        target = call[1][1]
        inside = {name: inode for name, inode in names.items() if _is_below(name, source)}
        for name in inside:
            del names[name]
        if call[1][2] is not None:  # a file: what was at its new name is gone
            names[target] = call[1][2]
        else:
            names.update({target + name[len(source) :]: inode for name, inode in inside.items()})
        return
    for what, path, inode in call:
        if what == "set":
            names[path] = inode
        else:
            for name in [name for name in names if _is_below(name, path)]:
                del names[name]


class Losses:
    """One scenario, recorded, and the power lost in it."""

    def __init__(self, scenario: Scenario, place: Path) -> None:
        self.name = scenario.name
        self._scenario = scenario
        self._base, self._copy = place / "base", place / "copy"
        for folder in (self._base, self._copy):
            folder.mkdir(parents=True)
        scenario.prepare(self._base / "kb")
        shutil.rmtree(self._copy)
        shutil.copytree(self._base, self._copy)
        scenario.rehearse(self._copy / "kb")
        shutil.rmtree(self._copy)
        shutil.copytree(self._base, self._copy)
        self._start = Disk(self._copy)
        self.operations = self._recorded(place / "recorded")

    def _recorded(self, out: Path) -> list[Operation]:
        def work() -> None:
            fsfault.arm(self._copy, Fault.RECORD, out=out)
            self._scenario.run(self._copy / "kb", lambda number: fsfault.mark(str(number)))
            fsfault.disarm()

        code, said = in_a_child(work)
        assert code == 0, said
        return [each for each in fsfault.recorded(out) if not NEVER_DURABLE.search(each.path)]

    def states(self, chance: random.Random, without: str = "") -> Iterator[tuple[str, int, dict[str, bytes | None]]]:
        """Yield what may be found, without end: after which call, and the number of the last acknowledged work."""
        operations = [each for each in self.operations if each.call != "sync" or kind_of(each, self._copy) != without]
        told = [number + 1 for number, each in enumerate(operations) if each.call == "mark"]
        while True:
            # Right after something was acknowledged is where it may be missing.
            end = chance.choice(told) if chance.random() < 0.3 else chance.randrange(len(operations) + 1)
            disk, done = Disk(self._base_as_copied()), -1
            for each in operations[:end]:
                if each.call == "mark":
                    done = int(each.path)
                else:
                    disk.play(each)
            for _ in range(8):
                where = operations[end - 1] if end else None
                yield (f"{where.call} {where.path}" if where else "the beginning"), done, disk.found(chance)

    def _base_as_copied(self) -> Path:
        """Put the beginning where it was recorded."""
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._base, self._copy)
        return self._copy

    def check(self, done: int, found: dict[str, bytes | None]) -> str:
        """Return what is wrong with what was found; empty where nothing is."""
        shutil.rmtree(self._copy, ignore_errors=True)
        self._copy.mkdir()
        for path, content in found.items():
            if content is None:
                Path(path).mkdir(exist_ok=True)
            else:
                Path(path).write_bytes(content)
        first = 0 if done < 0 else self._scenario.acknowledged[done]

        def look() -> None:
            path = self._copy / "kb"
            if (now := state(path)) not in self._scenario.states[first:]:
                raise AssertionError(f"it is none of {len(self._scenario.states) - first} states: {now[:400]}")

        code, said = in_a_child(look)
        return said if code else ""


def kind_of(operation: Operation, root: Path) -> str:
    """Return what a sync makes durable, in a word."""
    path = operation.path[len(str(root)) :]
    for kind, pattern in KINDS.items():
        if re.search(pattern, path):
            return kind
    return "other"


KINDS = {
    "the log": r"-wal$",
    "a segment's file": r"\.pincite-tmp$|\.pin$",
    "a segment's folder": r"/segments/[^/]+$",
    "the folder of segments": r"/segments$",
    "the catalog": r"catalog\.sqlite$",
    "the index's folder": r"/kb$",
    "the folder above": r"^$",
}


def lose_power(count: int, *, leave_out: bool, only: str = "", seed: int = 0) -> Outcome:
    """Lose the power `count` times; with `leave_out`, leave out each kind of sync then, which has to be noticed."""
    small_parts()
    outcome, chance = Outcome(), random.Random(seed)
    with folder_in_memory() as folder:
        losses = [
            Losses(scenario, folder / scenario.name.replace(" ", "-"))
            for scenario in scenarios()
            if only in scenario.name
        ]
        for each in losses:
            states = each.states(chance)
            for _ in range(count // len(losses)):
                where, done, found = next(states)
                outcome.counts["states"] += 1
                if said := each.check(done, found):
                    outcome.findings.append(f"{each.name}: power lost after {where}: {said}")
            print(f"{each.name}: {len(each.operations)} calls, {len(outcome.findings)} findings", file=sys.stderr)
        for kind in KINDS if leave_out else ():
            taken = _noticed(losses, kind, chance)
            if not taken:
                outcome.findings.append(f"that {kind} was not synced was not noticed")
            outcome.counts[f"until {kind} was missed"] = taken
    return outcome


def _noticed(losses: list[Losses], kind: str, chance: random.Random, most: int = 3000) -> int:
    """Return how many states it took to notice that a kind of sync was left out; 0 if that many did not do."""
    taken = 0
    streams = [(each, each.states(chance, without=kind)) for each in losses]
    while taken < most:
        for each, states in streams:
            _, done, found = next(states)
            taken += 1
            if each.check(done, found):
                return taken
    return 0
