"""A report as a flat CSV and as a LaTeX table in the shape papers print."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agreement.coefficient import Coefficient
from corpus.cells import no_formula

if TYPE_CHECKING:
    from agreement.report import Report

COLUMNS = (
    "check",
    "stratum",
    "coefficient",
    "params",
    "value",
    "ci_low",
    "ci_high",
    "method",
    "n",
    "reason",
    "simulated",
)
"""Columns of the CSV; empty cells are undefined."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def to_csv(report: Report) -> str:
    """Write every coefficient, of the whole and of each stratum, one to a row.

    Args:
        report: The report.

    Returns:
        CSV text with a header line. Numbers have full precision.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    simulated = "yes" if report.simulated_raters else "no"
    for check, stratum, row in _rows(report):
        low, high = row.ci if row.ci is not None else ("", "")
        writer.writerow(
            [
                check,
                no_formula(" x ".join(stratum.values())),
                row.coefficient,
                json.dumps(row.params, ensure_ascii=False) if row.params else "",
                "" if row.value is None else row.value,
                low,
                high,
                row.method or "",
                row.n,
                row.reason or "",
                simulated,
            ]
        )
    return out.getvalue()


def to_latex(report: Report) -> str:
    """Write one table for the paper: a row per check, intervals beside the values.

    Args:
        report: The report.

    Returns:
        A ``tabular`` for the ``booktabs`` package, under a comment on how it was made.
    """
    lines = [f"% {' '.join(report.methods.split())}"]
    if report.simulated_raters:
        lines.append("% SIMULATED raters: not to be printed as people's agreement.")
    lines += [
        r"\begin{tabular}{lrrlll}",
        r"\toprule",
        r"Check & Items & Agreement & Fleiss' $\kappa$ & Krippendorff's $\alpha$ & AC \\",
        r"\midrule",
    ]
    for check in report.checks:
        by_name = {row.coefficient: row for row in check.headline}
        percent = by_name.get("percent_agreement")
        ac = by_name.get("gwet_ac1", by_name.get("gwet_ac2"))
        share = "--" if percent is None or percent.value is None else f"{100 * percent.value:.1f}"
        cells = [
            escape_latex(check.analysis.axis.name),
            str(check.analysis.n_pairable),
            share if share == "--" else share + r"\%",
            _cell(by_name.get("fleiss_kappa")),
            _cell(by_name.get("krippendorff_alpha")),
            _cell(ac),
        ]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _rows(report: Report) -> Iterator[tuple[str, dict[str, str], Coefficient]]:
    for check in report.checks:
        name = check.analysis.axis.name
        for row in check.analysis.coefficients:
            yield name, {}, row
        for group in check.groups:
            for row in group.coefficients:
                yield name, group.stratum, row


def _cell(row: Coefficient | None) -> str:
    if row is None or row.value is None:
        return "--"
    if row.ci is None:
        return f"${row.value:.2f}$"
    return f"${row.value:.2f}$ $[{row.ci[0]:.2f}, {row.ci[1]:.2f}]$"


def escape_latex(text: str) -> str:
    """Write a name so that LaTeX prints it, on one line."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))
