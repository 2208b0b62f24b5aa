"""`motionjury score stride`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from corpus.problems import InputError
from motionjury.commands.drafting import MaxCallsOption, MaxUsdOption
from motionjury.commands.score_retrieval import FpsOption
from motionjury.commands.score_selfcheck import (
    DeviceOption,
    FileOption,
    ModelOptionOption,
    TrustOption,
)
from motionjury.commands.score_stride_print import print_stride
from motionjury.options import JsonOption, WorkspaceOption, print_json
from motionjury.writing import write_text

if TYPE_CHECKING:
    from llm.budget import Budget
    from metrics.results import Result, Source
    from metrics.stride import Ties
    from metrics.stride_scoring import StrideTask
    from metrics.stride_tables import StrideModel
    from motionjury.commands.score_stride_run import StrideRun


def stride_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Score files, FILE or NAME=FILE; or one release folder.",
            show_default=False,
        ),
    ],
    scores: Annotated[
        list[str] | None,
        typer.Option(help="Score file for the items of the release, FILE or NAME=FILE; repeat."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model for the items of the release: builtin, builtin=WEIGHTS, or a released one "
            "with its folder, e.g. tmr=FOLDER; `score selfcheck` lists them; vlm or vlm=NAME, a "
            "vision-language model of [llm]; own=FILE.py:FUNCTION, your own. Repeat."
        ),
    ] = None,
    file: FileOption = None,
    option: ModelOptionOption = None,
    trust: TrustOption = False,
    device: DeviceOption = "auto",
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    both_orders: Annotated[
        bool,
        typer.Option(
            "--both-orders",
            help="Ask a vision-language model in both orders of the captions, which is twice the "
            "calls; two answers that name different captions are a tie.",
        ),
    ] = False,
    motions: Annotated[
        Path | None,
        typer.Option(help="Motions of the release.", show_default="those of the workspace"),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Name of the corpus in --motions, first part of the ids."),
    ] = None,
    fps: FpsOption = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Write the pairs to score, with unrelated motions, and leave."),
    ] = None,
    higher_is_better: Annotated[
        bool | None,
        typer.Option(
            "--higher-is-better/--lower-is-better",
            help="Direction of the scores in the files.",
            show_default="higher in wide files, else it must be said",
        ),
    ] = None,
    likelihood: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a file whose scores are caption likelihoods (Table 5 a); repeat."
        ),
    ] = None,
    ties: Annotated[str, typer.Option(help="What a tie earns: half or strict (nothing).")] = "half",
    controls: Annotated[int, typer.Option(min=1, max=1000, help="Unrelated motions an item.")] = 8,
    resamples: Annotated[
        int, typer.Option(min=0, max=100_000, help="Resamples of the motions behind intervals.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of controls and intervals.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for tables, figures, page and mirror grids."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Grounding by axis: accuracy, bias with unrelated motions, Δ and GPR (STRIDE Tables 2, 4, 5).

    A wide score file has item_id, corpus, axis, motion_id, s_mc, s_mcp, s_uc, s_ucp and, with
    several unrelated motions an item, draw. --pairs lists what to score for a release.

    Example: motionjury score stride scores.csv --json
    """
    from metrics.stride_report import stride_json, stride_record
    from motionjury import __version__
    from motionjury.commands.score_stride_run import StrideRun
    from motionjury.models import cache_folder, motion_library, open_models

    if ties not in ("half", "strict"):
        raise InputError(f"--ties: expected half or strict, got {ties!r}")
    choice = cast("Ties", ties)
    release = _release(paths)
    tasks = None if release is None else _tasks(release)
    run = StrideRun(tasks, choice, controls, resamples, seed, higher_is_better, likelihood)
    if both_orders and not _asks(model or ()):
        raise InputError("--both-orders: expected --model vlm, which alone is asked")
    if pairs is not None:
        _write_pairs(run, pairs)
        return
    if release is None:
        if model or scores:
            raise InputError("--model and --scores: expected a release folder as PATH")
        models = [run.from_file(*_named(path)) for path in paths]
    else:
        models = [run.from_file(*_named(path)) for path in scores or ()]
        if model:
            opened = open_models(
                model,
                file,
                option,
                trust=trust,
                device=device,
                workspace=workspace,
                budget=_budget(model, max_usd, max_calls),
                both_orders=both_orders,
            )
            library = motion_library(
                (task.key.motion_id for task in tasks or ()),
                motions=motions,
                corpus=corpus,
                fps=fps,
                workspace=workspace,
            )
            models += run.from_models(opened, library, cache_folder(workspace))
        if not models:
            raise InputError("a release needs --model or --scores; --pairs lists what to score")
    _refuse_names([m.name for m in models], likelihood or ())
    record = stride_record(
        models,
        {
            "controls": f"{controls} an item by hash of seed and item (ours)"
            if release is not None
            else "as the file has them",
            "tie": "equal scores; for models, up to the rounding of float32 (ours)",
        },
        seed=seed,
        sources=[] if release is None else [_release_source(release)],
        tool_version=__version__,
    )
    page = None if out is None else _write(out, models, record)
    if as_json:
        print_json(stride_json(models, record))
        return
    print_stride(models, record, page)


