"""`motionjury corpus`: motions and captions in, and what a file or folder holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.formats.source import ReadOptions, Unit, Up
from corpus.problems import InputError
from motionjury.commands.corpus_analyse import analyse_command
from motionjury.options import JsonOption, WorkspaceOption, bar, print_json, print_problems

if TYPE_CHECKING:
    from corpus.clips import Clip
    from corpus.reading import Inspection

app = typer.Typer()
app.command("analyse")(analyse_command)

_LISTED = 1000

FpsOption = Annotated[
    float | None, typer.Option(help="Frames per second, where the files store none.")
]
UpOption = Annotated[Up | None, typer.Option(help="Upward axis; measured on the body if absent.")]
UnitOption = Annotated[
    Unit | None, typer.Option(help="Length unit; recognised from the body if absent.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", help="amass, arrays, bvh, humanml3d, kimodo or snapmogen; recognised if absent."
    ),
]


def read_options(fps: float | None, up: Up | None, unit: Unit | None) -> ReadOptions:
    """Return reader options from command-line values.

    Raises:
        InputError: ``--fps`` is not in (0, 1000].
    """
    if fps is not None and not 0 < fps <= 1000:
        raise InputError(f"--fps: expected a number in (0, 1000], got {fps:g}")
    return ReadOptions(fps=fps, up=up, unit=unit)


@app.command("inspect")
def inspect_command(
    path: Annotated[Path, typer.Argument(help="Motion file or dataset folder.")],
    fps: FpsOption = None,
    up: UpOption = None,
    unit: UnitOption = None,
    format_name: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a file or folder holds; needs no workspace.

    Exit code 0 when a clip could be read, 2 when none could.

    Example: motionjury corpus inspect walk.npy --fps 20 --json
    """
    from corpus.reading import inspect_path

    options = read_options(fps, up, unit)
    with bar("reading") as tell:
        inspection = inspect_path(path, options, format_name=format_name, progress=tell)
    # One refused file is said once, by the error itself.
    alone = not inspection.clips and len(inspection.problems) == 1
    if as_json:
        print_json(inspection.model_dump(mode="json"))
    elif not alone:
        _print_inspection(inspection)
    if alone:
        raise InputError(inspection.problems[0].reason, file=inspection.problems[0].file)
    if not inspection.clips:
        raise _nothing(path, len(inspection.problems))


