"""The three panels of Figure 2 of MRBench as SVG, for one corpus or several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from construction.mrbench.statistics import CorpusStatistics
from construction.report import Figure

_COLOURS = ("#1f4e79", "#c8641e", "#2e7d5b", "#8c4a8c", "#5c6b7a", "#b8860b")
_WIDTH, _HEIGHT = 640.0, 352.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 20.0, 52.0, 52.0
_INK, _SOFT, _GRID = "#1d2733", "#5c6b7a", "#dde3e9"
_LONGEST_NAME = 24


def statistics_figures(corpora: Mapping[str, CorpusStatistics]) -> Iterator[Figure]:
    """Draw the panels.

    Args:
        corpora: Statistics by the name of their corpus, at least one; six colours, then they
            repeat.

    Yields:
        Figures ``categories``, ``lengths`` and ``repetition``.
    """
    yield Figure(
        name="categories",
        title="Share of motions in the most frequent categories",
        svg=_cumulative(corpora),
        note="A curve that rises slowly is a balanced corpus (MRBench, Figure 2 a). "
        "Motions that no rule files are left out: "
        + "; ".join(f"{n}: {s.unfiled} of {s.motions}" for n, s in corpora.items())
        + ".",
    )
    yield Figure(
        name="lengths",
        title="Words of a caption",
        svg=_lengths(corpora),
        note="Box: middle half; line: 5 % to 95 %; white dot: median (Figure 2 b).",
    )
    yield Figure(
        name="repetition",
        title="Repeated captions",
        svg=_repetition(corpora),
        note="Captions whose exact text at least three motions share, and queries whose text also "
        "describes another motion, before and after mirrored pairs are merged (Figure 2 c).",
    )


def _cumulative(corpora: Mapping[str, CorpusStatistics]) -> str:
    widest = max((len(s.cumulative) for s in corpora.values()), default=0) or 1
    parts = [*_shares_axis(), _label(_LEFT + _plot_width() / 2, _HEIGHT - 12, "categories, k")]
    for k in _ticks(widest):
        x = _LEFT + k / widest * _plot_width()
        parts.append(_label(x, _HEIGHT - _BOTTOM + 18, f"{k:g}", small=True))
    for number, stats in enumerate(corpora.values()):
        points = [(0.0, 0.0), *((k, s) for k, s in enumerate(stats.cumulative, start=1))]
        path = " ".join(
            f"{_LEFT + k / widest * _plot_width():.1f},{_up(share):.1f}" for k, share in points
        )
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" '
            'stroke-width="2.5" stroke-linejoin="round"/>'
        )
    return _svg("Cumulative share of motions by number of categories", parts, list(corpora))


def _lengths(corpora: Mapping[str, CorpusStatistics]) -> str:
    boxes = [
        (number, name if kind == "all" else kind, lengths)
        for number, (name, stats) in enumerate(corpora.items())
        for kind, lengths in stats.lengths.items()
    ]
    most = max((box[2].quantiles["0.95"] for box in boxes), default=1.0) * 1.08 or 1.0
    parts: list[str] = []
    for tick in (0, *_ticks(most)):
        y = _up(tick / most)
        parts += [_rule(y), _label(_LEFT - 8, y + 4, f"{tick:g}", anchor="end", small=True)]
    slot = _plot_width() / max(len(boxes), 1)
    half = min(26.0, slot * 0.3)
    for at, (number, name, lengths) in enumerate(boxes):
        x = _LEFT + (at + 0.5) * slot
        low, first, middle, third, high = (_up(q / most) for q in lengths.quantiles.values())
        colour = _colour(number)
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" '
            f'stroke="{colour}" stroke-width="2"/>',
            f'<rect x="{x - half:.1f}" y="{third:.1f}" width="{2 * half:.1f}" '
            f'height="{max(first - third, 1.5):.1f}" rx="3" fill="{colour}"/>',
            f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="4.5" fill="#fff" '
            f'stroke="{colour}" stroke-width="1.5"/>',
            _label(x, _HEIGHT - _BOTTOM + 18, _short(name), small=True),
            _label(x, _HEIGHT - _BOTTOM + 34, f"median {lengths.quantiles['0.5']:g}", small=True),
        ]
    return _svg("Words of a caption", parts, list(corpora))


def _repetition(corpora: Mapping[str, CorpusStatistics]) -> str:
    kinds = ("shared by ≥ 3 motions", "query fits another", "the same, twins merged")
    parts = list(_shares_axis())
    slot = _plot_width() / len(kinds)
    wide = min(48.0, slot * 0.8 / max(len(corpora), 1))
    for at, kind in enumerate(kinds):
        middle = _LEFT + (at + 0.5) * slot
        parts.append(_label(middle, _HEIGHT - _BOTTOM + 18, kind, small=True))
        for number, stats in enumerate(corpora.values()):
            share = (stats.repeated, stats.ambiguous, stats.ambiguous_merged)[at]
            if share is None:
                continue
            x = middle + (number - len(corpora) / 2) * wide
            parts += [
                f'<rect x="{x + 2:.1f}" y="{_up(share):.1f}" width="{wide - 4:.1f}" '
                f'height="{_up(0) - _up(share):.1f}" fill="{_colour(number)}"/>',
                _label(x + wide / 2, _up(share) - 5, f"{share:.1%}", small=True),
            ]
    return _svg("Share of repeated captions", parts, list(corpora))


def _svg(title: str, parts: Sequence[str], names: Sequence[str]) -> str:
    legend = []
    x = _LEFT
    for number, name in enumerate(names):
        said = _short(name)
        legend.append(
            f'<rect x="{x:.1f}" y="12" width="12" height="12" rx="2" fill="{_colour(number)}"/>'
        )
        legend.append(_label(x + 18, 23, said, anchor="start"))
        x += 40 + 7.5 * len(said)
    width = max(_WIDTH, x + _RIGHT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {_HEIGHT:.0f}" '
        f'role="img" aria-label="{escape(title)}" '
        'font-family="system-ui, Segoe UI, Roboto, Arial, sans-serif">'
        f'<rect width="{width:.0f}" height="{_HEIGHT:.0f}" fill="#fff"/>'
        f"{''.join(legend)}{''.join(parts)}</svg>"
    )


def _shares_axis() -> Iterator[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _rule(_up(share))
        yield _label(_LEFT - 8, _up(share) + 4, f"{share:.0%}", anchor="end", small=True)


def _rule(y: float) -> str:
    return (
        f'<line x1="{_LEFT:.1f}" x2="{_WIDTH - _RIGHT:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
        f'stroke="{_GRID}"/>'
    )


def _label(x: float, y: float, text: str, anchor: str = "middle", *, small: bool = False) -> str:
    size, colour = (11, _SOFT) if small else (13, _INK)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _up(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _plot_width() -> float:
    return _WIDTH - _LEFT - _RIGHT


def _ticks(most: float) -> list[float]:
    """Return about five round numbers up to a largest one."""
    steps = (base * 10**power for power in range(12) for base in (1, 2, 5))
    step = next(each for each in steps if most / each < 7)
    return [float(step * k) for k in range(1, int(most / step) + 1)]


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
