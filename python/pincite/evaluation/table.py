"""Reports as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pincite.errors import counted
from pincite.evaluation.outcome import ANSWER_K

if TYPE_CHECKING:
    from pincite.evaluation.refusal import SweepRow
    from pincite.evaluation.report import Report
    from pincite.evaluation.statistics import Interval

__all__ = ["notes_of", "report_table", "rows_of", "sweep_columns", "sweep_table"]

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
    return "\n".join([*lines, "", *notes_of(report)]) + "\n"


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


def notes_of(report: Report) -> Iterable[str]:
    """Yield what the measures mean and what they were taken from, a sentence or two each."""
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
        headers = cost.header_tokens / cost.chunks if cost.chunks else 0.0
        yield (
            f"{counted(cost.chunks, 'chunk')}, {cost.size}; headers cost {headers:.1f} tokens a chunk; "
            f"{counted(cost.truncated_chunks, 'chunk is', 'chunks are')} cut off by the encoder's window, "
            f"which loses {counted(cost.lost_tokens, 'token')}."
        )
    if not report.gold["checked"]:
        yield "The gold set was not held against the documents: they were not given."
    generation = "" if report.generation is None else f", generation {report.generation}"
    yield f"Configuration {report.configuration_hash}{generation}, seed {report.seed}."


def sweep_table(rows: Sequence[SweepRow], separability: Interval, *, sign: float = 1.0) -> str:
    """Return a sweep as a table with a row a threshold, which is multiplied by `sign`."""
    columns = sweep_columns(rows)
    lines = [f"separability {separability}", "", f"| threshold | {' | '.join(map(_cell, columns))} |"]
    lines.append(f"| ---: |{' --- |' * len(columns)}")
    for row, *values in zip(rows, *columns.values(), strict=True):
        lines.append(f"| {sign * row.threshold:.3f} | {' | '.join(map(str, values))} |")
    return "\n".join(lines) + "\n"


def sweep_columns(rows: Sequence[SweepRow]) -> dict[str, list[Interval]]:
    """Return what a sweep found by what to call it; bluffs by family too, where there are several."""
    columns = {
        "answered correctly": [row.answered_correctly for row in rows],
        "answered wrongly": [row.answered_wrongly for row in rows],
        "given up wrongly": [row.given_up_wrongly for row in rows],
        "bluffs": [row.bluffs for row in rows],
    }
    for family in rows[0].bluffs_of if rows else ():
        columns[f"bluffs, {family or 'no family'}"] = [row.bluffs_of[family] for row in rows]
    return columns


def _asked(report: Report) -> str:
    text = f"{counted(len(report.answerable), 'question')} with an answer"
    if report.unanswerable:
        text += f", {len(report.unanswerable)} to refuse"
    return text


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
