"""`motionjury render strip|keyframes|glb`: a motion as pictures, or as a 3D file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from corpus.problems import InputError
from motionjury.commands.render_options import (
    ArrowOption,
    BackendOption,
    CounterOption,
    FileArgument,
    FpsOption,
    LegendOption,
    UpOption,
    VideoFpsOption,
    ViewOption,
    check_out,
    failures,
    fit_warning,
    read_motion,
    settings_of,
)
from motionjury.options import JsonOption, print_json

PictureOption = Annotated[Path, typer.Option("--out", "-o", help="PNG or JPEG to write.")]


def strip_command(
    file: FileArgument,
    out: PictureOption,
    fps: FpsOption = None,
    up: UpOption = None,
    stride: Annotated[int, typer.Option(help="Frames of the video between tiles.")] = 3,
    tile: Annotated[int, typer.Option(help="Height of a tile in pixels, 64 to 1024.")] = 200,
    columns: Annotated[
        int | None, typer.Option(help="Tiles in a row; 10 to 17 if absent.", show_default=False)
    ] = None,
    viewport: Annotated[
        Literal["fixed", "follow"],
        typer.Option(
            help="fixed: the same part of the world in every tile, so travel is seen; follow: the "
            "camera goes along, so the person stays large and travel is in the numbers."
        ),
    ] = "fixed",
    header: Annotated[bool, typer.Option(help="Say over the tiles how they are read.")] = True,
    video_fps: VideoFpsOption = 30.0,
    backend: BackendOption = "auto",
    view: ViewOption = "mesh",
    facing_arrow: ArrowOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a motion as one picture: time left to right in rows, parts in colour.

    Under each tile stand the frame's number and how far the pelvis has moved, in metres.

    Example: motionjury render strip walk.npy -o walk.png --fps 20
    """
    from render.strip import write_strip

    check_out(out, ".png", ".jpg", ".jpeg")
    settings = settings_of(fps=video_fps, backend=backend, view=view, facing_arrow=facing_arrow)
    motion = read_motion(file, fps, up)
    with failures(out):
        drawn = write_strip(
            motion, out, stride, settings,
            columns=columns, tile=tile, viewport=viewport, header=header,
        )  # fmt: skip
    height, width = drawn.picture.shape[:2]
    if as_json:
        print_json(
            {
                "frames": drawn.frames,
                "times": [round(time, 6) for time in drawn.times],
                "displacement_m": drawn.displacement.round(4).tolist(),
                "columns": drawn.columns,
                "width": width,
                "height": height,
            }
        )
        return
    rows = -(-len(drawn.frames) // drawn.columns)
    print(f"{out}: {len(drawn.frames)} tiles in {rows} rows, {width} x {height} pixels")


def keyframes_command(
    file: FileArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="PNG or JPEG of all; else a folder for one file a frame."),
    ],
    fps: FpsOption = None,
    up: UpOption = None,
    count: Annotated[
        int | None,
        typer.Option(help="Frames at equal distances; 6 if absent.", show_default=False),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option("--per-second", help="Or frames a second, as 5.", show_default=False),
    ] = None,
    columns: Annotated[
        int | None, typer.Option(help="Frames in a row of the picture.", show_default=False)
    ] = None,
    kind: Annotated[
        Literal["png", "jpg"], typer.Option("--format", help="Of the files in a folder.")
    ] = "png",
    trajectory: Annotated[
        bool | None,
        typer.Option(
            help="Draw the path of the pelvis on the floor; on for --count, off for --per-second.",
            show_default=False,
        ),
    ] = None,
    crop: Annotated[
        bool, typer.Option(help="With --count, show only the box around the motion.")
    ] = True,
    size: Annotated[int, typer.Option(help="Side of a frame in pixels, even, 64 to 4096.")] = 384,
    video_fps: VideoFpsOption = 30.0,
    backend: BackendOption = "auto",
    view: ViewOption = "skeleton",
    facing_arrow: ArrowOption = False,
    legend: LegendOption = False,
    frame_counter: CounterOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a few frames of a motion, as one picture or as numbered files.

    Six frames with the path of the pelvis by default (STRIDE); `--per-second 5` gives frames at
    that rate (MRBench).

    Example: motionjury render keyframes walk.npy -o walk.png --fps 20
    """
    from render.keyframes import frames_at, keyframes

    if count is not None and every is not None:
        raise InputError("--per-second: expected either --count or --per-second, got both")
    one = out.suffix != ""
    if one:
        check_out(out, ".png", ".jpg", ".jpeg")
    elif columns is not None:
        raise InputError("--columns: expected --out to name a picture, got a folder")
    if columns is not None and columns < 1:
        raise InputError(f"--columns: expected at least 1, got {columns}")
    settings = settings_of(
        size=size, fps=video_fps, backend=backend, view=view, facing_arrow=facing_arrow,
        legend=legend, frame_counter=frame_counter,
    )  # fmt: skip
    motion = read_motion(file, fps, up)
    if every is not None:
        found = frames_at(motion, every, settings, bool(trajectory))
    else:
        plain = crop and not (legend or frame_counter)
        found = keyframes(
            motion, 6 if count is None else count, settings, trajectory is not False, plain
        )
    with failures(out):
        files = found.write(out, kind, columns)
    if as_json:
        print_json(
            {
                "frames": found.frames,
                "times": [round(time, 6) for time in found.times],
                "files": [path.name for path in files],
            }
        )
        return
    times = ", ".join(f"{time:.2f}" for time in found.times[:8])
    more = " …" if len(found.times) > 8 else ""
    print(f"{out}: {len(found.frames)} frames at {times}{more} s")


def glb_command(
    file: FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="GLB to write.")],
    fps: FpsOption = None,
    up: UpOption = None,
    video_fps: VideoFpsOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Write a motion as a GLB for Blender or any 3D viewer: skin, colours, one animation.

    Example: motionjury render glb walk.npy -o walk.glb --fps 20
    """
    from render.glb import write_glb

    check_out(out, ".glb")
    settings = settings_of(fps=video_fps)
    motion = read_motion(file, fps, up)
    with failures(out):
        info = write_glb(motion, out, settings)
    if as_json:
        print_json(info.model_dump(mode="json"))
        return
    print(
        f"{out}: {info.frames} keys, {info.seconds:.2f} s at {info.fps:g} fps, "
        f"{info.joints} joints, {info.triangles} triangles, {info.size_bytes / 1024:.0f} KiB"
    )
    warning = fit_warning(info.fit_error_mm)
    if warning:
        print(warning)
