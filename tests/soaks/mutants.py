"""Files of an index with a byte changed, cut short or longer: each is a named error, or says what it said before.

A mutant is a number: the first 255 are the other values of the first byte, and so on; then come the cuts, to 0 bytes
first, then what may be appended. Each is loaded twice, the second time without its checksums compared: what it says is
then the damage's business, but whatever ends the process, or is no error of ours, is found.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from native_files import NativeFile, native_files
from pincite.errors import IncompatibleIndexError, IndexCorruptError, PinciteError
from soaks.outcome import Outcome, folder_in_memory

VALUES = 255
VERSION_AND_BYTE_ORDER = range(8, 16)
"""What another release, or another machine, would have written otherwise."""

APPENDED = [bytes(n) for n in range(1, 65)] + [b"\xff", b"\xff" * 64, bytes(4096)]
HANG_S = 20
COUNTED = ("corrupt", "incompatible", "harmless", "unverified and named", "unverified and answered")


class Mutants:
    """The mutants of one file, which is changed in place and put back."""

    def __init__(self, file: NativeFile) -> None:
        self.file = file
        self._content = file.path.read_bytes()
        self._descriptor = os.open(file.path, os.O_RDWR)
        self._expected = file.says(file.load(verify=True))

    def __len__(self) -> int:
        return (VALUES + 1) * len(self._content) + len(APPENDED)

    def restore(self) -> None:
        os.pwrite(self._descriptor, self._content, 0)
        os.ftruncate(self._descriptor, len(self._content))

    def describe(self, number: int) -> str:
        at, other = divmod(number, VALUES)
        if at < len(self._content):
            return f"{self.file.name}: byte {at} is {self._other(at, other)} instead of {self._content[at]}"
        number -= VALUES * len(self._content)
        if number < len(self._content):
            return f"{self.file.name}: cut to {number} bytes"
        return f"{self.file.name}: {len(APPENDED[number - len(self._content)])} bytes appended"

    def _other(self, at: int, number: int) -> int:
        return (self._content[at] + 1 + number) % 256

    @contextmanager
    def made(self, number: int) -> Iterator[None]:
        """Change the file, and put it back."""
        content, descriptor = self._content, self._descriptor
        at, other = divmod(number, VALUES)
        if at < len(content):
            os.pwrite(descriptor, bytes([self._other(at, other)]), at)
            yield
            os.pwrite(descriptor, content[at : at + 1], at)
            return
        number -= VALUES * len(content)
        if number < len(content):
            os.ftruncate(descriptor, number)
        else:
            os.pwrite(descriptor, APPENDED[number - len(content)], len(content))
        yield
        self.restore()

    def outcomes(self, number: int) -> tuple[str, str]:
        """Load a mutant with and without its checksums compared, and say how each ended; raises what is a finding."""
        file = self.file
        with self.made(number):
            try:
                verified = "harmless" if file.says(file.load(verify=True)) == self._expected else "another answer"
            except (IndexCorruptError, IncompatibleIndexError) as error:
                verified = "incompatible" if isinstance(error, IncompatibleIndexError) else "corrupt"
                if file.path.name not in str(error):
                    verified = f"an error that does not name the file: {error}"
            try:
                file.says(file.load(verify=False))
                unverified = "unverified and answered"
            except PinciteError:
                unverified = "unverified and named"
        wanted = "incompatible" if number // VALUES in VERSION_AND_BYTE_ORDER else "corrupt"
        assert verified in {wanted, "harmless"}, f"ended as {verified}, wanted {wanted}"
        return verified, unverified


class Progress:
    """Where a child is and what it counted, in memory that outlives it."""

    def __init__(self) -> None:
        self._cells = np.frombuffer(mmap.mmap(-1, 8 * (len(COUNTED) + 1)), dtype=np.int64)

    @property
    def at(self) -> int:
        return int(self._cells[-1])

    @at.setter
    def at(self, number: int) -> None:
        self._cells[-1] = number

    def count(self, name: str) -> None:
        self._cells[COUNTED.index(name)] += 1

    def counts(self) -> dict[str, int]:
        return dict(zip(COUNTED, self._cells.tolist(), strict=False))


def sweep(step: int, *, only: str = "") -> Outcome:
    """Try each `step`-th mutant of every kind of file."""
    outcome = Outcome()
    with folder_in_memory() as folder:
        for number, file in enumerate(native_files(folder)):
            if only in file.name:
                mutants = Mutants(file)
                sweep_file(mutants, range(number % step, len(mutants), step), folder / "said", outcome)
    return outcome


def sweep_file(mutants: Mutants, numbers: range, said: Path, outcome: Outcome) -> None:
    """Try mutants in children, a new one where one ends before it is through."""
    progress = Progress()
    rest, found = numbers, len(outcome.findings)
    while rest:
        said.write_text("")
        code = _ended_by(lambda rest=rest: _try_all(mutants, rest, progress, said))
        outcome.findings += filter(None, said.read_text().split("\0"))
        if code == 0:
            break
        outcome.findings.append(f"{mutants.describe(progress.at)}: ended the process by {code}")
        mutants.restore()
        rest = rest[rest.index(progress.at) + 1 :]
    counts = progress.counts()
    outcome.counts["mutants"] += len(numbers)
    outcome.counts.update(counts)
    each = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    print(f"{mutants.file.name}: {len(numbers):,} mutants, {each}; {len(outcome.findings) - found} findings",
          file=sys.stderr, flush=True)  # fmt: skip


def _try_all(mutants: Mutants, numbers: range, progress: Progress, said: Path) -> None:
    with said.open("a") as findings:
        for number in numbers:
            progress.at = number
            signal.alarm(HANG_S)
            try:
                for name in mutants.outcomes(number):
                    progress.count(name)
            except Exception:
                mutants.restore()
                findings.write(f"{mutants.describe(number)}: {traceback.format_exc()[-2000:]}\0")
                findings.flush()


def _ended_by(act: Callable[[], object]) -> int:
    """Run something in a forked process; return its exit code, or the negative number of the signal that ended it."""
    child = os.fork()
    if not child:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
