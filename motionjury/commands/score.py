"""The group `score`: models scored on files of scores or embeddings."""

from __future__ import annotations

import typer

app = typer.Typer()


@app.callback()
def _score() -> None:
    """Score models."""