def _budget(model: Sequence[str], usd: float | None, calls: int | None) -> Budget | None:
    from llm.budget import Budget

    if usd is None and calls is None:
        return None
    if not _asks(model):
        raise InputError("--max-usd and --max-calls: expected --model vlm, which alone asks")
    return Budget(usd=usd, calls=calls)


def _asks(model: Sequence[str]) -> bool:
    return any(name.partition("=")[0] == "vlm" for name in model)


def _named(text: str) -> tuple[str, Path]:
    """Split NAME=FILE; a bare FILE is named by its stem."""
    name, sign, path = text.partition("=")
    if sign and name and not Path(text).exists():
        return name, Path(path)
    return Path(text).stem, Path(text)


def _refuse_names(names: list[str], likelihoods: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two models are called {name!r}; name them with NAME=FILE")
    for name in likelihoods:
        if name not in names:
            raise InputError(f"--likelihood: expected one of {', '.join(names)}, got {name!r}")


def _release(paths: list[str]) -> Path | None:
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and len(paths) > 1:
        raise InputError(f"expected one release folder alone, got {len(paths)} paths")
    return Path(folders[0]) if folders else None


def _tasks(release: Path) -> list[StrideTask]:
    from exports.released import read_stride_release
    from metrics.stride_scoring import StrideTask

    return [
        StrideTask(
            item_id=item.item_id,
            triplet=item.triplet(),
            drafter=item.provenance.model_answered or item.provenance.model_asked,
        )
        for item in read_stride_release(release)
    ]


def _release_source(release: Path) -> Source:
    from metrics.results import file_source

    found = file_source(release / "manifest.json", "release")
    return found.model_copy(update={"name": release.resolve().name})


def _write_pairs(run: StrideRun, pairs: Path) -> None:
    from metrics.stride_files import pairs_csv
    from metrics.stride_scoring import draw_controls

    if run.tasks is None:
        raise InputError("--pairs: expected a release folder as PATH")
    drawn = draw_controls(run.tasks, count=run.controls, seed=run.seed)
    write_text(pairs, pairs_csv(run.tasks, drawn))
    alone = len(run.tasks) - len({control.item for control in drawn})
    print(f"{pairs}: {len(drawn)} rows for {len(run.tasks)} items")
    if alone:
        print(
            f"{alone} items stand alone in their corpus and axis: no unrelated motion",
            file=sys.stderr,
        )


def _write(out: Path, models: Sequence[StrideModel], record: Result) -> Path:
    from metrics.results import write_result
    from metrics.stride_grid import grids_csv

    page = write_result(record, out)
    for stale in out.glob("mirror_grids*.csv"):
        stale.unlink()
    for found in models:
        slug = re.sub(r"[^\w.-]+", "-", found.name).strip("-.") or "model"
        if found.choices:
            write_text(out / f"choices_{slug}.csv", found.choices)
        if found.grids is not None:
            name = "mirror_grids.csv" if len(models) == 1 else f"mirror_grids_{slug}.csv"
            write_text(out / name, grids_csv(found.grids))
    return page
