"""`score retrieval`: search texts among motions and motions among texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionjury.commands.score_selfcheck import (
    FileOption,
    ModelOptionOption,
    TrustOption,
)
from motionjury.options import JsonOption, WorkspaceOption, print_json

if TYPE_CHECKING:
    from metrics.results import Dropped, Result
    from metrics.retrieval import Measured, Pool
    from metrics.retrieval_protocols import Protocol
    from metrics.retrieval_ranks import Ties
    from metrics.retrieval_relevance import Positives
    from metrics.retrieval_report import Run

DirectionOption = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better",
        help="Which end of the scores is good, where the file does not say.",
        show_default=False,
    ),
]
"""The option of every command that reads scores."""

FpsOption = Annotated[
    float | None,
    typer.Option(help="Frames a second of motion files that store none, e.g. 20 for .npy joints."),
]
"""The option of every command that reads folders of motions."""

OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for result.json, CSV, LaTeX, figures, report.html."),
]
"""Where results are written; printed only where it is not given."""


def retrieval_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE…",
            help="NPZ with scores or embeddings, or a table; one file for each model.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Text embeddings, NPY or NPZ, instead of FILE.")
    ] = None,
    motion: Annotated[
        Path | None, typer.Option(help="Motion embeddings, NPY or NPZ, instead of FILE.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="builtin, builtin=WEIGHTS or NAME=FOLDER instead of FILE; may be repeated."
        ),
    ] = None,
    motions: Annotated[
        Path | None,
        typer.Option(
            help="Motions with captions for --model.",
            show_default="the workspace's, else the demo corpus",
        ),
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="Only this corpus of the workspace, for --model.")
    ] = None,
    fps: FpsOption = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name", help="TRAINSET/METHOD or METHOD of each file, in order; else its name."
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="full, tmr-all, tmr-threshold, tmr-nsim, tmr-guo, motionpatches, "
            "motionpatches-batch."
        ),
    ] = "full",
    positives: Annotated[
        str | None,
        typer.Option(
            help="own, identical-caption or threshold; the protocol's own where not given.",
            show_default=False,
        ),
    ] = None,
    ties: Annotated[
        str, typer.Option(help="Equal scores: average, optimistic or pessimistic.")
    ] = "average",
    threshold: Annotated[
        float, typer.Option(help="TMR's threshold for texts that count as one, 0..1.")
    ] = 0.95,
    similarity: Annotated[
        str, typer.Option(help="How embeddings are compared: cosine, dot or euclidean.")
    ] = "cosine",
    subset: Annotated[
        Path | None, typer.Option(help="Text file of motion ids that enter, one a line.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto (a GPU where there is one), numpy, cpu or cuda.")
    ] = "auto",
    resamples: Annotated[
        int,
        typer.Option(
            min=0, max=100_000, help="Resamples of the motions behind intervals; 0: none."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    higher_is_better: DirectionOption = None,
    file: FileOption = None,
    option: ModelOptionOption = None,
    trust: TrustOption = False,
    out: OutOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Full-set retrieval in both directions: R@K, nDCG@K, MedR.

    Example: motionjury score retrieval scores.npz --ties average --json
    """
    from corpus.problems import InputError
    from metrics.results import file_source, write_result
    from metrics.retrieval_files import read_embedding_pool, read_pool
    from metrics.retrieval_protocols import PROTOCOLS
    from metrics.retrieval_ranks import TIES
    from metrics.retrieval_relevance import POSITIVES
    from metrics.retrieval_report import retrieval_result
    from metrics.retrieval_scores import SIMILARITIES, refuse_absent
    from motionjury import __version__
    from motionjury.choices import one_of
    from motionjury.commands.score_print import print_result

    found = PROTOCOLS[one_of(protocol, PROTOCOLS, "--protocol")]
    relevant = None if positives is None else one_of(positives, POSITIVES, "--positives")
    tie_rule = one_of(ties, TIES, "--ties")
    compared = one_of(similarity, SIMILARITIES, "--similarity")
    refuse_absent(device)
    used = relevant or found.positives
    if not 0 < threshold <= 1:
        raise InputError(f"--threshold: expected a number above 0, at most 1, got {threshold}")
    limit = threshold if used == "threshold" else None
    files = files or []
    embedded = text is not None or motion is not None
    if [bool(files), embedded, bool(model)].count(True) != 1:
        raise InputError("expected FILE, or both --text and --motion, or --model")
    if (text is None) != (motion is None):
        raise InputError("--text and --motion are needed together")
    chosen = None if subset is None else _listed(subset)
    pools: list[tuple[str, Pool, tuple[Dropped, ...]]] = []
    sources = [file_source(path, "scores or embeddings") for path in (*files, text, motion) if path]
    if model:
        from motionjury.retrieval_runs import model_pools

        opening = {"file": file, "option": option, "trust": trust, "device": _torch_device(device)}
        for name, pool, about, refused in model_pools(
            model, motions=motions, corpus=corpus, fps=fps, workspace=workspace, opening=opening
        ):
            pools.append((name, pool, refused))
            sources.append(about)
    elif text is not None and motion is not None:
        pool = read_embedding_pool(
            text, motion, similarity=compared, threshold=limit, device=device
        )
        pools.append((text.stem, pool, ()))
    for path in files:
        pool = read_pool(
            path,
            higher_is_better=higher_is_better,
            similarity=compared,
            threshold=limit,
            device=device,
        )
        pools.append((path.stem, pool, ()))
    labels = _labels([name for name, _, _ in pools], names or [])
    runs = [
        _run(pool, label, found, relevant, tie_rule, chosen, refused, resamples, seed)
        for label, (_, pool, refused) in zip(labels, pools, strict=True)
    ]
    if subset is not None:
        sources.append(file_source(subset, "motions that enter"))
    configuration = {
        "protocol": protocol,
        "protocol source": found.source,
        "positives": used,
        "ties": tie_rule,
        **({"threshold": threshold} if limit is not None else {}),
        **({"similarity": compared} if _embedded(runs) and not model else {}),
        **({"similarity": "the model's own"} if model else {}),
        **(
            {"intervals": f"95 % percentile, {resamples} resamples of motions (ours)"}
            if resamples and found.batch is None
            else {}
        ),
        "gain": "binary, log2 discount",
        "units": "R@K and nDCG@K in percent, MedR from 1",
    }
    drawn = seed if resamples and found.batch is None else None
    lacking = (
        {"intervals": "metrics of batches are averaged, there is nothing to resample"}
        if resamples and found.batch is not None
        else {}
    )
    result = retrieval_result(
        runs,
        configuration=configuration,
        sources=sources,
        tool_version=__version__,
        seed=drawn,
        not_run=lacking,
    )
    page = None if out is None else write_result(result, out)
    if as_json:
        print_json(_as_json(runs, result))
    else:
        print_result(result, page)


