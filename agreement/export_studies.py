"""Judge and pilot studies as LaTeX tables in the papers' shape."""

from __future__ import annotations

from agreement.coefficient import Coefficient
from agreement.export import escape_latex
from agreement.judge_page import TABLE5
from agreement.judge_records import JudgeReport, JudgeStudy, Levels
from agreement.pilot import Pilot


def judges_to_latex(study: JudgeStudy) -> str:
    """Write NextMotionQA's Table 5 for each judge, and T2MBench's Table 2 where there are several.

    Args:
        study: The study.

    Returns:
        ``tabular``s for the ``booktabs`` package, under comments on how they were made.
    """
    lines = [_comment(study.methods_text)]
    for report in (study, *study.others):
        lines += [f"% Judge: {' '.join(report.judge.split())}", *_table5(report)]
    chosen = study.selection
    if chosen is not None and len(study.judges) > 1:
        lines += [
            "% Mean absolute difference to the mean of the raters; bold: smallest.",
            rf"\begin{{tabular}}{{l{'r' * len(chosen.dimensions)}}}",
            r"\toprule",
            " & ".join(["Judge", *map(escape_latex, chosen.dimensions)]) + r" \\",
            r"\midrule",
        ]
        for row in chosen.rows:
            cells = [escape_latex(row.judge)]
            for c in row.cells:
                number = _number(c.mean_absolute_difference, 2)
                # \textbf would leave the digits of a formula as they are.
                bold = rf"$\mathbf{{{number.strip('$')}}}$"
                cells.append(bold if c.smallest else number)
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def pilot_to_latex(pilot: Pilot) -> str:
    """Write NextMotionQA's Table 1.

    Args:
        pilot: The study.

    Returns:
        A ``tabular`` for the ``booktabs`` package.
    """
    whole = pilot.whole
    lines = [
        _comment(pilot.methods_text),
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Aggregation & Accuracy (\%) \\",
        r"\midrule",
        f"Per-annotator & {_mean_sd(whole.per_annotator_mean, whole.per_annotator_sd)} \\\\",
    ]
    lines += [
        f"{name} & {_percent(row)} \\\\"
        for name, row in (
            ("Pooled", whole.pooled),
            ("All correct", whole.all_correct),
            ("Either correct", whole.either_correct),
        )
    ]
    lines += [
        f"{escape_latex(part.query_type)} & "
        f"{_mean_sd(part.per_annotator_mean, part.per_annotator_sd)} \\\\"
        for part in pilot.by_query_type
    ]
    kappa = pilot.fleiss_answers or pilot.fleiss_correct
    lines += [
        r"\midrule",
        rf"Fleiss' $\kappa$ & {_number(kappa, 2)} \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)


def _table5(report: JudgeReport) -> list[str]:
    versions = [group for group in report.groups if list(group.stratum) == ["version"]]
    columns: list[Levels] = [*versions] or [report]
    heads = [escape_latex(group.stratum["version"]) for group in versions] or ["All"]
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["Granularity", "Metric", *heads]) + r" \\",
        r"\midrule",
    ]
    symbols = {"Pearson r": "Pearson $r$", "Spearman ρ": r"Spearman $\rho$"}
    symbols["Cohen’s κ"] = r"Cohen's $\kappa$"
    for level, measure, pick in TABLE5:
        values = [_number(pick(column), 3) for column in columns]
        lines.append(" & ".join([level, symbols.get(measure, measure), *values]) + r" \\")
    clips = [str(column.instance.n_clips) for column in columns]
    methods = [str(column.system.n_methods) for column in columns]
    lines += [
        r"\midrule",
        " & ".join(["", r"\# clips", *clips]) + r" \\",
        " & ".join(["", r"\# methods", *methods]) + r" \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return lines


def _number(row: Coefficient, digits: int) -> str:
    return "--" if row.value is None else f"${row.value:.{digits}f}$"


def _percent(row: Coefficient) -> str:
    return "--" if row.value is None else f"{100 * row.value:.1f}"


def _mean_sd(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "--"
    return f"{100 * mean:.1f}" + (rf" $\pm$ {100 * sd:.1f}" if sd is not None else "")


def _comment(text: str) -> str:
    return f"% {' '.join(text.split())}"
