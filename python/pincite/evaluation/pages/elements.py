"""The parts that pages are made of. Text is escaped wherever it comes in; only `Markup` passes as it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pincite.cite.context import one_line
from pincite.evaluation.pages.style import STYLE
from pincite.evaluation.statistics import Interval

__all__ = [
    "NOTHING", "Markup", "details", "estimate", "figure", "flat", "measured", "page", "paragraph", "plain", "section",
    "table", "tiles", "verdict",
]  # fmt: skip


class Markup(str):
    """HTML."""

    __slots__ = ()


DENSE = 5
"""Columns beyond which intervals stand below their values."""

NOTHING = Markup('<span class="none">no question</span>')
"""What stands for a measure of no question."""


def plain(text: object) -> Markup:
    """Return a text as HTML shows it, in one line: what cannot be shown is escaped as in a Python string."""
    return text if isinstance(text, Markup) else Markup(escape(one_line(" ".join(str(text).split()))))


def page(kind: str, title: str, sub: str, parts: Iterable[Markup]) -> str:
    """Return a whole page; it fetches nothing."""
    head = '<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>'
    head += f"<title>{plain(title)}</title><style>{STYLE}</style>"
    top = f'<header><p class="kind">{plain(kind)}</p><h1>{plain(title)}</h1><p class="sub">{plain(sub)}</p></header>'
    body = "\n".join([top, "<main>", *parts, "</main>"])
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def section(title: str, *parts: Markup) -> Markup:
    """Return parts under a heading; nothing where there is no part."""
    return Markup("\n".join([f"<h2>{plain(title)}</h2>", *parts])) if any(parts) else Markup("")


def paragraph(text: str, kind: str = "") -> Markup:
    """Return a paragraph."""
    return Markup(f'<p class="{kind}">{plain(text)}</p>' if kind else f"<p>{plain(text)}</p>")


def verdict(text: str, mood: str = "") -> Markup:
    """Return what a page has to say, set apart; `mood` is "good", "bad" or neither."""
    return paragraph(text, f"verdict {mood}".strip())


def estimate(interval: Interval | None, sign: str = "") -> Markup:
    """Return a value with its interval."""
    if interval is None or math.isnan(interval.value):
        return NOTHING
    ends = f"{interval.low:{sign}.3f}, {interval.high:{sign}.3f}"
    return Markup(f'<span class="nowrap">{interval.value:{sign}.3f}<span class="range">[{ends}]</span></span>')


def tiles(values: Mapping[str, str | Interval | None]) -> Markup:
    """Return the numbers that matter most, large."""
    parts = []
    for name, value in values.items():
        small = ""
        if isinstance(value, Interval):
            known = not math.isnan(value.value)
            small = f"95 %: {value.low:.3f} to {value.high:.3f}" if known else "no question"
            value = f"{value.value:.3f}" if known else "–"
        small = f'<dd class="small">{small}</dd>' if small else ""
        parts.append(f'<div><dt>{plain(name)}</dt><dd class="big">{plain(value or "–")}</dd>{small}</div>')
    return Markup(f'<dl class="tiles">{"".join(parts)}</dl>')


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, label: str, numbers: bool = True, wide: bool = False
) -> Markup:
    """Return a table whose first column names the rows; the others hold numbers, on the right, or texts."""
    kind = ' class="number"' if numbers else ""
    how = ' class="wide"' if wide else ' class="dense"' if len(columns) > DENSE else ""
    first, *others = columns
    head = f'<th scope="col">{plain(first)}</th>'
    head += "".join(f'<th scope="col"{kind}>{plain(column)}</th>' for column in others)
    body = "".join(
        f'<tr><th scope="row">{plain(name)}</th>{"".join(f"<td{kind}>{plain(cell)}</td>" for cell in cells)}</tr>\n'
        for name, *cells in rows
    )
    return Markup(
        f'<div class="scroll" role="region" aria-label="{plain(label)}" tabindex="0"><table{how}>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def measured(
    title: str, columns: Iterable[tuple[str, Mapping[str, Interval]]], *, label: str, sign: str = ""
) -> Markup:
    """Return a table of measures, a row each, with a column for each of what was measured, by its name."""
    heads, values = zip(*columns, strict=True)
    names = dict.fromkeys(name for column in values for name in column)
    rows = ([name, *(estimate(column.get(name), sign) for column in values)] for name in names)
    return table([title, *heads], rows, label=label)


def details(summary: str, *parts: Markup, open: bool = False) -> Markup:
    """Return parts that are shown on demand."""
    how = ' open="open"' if open else ""
    return Markup(f"<details{how}><summary>{plain(summary)}</summary>{''.join(parts)}</details>")


def figure(svg: Markup, caption: str, key: Markup | None = None) -> Markup:
    """Return a plot with its key and what it shows; nothing where there is no plot."""
    return Markup(f"<figure>{key or ''}{svg}<figcaption>{plain(caption)}</figcaption></figure>") if svg else svg


def flat(value: object, name: str = "") -> dict[str, str]:
    """Return nested settings as one level, by names such as ``encoder.model``."""
    if not isinstance(value, Mapping):
        return {name: "–" if value is None else str(value)}
    found: dict[str, str] = {}
    for key, inner in value.items():
        found |= flat(inner, f"{name}.{key}" if name else str(key))
    return found
