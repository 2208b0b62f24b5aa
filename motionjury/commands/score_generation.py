"""`score generation`: R-Precision, MM-Dist, FID, Diversity, MultiModality; interventions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionjury.commands.score_retrieval import FpsOption, OutOption
from motionjury.commands.score_selfcheck import (
    DeviceOption,
    FileOption,
    ModelOptionOption,
    TrustOption,
)
from motionjury.options import JsonOption, WorkspaceOption, print_json

if TYPE_CHECKING:
    from metrics.generation_suite import Settings, Suite
    from metrics.results import Result


def generation_command(
    text: Annotated[
        Path | None, typer.Option(help="Text embeddings: NPY (N, D) or (replications, N, D).")
    ] = None,
    motion: Annotated[
        Path | None, typer.Option(help="Motion embeddings, row i for the text of row i.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(help="Embeddings of real motions, for FID and Diversity.")
    ] = None,
    fid_motion: Annotated[
        Path | None,
        typer.Option(help="Motion embeddings for FID, where it has an encoder of its own."),
    ] = None,
    repeats: Annotated[
        Path | None, typer.Option(help="NPY (texts, repeats, D) for MultiModality.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="builtin, builtin=WEIGHTS or NAME=FOLDER: embeds motions itself. Without "
            "--system the interventions of STRIDE's Table 3 are scored."
        ),
    ] = None,
    motions: Annotated[
        Path | None,
        typer.Option(
            help="Ground-truth motions with captions.",
            show_default="the workspace's, else the demo corpus",
        ),
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="Only this corpus of the workspace.")] = None,
    fps: FpsOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FOLDER of generated motions, files named as the clips; repeat, under one "
            "NAME for further generations of the same texts (replications, MultiModality)."
        ),
    ] = None,
    captions: Annotated[
        str, typer.Option(help="Caption of a motion in a replication: random or first.")
    ] = "random",
    variant: Annotated[
        str | None,
        typer.Option(
            help="humanml3d (pools of 32, distance) or snapmogen (100, cosine).",
            show_default="snapmogen for --model snapmogen, else humanml3d",
        ),
    ] = None,
    pool: Annotated[
        int | None,
        typer.Option(min=2, help="Pairs in a pool of R-Precision.", show_default="the variant's"),
    ] = None,
    replications: Annotated[int, typer.Option(min=1, max=1000, help="Draws of pools.")] = 20,
    diversity_pairs: Annotated[int, typer.Option(min=1, help="Pairs of Diversity.")] = 300,
    multimodality_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs of MultiModality for each text.")
    ] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every draw.")] = 0,
    file: FileOption = None,
    option: ModelOptionOption = None,
    trust: TrustOption = False,
    device: DeviceOption = "auto",
    out: OutOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """HumanML3D's generation metrics, from embeddings or with a model (STRIDE Table 3).

    Example: motionjury score generation --text t.npy --motion m.npy --reference r.npy --json
    """
    from corpus.problems import InputError
    from metrics.generation_suite import VARIANTS, Settings
    from motionjury.choices import one_of

    usual = "snapmogen" if (model or "").partition("=")[0] == "snapmogen" else "humanml3d"
    chosen = VARIANTS[one_of(variant or usual, VARIANTS, "--variant")]
    settings = Settings(
        pool=pool or chosen.pool,
        distance=chosen.distance,
        matching=chosen.matching,
        replications=replications,
        diversity_pairs=diversity_pairs,
        multimodality_pairs=multimodality_pairs,
        seed=seed,
    )
    configuration = {"variant": chosen.title, "variant source": chosen.source}
    if model is None:
        if text is None or motion is None:
            raise InputError("expected --text and --motion, or --model")
        if system or motions or fps is not None:
            raise InputError("--motions, --system and --fps: need a --model that embeds them")
        given = {
            "text embeddings": text,
            "motion embeddings": motion,
            "reference embeddings": reference,
            "motion embeddings for FID": fid_motion,
            "repeated generations": repeats,
        }
        result, suites = _from_files(given, settings, configuration)
    else:
        if any((text, motion, reference, fid_motion, repeats)):
            raise InputError("--model embeds by itself: give no embeddings with it")
        from motionjury.generation_runs import score_with_model

        result, suites = score_with_model(
            model,
            settings,
            configuration,
            motions=motions,
            corpus=corpus,
            fps=fps,
            systems=system or (),
            captions=captions,
            workspace=workspace,
            opening={"file": file, "option": option, "trust": trust, "device": device},
        )
    _tell(result, suites, out, as_json)


def _from_files(
    given: dict[str, Path | None], settings: Settings, configuration: dict[str, Any]
) -> tuple[Result, dict[str, Suite]]:
    from corpus.problems import InputError
    from evaluators.score_arrays import read_embeddings
    from metrics.generation_report import generation_result
    from metrics.generation_suite import evaluate
    from metrics.results import file_source
    from motionjury import __version__

    arrays, ids = {}, {}
    for name, path in given.items():
        if path is not None:
            arrays[name], ids[name] = read_embeddings(path, name)
    if ids["text embeddings"] and ids["motion embeddings"]:
        pairs = zip(ids["text embeddings"], ids["motion embeddings"], strict=False)
        for row, (one, other) in enumerate(pairs):
            if one.partition("#")[0] != other:
                raise InputError(
                    f"row {row}: text {one!r} stands beside motion {other!r}",
                    file=str(given["motion embeddings"]),
                )
    try:
        suite = evaluate(
            arrays["text embeddings"],
            arrays["motion embeddings"],
            reference=arrays.get("reference embeddings"),
            repeats=arrays.get("repeated generations"),
            fid_motion=arrays.get("motion embeddings for FID"),
            settings=settings,
        )
    except InputError as error:
        reason = error.problem.reason
        guilty = next((path for name, path in given.items() if reason.startswith(f"{name}:")), None)
        if guilty is None:
            raise
        raise InputError(reason, file=str(guilty)) from error
    motion = given["motion embeddings"]
    name = motion.stem if motion is not None else ""
    result = generation_result(
        {name: suite},
        settings,
        title="Generation",
        configuration=configuration,
        sources=[file_source(path, role) for role, path in given.items() if path is not None],
        ids=ids["motion embeddings"] or tuple(map(str, range(suite.n))),
        tool_version=__version__,
        ranked=False,
    )
    return result, {name: suite}


def _tell(result: Result, suites: dict[str, Suite], out: Path | None, as_json: bool) -> None:
    from metrics.generation_report import as_interface
    from metrics.results import write_result
    from motionjury.commands.score_print import print_result

    page = None if out is None else write_result(result, out)
    if not as_json:
        print_result(result, page)
        return
    about = result.model_dump(
        mode="json",
        include={
            "configuration", "sources", "item_set", "dropped", "notes", "not_run", "seed",
            "tool_version",
        },
    )  # fmt: skip
    if len(suites) == 1:
        print_json({**as_interface(next(iter(suites.values()))), **about})
        return
    print_json({"sets": {name: as_interface(s) for name, s in suites.items()}, **about})
