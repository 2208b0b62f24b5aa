"""Options that several commands share, and how results and refusals reach the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from corpus.problems import Problem

WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        help="Workspace folder; else MOTIONJURY_WORKSPACE, else the nearest one upward.",
        show_default=False,
    ),
]
"""``--workspace DIR`` of every command that needs a workspace."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
"""``--json`` of every command that prints a result."""


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr while something is done; nothing where stderr is no terminal.

    Args:
        what: What is being done, before the bar.

    Yields:
        A function to call with how many are done and how many there are.
    """
    from rich.console import Console
    from rich.progress import Progress

    quiet = not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_json(value: Any) -> None:
    """Print a result as JSON: UTF-8, two-space indent, undefined numbers as null only.

    Raises:
        ValueError: The value holds NaN or infinity; undefined must come as None.
    """
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_problems(problems: Iterable[Problem], *, most: int = 50) -> int:
    """Print refused files or rows on stderr, one line each, and return how many there were.

    Args:
        problems: What was refused.
        most: Lines printed at most; the rest are counted.
    """
    count = 0
    for problem in problems:
        count += 1
        if count <= most:
            print(f"refused: {problem.line()}", file=sys.stderr)
    if count > most:
        print(f"refused: and {count - most} more", file=sys.stderr)
    return count
