"""`motionjury draft nextmotionqa`: labels and captions in, items of the 27 cells out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.problems import InputError, Problem
from motionjury.commands.drafting import (
    BatchInOption,
    BatchOutOption,
    CorpusOption,
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
from motionjury.options import JsonOption, WorkspaceOption, print_problems

if TYPE_CHECKING:
    from construction.nextmotionqa.sources import Sources
    from corpus.clips import Caption, Clip
    from llm.media import Media
    from motionjury.workspace import Workspace

_CLIPS_AT_HAND = 64


def nextmotionqa(
    babel: Annotated[
        Path | None,
        typer.Option("--babel", help="BABEL: folder with train.json, val.json …, or one file."),
    ] = None,
    humanml3d: Annotated[
        Path | None,
        typer.Option("--humanml3d", help="HumanML3D: folder with index.csv and texts."),
    ] = None,
    quota: Annotated[
        int, typer.Option("--quota", min=1, help="Items for each of the 27 cells.")
    ] = 44,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=20, help="Rounds of drafting, the first included.")
    ] = 3,
    frames: Annotated[
        int | None,
        typer.Option(
            "--frames",
            min=1,
            max=64,
            help="Frames of each clip in pass 2; by default 2 per second, 8 to 32.",
        ),
    ] = None,
    captions: Annotated[
        str,
        typer.Option("--captions", help="Whose modifiers make a clip Hard: first or all captions."),
    ] = "first",
    audit: Annotated[
        str, typer.Option("--audit", help="What F1-F4 in the labels does to an item: flag, refuse.")
    ] = "flag",
    borderline: Annotated[
        bool,
        typer.Option(help="Fill cells with clips of borderline difficulty, flagged for an expert."),
    ] = True,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
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
    """Draft NextMotionQA items for 27 cells of task, axis and difficulty, and store them.

    With --babel and --humanml3d the labels come from BABEL and the captions from HumanML3D, for
    clips imported with `corpus import`; without them from clips whose events the workspace knows
    (the demo corpus). Stages: pass1 drafts from labels and caption, pass2 sees the frames too.
    Without a model the template drafts. A run that was stopped goes on where it was.

    Example: motionjury draft nextmotionqa --quota 2
    """
    from construction.nextmotionqa.passes import STAGES
    from construction.nextmotionqa.run import Plan, draft_nextmotionqa
    from motionjury.commands.drafting import finish, prompt_files, stages_of
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips
    from store.items import list_items

    if (babel is None) != (humanml3d is None):
        raise InputError("--babel and --humanml3d: expected both or neither")
    if captions not in ("first", "all"):
        raise InputError(f"--captions: expected first or all, got {captions!r}")
    if audit not in ("flag", "refuse"):
        raise InputError(f"--audit: expected flag or refuse, got {audit!r}")
    plan = Plan(
        quota=quota,
        rounds=rounds,
        seed=seed,
        captions="all" if captions == "all" else "first",
        on_failure="refuse" if audit == "refuse" else "flag",
        borderline=borderline,
        limit=limit,
    )
    files = prompt_files(prompts, "nextmotionqa")
    ws = open_workspace(workspace)
    with ws.db.read() as session:
        clips = list_clips(session, corpus)
        texts = list_captions(session, corpus)
        before = list_items(session, "nextmotionqa")
    sources = _sources(babel, humanml3d, clips, texts)
    print_problems(sources.problems)
    with stages_of(
        ws,
        STAGES,
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
        drafted = draft_nextmotionqa(
            sources,
            plan,
            stages,
            _frames_of(ws, clips, frames, dry_run),
            {item.id for item in before if item.provenance.seed == seed},
        )
    settings = {**drafted.report.settings, "frames": frames, "corpus": corpus}
    report = drafted.report.model_copy(update={"settings": settings})
    finish(ws, drafted.items, report, drafted.rejected, stages, as_json=as_json)


def _sources(
    babel: Path | None, humanml3d: Path | None, clips: list[Clip], texts: list[Caption]
) -> Sources:
    from construction.nextmotionqa.sources import from_babel, from_workspace
    from corpus.formats.babel import read_babel
    from corpus.formats.humanml3d_index import read_index, texts_folder

    if babel is None or humanml3d is None:
        return from_workspace(clips, texts)
    sequences, refused = read_babel(babel)
    index, more = read_index(humanml3d)
    by_name: dict[str, Clip] = {}
    for clip in clips:
        if clip.format == "humanml3d":
            name = clip.id.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
            if (other := by_name.setdefault(name, clip)) is not clip:
                reason = f"both {other.id} and {clip.id} are clip {name}; choose with --corpus"
                raise InputError(reason)
    if not by_name:
        raise InputError("no HumanML3D clip in the workspace; run `motionjury corpus import` first")
    sources = from_babel(sequences, index, texts_folder(humanml3d), by_name)
    problems: tuple[Problem, ...] = (*refused, *more, *sources.problems)
    return sources.model_copy(update={"problems": problems})


def _frames_of(
    workspace: Workspace, clips: list[Clip], count: int | None, dry_run: bool
) -> Callable[[str], tuple[Media, ...]]:
    """Return a function that draws a clip's frames, or finds those of an earlier run."""
    from construction.nextmotionqa.frames import clip_frames, frame_count, reckoned_frames
    from corpus.reading import load_motion

    known = {clip.id: clip for clip in clips}
    folder = workspace.media_dir / "frames"

    @lru_cache(maxsize=_CLIPS_AT_HAND)
    def frames(clip_id: str) -> tuple[Media, ...]:
        motion = load_motion(known[clip_id], workspace.root)
        wanted = count or frame_count(motion.duration)
        return (reckoned_frames if dry_run else clip_frames)(motion, wanted, folder)

    return frames
