"""Reports as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pincite.evaluation.outcome import ANSWER_K

if TYPE_CHECKING:
    from pincite.evaluation.report import Report
    from pincite.evaluation.statistics import Interval

__all__ = ["report_table", "rows_of"]

LISTED = 10
"""Names of destroyed answers that a table shows; `Report.destroyed` has all."""


def report_table(report: Report) -> str:
    """Return a report as a table of its measures with their intervals, and what they mean."""
    lines = [f"**{_cell(report.name)}** on {_cell(str(report.gold['name']))}: {_asked(report)}", ""]
    lines += rows_of("measure", report.measures)
    if report.refusal:
        lines += ["", *rows_of("refusal", report.refusal)]
    for family, measures in report.families.items():
        n = sum(outcome.family == family for outcome in report.answerable)
        lines += ["", *rows_of(f"{family or 'no family'} ({n})", measures)]
    return "\n".join([*lines, "", *_notes(report)]) + "\n"


def rows_of(title: str, measures: dict[str, Interval]) -> list[str]:
    """Return the lines of a Markdown table of measures."""
    lines = [f"| {_cell(title)} | value | 95 % interval |", "| --- | ---: | --- |"]
    for name, interval in measures.items():
        known = interval.value == interval.value
        lines.append(
            f"| {name} | {interval.value:.3f} | {interval.low:.3f} to {interval.high:.3f} |"
            if known
            else f"| {name} | no question | |"
        )
    return lines


def _asked(report: Report) -> str:
    text = f"{len(report.answerable)} questions with an answer"
    if report.unanswerable:
        text += f", {len(report.unanswerable)} to refuse"
    return text


def _notes(report: Report) -> Iterable[str]:
    if any(outcome.overlap is not None for outcome in report.answerable):
        wanted = "one of a question's excerpts" if report.configuration["excerpts"] == "any" else "all excerpts"
        yield (
            f"A question is answered where passages cover {wanted} whole, overlap included; nDCG, MAP and recall count "
            "each excerpt. Character measures are about what is quoted, overlap left out."
        )
    else:
        yield "A question is answered by a document that is graded above 0; documents rank by their best passage."
    yield "Proportions have Wilson intervals, means bootstrap intervals."
    if report.refusal:
        yield f"Answered correctly means by one of the first {ANSWER_K}."
    if report.destroyed:
        names = ", ".join(report.destroyed[:LISTED])
        more = len(report.destroyed) - LISTED
        yield f"No chunk holds the answer of: {names}{f' and {more} more' if more > 0 else ''}."
    if (cost := report.cost) is not None:
        size = "" if cost.nbytes is None else f", {cost.nbytes / 1e6:.1f} MB"
        headers = cost.header_tokens / cost.chunks if cost.chunks else 0.0
        yield (
            f"{cost.chunks} chunks{size}; headers cost {headers:.1f} tokens a chunk; "
            f"{cost.truncated_chunks} chunks are cut off by the encoder's window and lose {cost.lost_tokens} tokens."
        )
    if not report.gold["checked"]:
        yield "The gold set was not held against the documents: they were not given."
    generation = "" if report.generation is None else f", generation {report.generation}"
    yield f"Configuration {report.configuration_hash}{generation}, seed {report.seed}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
