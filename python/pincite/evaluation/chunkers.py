"""Ways of cutting the same documents, on the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pincite.config import IndexConfig
from pincite.evaluation.comparison import Comparison, compare_all
from pincite.evaluation.gold import GoldSet
from pincite.evaluation.memory_index import Cutter, MemoryIndex, MemoryPipeline
from pincite.evaluation.report import Report
from pincite.evaluation.retriever import Indexed, Pipeline
from pincite.evaluation.run import evaluate
from pincite.store.progress import Progress
from pincite.types import Document, TextEncoder, TextReranker

__all__ = ["STRATEGIES", "ChunkerStudy", "study_chunkers", "study_cutters"]

STRATEGIES = ("A", "B", "C", "D", "E", "F", "structural")

SHOWN = ("R@1", "R@4", "R@20", "MRR")


@dataclass(frozen=True, slots=True)
class ChunkerStudy:
    """What each way of cutting is worth.

    Attributes
    ----------
    reports : tuple of Report
        One a strategy, named by it.
    comparisons : tuple of Comparison
        Of each with the last one, by R@k, with p-values corrected by Holm's method.
    """

    reports: tuple[Report, ...]
    comparisons: tuple[Comparison, ...]

    def table(self) -> str:
        """Return the study as Markdown."""
        shown = [name for name in SHOWN if name in self.reports[0].measures]  # R@20 needs a depth of 20
        lines = [
            f"| strategy | chunks | destroyed | {' | '.join(shown)} | header tokens | truncated chunks | lost tokens |",
            f"| --- | ---: | ---: |{' --- |' * len(shown)} ---: | ---: | ---: |",
        ]
        for report in self.reports:
            cost = report.cost
            assert cost is not None  # every one is of an index
            measures = " | ".join(str(report.measures[name]) for name in shown)
            header = cost.header_tokens / max(1, cost.chunks)
            lines.append(
                f"| {report.name} | {cost.chunks:,} | {len(report.destroyed or ())} | {measures} | {header:.1f} "
                f"| {cost.truncated_chunks:,} | {cost.lost_tokens:,} |"
            )
        lines += ["", *(f"* {comparison.verdict}" for comparison in self.comparisons)]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the study as JSON has it."""
        return {
            "reports": [report.to_dict() for report in self.reports],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }


def study_chunkers(
    opened: Callable[[IndexConfig], AbstractContextManager[Indexed]],
    gold: GoldSet | str,
    *,
    strategies: Sequence[str] = STRATEGIES,
    pipeline: Pipeline = "hybrid",
    target: int = 512,
    depth: int = 20,
    k: int = 4,
    seed: int = 0,
    progress: bool | Progress = False,
) -> ChunkerStudy:
    """Measure strategies on one gold set, and compare each with the last of them.

    Parameters
    ----------
    opened : callable
        Gives an open index of the documents that is built with the settings it is called with.
    gold : GoldSet or path
    strategies : sequence of str
        As `pincite.chunk` knows them.
    pipeline, depth, seed, progress
        As for `evaluate`.
    target : int, default 512
        The size of a chunk, in the strategies' own unit.
    k : int, default 4
        A question is answered by one of the first k passages.
    """
    reports = []
    for strategy in strategies:
        with opened(IndexConfig(strategy=strategy, target=target)) as index:
            reports.append(
                evaluate(index, gold, pipeline=pipeline, depth=depth, seed=seed, name=strategy, progress=progress)
            )
    return _study(reports, k)


def study_cutters(
    documents: Iterable[Document],
    gold: GoldSet | str,
    cutters: Mapping[str, Cutter],
    *,
    encoder: TextEncoder,
    reranker: TextReranker | None = None,
    pipeline: MemoryPipeline = "hybrid",
    depth: int = 20,
    k: int = 4,
    seed: int = 0,
    progress: bool | Progress = False,
) -> ChunkerStudy:
    """Measure any ways of cutting on one gold set, in memory, and compare each with the last of them.

    Parameters
    ----------
    documents : iterable of Document
    gold : GoldSet or path
    cutters : dict of str to callable
        By the names they shall have: see `MemoryIndex`; `cutter_of` gives our own.
    encoder, reranker
        As for `MemoryIndex`.
    pipeline, depth, seed, progress
        As for `MemoryIndex.retriever` and `evaluate`.
    k : int, default 4
        A question is answered by one of the first k passages.

    Examples
    --------
    >>> ours = cutter_of(pincite.IndexConfig(), encoder)  # doctest: +SKIP
    >>> study_cutters(documents, gold, {"mine": my_chunker, "structural": ours}, encoder=encoder)  # doctest: +SKIP
    """
    given = list(documents)
    reports = []
    for name, cutter in cutters.items():
        index = MemoryIndex(given, cutter, encoder=encoder, reranker=reranker, name=name)
        retriever = index.retriever(pipeline, depth=depth)
        reports.append(evaluate(retriever, gold, depth=depth, seed=seed, name=name, progress=progress))
    return _study(reports, k)


def _study(reports: Sequence[Report], k: int) -> ChunkerStudy:
    *others, best = reports
    return ChunkerStudy(tuple(reports), tuple(compare_all(best, others, k=k)))
