"""The pages of one report, and of two that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pincite.errors import counted
from pincite.evaluation.comparison import Comparison
from pincite.evaluation.outcome import ANSWER_K, Outcome
from pincite.evaluation.pages.distances import distances_figure
from pincite.evaluation.pages.elements import (
    Markup,
    details,
    figure,
    flat,
    measured,
    page,
    paragraph,
    plain,
    section,
    table,
    tiles,
    verdict,
)
from pincite.evaluation.pages.plots import Series, intervals_plot, key_of
from pincite.evaluation.report import Report
from pincite.evaluation.table import notes_of

__all__ = ["asked_of", "comparison_page", "footer", "questions", "report_page"]

PLOTTED = ("R@1", "R@4", "R@8", "R@20", "MRR", "nDCG@10")

LISTED, OPEN = 2_000, 20
"""Questions that a list shows, so that a page still opens (`to_dict` has all), and that it shows at once."""

INTERVALS = "R@k: questions answered by one of the first k passages. Lines are 95 % intervals."


def report_page(report: Report) -> str:
    """Return a page about one report."""
    numbers = {f"R@{k}": report.measures[f"R@{k}"] for k in (1, ANSWER_K, 20) if f"R@{k}" in report.measures}
    if report.destroyed is not None:
        numbers["destroyed answers"] = report.measures["destroyed"]
    if report.refusal:
        numbers["bluffs"] = report.refusal["bluffs"]
    last = f"{report.depth} passages" if report.depth > 1 else "passage"
    parts = [
        tiles(numbers),
        section("Answers found", *_found([report])),
        section("Answers and refusals", *_refusals([report])),
        section(
            "Questions",
            questions("destroyed: no chunk holds the answer", [o for o in report.answerable if o.destroyed], [report]),
            questions(
                f"not answered by the first {last}",
                [o for o in report.answerable if o.rank is None and not o.destroyed],
                [report],
            ),
            questions(
                "answered although there is no answer", [o for o in report.unanswerable if not o.refused], [report]
            ),
        ),
        *_details([report]),
        footer([report]),
    ]
    return page("Evaluation", report.name, asked_of(report), parts)


def comparison_page(
    old: Report, new: Report, comparison: Comparison, *, passed: bool | None = None, limits: str = ""
) -> str:
    """Return a page about two reports on the same questions.

    Parameters
    ----------
    old, new : Report
    comparison : Comparison
        Of the two.
    passed : bool, optional
        Whether a migration gate is open; None where there is none.
    limits : str
        What the gate allows, in words.
    """
    reports = [old, new]
    before, after = ({o.id: o for o in report.outcomes} for report in reports)
    gained, lost, destroyed = (
        [before[id] for id in ids] for ids in (comparison.gained, comparison.lost, comparison.destroyed)
    )
    mood = ("good" if len(gained) > len(lost) else "bad") if comparison.distinguishable else ""
    said = [verdict(comparison.verdict, mood)]
    if passed is not None:
        said.insert(0, verdict(f"The gate is {'open' if passed else 'closed'}: {limits}.", "good" if passed else "bad"))
    differences = [Series("new less old", 5, comparison.differences)]
    kept = {*comparison.gained, *comparison.lost, *comparison.destroyed}
    neither = [o for o in old.answerable if o.rank is None and after[o.id].rank is None and o.id not in kept]
    parts = [
        *said,
        tiles({"gained": str(len(gained)), "lost": str(len(lost)), "destroyed": str(len(destroyed)),
               "p, two-sided sign test": f"{comparison.adjusted_p:.2g}"}),
        section(
            "Question by question",
            paragraph(f"Gained and lost are by {comparison.by}. The numbers are ranks of the passage that answers."),
            questions("lost", lost, reports, open=True, empty=True),
            questions("destroyed: a chunk of the old index holds the answer, none of the new one", destroyed, reports,
                      open=True, empty=True),
            questions("gained", gained, reports, open=True, empty=True),
            questions("found by neither", neither, reports),
        ),
        section(
            "Differences",
            figure(
                intervals_plot(differences, "Differences by measure with their intervals", around_zero=True),
                "New less old, a mean over paired questions each. An interval that holds 0 shows no difference.",
            ),
            measured("difference", [("new less old", comparison.differences)], label="Differences", sign="+"),
        ),
        section("Answers found", *_found(reports)),
        *_families(reports),
        section("Answers and refusals", *_refusals(reports)),
        *_details(reports),
        footer(reports),
    ]  # fmt: skip
    kind = "Comparison" if passed is None else "Migration gate"
    return page(kind, f"{old.name} → {new.name}", asked_of(old), parts)


def asked_of(report: Report) -> str:
    """Return what was asked, in words."""
    counts = f"{counted(len(report.answerable), 'question')} with an answer, {len(report.unanswerable)} to refuse"
    return f"{report.gold['name']}: {counts}"


def questions(
    what: str, outcomes: Sequence[Outcome], reports: Sequence[Report], *, open: bool = False, empty: bool = False
) -> Markup:
    """Return a list of questions with what became of them in each report.

    `open` shows it at once, unless it is long; `empty` says that there is none, too.
    """
    summary = f"{len(outcomes):,} {what}"
    if not outcomes:
        return details(summary, paragraph("None.")) if empty else Markup("")
    found = [({o.id: o for o in report.outcomes}, report.depth) for report in reports]
    rows = []
    for outcome in outcomes[:LISTED]:
        name = Markup(
            f'<span class="question">{plain(outcome.question)}</span><span class="id">{plain(outcome.id)}</span>'
        )
        rows.append([name, *(_became(by_id[outcome.id], depth) for by_id, depth in found)])
    names = [report.name for report in reports]
    more = paragraph(f"And {len(outcomes) - LISTED:,} more: see the JSON.") if len(outcomes) > LISTED else Markup("")
    return details(
        summary, table(["question", *names], rows, label=summary, wide=True), more, open=open and len(rows) <= OPEN
    )


def _costs(reports: Sequence[Report]) -> Markup:
    """Return what the indexes cost."""
    known = [(report.name, report.cost) for report in reports if report.cost is not None]
    rows = [
        ["chunks", *(f"{cost.chunks:,}" for _, cost in known)],
        ["size", *(cost.size for _, cost in known)],
        ["header tokens a chunk", *(f"{cost.header_tokens / max(1, cost.chunks):.1f}" for _, cost in known)],
        ["chunks cut off by the encoder's window", *(f"{cost.truncated_chunks:,}" for _, cost in known)],
        ["tokens lost by it", *(f"{cost.lost_tokens:,}" for _, cost in known)],
    ]
    return table(["of the index", *(name for name, _ in known)], rows, label="Cost") if known else Markup("")


def footer(reports: Sequence[Report]) -> Markup:
    """Return how things were counted, and what repeats the numbers."""
    notes = dict.fromkeys(note for report in reports for note in notes_of(report))
    return Markup(f"<footer>{''.join(paragraph(note) for note in notes)}</footer>")


def _found(reports: Sequence[Report]) -> Iterable[Markup]:
    series = [
        Series(report.name, place, {n: v for n, v in report.measures.items() if n in PLOTTED})
        for place, report in enumerate(reports)
    ]
    if len(reports) == 1:
        families = reports[0].families.items()
        series = [series[0]._replace(name="all questions")]
        series += [Series(name or "no family", 1 + i % 5, shares) for i, (name, shares) in enumerate(families)]
    yield figure(intervals_plot(series, "Measures with their intervals"), INTERVALS, key_of(series))
    yield details("All measures", measured("measure", [(r.name, r.measures) for r in reports], label="All measures"))
    if len(reports) == 1 and reports[0].families:
        yield details("By family", measured("measure", reports[0].families.items(), label="By family"))


def _families(reports: Sequence[Report]) -> Iterable[Markup]:
    for family in reports[0].families:
        asked = sum(outcome.family == family for outcome in reports[0].answerable)
        title = f"{family or 'No family'}: {counted(asked, 'question')}"
        series = [Series(report.name, place, report.families[family]) for place, report in enumerate(reports)]
        numbers = measured("measure", [(each.name, each.values) for each in series], label=title)
        yield section(
            title, figure(intervals_plot(series, title), INTERVALS, key_of(series)), details("Numbers", numbers)
        )


def _refusals(reports: Sequence[Report]) -> Iterable[Markup]:
    if not reports[0].refusal:
        return
    yield measured("of the questions", [(report.name, report.refusal) for report in reports], label="Refusals")
    for report in reports:
        threshold = report.configuration.get("max_distance")
        marks = {} if threshold is None else {"threshold": threshold}
        yield distances_figure(report, marks, title=report.name if len(reports) > 1 else "")


def _became(outcome: Outcome, depth: int) -> Markup:
    if not outcome.answerable:
        words = "refused" if outcome.refused else "answered"
        far = "" if outcome.distance is None else f" at {outcome.distance:.3f}"
        return plain(words + far)
    if outcome.rank is not None:
        return plain(outcome.rank)
    words = "destroyed" if outcome.destroyed else "given up" if outcome.refused else f"not in {depth}"
    return Markup(f'<span class="none">{words}</span>')


def _details(reports: Sequence[Report]) -> Iterable[Markup]:
    yield section("Index", _costs(reports))
    heads = [report.name for report in reports]
    settings = [flat({**report.configuration, "documents": report.documents_sha256}) for report in reports]
    names = dict.fromkeys(name for each in settings for name in each)
    rows = [[name, *(each.get(name, "") for each in settings)] for name in names]
    differing = [row for row in rows if len(set(row[1:])) > 1]
    parts = [table(["differs", *heads], differing, label="What differs", numbers=False)] if differing else []
    everything = table(["setting", *heads], rows, label="Configuration", numbers=False)
    yield section("Configuration", *parts, details("All settings", everything))
