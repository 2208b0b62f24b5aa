"""`motionjury draft stride`: captions in, STRIDE items out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.stride import AXES, StrideAxis
from corpus.problems import InputError
from motionjury.commands.drafting import (
    BatchInOption,
    BatchOutOption,
    CorpusOption,
    DryRunOption,
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
    from construction.stages import Stages
    from construction.stride_filter import LikelihoodFilter
    from construction.text.scorers import EchoScorer, TextScorer
    from corpus.clips import Caption, Clip
    from motionjury.workspace import Workspace

SCORER_HELP = (
    "Text scorer: ngram, hf-causal:FOLDER, hf-classifier:FOLDER[:LABEL], completions:MODEL, "
    "csv:FILE"
)
NO_FILTER = "none"


def axis_named(name: str) -> StrideAxis:
    """Return an axis by name.

    Raises:
        InputError: No such axis.
    """
    for axis in AXES:
        if axis == name:
            return axis
    raise InputError(f"axis: expected one of {', '.join(AXES)}, got {name!r}")


def stride(
    axes: Annotated[
        str, typer.Option("--axes", help="Axes, comma-separated; all by default.")
    ] = ",".join(AXES),
    temporal: Annotated[
        str,
        typer.Option(
            "--temporal",
            help="Who reverses events: rule, llm, or auto (llm where a model is set up).",
        ),
    ] = "auto",
    scorer: Annotated[
        str,
        typer.Option("--scorer", help=f"{SCORER_HELP}; none runs no likelihood filter."),
    ] = "ngram",
    max_gap: Annotated[
        float,
        typer.Option(
            "--max-gap", min=0.0001, help="Largest gap of log-likelihoods, nats per token."
        ),
    ] = 0.15,
    seed: SeedOption = 0,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="At most so many items per corpus and axis."),
    ] = None,
    per_clip: Annotated[
        int | None, typer.Option("--per-clip", min=1, help="At most so many per clip and axis.")
    ] = None,
    corpus: CorpusOption = None,
    split: Annotated[str | None, typer.Option("--split", help="Only this split.")] = None,
    model: ModelOption = None,
    stage_model: StageModelOption = None,
    prompts: PromptsOption = None,
    no_model: NoModelOption = False,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    dry_run: DryRunOption = False,
    batch_out: BatchOutOption = None,
    batch_in: BatchInOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draft STRIDE items from the workspace's captions and store them.

    Stages that may ask a model: temporal rewrites captions with their events in reversed order,
    action_check reads pairs of Action Identity without a motion. Without a model, rules do both.
    Pairs whose captions differ in likelihood by more than --max-gap are refused; the n-gram never
    scores a motion whose captions it was trained on, and is not run below 1,000 training captions.
    Report, table and every refused candidate go to results/draft-stride.

    Example: motionjury draft stride --axes mirror_reflection,temporal_order --limit 100
    """
    from construction.stride import draft_stride
    from construction.stride_check import STAGE as CHECK
    from construction.stride_check import ModelCheck
    from construction.stride_report import rejections, stride_report
    from construction.stride_rewrite import STAGE as TEMPORAL
    from construction.stride_rewrite import TemporalRewriter
    from motionjury.commands.drafting import finish, prompt_files, stages_of
    from motionjury.options import bar
    from motionjury.workspace import open_workspace

    started = time.time()
    wanted = [axis_named(name.strip()) for name in axes.split(",") if name.strip()]
    if not wanted:
        raise InputError(f"--axes: expected some of {', '.join(AXES)}, got none")
    if temporal not in ("auto", "rule", "llm"):
        raise InputError(f"--temporal: expected auto, rule or llm, got {temporal!r}")
    files = prompt_files(prompts, "stride")
    ws = open_workspace(workspace)
    clips, texts, every_clip, every_text = _captions(ws, corpus, split)
    with stages_of(
        ws,
        (TEMPORAL, CHECK),
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
        if temporal == "llm" and not stages.has(TEMPORAL):
            raise InputError("--temporal llm: expected a model; name one with --model or in [llm]")
        by_model = temporal != "rule" and stages.has(TEMPORAL)
        with bar("drafting STRIDE") as tell:
            likelihood, reason, note, used = _filter(
                scorer, max_gap, (every_clip, every_text), clips, ws, stages, tell
            )
            result = draft_stride(
                clips,
                texts,
                seed,
                wanted,
                limit,
                per_clip,
                rewriter=TemporalRewriter(stages, seed) if by_model else None,
                likelihood=likelihood,
                check=ModelCheck(stages, seed) if stages.has(CHECK) else None,
                no_scorer=reason,
                progress=lambda step, done, total: tell(done, total),
            )
        settings = {
            "axes": wanted,
            "temporal": "llm" if by_model else "rule",
            "scorer": scorer,
            "max_gap": max_gap,
            "limit": limit,
            "per_clip": per_clip,
            "corpus": corpus,
            "split": split,
        }
        report = stride_report(
            result,
            stages,
            settings=settings,
            seed=seed,
            asked=len(texts),
            started=started,
            scorer=used(clips[0].id) if used is not None else None,
            held_out=note,
        )
        finish(ws, result.items, report, rejections(result), stages, as_json=as_json)


def _captions(
    ws: Workspace, corpus: str | None, split: str | None
) -> tuple[list[Clip], list[Caption], list[Clip], list[Caption]]:
    """Return clips and captions to draft, and all there are to train on.

    Raises:
        InputError: There are none.
    """
    from store.clips import list_captions, list_clips

    with ws.db.read() as session:
        every_clip, every_text = list_clips(session), list_captions(session)
    clips = [c for c in every_clip if corpus in (None, c.corpus) and split in (None, c.split)]
    known = {clip.id for clip in clips}
    texts = [c for c in every_text if c.clip_id in known]
    if not texts:
        chosen = " ".join(f"{k} {v}" for k, v in (("corpus", corpus), ("split", split)) if v)
        reason = f"no captions in the workspace {chosen}".rstrip()
        raise InputError(f"{reason}; `corpus import --captions` brings some", file=str(ws.root))
    return clips, texts, every_clip, every_text


def _filter(
    spec: str,
    max_gap: float,
    trainable: tuple[list[Clip], list[Caption]],
    clips: Sequence[Clip],
    ws: Workspace,
    stages: Stages,
    tell: Callable[[int, int], None],
) -> tuple[LikelihoodFilter | None, str, str, Callable[[str], TextScorer] | None]:
    """Return the likelihood filter, or why there is none; a note on training; the scorer."""
    from construction.stride_filter import LikelihoodFilter
    from construction.text.scorers import ScorerNotRun

    if spec == NO_FILTER:
        return None, "--scorer none", "", None
    if stages.dry_run and spec.startswith("completions:"):
        return None, "a dry run sends nothing", "", None
    try:
        drafted = [clip.id for clip in clips]
        used, note = open_workspace_scorer(spec, ws, *trainable, drafted, stages, tell)
    except ScorerNotRun as error:
        return None, str(error), "", None
    return LikelihoodFilter(used, max_gap), "", note, used


def open_workspace_scorer(
    spec: str,
    ws: Workspace,
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    drafted: Sequence[str],
    stages: Stages,
    progress: Callable[[int, int], None],
) -> tuple[Callable[[str], TextScorer], str]:
    """Open a scorer with what the workspace has: captions to train on, an endpoint, a cache.

    Args:
        spec: As ``--scorer``.
        ws: The workspace.
        clips: All its clips.
        captions: All their captions.
        drafted: Ids of the clips whose captions are scored.
        stages: The run whose budget an endpoint draws on.
        progress: Told how many texts an endpoint has scored and how many there are.

    Returns:
        The scorer by clip id, and how captions were held out (empty for other scorers).

    Raises:
        InputError: An unknown specification or unreadable file.
        ScorerNotRun: It cannot work here.
    """
    from construction.text.held_out import held_out_ngrams
    from construction.text.scorers import open_scorer

    if spec == "ngram":
        held = held_out_ngrams(clips, captions, drafted)
        return held.scorer, held.note
    opened = open_scorer(spec, echo=lambda name: _echo(ws, name, stages, progress))
    return lambda clip_id: opened, ""


def _echo(
    ws: Workspace, name: str, stages: Stages, progress: Callable[[int, int], None]
) -> EchoScorer:
    from construction.text.scorers import EchoScorer, ScorerNotRun
    from llm.echo import EndpointEcho
    from llm.settings import stage_settings

    table = ws.settings.get("llm")
    settings = stage_settings(table if isinstance(table, dict) else None, "scorer", model=name)
    if settings is None:
        raise ScorerNotRun("no endpoint is named; set base_url under [llm] in workspace.toml")
    echo = EndpointEcho(
        settings,
        ws.root / "llm-cache" / "echo",
        budget=stages.left,
        tell=lambda line: print(line, file=sys.stderr),
        progress=progress,
    )
    stages.share(echo)
    return EchoScorer(settings.model, settings.host, echo)
