"""Plots as SVG: measures with their intervals, curves over a threshold, distances on either side of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from pincite.evaluation.pages.elements import Markup, plain
from pincite.evaluation.statistics import Interval

__all__ = ["Series", "curves_plot", "distances_plot", "intervals_plot", "key_of", "span_of"]

Values = TypeVar("Values", covariant=True)

WIDTH, RIGHT, TOP, BOTTOM = 720, 20, 12, 30
NAMES, TICKS = 150, 52
"""Room on the left for names, or for numbers."""

STEP, GAP = 17.0, 11.0
BINS = 36
DASHES = ("", "8 4", "2 3", "11 3 2 3", "5 3", "3 5")


class Series(NamedTuple, Generic[Values]):
    """What is drawn in one style.

    Attributes
    ----------
    name : str
    style : int
        A colour, with a marker and a dash of its own.
    values
    """

    name: str
    style: int
    values: Values


class _Scale(NamedTuple):
    """From values to places on the page."""

    low: float
    high: float
    left: float = TICKS

    def __call__(self, value: float) -> float:
        return self.left + (WIDTH - self.left - RIGHT) * (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 8) -> list[float]:
        return _ticks(self.low, self.high, most)


def intervals_plot(
    series: Sequence[Series[Mapping[str, Interval]]], label: str, *, around_zero: bool = False
) -> Markup:
    """Draw measures as points with their intervals, a row of points each; "" where there is none.

    Parameters
    ----------
    series : sequence of Series of dict of str to Interval
        By the name of the measure; they share its row.
    label : str
        What the plot shows, for those who do not see it.
    around_zero : bool
        Whether the axis has 0 in its middle, for differences; by default it goes from 0 to 1.
    """
    known = [Series(s.name, s.style, {n: v for n, v in s.values.items() if not math.isnan(v.value)}) for s in series]
    rows = dict.fromkeys(name for each in known for name in each.values)
    if not rows:
        return Markup("")
    widest = max(max(abs(v.low), abs(v.high)) for each in known for v in each.values.values())
    half = max(0.05, 1.08 * widest)
    at = _Scale(-half, half, NAMES) if around_zero else _Scale(0.0, 1.0, NAMES)
    lanes = {row: [each for each in known if row in each.values] for row in rows}
    bottom = TOP + sum(STEP * len(each) + GAP for each in lanes.values())
    parts = _columns(at, bottom)
    if around_zero:
        parts.append(f'<line class="axis" x1="{at(0):.1f}" x2="{at(0):.1f}" y1="{TOP}" y2="{bottom:.1f}"/>')
    top = TOP + GAP / 2
    for row, drawn in lanes.items():
        parts.append(_text(NAMES - 12, top + STEP * len(drawn) / 2 + 4, _shortened(row), "end", "name"))
        for lane, each in enumerate(drawn):
            interval = each.values[row]
            y = top + STEP * (lane + 0.5)
            low, high = at(interval.low), at(interval.high)
            parts.append(
                f'<g class="s{each.style} mark"><title>{plain(f"{row}, {each.name}: {interval}")}</title>'
                f'<path d="M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8" '
                f'stroke-width="2"/>{_marker(each.style, at(interval.value), y)}</g>'
            )
        top += STEP * len(drawn) + GAP
    return _svg(bottom + BOTTOM, parts, label)


def curves_plot(
    thresholds: Sequence[float],
    series: Sequence[Series[Sequence[Interval]]],
    label: str,
    *,
    span: tuple[float, float],
    marks: Mapping[str, float],
) -> Markup:
    """Draw proportions over a threshold, with their intervals as bands; "" where there is none."""
    drawn = [each for each in series if each.values and not any(math.isnan(value.value) for value in each.values)]
    if not drawn:
        return Markup("")
    at, top = _Scale(*span), TOP + _marks_height(marks)
    tall = 190.0
    bottom = top + tall

    def up(share: float) -> float:
        return bottom - tall * share

    parts = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(_row(at, up(tick), "axis" if tick == 0 else "grid"))
        parts.append(_text(TICKS - 8, up(tick) + 4, f"{tick:.1f}", "end"))
    parts += [_text(at(tick), bottom + 18, _number(tick)) for tick in at.ticks()]
    for each in drawn:
        across = [(at(threshold), value) for threshold, value in zip(thresholds, each.values, strict=True)]
        upper = [f"{x:.1f} {up(value.high):.1f}" for x, value in across]
        lower = [f"{x:.1f} {up(value.low):.1f}" for x, value in across]
        parts.append(f'<path class="s{each.style} band" d="M{"L".join([*upper, *reversed(lower)])}Z"/>')
    for each in drawn:
        points = [(at(t), up(value.value)) for t, value in zip(thresholds, each.values, strict=True)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path class="s{each.style} curve" stroke-dasharray="{DASHES[each.style]}" d="M{path}"/>')
        for (x, y), threshold, value in zip(points, thresholds, each.values, strict=True):
            title = plain(f"{each.name} at {threshold:.3f}: {value}")
            spot = f'<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
            parts.append(f'<g class="s{each.style}"><title>{title}</title>{spot}</g>')
    parts += _marks(at, marks, bottom)
    return _svg(bottom + BOTTOM, parts, label)


def distances_plot(
    above: Sequence[Series[Sequence[float]]],
    below: Sequence[Series[Sequence[float]]],
    label: str,
    *,
    span: tuple[float, float],
    marks: Mapping[str, float],
) -> Markup:
    """Draw how many questions lie at which distance, some upwards, others downwards; "" where there is none.

    What is infinite is not drawn: say so beside the plot.
    """
    at = _Scale(*span)
    edges = np.linspace(*span, BINS + 1)
    sides = [
        [(s, np.histogram([v for v in s.values if math.isfinite(v)], edges)[0].tolist()) for s in side]
        for side in (above, below)
    ]
    heights = [[sum(column) for column in zip(*(counts for _, counts in side), strict=True)] for side in sides]
    most = [max(side, default=0) for side in heights]
    if not sum(most):
        return Markup("")
    top = TOP + _marks_height(marks)
    unit = 170.0 / sum(most)
    middle = top + 6 + most[0] * unit
    bottom = middle + most[1] * unit + 6
    parts = []
    for count in _ticks(-most[1], most[0], 6):
        if count == int(count):
            y = middle - count * unit
            parts += [_row(at, y, "grid"), _text(TICKS - 8, y + 4, f"{abs(count):.0f}", "end")]
    for side, up in zip(sides, (True, False), strict=True):
        stacked = [0] * BINS
        for each, counts in side:
            for i, count in enumerate(counts):
                if count:
                    x, tall = at(float(edges[i])), count * unit
                    y = middle - (stacked[i] + count) * unit if up else middle + stacked[i] * unit
                    title = plain(f"{edges[i]:.3f} to {edges[i + 1]:.3f}: {count} {each.name}")
                    parts.append(
                        f'<rect class="s{each.style} bar" x="{x + 0.5:.1f}" y="{y:.1f}" height="{tall:.1f}" '
                        f'width="{at(float(edges[i + 1])) - x - 1:.1f}"><title>{title}</title></rect>'
                    )
                    stacked[i] += count
    parts.append(_row(at, middle, "axis"))
    parts += [_text(at(tick), bottom + 18, _number(tick)) for tick in at.ticks()]
    parts += _marks(at, marks, bottom)
    return _svg(bottom + BOTTOM, parts, label)


def key_of(series: Sequence[Series[object]], *, kind: str = "marker") -> Markup:
    """Return the key to a plot: `kind` is "marker", "curve" or "bar"."""
    shapes = []
    for each in series:
        line = f'<path d="M1 7H29" class="curve" stroke-dasharray="{DASHES[each.style]}"/>'
        shape = {
            "marker": f'<g class="mark"><path d="M1 7H29" stroke-width="2"/>{_marker(each.style, 15, 7)}</g>',
            "curve": line,
            "bar": '<rect class="bar" x="8" y="1" width="14" height="12"/>',
        }[kind]
        svg = f'<svg class="s{each.style}" viewBox="0 0 30 14" aria-hidden="true">{shape}</svg>'
        shapes.append(f"<span>{svg}{plain(each.name)}</span>")
    return Markup(f'<p class="key">{"".join(shapes)}</p>')


def span_of(*values: Sequence[float]) -> tuple[float, float]:
    """Return an axis on which all the finite values have room."""
    finite = [value for each in values for value in each if math.isfinite(value)]
    if not finite:
        return (0.0, 1.0)
    low, high = min(finite), max(finite)
    room = 0.03 * (high - low) or 0.05
    return (low - room, high + room)


def _marker(style: int, x: float, y: float) -> str:
    """Return a circle, square, diamond, triangle, one that stands on its head, or a bar."""
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2"/>',
        f'<path d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"/>',
        f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5-5.5z"/>',
        f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>',
        f'<path d="M{x:.1f} {y + 5:.1f}l5-9h-10z"/>',
        f'<path d="M{x - 2:.1f} {y - 5:.1f}h4v10h-4z"/>',
    )
    return shapes[style]


def _columns(at: _Scale, bottom: float) -> list[str]:
    parts = []
    for tick in at.ticks():
        parts.append(f'<line class="grid" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{TOP}" y2="{bottom:.1f}"/>')
        parts.append(_text(at(tick), bottom + 18, _number(tick)))
    return parts


def _row(at: _Scale, y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{at.left}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _marks_height(marks: Mapping[str, float]) -> float:
    return 22.0 * len(marks)


def _marks(at: _Scale, marks: Mapping[str, float], bottom: float) -> list[str]:
    """Draw thresholds from top to bottom, each named on a line of its own."""
    parts = []
    for place, (name, value) in enumerate(marks.items()):
        x = at(min(max(value, at.low), at.high))
        y = TOP + 22 * place + 6
        end = "end" if x > WIDTH / 2 else "start"
        parts.append(f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 12:.1f}" y2="{bottom:.1f}"/>')
        parts.append(_text(x + (-6 if end == "end" else 6), y, f"{name} {value:.3f}", end, "name halo"))
    return parts


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    classes = f' class="{kind}"' if kind else ""
    return f'<text{classes} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{plain(text)}</text>'


def _shortened(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if value else "0"


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers between two ends: steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(factor * power for factor in (1, 2, 5, 10) if (high - low) / (factor * power) <= most)
    return [round(i * step, 9) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _svg(height: float, parts: Sequence[str], label: str) -> Markup:
    name = plain(label)
    return Markup(f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{name}">{"".join(parts)}</svg>')
