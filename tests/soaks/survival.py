"""``python -m soaks.survival WHAT [NUMBER]``: what an index survives.

The number is a step for kills, failures (every n-th call), the catalog (every n-th byte) and damage (every n-th
mutant), 1 by default; how often the power is lost (without one, each kind of sync is left out once as well, to see that
it is missed); how many changes are made beside readers, together; how often each way to fork is tried; and how many
documents come into memory.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import fsfault
from soaks import catalogs, forks, mutants
from soaks import together as side_by_side
from soaks.crashes import sweep
from soaks.memory import watch
from soaks.outcome import Outcome
from soaks.power import lose_power
from soaks.saves import sweep_saves

SHOWN = 10
"""Findings that are told in words."""


def kills(given: argparse.Namespace) -> Outcome:
    """Kill the process at every call."""
    fsfault.require_preloaded()
    return sweep(given.number or 1, "kills", only=given.only, first=given.first)


def failures(given: argparse.Namespace) -> Outcome:
    """Let every call fail."""
    fsfault.require_preloaded()
    return sweep(given.number or 1, "failures", only=given.only, first=given.first)


def power(given: argparse.Namespace) -> Outcome:
    """Lose the power."""
    fsfault.require_preloaded()
    return lose_power(given.number or 10_000, leave_out=not (given.number or given.only), only=given.only)


def catalog(given: argparse.Namespace) -> Outcome:
    """Damage the catalog."""
    return catalogs.sweep(given.number or 1, seed=given.first)


def damage(given: argparse.Namespace) -> Outcome:
    """Damage the files of a segment."""
    return mutants.sweep(given.number or 1, only=given.only)


def together(given: argparse.Namespace) -> Outcome:
    """Read in many processes and threads beside a writer."""
    return side_by_side.run(given.number or 1000, seed=given.first)


def fork(given: argparse.Namespace) -> Outcome:
    """Fork an index that is open and in use."""
    return forks.run(given.number or 200, [given.only] if given.only else None)


def saves(given: argparse.Namespace) -> Outcome:
    """Save over an index on a full disk, and be killed."""
    fsfault.require_preloaded()
    return sweep_saves()


def memory(given: argparse.Namespace) -> Outcome:
    """Work for long, and look at what that takes."""
    return watch(given.number or 10_000)


WHAT: dict[str, Callable[[argparse.Namespace], Outcome]] = {
    "kills": kills,
    "failures": failures,
    "power": power,
    "catalog": catalog,
    "damage": damage,
    "together": together,
    "forks": fork,
    "saves": saves,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soaks.survival", description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("number", type=int, nargs="?")
    parser.add_argument("--only", default="", help="scenarios or files of this name; for forks, stub or real models")
    parser.add_argument("--first", type=int, default=1, help="of the calls, or bytes; or a seed")
    given = parser.parse_args()
    started = time.perf_counter()
    outcome = WHAT[given.what](given)
    if not outcome.counts:
        sys.exit(f"nothing was done: nothing of {given.what} has {given.only!r} in its name")
    print("\n\n".join(outcome.findings[:SHOWN]), file=sys.stderr)
    numbers = ", ".join(f"{total:,} {name}" for name, total in outcome.counts.items())
    minutes = (time.perf_counter() - started) / 60
    print(f"{given.what}: {numbers}; {len(outcome.findings)} findings; {minutes:.1f} minutes")
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
