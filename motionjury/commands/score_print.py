"""Results of the group `score` on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from metrics.results import Cell, Column, Result, ResultTable


def print_result(result: Result, page: Path | None) -> None:
    """Print the tables of a result, what was dropped and where the files lie.

    Args:
        result: What to print.
        page: The page that was written; None where nothing was.
    """
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for table in result.tables:
        console.print(f"\n[bold]{escape(table.title)}[/bold]", highlight=False)
        if table.note:
            console.print(table.note, style="dim", highlight=False, markup=False)
        for spanner in dict.fromkeys(column.spanner for column in table.columns):
            console.print(_drawn(table, spanner))
        reasons = dict.fromkeys(
            found.reason for row in table.rows for found in row.cells.values() if found.reason
        )
        for reason in reasons:
            console.print(f"– : {reason}", style="yellow", highlight=False, markup=False)
    console.print(f"{result.n_kept:,} {result.n_unit}", highlight=False)
    for entry in result.dropped:
        console.print(
            f"dropped: {entry.n:,} {entry.what}, {entry.reason}", highlight=False, markup=False
        )
    for what, why in result.not_run.items():
        console.print(f"not run: {what}: {why}", highlight=False, markup=False)
    for note in result.notes:
        console.print(f"note: {note}", style="yellow", highlight=False, markup=False)
    if page is not None:
        console.print(
            f"report written to {page}; JSON, CSV and LaTeX lie beside it",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )


def _drawn(table: ResultTable, spanner: str) -> Table:
    """Draw the columns under one heading; all of them together rarely fit a terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, title=escape(spanner) or None, title_justify="left")
    for name in table.label_names:
        drawn.add_column(escape(name))
    columns = [column for column in table.columns if column.spanner == spanner]
    for column in columns:
        drawn.add_column(escape(column.title or column.name), justify="right", no_wrap=True)
    places = {column.name: table.places(column) for column in columns}
    for position, row in enumerate(table.rows):
        cells = [escape(row.labels.get(name, "")) for name in table.label_names]
        for column in columns:
            text = escape(_number(row.cells.get(column.name), column))
            best = places[column.name].get(position) == 1
            cells.append(f"[bold]{text}[/bold]" if best else text)
        drawn.add_row(*cells)
    return drawn


def _number(found: Cell | None, column: Column) -> str:
    if found is None:
        return ""
    if found.value is None:
        return "–"
    text = f"{found.value:z.{column.decimals}f}"
    if found.ci is None:
        return text
    return text + "\n" + " … ".join(f"{end:z.{column.decimals}f}" for end in found.ci)
