"""A kill, or a refusal of the system, at every call that touches an index's files: the state before, or after."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import fsfault
from fsfault import Fault
from pincite.errors import PinciteError
from small_index import document, opened
from soaks.outcome import Outcome, folder_in_memory
from soaks.scenarios import Scenario, scenarios, small_parts, state

ERRORS = ((Fault.FAIL, errno.EIO), (Fault.FAIL_FOR_GOOD, errno.EIO), (Fault.FAIL_FOR_GOOD, errno.ENOSPC),
          (Fault.FAIL, errno.EINTR), (Fault.SHORT, 0))  # fmt: skip


def in_a_child(act: Callable[[], object]) -> tuple[int, str]:
    """Run something in a forked process; return what it ended by, and what it said where that was a failure."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 0
        try:
            os.close(reading)
            act()
        except BaseException:
            code = 1
            if fsfault.preloaded():
                fsfault.disarm()
            os.write(writing, traceback.format_exc()[-4000:].encode())
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)), said


class Sweep:
    """One scenario, at each of its calls."""

    def __init__(self, scenario: Scenario, place: Path, outcome: Outcome) -> None:
        self._scenario = scenario
        self._outcome = outcome
        self._base, self._copy = place / "base", place / "copy"
        self._beside = place / "beside"
        for folder in (self._base, self._copy, self._beside):
            folder.mkdir(parents=True)
        scenario.prepare(self._base / "kb")
        self._fresh()
        scenario.rehearse(self._copy / "kb")
        self._fresh()
        self.calls = self._counted()

    def _fresh(self) -> Path:
        shutil.rmtree(self._copy)
        shutil.copytree(self._base, self._copy)
        return self._copy / "kb"

    def _watched(self, path: Path) -> Path:
        return path.parent if self._scenario.beside else path

    def _counted(self) -> int:
        counted = self._beside / "counted"

        def count() -> None:
            fsfault.arm(self._watched(self._copy / "kb"), Fault.COUNT)
            self._scenario.run(self._copy / "kb")
            counted.write_text(str(fsfault.disarm()))

        code, said = in_a_child(count)
        assert code == 0, said
        return int(counted.read_text())

    def kill(self, at: int, *, halfway: bool) -> None:
        """End the process at a call, and look at what is left."""
        path, done = self._fresh(), self._beside / "done"
        done.write_text("-1")

        def work() -> None:
            fsfault.arm(self._watched(path), Fault.KILL_HALFWAY if halfway else Fault.KILL, at)
            self._scenario.run(path, lambda number: (done.write_text(str(number)), None)[1])

        code, said = in_a_child(work)
        if code == 0 and halfway:
            return  # that call was no write
        if code != -signal.SIGKILL:
            self._find(f"killed at call {at}", f"ended by {code}: {said}")
            return
        self._outcome.counts["kills"] += 1
        number = int(done.read_text())
        code, said = in_a_child(lambda: self._check(path, 0 if number < 0 else self._scenario.acknowledged[number]))
        if code:
            self._find(f"killed {'halfway through' if halfway else 'at'} call {at} of {self.calls}", said)

    def _check(self, path: Path, acknowledged: int) -> None:
        """The state is one of those that may be, the work can be done again, and nothing is left lying about."""
        allowed = self._scenario.states[acknowledged:]
        if (found := state(path)) not in allowed:
            raise AssertionError(f"the state is none of {len(allowed)}: {found[:500]}")
        self._scenario.run(path)
        if state(path) != self._scenario.states[-1]:
            raise AssertionError(f"the work, done again, ended elsewhere: {state(path)[:500]}")
        with opened(path) as kb:
            kb.add(document(11), progress=False)
        with opened(path) as kb:  # sweeps what the last commit replaced
            kb.add(document(10), progress=False)
            listed = {row["id"] for row in kb._folder.catalog.rows("SELECT id FROM segments")}
            if self._scenario.beside:
                kb.snapshot(path.with_name("later"))
        lying = {entry.name for entry in (path / "segments").iterdir()} - listed
        lying |= {entry.name for entry in (*path.glob(".*"), *path.parent.glob(".*"))}
        if lying:
            raise AssertionError(f"left lying: {lying}")

    def fail(self, at: int, fault: Fault, error: int) -> None:
        """Let a call fail: the work succeeds all the same, or ends in an error that names the path."""
        path = self._fresh()
        said_file = self._beside / "said"
        said_file.write_text("")

        def work() -> None:
            before = _descriptors()
            fsfault.arm(self._watched(path), fault, at, error)
            try:
                self._scenario.run(path)
                ended = "done"
            except PinciteError as raised:
                ended = str(raised)
                if str(self._watched(path)) not in ended:
                    raise AssertionError(f"the error does not name the path: {raised!r}") from raised
            finally:
                where = fsfault.hit()
                fsfault.disarm()
            gc.collect()
            said_file.write_text(json.dumps([ended, where]))
            if (after := _descriptors()) > before:
                raise AssertionError(f"{after - before} descriptors are left open, after {ended}")

        code, said = in_a_child(work)
        name = errno.errorcode.get(error, "short")
        if code:
            self._find(f"{name} ({fault.name}) at call {at} of {self.calls}", said)
            return
        ended, where = json.loads(said_file.read_text())
        if not where:
            return  # that call was no write
        self._outcome.counts["failed calls"] += 1
        allowed = self._scenario.states[-1:] if ended == "done" else self._scenario.states

        def check() -> None:
            if state(path) not in allowed:
                raise AssertionError(f"after {ended!r} the state is none of {len(allowed)}: {state(path)[:500]}")
            self._check(path, 0)

        code, said = in_a_child(check)
        if code:
            self._find(f"{name} ({fault.name}) at call {at} of {self.calls} ({where}; {ended})", said)

    def _find(self, what: str, said: str) -> None:
        self._outcome.findings.append(f"{self._scenario.name}: {what}: {said}")


def _descriptors() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def sweep(step: int, fault: str, *, only: str = "", first: int = 1) -> Outcome:
    """Sweep all scenarios, at each `step`-th call, by "kills" or "failures"."""
    small_parts()
    outcome = Outcome()
    with folder_in_memory() as folder:
        for scenario in scenarios():
            if only not in scenario.name:
                continue
            each = Sweep(scenario, folder / scenario.name.replace(" ", "-"), outcome)
            outcome.counts["scenarios"] += 1
            outcome.counts["calls"] += each.calls
            for at in range(first, each.calls + 1, step):
                if fault == "kills":
                    each.kill(at, halfway=False)
                    each.kill(at, halfway=True)
                else:
                    for what, error in ERRORS:
                        each.fail(at, what, error)
            print(f"{scenario.name}: {each.calls} calls, {len(outcome.findings)} findings", file=sys.stderr, flush=True)
    return outcome
