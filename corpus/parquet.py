"""Parquet files as columns of Python values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpus.problems import InputError


def parquet_columns(path: Path) -> dict[str, list[Any]]:
    """Read a Parquet file; folders of its path are no columns, whatever they are called.

    Args:
        path: The file.

    Returns:
        Values by column, all of one length; None where the file has nothing.

    Raises:
        InputError: No Parquet, a damaged file, two columns of one name, text that is not UTF-8, or
            a date that Python has none for.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise InputError(f"column {twice[0]!r} stands twice in the file", file=str(path))
            read = file.read()
        return {name: read.column(name).to_pylist() for name in names}
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected Parquet: {error}", file=str(path)) from error
