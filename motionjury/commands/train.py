"""`motionjury train builtin`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from motionjury.options import JsonOption, print_json

app = typer.Typer()


@app.callback()
def _train() -> None:
    """Train evaluators."""


@app.command()
def builtin(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Weights file to write.", show_default="where `score` looks"
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of weights, order and dropout.")
    ] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the motions.")] = 30,
    performances: Annotated[
        int, typer.Option(min=1, max=100, help="Performances of the demo corpus to train on.")
    ] = 6,
    as_json: JsonOption = False,
) -> None:
    """Train the built-in evaluator on performances of the demo corpus: a minute or two on a CPU.

    Stopped, it goes on where it was when called again. The same seed gives the same weights on
    one machine.

    Example: motionjury train builtin --out builtin.npz
    """
    from evaluators.builtin import default_weights
    from motionjury.models import train

    # Performance 0 is the one that items are drafted from; it is never trained on.
    seen = tuple(range(1, performances + 1))
    done = train(out or default_weights(), seed=seed, epochs=epochs, performances=seen)
    if as_json:
        print_json(done.model_dump(mode="json"))
        return
    resumed = f", going on after {done.resumed_from}" if done.resumed_from else ""
    print(f"{done.path}: {done.epochs} epochs on {done.motions} motions{resumed}")
    print(f"loss {done.loss:.3f}, fingerprint {done.fingerprint[:16]}")
