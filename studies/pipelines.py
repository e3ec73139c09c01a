"""BM25, vectors, both, and both with the reranker: the same questions, paired.

python studies/pipelines.py FOLDER studies/gold/mdcourse.jsonl --work build/studies

FOLDER is what the gold set is about (here `mdcourse`, of the shared data). The index, and what the models gave, are
kept in the work folder, so that a second run takes seconds. Prints Markdown.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

import pincite
from pincite.evaluation.cached import CachedEncoder, CachedReranker
from pincite.evaluation.comparison import compare_all
from pincite.evaluation.refusal import distances_of, separability, sweep
from pincite.evaluation.retriever import Pipeline

SHOWN = ("R@1", "R@4", "R@8", "R@20", "MRR", "nDCG@10")
THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.675, 0.7)


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    encoder = CachedEncoder(pincite.Encoder.load(report=print), given.work / "vectors.sqlite")
    reranker = CachedReranker(pincite.Reranker.load(), given.work / "logits.sqlite")
    with pincite.open(given.work / "kb", create=True, encoder=encoder, reranker=reranker) as kb:
        kb.add(given.folder)
        reports = {
            pipeline: pincite.evaluate(kb, given.gold, pipeline=pipeline)
            for pipeline in get_args(Pipeline)
            if pipeline != "default"
        }
    best = reports["hybrid+rerank"]
    print(f"{best.gold['name']}: {len(best.answerable)} questions with an answer, {len(best.unanswerable)} without\n")
    print(f"| pipeline | {' | '.join(SHOWN)} |")
    print(f"| --- |{' --- |' * len(SHOWN)}")
    for name, report in reports.items():
        print(f"| {name} | {' | '.join(str(report.measures[measure]) for measure in SHOWN)} |")
    for family in best.families:
        print(f"\n| {family} | R@1 | R@4 | R@20 |\n| --- | --- | --- | --- |")
        for name, report in reports.items():
            shares = report.families[family]
            print(f"| {name} | {shares['R@1']} | {shares['R@4']} | {shares['R@20']} |")
    print("\nAgainst hybrid+rerank, p-values corrected by Holm's method:\n")
    others = [report for name, report in reports.items() if name != "hybrid+rerank"]
    for k in (1, 4):
        for comparison in compare_all(best, others, k=k):
            print(f"* {comparison.verdict}")
    distances = distances_of(reports["hybrid"])
    print(f"\nSeparability of the distances: {separability(distances)}\n")
    families = sorted({outcome.family for outcome in reports["hybrid"].unanswerable})
    bluffs = " | ".join(f"bluffs, {family}" for family in families)
    print(f"| threshold | answered correctly | answered wrongly | given up wrongly | {bluffs} |")
    print(f"| ---: | --- | --- | --- |{' --- |' * len(families)}")
    far = {family: [o.distance for o in reports["hybrid"].unanswerable if o.family == family] for family in families}
    for row in sweep(distances, thresholds=THRESHOLDS):
        shares = [
            f"{answer.value:.3f}" for answer in (row.answered_correctly, row.answered_wrongly, row.given_up_wrongly)
        ]
        bluffs = [f"{sum(d <= row.threshold for d in each)} of {len(each)}" for each in far.values()]
        print(f"| {row.threshold:.3f} | {' | '.join([*shares, *bluffs])} |")


if __name__ == "__main__":
    main()
