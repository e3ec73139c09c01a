"""Plots as SVG: numbers with their intervals, and distances on either side of a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from pincite.evaluation.statistics import Interval

__all__ = ["COLOURS", "distances_plot", "intervals_plot"]

COLOURS = ("#0b6e99", "#c2571a", "#3d7a3f", "#7a4fa3", "#8a6d00", "#a33a5b")
WIDTH, LEFT, RIGHT, TOP = 720, 150, 24, 12
ROW = 26
BINS = 40


def intervals_plot(series: Mapping[str, Mapping[str, Interval]]) -> str:
    """Draw proportions of several reports, by measure, as points with their intervals on an axis from 0 to 1.

    Parameters
    ----------
    series : mapping of str to mapping of str to Interval
        Measures by name, by the report's name.
    """
    measures = list(dict.fromkeys(name for values in series.values() for name in values))
    height = TOP + sum(ROW * (0.4 + 0.6 * len(series)) for _ in measures) + 30
    parts = [_axis(height)]
    y = float(TOP)
    for measure in measures:
        step = 0.6 * ROW
        middle = y + step * len(series) / 2
        parts.append(f'<text x="{LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(measure)}</text>')
        for place, (name, values) in enumerate(series.items()):
            interval = values.get(measure)
            if interval is None or math.isnan(interval.value):
                continue
            at = y + step * (place + 0.5)
            colour = COLOURS[place % len(COLOURS)]
            low, high, value = _x(interval.low), _x(interval.high), _x(interval.value)
            parts.append(
                f'<g stroke="{colour}" fill="{colour}"><title>{escape(name)}: {measure} {interval}</title>'
                f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{at:.1f}" y2="{at:.1f}" stroke-width="2"/>'
                f'<line x1="{low:.1f}" x2="{low:.1f}" y1="{at - 4:.1f}" y2="{at + 4:.1f}" stroke-width="2"/>'
                f'<line x1="{high:.1f}" x2="{high:.1f}" y1="{at - 4:.1f}" y2="{at + 4:.1f}" stroke-width="2"/>'
                f'<circle cx="{value:.1f}" cy="{at:.1f}" r="4"/></g>'
            )
        y += step * len(series) + 0.4 * ROW
    return _svg(height, parts)


def distances_plot(answerable: Sequence[float], unanswerable: Sequence[float], threshold: float | None) -> str:
    """Draw how many questions lie at which distance: those with an answer upwards, the others downwards.

    `threshold` is drawn between them; None: there is none.
    """
    finite = [value for value in (*answerable, *unanswerable) if math.isfinite(value)]
    if not finite:
        return ""
    top = max(1.0, *finite)
    edges = np.linspace(0.0, top, BINS + 1)
    counts = [np.histogram([v for v in values if math.isfinite(v)], edges)[0] for values in (answerable, unanswerable)]
    tallest = max(1, *(int(column.max()) for column in counts))
    half, height = 100, 250
    middle = TOP + half
    parts = []
    for column, colour, up in zip(counts, COLOURS, (True, False), strict=False):
        for i, count in enumerate(column.tolist()):
            if count:
                tall = (half - 6) * count / tallest
                x = _x(float(edges[i]) / top)
                width = _x(float(edges[i + 1]) / top) - x - 1
                y = middle - tall if up else middle
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" fill="{colour}">'
                    f"<title>{edges[i]:.3f} to {edges[i + 1]:.3f}: {count}</title></rect>"
                )
    parts.append(f'<line class="axis" x1="{_x(0):.1f}" x2="{_x(1):.1f}" y1="{middle}" y2="{middle}"/>')
    for tick in np.arange(0.0, top + 1e-9, 0.1).tolist():
        x = _x(tick / top)
        parts.append(f'<text x="{x:.1f}" y="{middle + half + 16}" text-anchor="middle">{tick:.1f}</text>')
    parts.append(f'<text x="{LEFT - 10}" y="{middle - 40}" text-anchor="end">with an answer</text>')
    parts.append(f'<text x="{LEFT - 10}" y="{middle + 48}" text-anchor="end">without</text>')
    if threshold is not None and threshold <= top:
        x = _x(threshold / top)
        parts.append(f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{middle + half}"/>')
        parts.append(f'<text x="{x + 6:.1f}" y="{TOP + 10}">threshold {threshold:.3f}</text>')
    return _svg(height, parts)


def _axis(height: float) -> str:
    lines = []
    for tick in range(0, 11, 2):
        x = _x(tick / 10)
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 26:.1f}"/>')
        lines.append(f'<text x="{x:.1f}" y="{height - 8:.1f}" text-anchor="middle">{tick / 10:.1f}</text>')
    return "".join(lines)


def _x(share: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * share


def _svg(height: float, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'
