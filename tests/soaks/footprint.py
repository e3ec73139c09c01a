"""What this process takes of the machine: memory, mapped files, descriptors, threads."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

OWN = Path("/proc/self")


class Footprint(NamedTuple):
    """At one moment; memory in MiB.

    Attributes
    ----------
    own : float
        Memory that nothing but this process can give back: what the bounds on growth are about.
    resident : float
        With the pages of mapped files, which the system takes back when it needs them.
    peak : float
        The most that was ever resident.
    """

    own: float
    resident: float
    peak: float
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Footprint:
        gc.collect()
        lines = dict(line.split(":", 1) for line in (OWN / "status").read_text().splitlines())
        own, resident, peak = (int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS", "VmHWM"))
        return cls(own, resident, peak, len(list((OWN / "fd").iterdir())), int(lines["Threads"]))

    def __str__(self) -> str:
        return (
            f"{self.own:7.1f} MiB of its own, {self.resident:7.1f} resident, {self.peak:7.1f} at most, "
            f"{self.descriptors} descriptors, {self.threads} threads"
        )


def mapped_folders(below: Path) -> set[str]:
    """Return the names of the folders right below one of which this process maps files, removed ones included."""
    found = set()
    for line in (OWN / "maps").read_text().splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.is_relative_to(below):
            found.add(path.relative_to(below).parts[0])
    return found


def growth(samples: Sequence[float], *, step: int, per: int) -> float:
    """Return by how much samples that lie `step` apart grow, `per` so many: the slope of the line nearest to them."""
    return statistics.linear_regression(range(len(samples)), samples).slope * per / step
