"""Results of the group `score` on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
            columns = [column for column in table.columns if column.spanner == spanner]
            for part in _fitting(table, columns, console.width):
                console.print(_drawn(table, spanner, part))
        reasons = dict.fromkeys(
            found.reason
            for row in table.rows
            for column in table.columns
            if (found := row.cells.get(column.name)) is not None and found.reason
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


def _fitting(table: ResultTable, columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Cut columns into parts that fit the terminal beside the labels."""
    labels = 2 + sum(
        2 + max(len(name), *(len(row.labels.get(name, "")) for row in table.rows))
        for name in table.label_names
    )
    part: list[Column] = []
    used = labels
    for column in columns:
        texts = [_number(row.cells.get(column.name), column) for row in table.rows]
        needed = 2 + max(len(column.title or column.name), *map(len, texts))
        if part and used + needed > width:
            yield part
            part, used = [], labels
        part.append(column)
        used += needed
    if part:
        yield part


def _drawn(table: ResultTable, spanner: str, columns: Sequence[Column]) -> Table:
    """Draw some columns of a table, those under one heading."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        title=escape(spanner) or None,
        title_justify="left",
    )
    for name in table.label_names:
        drawn.add_column(escape(name), no_wrap=True)
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
    low, high = found.ci
    if column.plus_minus:
        return f"{text} ± {(high - low) / 2:.{column.decimals}f}"
    return f"{text} ({low:z.{column.decimals}f} … {high:z.{column.decimals}f})"
