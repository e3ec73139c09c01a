"""BM25, vectors, both, and both with the reranker: the same questions, paired.

python studies/pipelines.py --data DATA --work build/studies

Asks our own 120 questions, Chroma's 317, SciFact's 300 of the test and 809 of training, and Cranfield's 225, of
documents that are indexed as by default. Prints Markdown; progress goes to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paired import compare_by, corrected, markdown, signed
from sets import NAMES, QuestionSet, opened, question_set, report_of
from setting import Setting, run_alone, say

import pincite
from pincite.evaluation import Comparison, Report
from pincite.evaluation.coverage import document_run
from pincite.evaluation.retriever import Pipeline, of_knowledge_base
from pincite.evaluation.statistics import questions_needed

OURS: Pipeline = "hybrid+rerank"
PIPELINES: tuple[Pipeline, ...] = ("bm25", "dense", "hybrid", "rerank-alone", OURS, "default")
PAIRS = (("bm25", OURS), ("dense", OURS), ("hybrid", OURS), ("rerank-alone", OURS), ("hybrid", "rerank-alone"))
"""Old and new. The default differs from ours by its threshold, and is looked at where it was promised to be better."""

MEASURES = ("R@1", "R@4", "R@20", "MRR")
GRADED_MEASURES = ("nDCG@10", "MAP", "recall@20")
TESTED = ("R@1", "R@4")
GRADED_TESTED = ("nDCG@10",)

Reports = Mapping[str, Report]


def tables(setting: Setting) -> dict[str, str]:
    """Return the measures, the paired tests, what the reranker adds, and whether the default keeps its promise."""
    sets = [question_set(setting, name) for name in NAMES]
    reports = {}
    depths = []
    for questions in sets:
        with opened(setting, questions) as kb:
            reports[questions.name] = {pipeline: report_of(kb, questions, pipeline) for pipeline in PIPELINES}
            if questions.graded:
                depths.append(f"{questions.name} {fewest_documents(kb, questions)}")
    by_excerpts = [questions for questions in sets if not questions.graded]
    graded = [questions for questions in sets if questions.graded]
    return {
        "pipelines excerpts": measures_table(by_excerpts, reports, MEASURES),
        "pipelines families": families_table(by_excerpts, reports),
        "pipelines graded": measures_table(graded, reports, GRADED_MEASURES)
        + f"\nEvery list of passages holds at least so many documents: {', '.join(depths)}.\n",
        "pipelines paired": paired_table(by_excerpts, reports, TESTED),
        "pipelines paired graded": paired_table(graded, reports, GRADED_TESTED),
        "pipelines reranker": reranker_table(sets, reports),
        "pipelines promise": promise(reports["chroma"]),
    }


def fewest_documents(kb: pincite.KnowledgeBase, questions: QuestionSet) -> int:
    """Return how many documents the list of passages with the fewest has; what is reranked has those of the hybrid."""
    say(f"{questions.name}: documents in a list")
    return min(
        len(document_run(retriever(question.text).passages))
        for retriever in (
            of_knowledge_base(kb, pipeline=pipeline, depth=questions.depth, candidates=50)
            for pipeline in ("dense", "hybrid")
        )
        for question in questions.gold
    )


def measures_table(sets: Sequence[QuestionSet], reports: Mapping[str, Reports], measures: Sequence[str]) -> str:
    """Return what each pipeline reaches on each set."""
    rows = [
        [shown(questions, place), pipeline, *(str(report.measures[measure]) for measure in measures)]
        for questions in sets
        for place, (pipeline, report) in enumerate(reports[questions.name].items())
    ]
    return markdown(["questions", "pipeline", *measures], rows)


def families_table(sets: Sequence[QuestionSet], reports: Mapping[str, Reports]) -> str:
    """Return what each pipeline reaches by the phrasing or the corpus of the questions."""
    rows = []
    for questions in sets:
        for family in reports[questions.name][OURS].families:
            n = sum(question.family == family for question in questions.gold)
            for place, (pipeline, report) in enumerate(reports[questions.name].items()):
                shares = report.families[family]
                label = f"{questions.name}, {family} ({n})" if not place else ""
                rows.append([label, pipeline, *(str(shares[measure]) for measure in MEASURES[:3])])
    return markdown(["questions", "pipeline", *MEASURES[:3]], rows)


def paired_table(sets: Sequence[QuestionSet], reports: Mapping[str, Reports], tested: Sequence[str]) -> str:
    """Return the paired tests of each set, corrected for all that are made on it."""
    rows = []
    for questions in sets:
        here = reports[questions.name]
        made = corrected([compare_by(here[old], here[new], by) for by in tested for old, new in PAIRS])
        for place, comparison in enumerate(made):
            rows.append([shown(questions, place), *paired_row(comparison)])
    head = ["questions", "by", "new", "old", "gained", "lost", "new - old", "p", "corrected", "shows", "needed"]
    return markdown(head, rows, right=("gained", "lost", "p", "corrected", "needed"))


def paired_row(comparison: Comparison) -> list[str]:
    """Return a comparison as the cells of a row."""
    gained, lost = len(comparison.gained), len(comparison.lost)
    shows = "not distinguishable"
    if comparison.distinguishable:
        shows = f"{comparison.new} is {'better' if gained > lost else 'worse'}"
    needed = questions_needed(gained, lost, comparison.n)
    return [
        comparison.by,
        comparison.new,
        comparison.old,
        str(gained),
        str(lost),
        signed(comparison),
        f"{comparison.p:.2g}",
        f"{comparison.adjusted_p:.2g}",
        shows,
        "no number" if needed is None else f"{needed:,}",
    ]


def reranker_table(sets: Sequence[QuestionSet], reports: Mapping[str, Reports]) -> str:
    """Return what the reranker changes about the hybrid order, fused with it and alone."""
    rows = []
    for questions in sets:
        here = reports[questions.name]
        for place, by in enumerate(GRADED_MEASURES[:2] if questions.graded else ("R@1", "R@4", "R@20", "MRR")):
            changes = [compare_by(here["hybrid"], here[new], by) for new in (OURS, "rerank-alone")]
            cells = [
                f"{signed(change)}, {len(change.gained)} / {len(change.lost)}, p = {change.p:.2g}" for change in changes
            ]
            rows.append([shown(questions, place), by, *cells])
    return markdown(["questions", "by", "fused - hybrid, gained / lost", "alone - hybrid, gained / lost"], rows)


def promise(reports: Reports) -> str:
    """Say whether the default pipeline is better on Chroma's questions than either leg, and what would be needed."""
    lines = []
    for name in ("default", OURS):
        for old in ("bm25", "dense"):
            for by in TESTED:
                comparison = compare_by(reports[old], reports[name], by)
                gained, lost = len(comparison.gained), len(comparison.lost)
                better = gained > lost and comparison.distinguishable
                line = (
                    f"* {name} is {'better' if better else '**not shown to be better**'} than {old} by {by}: "
                    f"{gained} gained, {lost} lost of {comparison.n}, p = {comparison.p:.2g}, "
                    f"{signed(comparison)}"
                )
                needed = questions_needed(gained, lost, comparison.n)
                if not better and gained > lost:
                    line += f"; at these rates {needed:,} questions would show it four times of five"
                lines.append(f"{line}.")
    return "\n".join(lines) + "\n"


def shown(questions: QuestionSet, place: int) -> str:
    """Return the set's name and size in the first of its rows."""
    return "" if place else f"{questions.name} ({len(questions.gold)})"


if __name__ == "__main__":
    run_alone(tables, __doc__)
