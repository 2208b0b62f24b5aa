"""What the commands of `motionjury render` share: options, reading a motion, refusals."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus.formats.source import Up
from corpus.problems import InputError

if TYPE_CHECKING:
    from corpus.motion import Motion
    from render.clip import RenderSettings

FileArgument = Annotated[Path, typer.Argument(help="Motion file.")]
FpsOption = Annotated[
    float | None, typer.Option(help="Frames per second of the motion, where it stores none.")
]
UpOption = Annotated[Up | None, typer.Option(help="Upward axis of the motion; measured if absent.")]
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
BodyOption = Annotated[
    Literal["embedded", "smpl", "smplh", "smplx"],
    typer.Option(help="The body drawn; all but the embedded one come from --bodies."),
]
BodiesOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder with SMPL, SMPL-H or SMPL-X, as smplx lays it out; for a workspace its "
        "[bodies] folder if absent.",
        show_default=False,
    ),
]
GenderOption = Annotated[
    Literal["neutral", "male", "female"] | None,
    typer.Option(
        help="Which file of a licensed body; the motion file's own if absent, else neutral.",
        show_default=False,
    ),
]
BetasOption = Annotated[
    str | None,
    typer.Option(
        help="Shape of a licensed body, numbers with commas (0 for the mean); its bones then keep "
        "their length. The motion file's own if absent.",
        show_default=False,
    ),
]
RefineOption = Annotated[
    bool, typer.Option("--refine", help="Improve poses found from joint positions; slower.")
]
ArrowOption = Annotated[
    bool, typer.Option("--facing-arrow", help="Show on the floor where the person faces.")
]
LegendOption = Annotated[
    bool, typer.Option("--legend", help="Name the sides of the viewer and those of the person.")
]
CounterOption = Annotated[
    bool, typer.Option("--frame-counter", help="Number each frame in a corner, from 0.")
]


def read_motion(file: Path, fps: float | None, up: Up | None) -> Motion:
    """Read one motion from a file that the user named; doubts about it are said on stderr.

    Raises:
        InputError: The file or the rate.
    """
    from corpus.formats.source import ReadOptions
    from corpus.frames import doubts
    from corpus.reading import open_motion

    if fps is not None and not 0 < fps <= 1000:
        raise InputError(f"--fps: expected a number in (0, 1000], got {fps:g}")
    motion = open_motion(file, ReadOptions(fps=fps, up=up))
    for doubt in doubts(motion.assumptions):
        print(f"warning: {file}: {doubt}", file=sys.stderr)
    return motion.model_copy(update={"source": str(file)})


def body_fields(
    body: str,
    bodies: Path | None,
    gender: str | None,
    betas: str | None,
    folder: str | None = None,
) -> dict[str, object]:
    """Return the settings that say which body is drawn.

    Args:
        body: ``--body``.
        bodies: ``--bodies``.
        gender: ``--gender``.
        betas: ``--betas``.
        folder: The workspace's ``[bodies] folder``, which ``--bodies`` goes before.

    Raises:
        InputError: Betas that are no numbers, or a folder that is none.
    """
    fields: dict[str, object] = {"body": body, "gender": gender}
    chosen = bodies or (Path(folder) if folder else None)
    if body != "embedded" and chosen is not None:
        if not chosen.expanduser().is_dir():
            raise InputError(f"--bodies: expected a folder, got {chosen}")
        fields["bodies"] = chosen.expanduser().resolve()
    if betas is not None:
        try:
            fields["betas"] = tuple(float(word) for word in betas.split(","))
        except ValueError as error:
            raise InputError(f"--betas: expected numbers with commas, got {betas!r}") from error
    return fields


def settings_of(**fields: object) -> RenderSettings:
    """Return checked settings; a mistake is told by the option's name.

    Raises:
        InputError: A value out of range.
    """
    from pydantic import ValidationError

    from render.clip import RenderSettings

    try:
        return RenderSettings.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        message = str(first["msg"]).removeprefix("Value error, ")
        if not first["loc"]:
            raise InputError(f"--{message}") from error
        name = {"fps": "video-fps"}.get(str(first["loc"][0]), str(first["loc"][0]))
        came = "" if "got" in message else f", got {first['input']}"
        raise InputError(f"--{name}: {message}{came}") from error


def body_note(motion: Motion, settings: RenderSettings) -> str | None:
    """Return a line on the licensed body that is drawn and whose shape it has, or null."""
    from render.clip import with_own_shape

    if settings.body == "embedded" or settings.view == "skeleton":
        return None
    drawn = with_own_shape(settings, motion)
    if drawn.betas is None:
        shape = "mean shape, bones as long as the source's"
        if motion.body is not None and motion.body.betas:
            made = f"{motion.body.model or 'body'} {motion.body.gender or 'neutral'}"
            shape += f"; the file's betas are for {made}"
    else:
        whose = "as given" if settings.betas is not None else "of the file"
        shape = f"{len(drawn.betas)} betas {whose}"
    return f"body: {drawn.body} {drawn.gender or 'neutral'}, {shape}"


def check_out(out: Path, *suffixes: str) -> None:
    """Refuse an output file of another kind, or a folder.

    Raises:
        InputError: What was expected and what came.
    """
    if out.suffix.lower() not in suffixes:
        raise InputError(
            f"--out: expected a file name ending in {', '.join(suffixes)}, got {out.name!r}"
        )
    if out.is_dir():
        raise InputError("expected a file to write, got a folder", file=str(out))


@contextmanager
def failures(out: Path) -> Iterator[None]:
    """Say a failed encoding or an unwritable folder in one line."""
    from render.video import EncodingError

    try:
        yield
    except EncodingError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(out)) from error


def fit_warning(fit_error_mm: dict[str, float] | None) -> str | None:
    """Return a line on joints that the body misses by over ``render.fit.FAR_MM``, or null."""
    from render.fit import FAR_MM, far_joints

    far = far_joints(fit_error_mm)
    if not far:
        return None
    worst = next(iter(far))
    return (
        f"the body misses {len(far)} joints by over {FAR_MM:g} mm, "
        f"most {worst}: {far[worst]:.0f} mm"
    )