def _torch_device(device: str) -> str:
    return "cpu" if device == "numpy" else device


def _labels(known: list[str], names: list[str]) -> list[tuple[str, str]]:
    from corpus.problems import InputError

    if names and len(names) != len(known):
        raise InputError(f"--name: expected {len(known)}, one for each file, got {len(names)}")
    words = names or known
    pairs = []
    for word in words:
        trainset, slash, method = word.rpartition("/")
        pairs.append((trainset, method) if slash and names else ("", word))
    if len(set(pairs)) < len(pairs):
        raise InputError("two files have the same name; tell them apart with --name")
    return pairs


def _listed(path: Path) -> list[str]:
    from corpus.problems import InputError

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("expected UTF-8", file=str(path)) from error
    ids = [line.strip() for line in lines if line.strip()]
    if not ids:
        raise InputError("the list of motions is empty", file=str(path))
    return ids


def _run(
    pool: Pool,
    label: tuple[str, str],
    protocol: Protocol,
    positives: Positives | None,
    ties: Ties,
    subset: list[str] | None,
    refused: tuple[Dropped, ...],
    resamples: int,
    seed: int,
) -> Run:
    from metrics.retrieval_intervals import with_intervals
    from metrics.retrieval_protocols import granularity_settings, run_protocol
    from metrics.retrieval_report import WHOLE, Run

    def measured(part: Pool, apply: Protocol) -> tuple[Measured, Pool, tuple[Dropped, ...]]:
        found, used, dropped = run_protocol(
            part, apply, positives=positives, ties=ties, subset=subset
        )
        if resamples and apply.batch is None:
            found = with_intervals(found, used, resamples=resamples, seed=seed)
        return found, used, dropped

    whole, used, dropped = measured(pool, protocol)
    settings = {}
    if not protocol.first_text:
        for name, part in granularity_settings(used).items():
            settings[name] = whole if part is used else measured(part, protocol)[0]
    if not any(found is whole for found in settings.values()):
        settings[WHOLE] = whole
    return Run(label[1], label[0], settings, used, (*refused, *dropped))


def _embedded(runs: list[Run]) -> bool:
    from metrics.retrieval_scores import EmbeddingScores

    return any(isinstance(run.pool.scores, EmbeddingScores) for run in runs)


def _as_json(runs: list[Run], result: Result) -> dict[str, Any]:
    from metrics.retrieval import as_interface
    from metrics.retrieval_report import main_setting

    models = []
    for run in runs:
        main = main_setting(run.settings)
        entry: dict[str, Any] = {**as_interface(run.settings[main])}
        if len(run.settings) > 1:
            entry["settings"] = {name: as_interface(m) for name, m in run.settings.items()}
        entry |= {"n_texts": len(run.pool.text_ids), "n_motions": len(run.pool.motion_ids)}
        entry["dropped"] = [row.model_dump() for row in run.dropped]
        models.append(entry)
    about = result.model_dump(
        mode="json",
        include={
            "configuration",
            "sources",
            "item_set",
            "notes",
            "not_run",
            "seed",
            "tool_version",
        },
    )
    if len(models) == 1:
        return {**models[0], **about}
    named = [
        {"trainset": run.trainset, "method": run.method, **entry}
        for run, entry in zip(runs, models, strict=True)
    ]
    return {"models": named, **about}
