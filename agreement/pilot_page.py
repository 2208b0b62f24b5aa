"""A pilot study as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agreement.page import page_environment

if TYPE_CHECKING:
    from markupsafe import Markup

    from agreement.pilot import Pilot


def render_pilot(pilot: Pilot, *, thumbnails: Mapping[str, str] | None = None) -> str:
    """Draw a pilot study. Every text from outside is escaped.

    Args:
        pilot: What to draw.
        thumbnails: By item: a picture as a data URI.

    Returns:
        A complete HTML document.
    """
    return (
        page_environment()
        .get_template("pilot.html.j2")
        .render(pilot=pilot, thumbnails=dict(thumbnails or {}), levels_plot=_levels_plot)
    )


def _levels_plot(pilot: Pilot) -> Markup:
    """Plot accuracy by confidence: a point, its Wilson interval, the number of answers."""
    from markupsafe import Markup

    calibration = pilot.calibration
    levels = calibration.levels if calibration is not None else ()
    left, top, height, width = 44.0, 12.0, 200.0, 340.0
    first, last = levels[0].confidence, levels[-1].confidence

    def across(confidence: float) -> float:
        share = (confidence - first) / (last - first) if last > first else 0.5
        return round(left + 30 + share * (width - 60), 1)

    def up(share: float) -> float:
        return round(top + (1 - share) * height, 1)

    parts = [
        f'<svg class="plot" viewBox="0 0 {left + width + 10:.0f} {top + height + 48:.0f}" '
        'role="img" aria-label="Accuracy by stated confidence">',
        f'<path class="axis" fill="none" d="M{left} {top}V{top + height}H{left + width}"/>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<line class="tick" x1="{left}" x2="{left + width}" y1="{up(share)}" y2="{up(share)}"'
            f'/><text x="{left - 6}" y="{up(share) + 4}" text-anchor="end">{share:.0%}</text>'
        )
    pooled = pilot.whole.pooled.value
    if pooled is not None:
        parts.append(
            f'<line class="diag" x1="{left}" x2="{left + width}" y1="{up(pooled)}" '
            f'y2="{up(pooled)}"/>'
        )
    line = " ".join(f"{across(lv.confidence)},{up(lv.accuracy)}" for lv in levels)
    parts.append(f'<polyline class="line" points="{line}"/>')
    for lv in levels:
        x = across(lv.confidence)
        parts.append(
            f'<line class="ci" x1="{x}" x2="{x}" y1="{up(lv.wilson[0])}" y2="{up(lv.wilson[1])}"/>'
            f'<circle class="dot" cx="{x}" cy="{up(lv.accuracy)}" r="5"/>'
            f'<text class="name" x="{x}" y="{top + height + 16}" text-anchor="middle">'
            f'{lv.confidence:g}</text><text x="{x}" y="{top + height + 30}" '
            f'text-anchor="middle">{lv.n}</text>'
        )
    parts.append(
        f'<text x="{left + width / 2}" y="{top + height + 45}" text-anchor="middle">'
        "confidence (answers)</text></svg>"
    )
    return Markup("".join(parts))
