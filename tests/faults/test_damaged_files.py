"""Native files with a byte changed, cut short or longer: a part of what `nox -s survival -- damage` does in full."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys

import pytest

from native_files import native_files
from soaks import mutants
from soaks.outcome import Outcome

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="each mutant may end a forked process")

STEP = 601


def test_damage_is_named(memory_path):
    outcome = mutants.sweep(STEP)
    assert not outcome.findings, "\n".join(outcome.findings[:5])
    assert outcome.counts["mutants"] > 1_000_000 / STEP
    assert outcome.counts["corrupt"] + outcome.counts["incompatible"] == outcome.counts["mutants"]
    assert outcome.counts["incompatible"] > 0
    assert outcome.counts["unverified and answered"] > 100


@pytest.fixture
def flat(memory_path):
    (file,) = (file for file in native_files(memory_path) if file.name == "float32")
    return file


def swept(file, numbers, folder):
    outcome = Outcome()
    mutants.sweep_file(mutants.Mutants(file), numbers, folder / "said", outcome)
    return outcome


def test_a_loader_that_compares_nothing_is_found_out(flat, memory_path):
    careless = dataclasses.replace(flat, load=lambda verify: flat.load(verify=False))
    last = len(mutants.Mutants(flat)) - len(mutants.APPENDED) - flat.path.stat().st_size - 1  # of the last byte
    found = swept(careless, range(last - 9, last + 1), memory_path).findings
    assert len(found) == 10
    assert all("ended as another answer, wanted corrupt" in finding for finding in found)


def test_a_process_that_ends_is_one_finding_and_the_sweep_goes_on(flat, memory_path):
    sound = flat.path.read_bytes()

    def load(verify):
        if flat.path.read_bytes()[100] == sound[100] ^ 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return flat.load(verify=verify)

    outcome = swept(dataclasses.replace(flat, load=load), range(100 * 255, 101 * 255), memory_path)
    (finding,) = outcome.findings
    assert finding == f"float32: byte 100 is {sound[100] ^ 1} instead of {sound[100]}: ended the process by -9"
    assert outcome.counts["corrupt"] == 254
    assert flat.path.read_bytes() == sound
