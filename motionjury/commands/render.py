"""`motionjury render`: the stimuli that people and models judge."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus.formats.source import Up
from corpus.problems import InputError
from motionjury.options import JsonOption, WorkspaceOption, print_json, print_problems

if TYPE_CHECKING:
    from corpus.clips import Clip
    from motionjury.workspace import Workspace
    from render.batch import Rendered
    from render.clip import RenderSettings

app = typer.Typer()

SizeOption = Annotated[int, typer.Option(help="Width and height in pixels, even, 64 to 4096.")]
VideoFpsOption = Annotated[float, typer.Option(help="Frames per second of the video.")]
BackendOption = Annotated[
    Literal["auto", "raster", "pyrender"],
    typer.Option(
        help="What draws: raster on the processor, pyrender by OpenGL on EGL; auto takes pyrender "
        "where there is a graphics processor."
    ),
]
ViewOption = Annotated[
    Literal["mesh", "skeleton"], typer.Option(help="The embedded body, or the bare joints.")
]


@app.command("clip")
def clip_command(
    file: Annotated[Path, typer.Argument(help="Motion file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="MP4 to write.")],
    fps: Annotated[
        float | None, typer.Option(help="Frames per second of the motion, where it stores none.")
    ] = None,
    up: Annotated[
        Up | None, typer.Option(help="Upward axis of the motion; measured if absent.")
    ] = None,
    size: SizeOption = 768,
    video_fps: VideoFpsOption = 30.0,
    backend: BackendOption = "auto",
    view: ViewOption = "mesh",
    as_json: JsonOption = False,
) -> None:
    """Render one motion file to an MP4; needs no workspace.

    Example: `motionjury render clip walk.npy -o walk.mp4 --fps 20`.
    """
    from corpus.formats.source import ReadOptions
    from corpus.reading import open_motion
    from render.clip import render_clip

    if fps is not None and not 0 < fps <= 1000:
        raise InputError(f"--fps: expected a number in (0, 1000], got {fps:g}")
    if out.suffix.lower() != ".mp4":
        raise InputError(f"--out: expected a file name ending in .mp4, got {out.name!r}")
    if out.is_dir():
        raise InputError("expected a file to write, got a folder", file=str(out))
    settings = _settings(size, video_fps, backend, view)
    motion = open_motion(file, ReadOptions(fps=fps, up=up))
    motion = motion.model_copy(update={"source": str(file)})
    with _bar("rendering") as tell, _failures(out):
        info = render_clip(motion, out, settings, tell)
    if as_json:
        print_json(info.model_dump(include={"frames", "fps", "seconds", "sha256", "backend"}))
        return
    print(
        f"{out}: {info.frames} frames, {info.seconds:.2f} s at {info.fps:g} fps, "
        f"{info.size_bytes / 1024:.0f} KiB, {info.backend}"
    )
    far = {name: mm for name, mm in info.fit_error_mm.items() if mm > 30}
    if far:
        worst = max(far, key=lambda name: far[name])
        print(f"the body misses {len(far)} joints by over 30 mm, most {worst}: {far[worst]:.0f} mm")


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
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one per processor if absent.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Render the clips of the workspace, or of one study, into its media folder.

    Example: `motionjury render all --study pilot`.
    Clips rendered before are skipped, so a stopped run goes on where it was. Exit code 2 when
    clips were asked for and none could be rendered.
    """
    from audit.studies import study_clips
    from motionjury.workspace import open_workspace
    from store.clips import list_clips

    opened = open_workspace(workspace)
    settings = _settings(size, video_fps, backend, view)
    with opened.db.read() as session:
        clips = list_clips(session, corpus)
    if study is not None:
        with opened.db.read() as session:
            wanted = study_clips(session, study)
        clips = [clip for clip in clips if clip.id in wanted]
    with _bar("rendering") as tell:
        results = render_into_workspace(opened, clips, settings, workers, tell)
    problems = [result.problem for result in results if result.problem is not None]
    drawn = sum(result.info is not None and not result.skipped for result in results)
    summary = {
        "clips": len(results),
        "rendered": drawn,
        "skipped": sum(result.skipped for result in results),
        "refused": len(problems),
        "problems": [problem.model_dump(mode="json") for problem in problems],
    }
    print_problems(problems)
    if as_json:
        print_json(summary)
    else:
        print(
            f"{summary['clips']} clips: {drawn} rendered, {summary['skipped']} there already, "
            f"{summary['refused']} refused"
        )
    if results and len(problems) == len(results):
        raise typer.Exit(2)


def render_into_workspace(
    workspace: Workspace,
    clips: Sequence[Clip],
    settings: RenderSettings | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Rendered]:
    """Render clips into the workspace's media folder and record each as soon as it is done.

    Args:
        workspace: An open workspace.
        clips: Clips it knows.
        settings: How to draw; the defaults if null.
        workers: Processes; null for one per processor.
        progress: Called with clips done and clips in all.

    Returns:
        One result per clip, ordered by clip id; refused clips carry a problem.
    """
    from render.batch import RenderJob, render_many
    from render.clip import RenderSettings
    from store.clips import add_media

    chosen = settings or RenderSettings()
    jobs = [RenderJob(clip, workspace.root, workspace.media_dir, chosen) for clip in clips]
    results = []
    for result in render_many(jobs, workers, progress):
        results.append(result)
        if result.info is None:
            continue
        with workspace.db.write() as session:
            add_media(
                session,
                key=result.key,
                clip_id=result.clip_id,
                file=result.file,
                settings=chosen.model_dump(mode="json"),
                frames=result.info.frames,
                fps=result.info.fps,
                seconds=result.info.seconds,
                sha256=result.info.sha256,
                size=result.info.size_bytes,
            )
    return sorted(results, key=lambda result: result.clip_id)


def _settings(size: int, fps: float, backend: str, view: str) -> RenderSettings:
    from pydantic import ValidationError

    from render.clip import RenderSettings

    try:
        return RenderSettings.model_validate(
            {"size": size, "fps": fps, "backend": backend, "view": view}
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = {"fps": "--video-fps"}.get(str(first["loc"][0]), f"--{first['loc'][0]}")
        message = str(first["msg"]).removeprefix("Value error, ")
        came = "" if "got" in message else f", got {first['input']}"
        raise InputError(f"{name}: {message}{came}") from error


@contextmanager
def _failures(out: Path) -> Iterator[None]:
    """Say a failed encoding or an unwritable folder in one line."""
    from render.video import EncodingError

    try:
        yield
    except EncodingError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(out)) from error


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
