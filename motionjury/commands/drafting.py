"""What the ``motionjury draft`` commands share: options, models by stage, the end of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus.problems import InputError
from motionjury.options import print_json, print_problems

if TYPE_CHECKING:
    from benchmarks.items import Item
    from construction.prompt_files import PromptFiles
    from construction.report import DraftReport, Rejected
    from construction.stages import Stages
    from llm.ask import Event
    from llm.settings import LlmSettings
    from motionjury.workspace import Workspace

SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every choice.")]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="At most so many sources are taken.")
]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts", help="Folder with prompt files of one's own; one that is not there is ours."
    ),
]
CorpusOption = Annotated[str | None, typer.Option("--corpus", help="Only this corpus.")]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Language model of all stages; else [llm] of workspace.toml."),
]
StageModelOption = Annotated[
    list[str] | None,
    typer.Option("--stage-model", help="STAGE=NAME: another model for one stage; may be repeated."),
]
NoModelOption = Annotated[
    bool, typer.Option("--no-model", help="Draft by rule, even where a model is set up.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Reckon what would be asked; send and store nothing.")
]
MaxUsdOption = Annotated[
    float | None, typer.Option("--max-usd", min=0, help="Stop before this many US dollars.")
]
MaxCallsOption = Annotated[
    int | None, typer.Option("--max-calls", min=0, help="Stop after this many calls.")
]

BatchOutOption = Annotated[
    Path | None,
    typer.Option(
        "--batch-out", help="Write the next stage's questions here for a batch service; send none."
    ),
]
BatchInOption = Annotated[
    list[Path] | None,
    typer.Option("--batch-in", help="Answers of a batch service, JSONL; may be repeated."),
]


@contextmanager
def stages_of(
    workspace: Workspace,
    names: Sequence[str],
    *,
    model: str | None = None,
    stage_models: Sequence[str] | None = None,
    no_model: bool = False,
    dry_run: bool = False,
    max_usd: float | None = None,
    max_calls: int | None = None,
    batch_out: Path | None = None,
    batch_in: Sequence[Path] | None = None,
    prompts: PromptFiles | None = None,
) -> Iterator[Stages]:
    """Set up the language models of a run and show what goes on, on stderr.

    Args:
        workspace: Its ``[llm]`` table and ``[llm.stages.NAME]`` tables hold the settings, its
            ``llm-cache`` the answers.
        names: Stages of this draft, in order.
        model: ``--model``.
        stage_models: ``--stage-model``, each ``STAGE=NAME``.
        no_model: ``--no-model``.
        dry_run: ``--dry-run``.
        max_usd: ``--max-usd``.
        max_calls: ``--max-calls``.
        batch_out: ``--batch-out``.
        batch_in: ``--batch-in``.
        prompts: The prompt files, from :func:`prompt_files`; ours by default.

    Yields:
        The stages; one without a model is not in it, and the draft goes by rule there.

    Raises:
        InputError: An unknown stage or setting, a model named where no endpoint is, options that
            exclude each other, or batch files without a model.
    """
    from construction.batches import Batches
    from construction.stages import Stages
    from llm.ask import LanguageModel
    from llm.budget import Budget
    from llm.cache import ResponseCache

    budget = Budget(usd=max_usd, calls=max_calls)
    models: dict[str, LanguageModel] = {}
    cache = ResponseCache(workspace.root / "llm-cache")
    chosen = _chosen(names, stage_models)
    if no_model and (model or chosen):
        raise InputError("--no-model: expected alone, got it with --model or --stage-model")
    for name in () if no_model else names:
        settings = settings_of(workspace, name, chosen.get(name) or model)
        if settings is not None:
            models[name] = LanguageModel(settings, cache)
    if dry_run and batch_out is not None:
        raise InputError("--batch-out: expected without --dry-run; it sends nothing itself")
    if (batch_out is not None or batch_in) and not models:
        raise InputError("--batch-out and --batch-in: expected a model; name one with --model")
    batches = Batches(batch_out, batch_in or ())
    with _told() as tell:
        yield Stages(
            models, budget=budget, tell=tell, dry_run=dry_run, batches=batches, prompts=prompts
        )
    for stage, (answered, asked) in batches.read.items():
        line = f"{stage}: the batch files answer {answered} of {asked} questions"
        print(line, file=sys.stderr)
    print_problems(batches.unused, most=5)


def prompt_files(folder: Path | None, benchmark: str) -> PromptFiles:
    """Return the prompt files of a run.

    Args:
        folder: ``--prompts``.
        benchmark: Whose files.

    Raises:
        InputError: No such folder, none of the benchmark's files in it, or one that cannot be
            used, with its name and the variable it wants.
    """
    from construction.prompt_files import PromptFiles

    files = PromptFiles(folder)
    files.check(benchmark)
    return files


def finish(
    workspace: Workspace,
    items: Sequence[Item],
    report: DraftReport,
    rejected: Iterable[Rejected],
    stages: Stages | None,
    *,
    as_json: bool,
) -> None:
    """Store the items, write the report, and say what came of the run.

    In a dry run nothing is stored or written; the estimates are printed.

    Args:
        workspace: Where.
        items: Drafted items.
        report: The record, without ``added``.
        rejected: Every refused candidate.
        stages: The models of the run; None where it had none.
        as_json: Whether to print the record instead of a table.
    """
    if stages is not None and stages.dry_run:
        _print_estimates(stages, as_json=as_json)
        return
    from construction.report import write_report
    from store.items import add_items

    with workspace.db.write() as session:
        added = add_items(session, list(items))
    settings = report.settings
    if stages is not None and stages.prompts.own is not None:
        settings = {**settings, "prompts": str(stages.prompts.own)}
    report = report.model_copy(update={"added": added, "settings": settings})
    folder = workspace.results_dir / f"draft-{report.benchmark}"
    try:
        page = write_report(report, rejected, folder)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    if as_json:
        shown = report.model_dump(mode="json", exclude={"figures"})
        print_json({**shown, "report": str(page), "passed_over": str(folder / "rejected.jsonl")})
        return
    _print_report(report, page)


def _chosen(names: Sequence[str], stage_models: Sequence[str] | None) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for given in stage_models or ():
        stage, sign, name = given.partition("=")
        if not sign or not name.strip() or stage not in names:
            known = ", ".join(names)
            raise InputError(f"--stage-model: expected STAGE=NAME, STAGE of {known}, got {given!r}")
        chosen[stage] = name.strip()
    return chosen


def settings_of(workspace: Workspace, stage: str, model: str | None) -> LlmSettings | None:
    """Return the settings of one stage's model; None where no endpoint and no model is named.

    Args:
        workspace: Its ``[llm]`` and ``[llm.stages.NAME]`` tables hold the settings.
        stage: Name of the stage.
        model: Model that takes the place of the one in the settings.

    Raises:
        InputError: A setting that cannot be, or a model named where no endpoint is.
    """
    from llm.settings import stage_settings

    table = workspace.settings.get("llm")
    if table is not None and not isinstance(table, dict):
        raise InputError("expected a table of settings", file="workspace.toml", place="[llm]")
    settings = stage_settings(table, stage, model=model)
    if settings is None and model is not None:
        raise InputError(
            f"model {model}: no endpoint is named; set base_url under [llm] in workspace.toml, "
            "OPENAI_BASE_URL or OPENAI_API_KEY"
        )
    return settings


@contextmanager
def _told() -> Iterator[Any]:
    """Show one bar for each stage; waits, notices and the reason of a stop are lines."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    tasks: dict[str, Any] = {}
    quiet = not sys.stderr.isatty()
    with Progress(console=console, transient=True, disable=quiet) as progress:

        def tell(stage: str, event: Event) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(f"asking: {stage}", total=event.total)
            progress.update(tasks[stage], completed=event.done, total=event.total)
            if event.kind in ("stopped", "notice", "retry"):
                where = f" {event.id}" if event.id else ""
                line = f"{stage}{where}: {event.kind}: {event.detail}"
                console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield tell