@app.command("import")
def import_command(
    path: Annotated[Path, typer.Argument(help="Motion file or dataset folder.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the corpus, first part of each id.")
    ] = None,
    fps: FpsOption = None,
    up: UpOption = None,
    unit: UnitOption = None,
    format_name: FormatOption = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Only clips of this split; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many clips.")] = None,
    captions: Annotated[
        Path | None,
        typer.Option(
            help="CSV, JSON or JSONL of clip and caption, for motions whose files hold none."
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of motions whose files state none, e.g. CC-BY-4.0."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the clips and captions of a file or folder to the workspace.

    The motions stay where they are. Importing again adds nothing twice. What cannot be read is
    listed on stderr and left out; exit code 2 when nothing was imported.

    Example: motionjury corpus import HumanML3D --split test
    """
    from audit.intake import read_table
    from corpus.caption_rows import CaptionTable
    from corpus.reading import read_path
    from motionjury.workspace import open_workspace
    from store.clips import add_clips
    from store.events import log

    if name is not None and (not name.strip() or set(name) & set(":#\n\t")):
        raise InputError(f"--name: expected a name without ':' and '#', got {name!r}")
    if licence is not None and (not licence.strip() or not licence.isprintable()):
        raise InputError(f"--licence: expected a name such as CC-BY-4.0, got {licence!r}")
    opened = open_workspace(workspace)
    options = read_options(fps, up, unit)
    table = None if captions is None else CaptionTable(str(captions), read_table(captions))
    with bar("reading") as tell:
        reading = read_path(
            path,
            options,
            format_name=format_name,
            corpus=name,
            splits=tuple(split or ()),
            limit=limit,
            captions=table,
            progress=tell,
        )
    if not reading.clips and len(reading.problems) == 1:
        only = reading.problems[0]
        raise InputError(only.reason, file=only.file, place=only.place)
    refused = print_problems(reading.problems, most=_LISTED)
    if not reading.clips:
        raise _nothing(path, refused, reading.skipped)
    clips = [
        clip if clip.licence or licence is None else clip.model_copy(update={"licence": licence})
        for clip in reading.clips
    ]
    with opened.db.write() as session:
        new_clips, new_captions = add_clips(session, clips, reading.captions)
        log(
            session,
            "corpus_imported",
            subject=str(path.resolve()),
            details={"clips": len(reading.clips), "new": new_clips, "refused": refused},
        )
    summary = {
        "format": reading.format,
        "clips": len(reading.clips),
        "new_clips": new_clips,
        "captions": len(reading.captions),
        "new_captions": new_captions,
        "refused": refused,
        "skipped": reading.skipped,
        "problems": [p.model_dump(mode="json") for p in reading.problems],
    }
    if as_json:
        print_json(summary)
        return
    print(
        f"{len(reading.clips)} clips ({new_clips} new) and {len(reading.captions)} captions "
        f"({new_captions} new) of format {reading.format}; {refused} refused, "
        f"{reading.skipped} left out"
    )
    if not reading.captions:
        print("no captions came with them; --captions FILE takes them from a table")


@app.command("list")
def list_command(
    name: Annotated[
        str | None, typer.Option("--corpus", "--name", help="Only this corpus.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the clips of the workspace.

    Example: motionjury corpus list --corpus humanml3d
    """
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips

    opened = open_workspace(workspace)
    with opened.db.read() as session:
        clips = list_clips(session, name)
        captions = list_captions(session, name)
    counts: dict[str, int] = {}
    for caption in captions:
        counts[caption.clip_id] = counts.get(caption.clip_id, 0) + 1
    if as_json:
        print_json([c.model_dump(mode="json") | {"captions": counts.get(c.id, 0)} for c in clips])
        return
    _print_clips(clips, counts)


def _nothing(path: Path, refused: int, skipped: int = 0) -> InputError:
    """Return the one line said when no clip could be read."""
    if skipped and not refused:
        return InputError(
            f"expected a clip of such a split, all {skipped} are of others", file=str(path)
        )
    what = f"{refused} refused" if refused else "no motion files (.bvh, .npy, .npz) found"
    return InputError(f"expected at least one readable motion, got none: {what}", file=str(path))


def _print_inspection(inspection: Inspection) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if inspection.clips:
        table = Table(title=f"{len(inspection.clips)} clips, format {inspection.format}")
        for column in ("id", "frames", "fps", "seconds", "skeleton", "captions"):
            table.add_column(
                column, justify="right" if column in _NUMERIC else "left", overflow="fold"
            )
        for clip in inspection.clips:
            table.add_row(
                escape(clip.id),
                str(clip.frames),
                f"{clip.fps:g}",
                f"{clip.duration_s:.2f}",
                clip.skeleton,
                str(len(clip.captions)),
            )
        console = Console()
        console.print(table)
        for said in sorted({a for c in inspection.clips for a in c.assumptions}):
            count = sum(said in c.assumptions for c in inspection.clips)
            console.print(escape(f"assumed for {count}: {said}"), highlight=False)
    for problem in inspection.problems:
        print(f"refused: {problem.file}: {problem.reason}", file=sys.stderr)


_NUMERIC = frozenset({"frames", "fps", "seconds", "captions"})


def _print_clips(clips: list[Clip], captions: dict[str, int]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{len(clips)} clips")
    for column in ("id", "format", "split", "frames", "fps", "seconds", "captions"):
        table.add_column(column, justify="right" if column in _NUMERIC else "left", overflow="fold")
    for clip in clips:
        table.add_row(
            escape(clip.id),
            clip.format,
            clip.split or "",
            str(clip.frames),
            f"{clip.fps:g}",
            f"{clip.duration:.2f}",
            str(captions.get(clip.id, 0)),
        )
    Console().print(table)
