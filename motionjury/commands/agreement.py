"""`agreement table` and `agreement report`: coefficients with intervals, from files or a study."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionjury.commands.agreement_judge import judge_command, pilot_command
from motionjury.options import JsonOption, WorkspaceOption, print_json

if TYPE_CHECKING:
    from agreement.analysis import Analysis
    from agreement.ratings import Ratings
    from agreement.report import Report
    from motionjury.workspace import Workspace

app = typer.Typer()
app.command("judge")(judge_command)
app.command("pilot")(pilot_command)

ResamplesOption = Annotated[int, typer.Option(help="Resamples behind each interval; 0 for none.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the resamples.")]


@app.command("table")
def table_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV, TSV, Parquet, JSONL, Label Studio JSON, Potato folder."
        ),
    ],
    item: Annotated[str, typer.Option(help="Column of item ids.")] = "item",
    rater: Annotated[
        str,
        typer.Option(help="Column of rater ids; with --wide the raters' columns, comma between."),
    ] = "",
    label: Annotated[str, typer.Option(help="Column of labels (long tables).")] = "",
    level: Annotated[str, typer.Option(help="nominal, ordinal, interval or ratio.")] = "nominal",
    categories: Annotated[
        str | None, typer.Option(help="All labels that could be given, in order, comma between.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of the outermost unit that items share.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Column to break the items down by.")] = None,
    wide: Annotated[bool, typer.Option("--wide", help="One column per rater.")] = False,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    html: Annotated[Path | None, typer.Option(help="Write the report here as HTML.")] = None,
) -> None:
    """Agreement on a table of your own.

    Example: `motionjury agreement table ratings.csv --item clip --rater who --label fluent
    --level nominal --categories yes,no --json`
    """
    from agreement.analysis import analyse
    from agreement.files import read_table
    from agreement.tables import ratings_from_table
    from corpus.problems import InputError

    if resamples < 0:
        raise InputError(f"--resamples {resamples}, expected 0 or more")
    if seed < 0:
        raise InputError(f"--seed {seed}, expected 0 or more")
    ratings = ratings_from_table(
        read_table(file),
        item=item,
        rater=rater or (None if wide else "rater"),
        label=label or (None if wide else "label"),
        level=level,
        categories=_split(categories),
        cluster=cluster,
        strata=[by] if by else [],
        wide=wide,
        rater_columns=_split(rater) if wide else (),
    )
    whole = analyse(ratings, resamples=resamples, seed=seed)
    groups: dict[str, Analysis] = {}
    if by:
        column = ratings.strata[by]
        for value in dict.fromkeys(column):
            selected = ratings.select(_mask(column, value))
            groups[value] = analyse(selected, resamples=resamples, seed=seed)
    if html is not None:
        _write_table_report(html, file, ratings, resamples, seed)
    if as_json:
        found = whole_as_json(whole)
        if by:
            found["by"] = {
                "column": by,
                "groups": [{"value": v, **whole_as_json(a)} for v, a in groups.items()],
            }
        print_json(found)
        return
    print_analysis(whole, title=file.name)
    for value, part in groups.items():
        print_analysis(part, title=f"{by} = {value}")
    if html is not None:
        print(f"report written to {html}")


def whole_as_json(analysis: Analysis) -> dict[str, Any]:
    """Put an analysis into the JSON shape that scripts rely on.

    Args:
        analysis: What to write.

    Returns:
        Plain values: counts first, then coefficients, then how they were made.
    """
    from motionjury import __version__

    plain = analysis.model_dump(mode="json")
    first = ("n_items", "n_pairable", "n_ratings", "n_raters", "missing_share", "coefficients")
    return {
        **{key: plain.pop(key) for key in first},
        **plain,
        "tool_version": __version__,
    }


def print_analysis(analysis: Analysis, title: str) -> None:
    """Print the main coefficients of an analysis as a table for people; JSON has them all.

    Args:
        analysis: What to print.
        title: Heading.
    """
    from rich.console import Console
    from rich.table import Table

    from agreement.registry import describe, is_main

    table = Table(title=title, title_justify="left")
    for name in ("coefficient", "value", "95 % interval", "n", "note"):
        table.add_column(name, justify="right" if name in ("value", "n") else "left")
    for row in analysis.coefficients:
        if not is_main(row, analysis):
            continue
        value = "—" if row.value is None else f"{row.value:.3f}"
        span = "" if row.ci is None else f"{row.ci[0]:.3f} … {row.ci[1]:.3f} ({row.method})"
        note = "; ".join([*([row.reason] if row.reason else []), *row.warnings])
        table.add_row(describe(row, analysis), value, span, str(row.n), note)
    share = analysis.missing_share
    console = Console()
    console.print(
        f"{analysis.n_items} items, {analysis.n_pairable} with two ratings or more, "
        f"{analysis.n_raters} raters, {analysis.n_ratings} ratings, "
        f"{'no cells' if share is None else f'{share:.1%}'} missing; "
        f"{analysis.resampling.resamples} resamples of {analysis.resampling.n_units} "
        f"{analysis.resampling.unit}s, seed {analysis.resampling.seed}"
    )
    console.print(table)
    for warning in analysis.warnings:
        console.print(f"note: {warning}", style="yellow", highlight=False)


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _mask(column: tuple[str, ...], value: str) -> Any:
    import numpy as np

    return np.array([entry == value for entry in column])


def _write_table_report(
    out: Path, source: Path, ratings: Ratings, resamples: int, seed: int
) -> None:
    from agreement.report import build_report, render_html
    from motionjury import __version__

    report = build_report(
        [ratings],
        title=source.name,
        tool_version=__version__,
        resamples=resamples,
        seed=seed,
    )
    write_text(out, render_html(report))


def write_text(path: Path, text: str) -> None:
    """Write a file, making its folder.

    Raises:
        InputError: The place cannot be written.
    """
    from corpus.problems import InputError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


@app.command("report")
def report_command(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Name or id of the study.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; by default in the workspace.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report the agreement of a study's experts, check by check: HTML, JSON, CSV, LaTeX.

    Example: `motionjury agreement report my-study --json`
    """
    from agreement.export import to_csv, to_latex
    from agreement.report import render_html
    from motionjury.workspace import open_workspace

    opened = open_workspace(workspace)
    report = study_report(opened, study, resamples=resamples, seed=seed)
    folder = out or opened.reports_dir / re.sub(r"[^\w.-]+", "-", report.title).strip("-")
    text = report.model_dump_json(indent=2)
    write_text(folder / "report.html", render_html(report))
    write_text(folder / "report.json", text + "\n")
    write_text(folder / "coefficients.csv", to_csv(report))
    write_text(folder / "table.tex", to_latex(report))
    if as_json:
        print(text)
        return
    if report.simulated_raters:
        print(f"SIMULATED raters: {', '.join(report.simulated_raters)}")
    for check in report.checks:
        print_analysis(check.analysis, title=check.analysis.axis.name)
    print(f"report written to {folder / 'report.html'}; JSON, CSV and LaTeX lie beside it")


def study_report(workspace: Workspace, study: str, *, resamples: int, seed: int) -> Report:
    """Compute the report of a study.

    Args:
        workspace: An open workspace.
        study: Name or id of the study.
        resamples: Resamples behind each interval.
        seed: Seed of the resamples.

    Returns:
        The report, raters anonymous.

    Raises:
        InputError: No such study, or no label in it yet.
    """
    from agreement.ratings import natural_key
    from agreement.report import build_report
    from agreement.tables import ratings_by_axis
    from audit.ratings import study_ratings
    from audit.records import get_study
    from corpus.problems import InputError
    from motionjury import __version__

    with workspace.db.read() as session:
        found = get_study(session, study)
        rows = study_ratings(session, found.id)
    if not rows:
        raise InputError(f"study {found.name!r} has no labels yet")
    simulated = {row.rater for row in rows if row.simulated}
    return build_report(
        ratings_by_axis(rows),
        title=found.name,
        meta={"protocol": f"{found.protocol} {found.protocol_version}", "study": found.state},
        tool_version=__version__,
        simulated_raters=sorted(simulated, key=natural_key),
        resamples=resamples,
        seed=seed,
    )
