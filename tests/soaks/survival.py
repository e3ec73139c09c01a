"""``python -m soaks.survival kills|failures|power [NUMBER]``: what an index survives, with a library below it.

The number is a step for kills and failures (every n-th call; 1: all), and how often the power is lost. Without one, all
is done, and each kind of sync is left out once, to see that it is missed.
"""

from __future__ import annotations

import argparse
import sys
import time

import fsfault
from soaks.crashes import sweep
from soaks.power import lose_power

SHOWN = 10
"""Findings that are told in words."""


def main() -> int:
    fsfault.require_preloaded()
    parser = argparse.ArgumentParser(prog="python -m soaks.survival", description=__doc__)
    parser.add_argument("what", choices=["kills", "failures", "power"])
    parser.add_argument("number", type=int, nargs="?")
    parser.add_argument("--only", default="", help="scenarios with this in their name")
    parser.add_argument("--first", type=int, default=1, help="of the calls")
    given = parser.parse_args()
    started = time.perf_counter()
    if given.what == "power":
        outcome = lose_power(given.number or 10_000, leave_out=not (given.number or given.only), only=given.only)
    else:
        outcome = sweep(given.number or 1, given.what, only=given.only, first=given.first)
    print("\n\n".join(outcome.findings[:SHOWN]), file=sys.stderr)
    numbers = ", ".join(f"{total:,} {name}" for name, total in outcome.counts.items())
    minutes = (time.perf_counter() - started) / 60
    print(f"{given.what}: {numbers}; {len(outcome.findings)} findings; {minutes:.1f} minutes")
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
