"""What a soak found, and how far it has come."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

STEPS = 50
"""Lines of progress of a run."""


@dataclass
class Outcome:
    """Counts by name, and in words everything that should not be."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def tell(self, done: int, total: int, *, since: int) -> None:
        """Say on standard error how far it is, at every fiftieth that was passed since `since` were done."""
        if done * STEPS // total > since * STEPS // total:
            print(f"{done:,} of {total:,}, {len(self.findings)} findings", file=sys.stderr, flush=True)


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Make a folder in memory where that can be had."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)
