"""A judge study as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agreement.page import page_environment

if TYPE_CHECKING:
    from markupsafe import Markup

    from agreement.ceiling import CeilingRow
    from agreement.coefficient import Coefficient
    from agreement.judge_records import JudgeReport, JudgeStudy, LevelGroup, Levels, MethodValue

TABLE5: tuple[tuple[str, str, Callable[[Levels], Coefficient]], ...] = (
    ("Instance", "Pearson r", lambda g: g.instance.pearson_r),
    ("Instance", "Spearman ρ", lambda g: g.instance.spearman_rho),
    ("Question", "Accuracy", lambda g: g.question.accuracy),
    ("Question", "Cohen’s κ", lambda g: g.question.cohen_kappa),
    ("System", "Pearson r", lambda g: g.system.pearson_r),
)
"""Rows of NextMotionQA's Table 5."""
CEILING_OF = (
    "instance_pearson_r",
    "instance_spearman_rho",
    "question_accuracy",
    "question_cohen_kappa",
    "system_pearson_r",
)
"""The ceiling's measure of each row."""


def render_judges(study: JudgeStudy) -> str:
    """Draw a judge study. Every text from outside is escaped.

    Args:
        study: What to draw.

    Returns:
        A complete HTML document.
    """
    environment = page_environment()
    environment.filters["signed"] = _signed
    return environment.get_template("judge.html.j2").render(
        study=study,
        table5=TABLE5,
        level_rows=_level_rows,
        ceilings=_ceilings,
        versions=_versions,
        within=_within,
        scatter=_scatter,
    )


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def _level_rows(report: JudgeReport) -> list[tuple[str, str, Coefficient, str]]:
    rows = [
        (level, measure, pick(report), key)
        for (level, measure, pick), key in zip(TABLE5, CEILING_OF, strict=True)
    ]
    if report.instance.within_method is not None and report.system.n_methods > 1:
        inside = report.instance.within_method
        rows[2:2] = [
            ("Instance", "Pearson r within methods", inside.pearson_r, ""),
            ("Instance", "Spearman ρ within methods", inside.spearman_rho, ""),
        ]
    if report.question.cohen_kappa_quadratic is not None:
        at = next(i for i, row in enumerate(rows) if row[0] == "System")
        rows.insert(
            at, ("Question", "κ, quadratic weights", report.question.cohen_kappa_quadratic, "")
        )
    return rows


def _ceilings(report: JudgeReport) -> dict[str, CeilingRow]:
    return {row.measure: row for row in report.ceiling.rows} if report.ceiling else {}


def _versions(report: JudgeReport) -> list[tuple[str, list[LevelGroup]]]:
    found: dict[str, list[LevelGroup]] = {}
    for group in report.groups:
        found.setdefault(" × ".join(group.stratum), []).append(group)
    return list(found.items())


def _within(report: JudgeReport, method: str) -> MethodValue:
    inside = report.instance.within_method
    return next(found for found in (inside.by_method if inside else ()) if found.method == method)


def _scatter(report: JudgeReport) -> Markup:
    """Plot method means, people across and the judge upward, numbered as in the table below."""
    from markupsafe import Markup, escape

    methods = report.system.methods
    values = [v for m in methods for v in (m.human, m.judge)]
    low, high = min(values), max(values)
    margin = 0.08 * (high - low) or 0.5
    low, high = low - margin, high + margin
    left, top, size = 46.0, 10.0, 300.0

    def across(value: float) -> float:
        return round(left + (value - low) / (high - low) * size, 1)

    def up(value: float) -> float:
        return round(top + (high - value) / (high - low) * size, 1)

    parts = [
        f'<svg class="plot" viewBox="0 0 430 {top + size + 42:.0f}" role="img" '
        'aria-label="Method means of people and judge">',
        f'<path class="axis" fill="none" d="M{left} {top}V{top + size}H{left + size}"/>',
        f'<line class="diag" x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}"/>',
    ]
    for step in range(5):
        value = low + (high - low) * (step + 0.5) / 5
        parts.append(
            f'<text x="{across(value)}" y="{top + size + 15}" text-anchor="middle">{value:.2f}'
            f'</text><text x="{left - 6}" y="{up(value) + 4}" text-anchor="end">{value:.2f}</text>'
        )
    for number, m in enumerate(methods, start=1):
        x, y = across(m.human), up(m.judge)
        parts.append(
            f'<circle class="dot" cx="{x}" cy="{y}" r="8"><title>{escape(m.method)}</title>'
            f'</circle><text class="number" x="{x}" y="{y + 3.5:.1f}" text-anchor="middle">'
            f"{number}</text>"
        )
    parts.append(
        f'<text x="{left + size / 2}" y="{top + size + 34}" text-anchor="middle">people</text>'
        f'<text x="12" y="{top + size / 2}" text-anchor="middle" '
        f'transform="rotate(-90 12 {top + size / 2})">judge</text></svg>'
    )
    return Markup("".join(parts))
