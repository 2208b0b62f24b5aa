"""`motionjury release build|verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from motionjury.options import JsonOption, WorkspaceOption, print_json

app = typer.Typer()


@app.command()
def build(
    study: Annotated[
        list[str] | None,
        typer.Option(
            help="Closed study to take, by name or id; repeat for more.", show_default="all"
        ),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="Benchmark of the items: stride, nextmotionqa, mrbench or t2mbench.")
    ] = "stride",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write.", show_default="releases/NAME-VERSION"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the release.", show_default="the benchmark")
    ] = None,
    version: Annotated[str, typer.Option(help="Version of the release.")] = "1.0",
    licence: Annotated[
        str | None,
        typer.Option(
            "--licence",
            "--license",
            help="Licence of captions, labels and decisions, as an SPDX id.",
            show_default="none stated",
        ),
    ] = None,
    include_comments: Annotated[
        bool, typer.Option("--include-comments", help="Include what people wrote in words.")
    ] = False,
    allow_simulated: Annotated[
        bool,
        typer.Option("--allow-simulated", help="Let simulated labels in; the card says so."),
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a release: items, anonymised labels, decisions, agreement, lineage. No motion data.

    Example: motionjury release build --study pilot --name my-stride --licence CC-BY-4.0
    """
    from corpus.problems import InputError
    from exports.gather import RELEASED, build_release
    from exports.selection import ReleaseSpec
    from motionjury import __version__
    from motionjury.workspace import open_workspace

    found = next((known for known in RELEASED if known == benchmark), None)
    if found is None:
        raise InputError(f"--benchmark: expected one of {', '.join(RELEASED)}, got {benchmark!r}")
    place = open_workspace(workspace)
    spec = ReleaseSpec(
        name=_one_line("--name", name or benchmark),
        version=_one_line("--version", version),
        benchmark=found,
        licence=_one_line("--licence", licence) if licence else None,
        include_comments=include_comments,
        allow_simulated=allow_simulated,
        tool_version=__version__,
    )
    target = out or place.releases_dir / _folder_name(f"{spec.name}-{spec.version}")
    built = build_release(place.db, target, spec, studies=study or ())
    for left in built.left_out:
        print(f"left out: study {left!r} is not closed", file=sys.stderr)
    if json:
        print_json(built.model_dump(mode="json"))
        return
    dropped = sum(built.counts.dropped.values())
    print(
        f"{built.out}: {built.counts.kept} items, {dropped} excluded, {built.counts.labels} labels"
    )
    if not built.counts.kept:
        print("no item was accepted: this release holds none", file=sys.stderr)
    if built.counts.simulated_labels:
        print(f"SIMULATED: {built.counts.simulated_labels} labels were made by a program")
    print(f"manifest SHA-256 {built.manifest_sha256}")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Release folder.")],
    json: JsonOption = False,
) -> None:
    """Check a release: files, counts, ids, decisions and agreement. Exit code 1 when not ok.

    Intervals of the agreement are computed again where this version wrote the release.

    Example: motionjury release verify my-stride-1.0 --json
    """
    from exports.verify import verify_release
    from motionjury import __version__

    problems = verify_release(folder, tool_version=__version__)
    if json:
        listed = [{"file": problem.file, "reason": problem.reason} for problem in problems]
        print_json({"ok": not problems, "problems": listed})
    elif problems:
        for problem in problems:
            print(problem.line())
    else:
        print(f"{folder}: ok")
    if problems:
        raise typer.Exit(1)


def _one_line(option: str, text: str) -> str:
    from corpus.problems import InputError

    if not text.strip() or not text.isprintable() or len(text) > 200:
        raise InputError(f"{option}: expected one line of at most 200 characters, got {text!r}")
    return text.strip()


def _folder_name(text: str) -> str:
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in text).strip(".-")
    return safe or "release"
