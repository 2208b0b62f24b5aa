"""`agreement judge`: judges against people, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.options import JsonOption
from motionjury.writing import write_text

if TYPE_CHECKING:
    from agreement.coefficient import Coefficient
    from agreement.judge_records import JudgeReport, JudgeStudy

ResamplesOption = Annotated[int, typer.Option(help="Resamples behind each interval; 0 for none.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the resamples.")]
LatexOption = Annotated[Path | None, typer.Option(help="Write the paper's table here as LaTeX.")]
HtmlOption = Annotated[Path | None, typer.Option(help="Write the report here as HTML.")]
FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet or JSONL, one row per score.")
]


def judge_command(
    file: FileArgument,
    clip: Annotated[str, typer.Option(help="Column of clips, or of prompts.")] = "clip",
    human: Annotated[
        str, typer.Option(help="Column of people's scores; one per rater, comma between.")
    ] = "human",
    judge: Annotated[
        str, typer.Option(help="Column of the judge's scores; several judges, comma between.")
    ] = "judge",
    method: Annotated[
        str | None,
        typer.Option(help="Column of the rated systems; `method` where there is one."),
    ] = None,
    rater: Annotated[
        str | None, typer.Option(help="Column of rater ids, where each rater has a row.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="Column of questions or dimensions, e.g. realism.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="Column of versions, e.g. V1.")] = None,
    axis: Annotated[str | None, typer.Option(help="Column of axes.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Column of difficulties.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of what clips share, e.g. the prompt.")
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="Verdicts in words: all of them, in order, comma between.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Verdict that counts as 1, e.g. yes; others count as 0.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    html: HtmlOption = None,
    latex: LatexOption = None,
) -> None:
    """Compare a judge with people: clip by clip, question by question, system by system.

    Example: motionjury agreement judge scores.csv --method method --clip clip --human h1,h2,h3
    --judge gemini,gpt --question question --version version --json
    """
    from agreement.files import read_table
    from agreement.judge_table import JudgeColumns, read_scores
    from agreement.judges import study_judges
    from motionjury import __version__

    check_resampling(resamples, seed)
    table = read_table(file)
    if method is None and "method" in table.columns:
        method = "method"
    strata = (("version", version), ("axis", axis), ("difficulty", difficulty))
    scores = read_scores(
        table,
        JudgeColumns(
            clip=clip,
            human=_names(human, "--human"),
            judge=_names(judge, "--judge"),
            method=method,
            rater=rater,
            question=question,
            cluster=cluster,
            strata=tuple((name, column) for name, column in strata if column is not None),
        ),
        categories=[part.strip() for part in categories.split(",")] if categories else [],
        positive=positive,
    )
    study = study_judges(
        scores, title=file.name, tool_version=__version__, resamples=resamples, seed=seed
    )
    if html is not None:
        from agreement.judge_page import render_judges

        write_text(html, render_judges(study))
    if latex is not None:
        from agreement.export_studies import judges_to_latex

        write_text(latex, judges_to_latex(study))
    if as_json:
        print(study.model_dump_json(indent=2))
        return
    _print_study(study)
    say_written(html, latex)


def say_written(*files: Path | None) -> None:
    """Name the files that were written; None stands for one that was not asked for."""
    for file in files:
        if file is not None:
            print(f"written to {file}")


def check_resampling(resamples: int, seed: int) -> None:
    """Refuse a negative number of resamples or seed.

    Raises:
        InputError: One of them is negative.
    """
    from corpus.problems import InputError

    if resamples < 0:
        raise InputError(f"--resamples {resamples}, expected 0 or more")
    if seed < 0:
        raise InputError(f"--seed {seed}, expected 0 or more")


def _names(text: str, option: str) -> tuple[str, ...]:
    from corpus.problems import InputError

    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names or len(set(names)) != len(names):
        raise InputError(f"{option} {text!r}, expected one or more different columns")
    return names


def _print_study(study: JudgeStudy) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for report in (study, *study.others):
        table = Table(title=f"{study.title}: {report.judge}", title_justify="left")
        for name in ("level", "measure", "value", "95 % interval", "people", "n", "note"):
            table.add_column(name, justify="right" if name in ("value", "n", "people") else "left")
        for level, measure, row, people in judge_rows(report):
            span = "" if row.ci is None else f"{row.ci[0]:.3f} … {row.ci[1]:.3f}"
            note = "; ".join([*([row.reason] if row.reason else []), *row.warnings])
            if level == "system" and report.system.p is not None:
                note = "; ".join([f"exact p {report.system.p:.3f}", *([note] if note else [])])
            table.add_row(level, measure, _value(row), span, _value(people), str(row.n), note)
        console.print(table)
        for warning in report.warnings:
            console.print(f"note: {warning}", style="yellow", highlight=False)
        for reason, n in report.dropped.items():
            console.print(f"note: {n} rows left out: {reason}", style="yellow", highlight=False)
    if study.selection is not None and len(study.judges) > 1:
        console.print("mean absolute difference to the mean of the raters, smallest marked *")
        table = Table()
        for name in ("judge", *study.selection.dimensions):
            table.add_column(name, justify="left" if name == "judge" else "right")
        for judge in study.selection.rows:
            cells = [
                _value(c.mean_absolute_difference) + ("*" if c.smallest else "")
                for c in judge.cells
            ]
            table.add_row(judge.judge, *cells)
        console.print(table)
    for text in study.notes:
        console.print(f"note: {text}", style="yellow", highlight=False)


def judge_rows(
    report: JudgeReport,
) -> list[tuple[str, str, Coefficient, Coefficient | None]]:
    """List what a short table of a judge shows.

    Args:
        report: The judge.

    Returns:
        Level, measure, the judge's value, and the human ceiling where there is one.
    """
    people = {row.measure: row.human for row in report.ceiling.rows} if report.ceiling else {}
    level, question = report.instance, report.question
    rows = [
        ("instance", "Pearson r", level.pearson_r, people.get("instance_pearson_r")),
        ("instance", "Spearman ρ", level.spearman_rho, people.get("instance_spearman_rho")),
    ]
    if level.within_method is not None:
        rows.append(("instance", "r within method", level.within_method.pearson_r, None))
    rows += [
        ("instance", "mean bias", level.mean_bias, None),
        ("question", "accuracy", question.accuracy, people.get("question_accuracy")),
        ("question", "Cohen’s κ", question.cohen_kappa, people.get("question_cohen_kappa")),
        *(
            ("question", f"says {c.label!r} when people do", c.recall, None)
            for c in (question.classes if len(question.classes) == 2 else ())
        ),
        ("system", "Pearson r", report.system.pearson_r, people.get("system_pearson_r")),
    ]
    return rows


def _value(row: Coefficient | None) -> str:
    if row is None:
        return ""
    return "—" if row.value is None else f"{row.value:.3f}"
