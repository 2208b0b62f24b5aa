"""`motionjury draft t2mbench-targets`: targets of Accuracy prompts, and the verified files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.problems import InputError
from motionjury.commands.draft_t2mbench import PromptTableOption, prompts_from
from motionjury.commands.drafting import (
    BatchInOption,
    BatchOutOption,
    DryRunOption,
    LimitOption,
    MaxCallsOption,
    MaxUsdOption,
    ModelOption,
    NoModelOption,
    PromptsOption,
    SeedOption,
    StageModelOption,
)
from motionjury.options import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from motionjury.workspace import Workspace


def t2mbench_targets(
    table: PromptTableOption = None,
    verified: Annotated[
        bool,
        typer.Option("--verified", help="Write the targets that people accepted; read no others."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the files; else the report's.")
    ] = None,
    prompts: PromptsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    model: ModelOption = None,
    stage_model: StageModelOption = None,
    no_model: NoModelOption = False,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    dry_run: DryRunOption = False,
    batch_out: BatchOutOption = None,
    batch_in: BatchInOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read root_move.json and body_part.json from prompts; with --verified write what was accepted.

    Targets are stored as items that a study with protocol target_check shows to people. Files
    written before that mark each target as unverified.

    Example: motionjury draft t2mbench-targets --from prompts.csv
    """
    from benchmarks.t2mbench import TARGET_CATEGORIES, TargetCheck
    from construction.t2mbench.run import targets_report
    from construction.t2mbench.target_drafts import (
        STAGE,
        draft_targets,
        target_files,
        write_target_files,
    )
    from motionjury.commands.drafting import finish, prompt_files, stages_of
    from motionjury.workspace import open_workspace

    started = time.time()
    ws = open_workspace(workspace)
    if verified:
        _write_verified(ws, out or ws.results_dir / "targets", as_json=as_json)
        return
    files = prompt_files(prompts, "t2mbench")
    found = [one for one in prompts_from(ws, table) if one.category in TARGET_CATEGORIES]
    found = found[:limit]
    if not found:
        wanted = ", ".join(TARGET_CATEGORIES)
        raise InputError(f"no prompt of the categories {wanted}", file=str(table or ws.root))
    with stages_of(
        ws,
        (STAGE,),
        model=model,
        stage_models=stage_model,
        no_model=no_model,
        dry_run=dry_run,
        max_usd=max_usd,
        max_calls=max_calls,
        batch_out=batch_out,
        batch_in=batch_in,
        prompts=files,
    ) as stages:
        read = draft_targets(found, seed, stages)
    report = targets_report(read, len(found), seed, stages, started)
    if not stages.dry_run:
        folder = out or ws.results_dir / "draft-t2mbench"
        targets = target_files((TargetCheck.model_validate(i.payload), False) for i in read.items)
        written = write_target_files(targets, folder)
        notes = (*report.notes, *(f"unverified targets: {path}" for path in written))
        report = report.model_copy(update={"notes": notes})
    finish(ws, read.items, report, read.rejected, stages, as_json=as_json)


def _write_verified(ws: Workspace, folder: Path, *, as_json: bool) -> None:
    from benchmarks.t2mbench import TargetCheck
    from construction.t2mbench.target_drafts import KIND, target_files, write_target_files
    from motionjury.options import print_json
    from store.items import list_items

    with ws.db.read() as session:
        items = [one for one in list_items(session, "t2mbench") if one.kind == KIND]
    accepted = [one for one in items if one.state == "accepted"]
    if not accepted:
        raise InputError(
            f"none of {len(items)} targets was accepted; run a study with protocol target_check",
            file=str(ws.root),
        )
    files = target_files((TargetCheck.model_validate(one.payload), True) for one in accepted)
    written = write_target_files(files, folder)
    counts = {name: len(content.targets) for name, content in files.items()}
    if as_json:
        left = len(items) - len(accepted)
        paths = [str(path) for path in written]
        print_json({"targets": counts, "not_verified": left, "files": paths})
        return
    print(f"{len(accepted)} of {len(items)} targets are verified")
    for path in written:
        print(f"{path}: {counts[path.name]} targets")
