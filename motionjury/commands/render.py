"""`motionjury render`: the stimuli that people and models judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.commands.render_options import (
    ArrowOption,
    BackendOption,
    BetasOption,
    BodiesOption,
    BodyOption,
    CounterOption,
    FileArgument,
    FpsOption,
    GenderOption,
    LegendOption,
    RefineOption,
    SizeOption,
    UpOption,
    VideoFpsOption,
    ViewOption,
    body_fields,
    body_note,
    check_out,
    failures,
    fit_warning,
    read_motion,
    settings_of,
)
from motionjury.commands.render_pictures import glb_command, keyframes_command, strip_command
from motionjury.options import JsonOption, WorkspaceOption, bar, print_json, print_problems

if TYPE_CHECKING:
    from corpus.clips import Clip
    from motionjury.workspace import Workspace
    from render.batch import Rendered
    from render.clip import RenderSettings

app = typer.Typer()


@app.command("clip")
def clip_command(
    file: FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="MP4 to write.")],
    fps: FpsOption = None,
    up: UpOption = None,
    size: SizeOption = 768,
    video_fps: VideoFpsOption = 30.0,
    backend: BackendOption = "auto",
    view: ViewOption = "mesh",
    body: BodyOption = "embedded",
    bodies: BodiesOption = None,
    gender: GenderOption = None,
    betas: BetasOption = None,
    refine: RefineOption = False,
    facing_arrow: ArrowOption = False,
    legend: LegendOption = False,
    frame_counter: CounterOption = False,
    as_json: JsonOption = False,
) -> None:
    """Render one motion file to an MP4; needs no workspace.

    Example: motionjury render clip walk.npy -o walk.mp4 --fps 20
    """
    from render.clip import render_clip

    check_out(out, ".mp4")
    settings = settings_of(
        size=size, fps=video_fps, backend=backend, view=view, facing_arrow=facing_arrow,
        legend=legend, frame_counter=frame_counter, refine=refine,
        **body_fields(body, bodies, gender, betas),
    )  # fmt: skip
    motion = read_motion(file, fps, up)
    with bar("rendering") as tell, failures(out):
        info = render_clip(motion, out, settings, tell)
    if as_json:
        print_json(info.model_dump(include={"frames", "fps", "seconds", "sha256", "backend"}))
        return
    print(
        f"{out}: {info.frames} frames, {info.seconds:.2f} s at {info.fps:g} fps, "
        f"{info.size_bytes / 1024:.0f} KiB, {info.backend}"
    )
    for line in (body_note(motion, settings), fit_warning(info.fit_error_mm)):
        if line:
            print(line)


app.command("strip")(strip_command)
app.command("keyframes")(keyframes_command)
app.command("glb")(glb_command)


@app.command("all")
def all_command(
    study: Annotated[
        str | None, typer.Option(help="Only the clips that this study shows (id or name).")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="Only the clips of this corpus.")] = None,
    size: SizeOption = 768,
    video_fps: VideoFpsOption = 30.0,
    backend: BackendOption = "auto",
    view: ViewOption = "mesh",
    body: BodyOption = "embedded",
    bodies: BodiesOption = None,
    gender: GenderOption = None,
    betas: BetasOption = None,
    refine: RefineOption = False,
    facing_arrow: ArrowOption = False,
    legend: LegendOption = False,
    frame_counter: CounterOption = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one per processor if absent.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler whose workers draw instead, e.g. tcp://host:8786; "
            "they see the workspace under the same path.",
            show_default=False,
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Render the clips of the workspace, or of one study, into its media folder.

    Clips rendered before are skipped, so a stopped run goes on where it was. With --study the
    clips carry the marks (facing arrow, legend) the study asks for. Exit code 2 when clips were
    asked for and none could be rendered.

    Example: motionjury render all --study pilot
    """
    from audit.studies import get_study, study_clips
    from motionjury.workspace import open_workspace
    from render.fit import far_joints
    from store.clips import list_clips

    opened = open_workspace(workspace)
    with opened.db.read() as session:
        clips = list_clips(session, corpus)
        if study is not None:
            wanted = study_clips(session, study)
            clips = [clip for clip in clips if clip.id in wanted]
            asked = get_study(session, study).config
            facing_arrow, legend = facing_arrow or asked.facing_arrow, legend or asked.legend
    settings = settings_of(
        size=size, fps=video_fps, backend=backend, view=view, facing_arrow=facing_arrow,
        legend=legend, frame_counter=frame_counter, refine=refine,
        **body_fields(body, bodies, gender, betas, opened.bodies_folder),
    )  # fmt: skip
    with bar("rendering") as tell:
        results = render_into_workspace(opened, clips, settings, workers, tell, cluster)
    problems = [result.problem for result in results if result.problem is not None]
    drawn = sum(result.info is not None and not result.skipped for result in results)
    summary = {
        "clips": len(results),
        "rendered": drawn,
        "skipped": sum(result.skipped for result in results),
        "refused": len(problems),
        "problems": [problem.model_dump(mode="json") for problem in problems],
        "far": {
            result.clip_id: far
            for result in results
            if result.info is not None and (far := far_joints(result.info.fit_error_mm))
        },
    }
    print_problems(problems)
    if as_json:
        print_json(summary)
    else:
        print(
            f"{summary['clips']} clips: {drawn} rendered, {summary['skipped']} there already, "
            f"{summary['refused']} refused"
        )
        for result in results:
            warning = None if result.info is None else fit_warning(result.info.fit_error_mm)
            if warning:
                print(f"{result.clip_id}: {warning}")
    if results and len(problems) == len(results):
        raise typer.Exit(2)


