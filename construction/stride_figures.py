"""Figures 3 and 4 of STRIDE as SVG: score gaps by axis, and words that tell caption from edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from benchmarks.stride import AXES, StrideAxis
from construction.report import Figure
from construction.stride_audit import DRAFTED, NAIVE, GapRow, WordRow
from construction.stride_filter import MAX_GAP
from construction.text.scorers import NATS

_COLOURS = {DRAFTED: "#1f4e79", NAIVE: "#c8641e"}
_NAMES = {DRAFTED: "drafted items", NAIVE: "naive baseline (ours)"}
_INK, _SOFT, _GRID, _BAND = "#1d2733", "#5c6b7a", "#dde3e9", "#eef3f8"
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 46.0, 40.0
_SLOT, _HEIGHT, _HALF = 190.0, 330.0, 36.0
_FEW = 8
_WORDS = 12
_ROW = 19.0


def gap_figures(
    rows: Sequence[GapRow], values: Mapping[tuple[str, StrideAxis, str], list[float]]
) -> Iterator[Figure]:
    """Draw the score gaps, one figure for each scorer.

    Args:
        rows: Rows of ``score_gaps``.
        values: The gaps, by scorer, axis and source.

    Yields:
        Figures ``gaps_1``, ``gaps_2`` …: violins with the middle half and the median.
    """
    for number, scorer in enumerate(dict.fromkeys(row.scorer for row in rows), 1):
        own = [row for row in rows if row.scorer == scorer and row.n]
        if not own:
            continue
        found = {(r.axis, r.source): values[scorer, r.axis, r.source] for r in own}
        yield Figure(
            name=f"gaps_{number}",
            title=f"Score gaps, original minus edited: {scorer}",
            svg=_violins(own, found),
            note="Nearer to zero is better: text alone then tells little. White dot: median; bar: "
            "middle half; the shape covers 98 % of the pairs."
            + (f" Shaded: gaps of at most {MAX_GAP:g}." if own[0].unit == NATS else ""),
        )


def _violins(
    rows: Sequence[GapRow], found: Mapping[tuple[StrideAxis, str], Sequence[float]]
) -> str:
    import numpy as np

    axes = [axis for axis in AXES if any(row.axis == axis for row in rows)]
    width = _LEFT + _SLOT * len(axes) + _RIGHT
    ends = [np.quantile(gaps, [0.01, 0.99]) for gaps in found.values()]
    most = float(max(np.abs(ends).max(), 1e-6)) * 1.05
    plot = _HEIGHT - _TOP - _BOTTOM

    def y(gap: float) -> float:
        return _TOP + (most - min(max(gap, -most), most)) / (2 * most) * plot

    parts: list[str] = []
    if rows[0].unit == NATS and most > MAX_GAP:
        parts.append(
            f'<rect x="{_LEFT}" y="{y(MAX_GAP):.1f}" width="{width - _LEFT - _RIGHT}" '
            f'height="{y(-MAX_GAP) - y(MAX_GAP):.1f}" fill="{_BAND}"/>'
        )
    for tick in _ticks(most):
        parts += [
            f'<line x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
            f'stroke="{_SOFT if tick == 0 else _GRID}"/>',
            _text(_LEFT - 8, y(tick) + 4, f"{tick:g}".replace("-", "−"), 11.5, "end", _SOFT),
        ]
    by_cell = {(row.axis, row.source): row for row in rows}
    for place, axis in enumerate(axes):
        middle = _LEFT + (place + 0.5) * _SLOT
        parts.append(_text(middle, _HEIGHT - 20, axis.replace("_", " "), 13))
        here = [source for source in (DRAFTED, NAIVE) if (axis, source) in by_cell]
        for at, source in enumerate(here):
            row = by_cell[axis, source]
            x = middle + (2 * at + 1 - len(here)) * (_HALF + 6)
            parts += _violin(found[axis, source], x, y, _COLOURS[source])
            of = f" of {row.n + row.unscored}" if row.unscored else ""
            parts.append(_text(x, _HEIGHT - 4, f"n {row.n}{of}", 11, colour=_SOFT))
    unit = f'<g transform="rotate(-90 14 {_TOP + plot / 2})">'
    unit += _text(14, _TOP + plot / 2, f"gap, {rows[0].unit}", 12) + "</g>"
    sources = [s for s in (DRAFTED, NAIVE) if any(row.source == s for row in rows)]
    return _svg(width, _HEIGHT, [*parts, unit, *_legend(sources)], "Score gaps by axis")


def _violin(
    gaps: Sequence[float], x: float, at: Callable[[float], float], colour: str
) -> list[str]:
    import numpy as np
    from scipy.stats import gaussian_kde

    points = np.asarray(gaps, dtype=float)
    low, first, middle, third, high = np.quantile(points, [0.01, 0.25, 0.5, 0.75, 0.99])
    parts: list[str] = []
    if len(points) >= _FEW and points.std() > 0:
        heights = np.linspace(low, high, 61) if high > low else np.array([low, low])
        density = gaussian_kde(points)(heights)
        wide = density / max(float(density.max()), 1e-12) * _HALF
        right = [f"{x + w:.1f},{at(h):.1f}" for h, w in zip(heights, wide, strict=True)]
        left = [f"{x - w:.1f},{at(h):.1f}" for h, w in zip(heights, wide, strict=True)][::-1]
        parts.append(
            f'<polygon points="{" ".join(right + left)}" fill="{colour}" fill-opacity="0.32" '
            f'stroke="{colour}"/>'
        )
    else:
        parts += [
            f'<circle cx="{x:.1f}" cy="{at(float(g)):.1f}" r="3" fill="{colour}"/>' for g in points
        ]
    tall = max(at(float(first)) - at(float(third)), 1.5)
    parts += [
        f'<rect x="{x - 4:.1f}" y="{at(float(third)):.1f}" width="8" height="{tall:.1f}" rx="2" '
        f'fill="{colour}"/>',
        f'<circle cx="{x:.1f}" cy="{at(float(middle)):.1f}" r="3.2" fill="#fff" '
        f'stroke="{colour}"/>',
    ]
    return parts


def word_figure(rows: Sequence[WordRow], pairs: Mapping[StrideAxis, int]) -> Figure | None:
    """Draw for each axis the words whose number differs most between captions and edits.

    Args:
        rows: Rows of ``word_rows``.
        pairs: Number of pairs by axis.

    Returns:
        The figure ``words``; None where there are no pairs.
    """
    axes = [axis for axis in AXES if pairs.get(axis)]
    if not axes:
        return None
    panel, tall = 370.0, 24 + _ROW * _WORDS + 26
    across = min(len(axes), 2)
    height = _TOP + tall * -(-len(axes) // across) - 12
    parts: list[str] = []
    for place, axis in enumerate(axes):
        own = sorted(
            (r for r in rows if r.axis == axis),
            key=lambda r: (-abs(r.difference), -(r.original + r.edited), r.word),
        )[:_WORDS]
        left, head = place % across * panel, _TOP + place // across * tall
        most = max(max(r.original, r.edited) for r in own) or 1
        parts.append(
            _text(
                left + 96, head + 8, f"{axis.replace('_', ' ')}, {pairs[axis]} pairs", 13, "start"
            )
        )
        for k, row in enumerate(own):
            top = head + 24 + k * _ROW
            parts.append(_text(left + 90, top + 10, row.word, 12, "end"))
            for count, source, dy in ((row.original, DRAFTED, 0), (row.edited, NAIVE, 7)):
                long = count / most * (panel - 150)
                parts.append(
                    f'<rect x="{left + 96:.1f}" y="{top + dy:.1f}" width="{max(long, 0.5):.1f}" '
                    f'height="6.5" fill="{_COLOURS[source]}"/>'
                )
            share = f"{row.difference:+.0%}".replace("-", "−")
            share = "0%" if share[1:] == "0%" else share
            parts.append(_text(left + panel - 8, top + 10, share, 11, "end", _SOFT))
    names = {DRAFTED: "captions", NAIVE: "edited captions"}
    svg = _svg(panel * across, height, [*parts, *_legend([DRAFTED, NAIVE], names)], "Words")
    return Figure(
        name="words",
        title="Words that captions and edits do not share evenly",
        svg=svg,
        note="Captions that have the word, once each; beside it the difference as a share of the "
        "pairs. Far from 0 %, the word alone tells the original from the edit.",
    )


def _ticks(most: float) -> list[float]:
    step = next(s * 10.0**e for e in range(-6, 7) for s in (1, 2, 5) if most / (s * 10.0**e) <= 3.2)
    count = int(most / step)
    return [round(k * step, 10) for k in range(-count, count + 1)]


def _legend(sources: Sequence[str], names: Mapping[str, str] = _NAMES) -> list[str]:
    parts, x = [], _LEFT
    for source in sources:
        parts += [
            f'<rect x="{x:.0f}" y="12" width="12" height="12" rx="2" fill="{_COLOURS[source]}"/>',
            _text(x + 18, 22, names[source], 12.5, "start"),
        ]
        x += 40 + 7.4 * len(names[source])
    return parts


def _text(
    x: float, y: float, words: str, size: float, anchor: str = "middle", colour: str = _INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def _svg(width: float, height: float, parts: Sequence[str], label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(label)}" '
        f'font-family="system-ui, sans-serif"><rect width="{width:.0f}" height="{height:.0f}" '
        f'fill="#ffffff"/>{"".join(parts)}</svg>'
    )
