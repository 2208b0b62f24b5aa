"""The report as one self-contained HTML page: no script, no file beside it, nothing fetched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import Environment

    from agreement.coefficient import Coefficient
    from agreement.report import CheckReport, Group, Report

TEMPLATE = "report.html.j2"
SHADES = ("#1f4e79", "#4a86b8", "#9cc3e0", "#e8c07d", "#d08a3e", "#a1521f", "#7a7a7a", "#b9b9b9")
"""Colours of labels, in the order of the domain; they repeat beyond eight."""


def render_html(report: Report, *, thumbnails: Mapping[str, str] | None = None) -> str:
    """Draw a report. Every text from outside is escaped.

    Args:
        report: What to draw.
        thumbnails: By item: a picture as a data URI, shown beside disputed items.

    Returns:
        A complete HTML document.
    """
    from agreement.registry import TITLES, describe

    return (
        page_environment()
        .get_template(TEMPLATE)
        .render(
            report=report,
            thumbnails=dict(thumbnails or {}),
            longest=max((time.upper_quartile for time in report.times), default=0.0),
            titles=TITLES,
            describe=describe,
            shades=SHADES,
            pair_kappa=_pair_kappa,
            by_names=_by_names,
            short=_short,
            shown_in_forest=_shown_in_forest,
        )
    )


def page_environment() -> Environment:
    """Set up the templates of all pages.

    Returns:
        An environment that escapes text and refuses unknown names.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        link=_safe_link,
        number=_number,
        percent=_percent,
        axis_x=_axis_x,
        heat=_heat,
        plain=_plain_reason,
    )
    return environment


def _safe_link(address: str | None) -> str | None:
    """Keep an address that leads to a page or a file; drop one that would run a script."""
    scheme, colon, _ = (address or "").strip().partition(":")
    if colon and "/" not in scheme and scheme.lower() not in ("http", "https"):
        return None
    return address


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:z.3f}".replace("-", "−")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _axis_x(value: float, low: float = -0.2, width: float = 180.0) -> float:
    """Place a coefficient on an axis from ``low`` to 1, clipped at its left end."""
    return round((max(value, low) - low) / (1.0 - low) * width, 1)


def _heat(count: int, largest: int) -> str:
    """Background of a cell by its share of the largest cell."""
    return f"rgba(31,78,121,{0.85 * count / largest:.3f})" if largest else "transparent"


def _plain_reason(reason: str | None) -> str:
    return {
        None: "",
        "no_variation": "undefined: no variation",
        "no_pairable_items": "undefined: no item with two ratings",
        "single_rater": "undefined: one rater",
        "constant_input": "undefined: one side is constant",
        "too_few": "undefined: too few items",
        "not_numeric": "undefined: verdicts in words; name the one that counts as 1",
    }[reason]


def _pair_kappa(check: CheckReport, first: int, second: int) -> Coefficient | None:
    """Cohen's kappa of a pair: quadratic on ordered axes, plain on nominal ones."""
    wanted: dict[str, Any] = {"raters": [first, second]}
    if check.analysis.axis.level != "nominal":
        wanted = {**wanted, "weights": "quadratic"}
    return check.analysis.find("cohen_kappa", **wanted)


def _by_names(groups: Sequence[Group]) -> list[tuple[str, list[Group]]]:
    """Put groups under the names of what they are broken down by."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(" × ".join(group.stratum), []).append(group)
    return list(found.items())


def _shown_in_forest(check: CheckReport) -> int:
    """Position of the coefficient drawn for strata: kappa on nominal axes, else alpha."""
    few = len(check.headline) == 1
    return 0 if few else 1 if check.analysis.axis.level == "nominal" else 2


def _short(coefficient: str) -> str:
    """Name a coefficient where there is little room."""
    return {
        "percent_agreement": "Agreement",
        "fleiss_kappa": "Fleiss’ κ",
        "krippendorff_alpha": "α",
        "gwet_ac1": "AC1",
        "gwet_ac2": "AC2",
    }[coefficient]
