"""The group `score`: models scored on files of scores, embeddings or motions."""

from __future__ import annotations

import typer

from motionjury.commands.score_chronology import chronology_command
from motionjury.commands.score_generation import generation_command
from motionjury.commands.score_retrieval import retrieval_command
from motionjury.commands.score_selfcheck import selfcheck_command
from motionjury.commands.score_stride import stride_command

app = typer.Typer()
app.command("chronology")(chronology_command)
app.command("generation")(generation_command)
app.command("retrieval")(retrieval_command)
app.command("selfcheck")(selfcheck_command)
app.command("stride")(stride_command)


@app.callback()
def _score() -> None:
    """Score models."""
