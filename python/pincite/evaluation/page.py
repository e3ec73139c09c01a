"""Reports as one self-contained HTML page: nothing is fetched when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pincite.evaluation.comparison import Comparison
from pincite.evaluation.plots import COLOURS, distances_plot, intervals_plot
from pincite.evaluation.refusal import distances_of, separability
from pincite.evaluation.report import Report
from pincite.evaluation.statistics import Interval

__all__ = ["html_page"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --faint: #667085; --line: #d9dee7; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --faint: #9aa4b2; --line: #39424f; --paper: #14181f; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2.5rem auto;
  max-width: 54rem; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
p.sub, figcaption, .key { color: var(--faint); } .key span { margin-right: 1.4rem; white-space: nowrap; }
.dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .45em; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem .7rem .32rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; } figure { margin: 1rem 0; } svg { width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--faint); } .grid { stroke: var(--line); }
.axis { stroke: var(--faint); } .threshold { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 5 4; }
.verdict { font-size: 1.1rem; border-left: 4px solid #0b6e99; padding-left: .9rem; }
code { font-size: .88em; overflow-wrap: anywhere; } details { margin: .6rem 0; } summary { cursor: pointer; }
"""

PLOTTED = ("R@1", "R@4", "R@8", "R@20", "MRR", "nDCG@10")


def html_page(reports: Sequence[Report], *, comparison: Comparison | None = None) -> str:
    """Return a page about reports on one gold set.

    Parameters
    ----------
    reports : sequence of Report
        At least one.
    comparison : Comparison, optional
        Of two of them.
    """
    gold = reports[0].gold
    title = " and ".join(report.name for report in reports)
    asked, refused = len(reports[0].answerable), len(reports[0].unanswerable)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{escape(str(gold["name"]))}: {asked} questions with an answer, {refused} to refuse</p>',
    ]
    if comparison is not None:
        parts += _comparison(comparison)
    parts += ["<h2>Answers found</h2>", _key(reports)]
    shown = {report.name: {n: v for n, v in report.measures.items() if n in PLOTTED} for report in reports}
    parts.append(
        _figure(intervals_plot(shown), "R@k: questions answered by one of the first k passages. 95 % intervals.")
    )
    for report in reports:
        parts += _report(report)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>{escape(title)}</title><style>{STYLE}</style>"
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _comparison(comparison: Comparison) -> list[str]:
    parts = [f'<p class="verdict">{escape(comparison.verdict)}</p>', _table("difference", comparison.differences, "+")]
    for word, ids in (("gained", comparison.gained), ("lost", comparison.lost), ("destroyed", comparison.destroyed)):
        if ids:
            parts.append(_listed(f"{len(ids)} {word}", ids))
    return parts


def _report(report: Report) -> list[str]:
    parts = [f"<h2>{escape(report.name)}</h2>", _table("measure", report.measures)]
    if report.destroyed:
        parts.append(_listed(f"{len(report.destroyed)} destroyed: no chunk holds the answer", report.destroyed))
    if report.refusal:
        parts += ["<h2>Answers and refusals</h2>", _table("of the questions", report.refusal)]
        distances = distances_of(report)
        threshold = report.configuration.get("max_distance")
        plot = distances_plot(distances.answerable, distances.unanswerable, threshold)
        if plot:
            apart = separability(distances, seed=report.seed)
            parts.append(_figure(plot, f"Distance of the nearest passage, a question each. Separability {apart}."))
    for family, measures in report.families.items():
        parts.append(f"<h2>{escape(family or 'no family')}</h2>{_table('measure', measures)}")
    if (cost := report.cost) is not None:
        size = "" if cost.nbytes is None else f", {cost.nbytes / 1e6:.1f} MB"
        parts.append(
            f"<p>{cost.chunks:,} chunks{size}; {cost.truncated_chunks:,} cut off by the "
            f"encoder's window, {cost.lost_tokens:,} tokens lost.</p>"
        )
    generation = "" if report.generation is None else f", generation {report.generation}"
    parts.append(f'<p class="sub">Configuration <code>{report.configuration_hash}</code>{generation}, '
                 f"seed {report.seed}.</p>")  # fmt: skip
    return parts


def _table(title: str, measures: Mapping[str, Interval], sign: str = "") -> str:
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="number">{interval.value:{sign}.3f}</td>'
        f"<td>{interval.low:{sign}.3f} to {interval.high:{sign}.3f}</td></tr>"
        for name, interval in measures.items()
        if interval.value == interval.value
    )
    return (
        f'<table><thead><tr><th>{escape(title)}</th><th class="number">value</th><th>95 % interval</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _listed(summary: str, ids: Sequence[str]) -> str:
    names = ", ".join(f"<code>{escape(id)}</code>" for id in ids)
    return f"<details open><summary>{escape(summary)}</summary><p>{names}</p></details>"


def _key(reports: Sequence[Report]) -> str:
    dots = (
        f'<span><i class="dot" style="background:{COLOURS[i % len(COLOURS)]}"></i>{escape(report.name)}</span>'
        for i, report in enumerate(reports)
    )
    return f'<p class="key">{"".join(dots)}</p>'


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
