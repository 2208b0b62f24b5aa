"""Figures of results as inline SVG: grouped bars and radars, with intervals, without script."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from metrics.results import Cell

SHADES = ("#1f4e79", "#d08a3e", "#4a86b8", "#a1521f", "#9cc3e0", "#e8c07d", "#5c6b7a", "#b9b9b9")
"""Colours of series, in order; they repeat beyond eight."""
_INK, _SOFT, _LINE = "#1d2733", "#5c6b7a", "#dde3e9"
_FONT = 'font-family="system-ui,-apple-system,Segoe UI,Roboto,sans-serif"'


def grouped_bars(
    values: Mapping[str, Mapping[str, Cell]],
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    reference: float | None = None,
    decimals: int = 2,
    label: str = "",
) -> str:
    """Draw bars in groups, an interval on each that has one, its number above it.

    Args:
        values: Cells by group (along x), then by series (colour); undefined ones leave a gap
            marked "n/a".
        unit: Behind the ticks, e.g. ``%``.
        low: Lower end of the axis; 0 or the smallest value by default.
        high: Upper end of the axis; a round number above the largest value by default.
        reference: A dashed line at this height, e.g. 0.5 for chance.
        decimals: Decimals of the numbers.
        label: What screen readers are told.

    Returns:
        A complete ``<svg>`` element.
    """
    series = list(dict.fromkeys(name for group in values.values() for name in group))
    ends = [v for group in values.values() for c in group.values() for v in _ends(c)]
    bottom = min([0.0, *ends]) if low is None else low
    top = max([bottom, *ends]) if high is None else high
    step = _step(top - bottom)
    if low is None:
        bottom = math.floor(bottom / step + 1e-9) * step
    if high is None:
        top = max(math.ceil(top / step - 1e-9) * step, bottom + step)
    gap, left, height = 22, 54, 230
    shown = [_number(c.value, decimals) for g in values.values() for c in g.values()]
    bar = max(25, round(5.7 * max(map(len, shown), default=0)) + 3)
    words = [len(word) for group in values for word in group.split()]
    group_width = round(max(bar * max(len(series), 1) + gap, 6.6 * max(words, default=0) + 12))
    legend = _legend(series, left)
    plot_top = 14 + 18 * legend[1]
    width = max(left + group_width * len(values) + 12, 340)

    def y(value: float) -> float:
        clipped = min(max(value, bottom), top)
        return round(plot_top + height * (top - clipped) / (top - bottom), 1)

    parts = [legend[0]]
    for index in range(round((top - bottom) / step) + 1):
        at = bottom + index * step
        parts.append(
            f'<line x1="{left}" x2="{width - 8}" y1="{y(at)}" y2="{y(at)}" stroke="{_LINE}"/>'
            f'<text x="{left - 7}" y="{y(at) + 4}" text-anchor="end">'
            f"{_short(at, step)}{unit}</text>"
        )
    if reference is not None:
        parts.append(
            f'<line x1="{left}" x2="{width - 8}" y1="{y(reference)}" y2="{y(reference)}" '
            f'stroke="{_SOFT}" stroke-dasharray="5 4"/>'
        )
    for place, (group, cells) in enumerate(values.items()):
        start = left + (group_width - bar * len(series)) / 2 + place * group_width
        for at, name in enumerate(series):
            if (found := cells.get(name)) is not None:
                x = round(start + at * bar, 1)
                parts.append(_bar(found, x, bar, y, SHADES[at % len(SHADES)], decimals))
        middle = round(start + bar * len(series) / 2, 1)
        parts.append(_wrapped(group, middle, plot_top + height + 16, group_width))
    base = min(max(0.0, bottom), top)
    parts.append(
        f'<line x1="{left}" x2="{width - 8}" y1="{y(base)}" y2="{y(base)}" stroke="{_SOFT}"/>'
    )
    return _svg(width, plot_top + height + 38, parts, label)


def radar(
    values: Mapping[str, Mapping[str, Cell]],
    *,
    high: float = 1.0,
    low: float = 0.0,
    label: str = "",
) -> str:
    """Draw one closed line a series over axes arranged in a circle.

    Args:
        values: Cells by series (line), then by axis; an undefined one breaks its line.
        high: Value at the rim.
        low: Value at the centre; smaller ones are drawn there.
        label: What screen readers are told.

    Returns:
        A complete ``<svg>`` element.
    """
    axes = list(dict.fromkeys(name for line in values.values() for name in line))
    legend = _legend(list(values), 20)
    width, radius = 520, 150
    cx, cy = width / 2, 30 + 18 * legend[1] + radius

    def point(axis: int, value: float) -> tuple[float, float]:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        angle = 2 * math.pi * axis / max(len(axes), 1) - math.pi / 2
        return (
            round(cx + radius * share * math.cos(angle), 1),
            round(cy + radius * share * math.sin(angle), 1),
        )

    parts = [legend[0]]
    for ring in (0.25, 0.5, 0.75, 1.0):
        at = low + ring * (high - low)
        corners = " ".join(f"{x},{y}" for x, y in (point(k, at) for k in range(len(axes))))
        parts.append(f'<polygon points="{corners}" fill="none" stroke="{_LINE}"/>')
        x, y = point(0, at)
        parts.append(f'<text x="{x + 4}" y="{y + 4}" font-size="10">{at:.3g}</text>')
    for k, axis in enumerate(axes):
        x, y = point(k, high)
        parts.append(f'<line x1="{cx}" y1="{cy}" x2="{x}" y2="{y}" stroke="{_LINE}"/>')
        anchor = "middle" if abs(x - cx) < 12 else "start" if x > cx else "end"
        ty = y - 9 if y <= cy - radius + 2 else y + 14 if y > cy else y + 4
        parts.append(
            f'<text x="{x}" y="{ty}" text-anchor="{anchor}" {_ink()}>{escape(axis)}</text>'
        )
    for place, cells in enumerate(values.values()):
        colour = SHADES[place % len(SHADES)]
        known = [
            point(k, found.value)
            for k, axis in enumerate(axes)
            if (found := cells.get(axis)) is not None and found.value is not None
        ]
        corners = " ".join(f"{x},{y}" for x, y in known)
        shape = "polygon" if len(known) == len(axes) else "polyline"
        fill = f'fill="{colour}" fill-opacity="0.08"' if shape == "polygon" else 'fill="none"'
        parts.append(f'<{shape} points="{corners}" {fill} stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in known]
    return _svg(width, round(cy + radius + 32), parts, label)


def _ends(found: Cell) -> list[float]:
    return [] if found.value is None else [found.value, *(found.ci or ())]


def _bar(
    found: Cell, x: float, width: int, y: Callable[[float], float], colour: str, decimals: int
) -> str:
    middle = x + width / 2 - 1
    if found.value is None:
        return (
            f'<text x="{middle}" y="{y(0.0) - 5}" text-anchor="middle" font-size="10">'
            f"<title>{escape(found.reason)}</title>n/a</text>"
        )
    top, base = sorted((y(found.value), y(0.0)))
    drawn = (
        f'<rect x="{x}" y="{top}" width="{width - 2}" height="{round(base - top, 1)}" '
        f'fill="{colour}" rx="1.5"/>'
    )
    highest = min(top, *(y(end) for end in found.ci or (found.value,)))
    if found.ci is not None:
        drawn += (
            f'<line x1="{middle}" x2="{middle}" y1="{y(found.ci[0])}" y2="{y(found.ci[1])}" '
            f'stroke="{_INK}" stroke-width="1.4"/>'
        )
    number = _number(found.value, decimals)
    return drawn + (
        f'<text x="{middle}" y="{round(highest - 4, 1)}" text-anchor="middle" font-size="9.5" '
        f"{_ink()}>{number}</text>"
    )


def _number(value: float | None, decimals: int) -> str:
    return "n/a" if value is None else f"{value:z.{decimals}f}".replace("-", "−")


def _step(span: float) -> float:
    """Distance of ticks that gives about five of them: 1, 2 or 5 times a power of ten."""
    rough = max(span, 1e-9) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * (1 - 1e-9))


def _short(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:z.{decimals}f}".replace("-", "−")


def _ink() -> str:
    return f'fill="{_INK}"'


def _legend(names: Sequence[str], left: int) -> tuple[str, int]:
    """Draw the names of the series; returns the drawing and its number of lines."""
    if len(names) < 2:
        return "", 0
    parts: list[str] = []
    x, line = float(left), 0
    for place, name in enumerate(names):
        needed = 32 + 7.6 * len(name)
        if x > left and x + needed > 520:
            x, line = float(left), line + 1
        y = 6 + 18 * line
        parts.append(
            f'<rect x="{x:g}" y="{y}" width="11" height="11" rx="2" '
            f'fill="{SHADES[place % len(SHADES)]}"/>'
            f'<text x="{x + 16:g}" y="{y + 10}" {_ink()}>{escape(name)}</text>'
        )
        x += needed
    return "".join(parts), line + 1


def _wrapped(text: str, x: float, y: float, width: float) -> str:
    """Write a name in the middle, on two lines where one is too short."""
    words = text.split()
    lines = [text]
    if len(text) * 6.4 > width and len(words) > 1:
        cut = min(
            range(1, len(words)),
            key=lambda k: max(len(" ".join(words[:k])), len(" ".join(words[k:]))),
        )
        lines = [" ".join(words[:cut]), " ".join(words[cut:])]
    return "".join(
        f'<text x="{x}" y="{y + 14 * k}" text-anchor="middle" {_ink()}>{escape(line)}</text>'
        for k, line in enumerate(lines)
    )


def _svg(width: float, height: float, parts: Sequence[str], label: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="figure" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'role="img" aria-label="{escape(label)}" '
        f'font-size="11.5" fill="{_SOFT}" {_FONT}>' + "".join(parts) + "</svg>\n"
    )
