"""The items of a release, for those who score models on them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from corpus.problems import InputError, Problem
from exports.folder import MANIFEST, read_file
from exports.records import Manifest, StrideItem
from exports.tables import from_jsonl, parse_object
from exports.verify import verify_release


def read_stride_release(folder: Path) -> list[StrideItem]:
    """Read the items of a STRIDE release that verifies.

    Args:
        folder: The release.

    Returns:
        Its accepted items, in their order.

    Raises:
        InputError: No release, one that is not as it was written, or one of another benchmark.
    """
    # The version named is none: intervals, which take seconds to draw again, touch no item.
    problems = verify_release(folder, tool_version="")
    if problems:
        more = f" ({len(problems)} problems; see `release verify`)" if len(problems) > 1 else ""
        first = problems[0]
        raise InputError(
            f"the release is not as it was written: {first.line()}{more}", file=str(folder)
        )
    try:
        manifest = Manifest.model_validate(
            parse_object(_read(folder, MANIFEST).decode("utf-8"), "whole file")
        )
        if manifest.benchmark != "stride":
            raise InputError(
                f"expected a release of stride, got {manifest.benchmark}", file=str(folder)
            )
        rows = from_jsonl(_read(folder, "items.jsonl"))
        return [StrideItem.model_validate(row) for row in rows]
    except ValidationError as error:
        raise InputError(f"cannot be read: {error.errors()[0]['msg']}", file=str(folder)) from error


def _read(folder: Path, name: str) -> bytes:
    found = read_file(folder, name)
    if isinstance(found, Problem):
        raise InputError(found.reason, file=str(folder / name))
    return found
