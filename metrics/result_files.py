"""A result as CSV, as LaTeX tables in the shape papers print, and as one HTML page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from agreement.export import escape_latex
from corpus.cells import no_formula
from metrics.results import Cell, Column, Result, ResultTable

TEMPLATE = "result.html.j2"
_ENDS = ("value", "ci_low", "ci_high", "n", "reason")


def to_csv(table: ResultTable) -> str:
    """Write a table one number to a row, in full precision.

    Args:
        table: The table.

    Returns:
        CSV text: the labels, ``group``, ``metric``, ``unit``, ``value``, ``ci_low``, ``ci_high``,
        ``n``, ``reason``. Empty cells are undefined.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.label_names, "group", "metric", "unit", *_ENDS])
    for row in table.rows:
        labels = [no_formula(row.labels.get(name, "")) for name in table.label_names]
        for column in table.columns:
            if (found := row.cells.get(column.name)) is None:
                continue
            low, high = found.ci or ("", "")
            value = "" if found.value is None else found.value
            count = "" if found.n is None else found.n
            metric = column.title or column.name
            writer.writerow(
                [*labels, column.spanner, metric, column.unit, value, low, high, count]
                + [found.reason]
            )
    return out.getvalue()


def to_latex(table: ResultTable, result: Result) -> str:
    """Write a table for a paper: best in bold, second best underlined, within each block.

    Args:
        table: The table.
        result: What it belongs to; named in a comment.

    Returns:
        A ``tabular`` for the ``booktabs`` package. Undefined numbers are dashes.
    """
    names = table.label_names
    places = {column.name: table.places(column) for column in table.columns}
    lines = [
        f"% MotionJury {result.tool_version}, {' '.join(result.suite.split())}, "
        f"item set {result.item_set[:12]}, {result.n_kept} {result.n_unit}",
        rf"\begin{{tabular}}{{{'l' * len(names)}{'r' * len(table.columns)}}}",
        r"\toprule",
        *_latex_spanners(table, len(names)),
        " & ".join([*map(escape_latex, names), *map(_latex_heading, table.columns)]) + r" \\",
        r"\midrule",
    ]
    block = table.rows[0].block if table.rows else ""
    for position, row in enumerate(table.rows):
        if row.block != block:
            block = row.block
            lines.append(r"\midrule")
        cells = [escape_latex(row.labels.get(name, "")) for name in names]
        for column in table.columns:
            place = places[column.name].get(position)
            cells.append(_latex_number(row.cells.get(column.name), column, place))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _latex_spanners(table: ResultTable, labels: int) -> list[str]:
    if not any(column.spanner for column in table.columns):
        return []
    cells = [""] * labels
    rules: list[str] = []
    at = labels + 1
    for name, width in _spans(table):
        title = escape_latex(name).replace("Δ", r"$\Delta$")
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{title}}}")
        if name:
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    return [" & ".join(cells) + r" \\", "".join(rules)]


def _spans(table: ResultTable) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for column in table.columns:
        if found and found[-1][0] == column.spanner:
            found[-1] = (column.spanner, found[-1][1] + 1)
        else:
            found.append((column.spanner, 1))
    return found


def _latex_heading(column: Column) -> str:
    arrow = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", None: ""}[column.better]
    return escape_latex(column.title or column.name).replace("Δ", r"$\Delta$") + arrow


def _latex_number(found: Cell | None, column: Column, place: int | None) -> str:
    if found is None or found.value is None:
        return "--"
    # Text commands leave the font of formulas alone: the mark has to stand inside.
    mark = {1: r"\mathbf{%s}", 2: r"\underline{%s}"}.get(place or 0, "%s")
    number = mark % f"{found.value:z.{column.decimals}f}"
    if found.ci is None:
        return f"${number}$"
    if column.plus_minus:
        half = (found.ci[1] - found.ci[0]) / 2
        return f"${number}^{{\\pm {half:.{column.decimals}f}}}$"
    low, high = (f"{end:z.{column.decimals}f}" for end in found.ci)
    return f"${number}$ $[{low}, {high}]$"


def render_html(result: Result) -> str:
    """Draw a result as one page: no script, no file beside it, every text from outside escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    import agreement.page

    folders = [Path(__file__).parent, Path(agreement.page.__file__).parent]
    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["plain"] = plain_reason
    return environment.get_template(TEMPLATE).render(
        result=result,
        spans=_spans,
        picture=lambda figure: Markup(figure.svg),  # noqa: S704 - drawn and escaped by metrics.plots
        shown=_shown,
    )


def plain_reason(reason: str) -> str:
    """Write a reason for people; codes such as ``bias_is_1`` lose their underscores."""
    return reason if " " in reason else reason.replace("_", " ")


def _number(value: float, decimals: int) -> str:
    return f"{value:z.{decimals}f}".replace("-", "−")


def _shown(value: Any) -> str:
    """Write an option for people."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