def render_into_workspace(
    workspace: Workspace,
    clips: Sequence[Clip],
    settings: RenderSettings | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: str | None = None,
) -> list[Rendered]:
    """Render clips into the workspace's media folder and record each as soon as it is done.

    Args:
        workspace: An open workspace.
        clips: Clips it knows.
        settings: How to draw; the defaults if null.
        workers: Processes; null for one per processor.
        progress: Called with clips done and clips in all.
        cluster: Address of a Dask scheduler, see ``render.batch.render_many``.

    Returns:
        One result per clip, ordered by clip id; refused clips carry a problem.
    """
    from render.batch import RenderJob, render_many
    from render.clip import RENDERER_VERSION, RenderSettings
    from store.clips import add_media

    chosen = settings or RenderSettings()
    clip_of = {clip.id: clip for clip in clips}
    jobs = [RenderJob(clip, workspace.root, workspace.media_dir, chosen) for clip in clips]
    results = []
    for result in render_many(jobs, workers, progress, cluster):
        results.append(result)
        if result.info is None:
            continue
        fit: dict[str, float] | None = result.info.fit_error_mm
        if result.skipped:
            fit = _missing_fit(workspace, clip_of[result.clip_id], result.key, chosen)
        with workspace.db.write() as session:
            add_media(
                session,
                key=result.key,
                clip_id=result.clip_id,
                file=result.file,
                settings=chosen.model_dump(mode="json") | {"renderer_version": RENDERER_VERSION},
                frames=result.info.frames,
                fps=result.info.fps,
                seconds=result.info.seconds,
                sha256=result.info.sha256,
                size=result.info.size_bytes,
                fit_error_mm=fit,
                motion_hash=clip_of[result.clip_id].content_hash,
                rendered_at=time.time(),
            )
    return sorted(results, key=lambda result: result.clip_id)


def _missing_fit(
    workspace: Workspace, clip: Clip, key: str, settings: RenderSettings
) -> dict[str, float] | None:
    """Return the fit error of a clip whose run died before it was recorded; null if it is known."""
    from corpus.problems import InputError
    from corpus.reading import load_motion
    from render.clip import fit_error
    from store.clips import media_for_clip

    with workspace.db.read() as session:
        media = media_for_clip(session, clip.id)
    if any(known.key == key and known.fit_error_mm is not None for known in media):
        return None
    try:
        return fit_error(load_motion(clip, workspace.root), settings)
    except InputError:
        return None