def _print_estimates(stages: Stages, *, as_json: bool) -> None:
    if as_json:
        found = stages.estimates.items()
        shown = {name: [e.model_dump(mode="json") for e in several] for name, several in found}
        files = [str(path) for path in stages.batches.files]
        print_json(shown if stages.batches.out is None else {**shown, "batch_files": files})
        return
    for name, several in stages.estimates.items():
        for estimate in several:
            print(f"{name}: {estimate.line()}")
    if not stages.estimates:
        print("Dry run: no language model would be asked. Nothing was sent or stored.")
        return
    if stages.batches.files:
        for path in stages.batches.files:
            print(f"written: {path}")
        print(f"{stages.batches.lines} questions. Give the answers back with --batch-in.")
    elif stages.batches.out is not None:
        print("Every question known by now is answered: run without --batch-out.")
    print(
        "Dry run: nothing was sent or stored. What hangs on answers not yet given is an estimate."
    )


def _print_report(report: DraftReport, page: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    planned = any(row.planned is not None for row in report.cells)
    table = Table(title=f"{report.benchmark} draft")
    keys = list(dict.fromkeys(key for row in report.cells for key in row.cell))
    for key in keys:
        table.add_column(key)
    for heading in (*(("planned",) if planned else ()), "drafted", "flagged", "rejected"):
        table.add_column(heading, justify="right")
    for row in report.cells:
        quota = ("" if row.planned is None else str(row.planned),) if planned else ()
        counts = (*quota, str(row.drafted), str(row.flagged), str(row.rejected))
        table.add_row(*(row.cell.get(key, "") for key in keys), *counts)
    console.print(table)
    lines = [f"{report.drafted} items, {report.added} new, {report.flagged} flagged"]
    if report.rejected:
        most = sorted(report.rejected.items(), key=lambda pair: (-pair[1], pair[0]))[:8]
        lines.append("rejected: " + ", ".join(f"{code} {count}" for code, count in most))
    lines += [f"{name}: {use.coverage.line()}" for name, use in report.stages.items()]
    lines += [f"not run: {what}: {why}" for what, why in report.not_run.items()]
    lines += [*report.notes, f"report: {page}"]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
