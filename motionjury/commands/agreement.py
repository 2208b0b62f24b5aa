"""`agreement table`, and the group it belongs to: coefficients with intervals from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionjury.commands.agreement_judge import (
    ResamplesOption,
    SeedOption,
    check_resampling,
    judge_command,
)
from motionjury.commands.agreement_pilot import pilot_command
from motionjury.commands.agreement_report import report_command
from motionjury.options import JsonOption, print_json
from motionjury.writing import write_text

if TYPE_CHECKING:
    from agreement.analysis import Analysis
    from agreement.ratings import Ratings

app = typer.Typer()
app.command("judge")(judge_command)
app.command("pilot")(pilot_command)
app.command("report")(report_command)


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

    Example: motionjury agreement table ratings.csv --item clip --rater who --label fluent
    --level nominal --categories yes,no --json
    """
    from agreement.analysis import analyse
    from agreement.files import read_table
    from agreement.tables import ratings_from_table

    check_resampling(resamples, seed)
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
    from rich.markup import escape
    from rich.table import Table

    from agreement.registry import describe, is_main

    table = Table()
    for name in ("coefficient", "value", "95 % interval", "n", "note"):
        table.add_column(name, justify="right" if name in ("value", "n") else "left")
    for row in analysis.coefficients:
        if not is_main(row, analysis):
            continue
        value = "—" if row.value is None else f"{row.value:z.3f}"
        span = "" if row.ci is None else f"{row.ci[0]:z.3f} … {row.ci[1]:z.3f} ({row.method})"
        note = "; ".join([*([row.reason] if row.reason else []), *row.warnings])
        table.add_row(describe(row, analysis), value, span, str(row.n), note)
    share = analysis.missing_share
    console = Console()
    console.print(f"\n[bold]{escape(title)}[/bold]", highlight=False)
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
