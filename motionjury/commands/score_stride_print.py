"""Results of `score stride` on the terminal: one line a corpus and axis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.results import Result
    from metrics.stride_tables import StrideModel

_HEAD = ("Corpus", "Axis", "n", "acc", "bias", "Δ", "95 %", "GPR %")


def print_stride(models: Sequence[StrideModel], record: Result, page: Path | None) -> None:
    """Print the numbers of each model, what was dropped and where the files lie.

    Args:
        models: The models of the record.
        record: What to print beside the numbers.
        page: The page that was written; None where nothing was.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for model in models:
        metric = f" ({model.native_metric})" if model.native_metric else ""
        table = Table(
            box=box.SIMPLE_HEAD,
            title=escape(f"{model.name}{metric}"),
            title_justify="left",
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        for place, name in enumerate(_HEAD):
            table.add_column(name, justify="left" if place < 2 else "right", no_wrap=True)
        for row in _rows(model):
            table.add_row(*(escape(text) for text in row))
        console.print(table)
        for line in _lines(model):
            console.print(line, markup=False)
    console.print(f"{record.n_kept:,} {record.n_unit}")
    for entry in record.dropped:
        console.print(f"dropped: {entry.n:,} {entry.what}, {entry.reason}", markup=False)
    for what, why in record.not_run.items():
        console.print(f"not run: {what}: {why}", markup=False)
    for note in record.notes:
        console.print(f"note: {note}", markup=False)
    if page is not None:
        console.print(
            f"report written to {page}; JSON, CSV, LaTeX and SVG lie beside it",
            markup=False,
            soft_wrap=True,
        )


def _rows(model: StrideModel) -> list[list[str]]:
    from metrics.stride_tables import TITLES

    rows = []
    for cell in model.result.cells:
        ci = cell.ci["delta"]
        rows.append(
            [
                cell.corpus,
                TITLES[cell.axis],
                f"{cell.n:,}",
                _digits(cell.acc, 3),
                _digits(cell.bias, 3),
                _digits(cell.delta, 3),
                "" if ci is None else f"{ci[0]:.2f} to {ci[1]:.2f}",
                _digits(cell.gpr, 1),
            ]
        )
    return rows


def _lines(model: StrideModel) -> list[str]:
    from metrics.result_files import plain_reason

    lines = [
        f"{cell.corpus}, {cell.axis}: {name} undefined, {plain_reason(reason)}"
        for cell in model.result.cells
        for name, reason in cell.reasons.items()
        if not name.startswith("ci.")
    ]
    for name, what in (("tie_rate", "ties"), ("invisible_rate", "edits the model cannot see")):
        found = [(c, rate) for c in model.result.cells if (rate := getattr(c, name))]
        lines += [f"{c.corpus}, {c.axis}: {what} {100 * rate:.1f} %" for c, rate in found]
    for block in model.result.corpora:
        macro = block.macro_gpr
        why = f" ({plain_reason(block.reasons['macro_gpr'])})" if macro is None else " %"
        lines.append(f"{block.corpus}: macro GPR {_digits(macro, 1)}{why}")
    lines += [
        f"{audit.corpus}: mirror audit on {audit.n} pairs, diagonal accuracy "
        f"{audit.diagonal:.3f}, mean interaction {audit.interaction:.4f}"
        for audit in model.audits
    ]
    return lines


def _digits(value: float | None, decimals: int) -> str:
    return "—" if value is None else f"{value:.{decimals}f}"
