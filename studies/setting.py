"""What the studies share: where the data are, models that remember, and where the tables go.

A study is a module with ``tables(setting)``, which returns Markdown by the name of its place in docs/evaluation.md.
Alone it prints them; ``python studies/run.py`` runs every study and writes them into the page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pincite
from pincite.evaluation.cached import CachedEncoder, CachedReranker

__all__ = ["Setting", "parser", "run_alone", "setting_of"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Setting:
    """Where a study reads and writes.

    Attributes
    ----------
    data : Path
        The folder with `chroma_chunking`, `scifact`, `cranfield` and `mdcourse`.
    work : Path
        For indexes, and for what the models gave: a second run does not ask them again.
    """

    data: Path
    work: Path

    @cached_property
    def encoder(self) -> CachedEncoder:
        """The default encoder."""
        return CachedEncoder(pincite.Encoder.load(report=say), self.work / "vectors.sqlite")

    @cached_property
    def reranker(self) -> CachedReranker:
        """The default reranker."""
        return CachedReranker(pincite.Reranker.load(report=say), self.work / "logits.sqlite")

    @property
    def gold(self) -> Path:
        """Our own questions about `mdcourse`."""
        return ROOT / "studies" / "gold" / "mdcourse.jsonl"


def say(line: str) -> None:
    """Tell whoever waits."""
    print(line, file=sys.stderr, flush=True)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the arguments that every study takes."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="where the data sets are")
    made.add_argument("--work", type=Path, default=ROOT / "build" / "studies", help="indexes, vectors and logits")
    return made


def setting_of(given: argparse.Namespace) -> Setting:
    """Return the setting that the arguments name."""
    given.work.mkdir(parents=True, exist_ok=True)
    return Setting(given.data, given.work)


def run_alone(tables: Callable[[Setting], Mapping[str, str]], description: str | None) -> None:
    """Run one study and print its tables."""
    for name, table in tables(setting_of(parser(description).parse_args())).items():
        print(f"<!-- {name} -->\n{table.rstrip()}\n")
