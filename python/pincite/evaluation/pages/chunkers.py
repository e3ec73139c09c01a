"""The page of a study of ways to cut documents."""

from __future__ import annotations

from pincite.evaluation.chunkers import SHOWN, ChunkerStudy
from pincite.evaluation.pages.elements import Markup, estimate, figure, page, paragraph, section, table, verdict
from pincite.evaluation.pages.plots import Series, intervals_plot, key_of
from pincite.evaluation.pages.reports import asked_of, footer, questions

__all__ = ["chunkers_page"]

PLOTTED = ("R@1", "R@4", "R@20")


def chunkers_page(study: ChunkerStudy) -> str:
    """Return a page about what each way of cutting is worth."""
    reports = study.reports
    shown = [name for name in SHOWN if name in reports[0].measures]
    recalls = [
        Series(name, place, {report.name: report.measures[name] for report in reports})
        for place, name in enumerate(name for name in PLOTTED if name in shown)
    ]
    destroyed = [Series("destroyed", 1, {r.name: r.measures["destroyed"] for r in reports})]
    columns = ["strategy", "chunks", "destroyed", *shown, "header tokens a chunk", "chunks cut off", "tokens lost"]
    rows = []
    for report in reports:
        cost = report.cost
        assert cost is not None  # every one is of an index
        rows.append([
            report.name, f"{cost.chunks:,}", len(report.destroyed or ()),
            *(estimate(report.measures[name]) for name in shown),
            f"{cost.header_tokens / max(1, cost.chunks):.1f}", f"{cost.truncated_chunks:,}", f"{cost.lost_tokens:,}",
        ])  # fmt: skip
    verdicts = [
        verdict(
            each.verdict, "" if not each.distinguishable else "bad" if len(each.lost) > len(each.gained) else "good"
        )
        for each in study.comparisons
    ]
    lists = [
        questions(f"destroyed by {report.name}", [o for o in report.answerable if o.destroyed], reports, empty=True)
        for report in reports
    ]
    best = reports[-1]
    configuration = best.configuration
    settings = f"target {configuration['index']['target']}, {configuration['pipeline']}"
    parts = [
        section("Each way of cutting", table(columns, rows, label="Each way of cutting")),
        section(
            "Answers found",
            figure(
                intervals_plot(recalls, "R@k of each way of cutting, with their intervals"),
                "Questions answered by one of the first k passages. Lines are 95 % intervals.",
                key_of(recalls),
            ),
        ),
        section(
            "Answers destroyed",
            paragraph("No chunk holds the answer: no retriever can find it. The aim is none."),
            figure(
                intervals_plot(destroyed, "Destroyed answers of each way of cutting, with their intervals"),
                "Share of the questions whose answer no chunk holds, with 95 % intervals.",
            ),
            *lists,
        ),
        section(
            f"Against {best.name}",
            paragraph("Exact sign tests on the same questions, p-values corrected for all of them by Holm's method."),
            *verdicts,
        ) if verdicts else Markup(""),
        footer([best]),
    ]  # fmt: skip
    title = " · ".join(report.name for report in reports)
    return page("Ways of cutting", title, f"{asked_of(best)}; {settings}", parts)
