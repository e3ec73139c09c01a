"""``python -m soaks SOAK``: progress on standard error, one line with the outcome on standard output."""

from __future__ import annotations

import argparse
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from soaks import permissions, revocations

SOAKS = {"permissions": (permissions.run, 1_000_000), "revocations": (revocations.run, 10_000)}
SHOWN = 10
"""Findings that are told in words."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soaks", description=__doc__)
    parser.add_argument("soak", choices=SOAKS)
    parser.add_argument("count", type=int, nargs="?", help="questions, or revocations")
    parser.add_argument("--processes", type=int, default=1, help="each with an index of its own (default: 1)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop then, with the count so far")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    run, usual = SOAKS[given.soak]
    count = usual if given.count is None else given.count
    started = time.perf_counter()
    shares = [(count + number) // given.processes for number in range(given.processes)]
    seeds = range(given.seed, given.seed + given.processes)
    until = time.monotonic() + 60 * given.minutes
    with ProcessPoolExecutor(given.processes) as pool:
        outcomes = list(pool.map(run, shares, seeds, repeat(until)))
    totals = {name: sum(outcome.counts[name] for outcome in outcomes) for name in outcomes[0].counts}
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    print("\n".join(findings[:SHOWN]), file=sys.stderr)
    numbers = ", ".join(f"{total:,} {name}" for name, total in totals.items())
    minutes = (time.perf_counter() - started) / 60
    print(f"{given.soak}: {numbers}; {len(findings)} findings; {minutes:.1f} minutes, {given.processes} processes")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
