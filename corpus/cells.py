"""Tables that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def no_formula(text: str) -> str:
    """Quote what comes from data and would be a formula to a spreadsheet.

    >>> no_formula("=HYPERLINK(1)"), no_formula("walk")
    ("'=HYPERLINK(1)", 'walk')
    """
    return f"'{text}" if text.startswith(_STARTS) else text


def rows_to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as CSV; texts are made harmless, null is an empty cell.

    Args:
        rows: Cells by column; a column comes where it is first met.

    >>> print(rows_to_csv([{"word": "=1+1", "share": 0.5}, {"word": "walk", "n": None}]), end="")
    word,share,n
    '=1+1,0.5,
    walk,,
    """
    columns = list(dict.fromkeys(column for row in rows for column in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(no_formula(column) for column in columns)
    for row in rows:
        cells = (row.get(column) for column in columns)
        writer.writerow(no_formula(cell) if isinstance(cell, str) else cell for cell in cells)
    return out.getvalue()
