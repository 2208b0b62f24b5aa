"""`init`, `status`, `doctor`: the workspace itself and what this machine can do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from corpus.problems import InputError
from motionjury import __version__
from motionjury.options import JsonOption, WorkspaceOption, print_json
from motionjury.workspace import Workspace, init_workspace, open_workspace


def init_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")],
    name: Annotated[str | None, typer.Option(help="Name shown to people.")] = None,
    database_url: Annotated[
        str | None, typer.Option(help="Another database, e.g. postgresql+psycopg://…")
    ] = None,
) -> None:
    """Make a workspace.

    Example: motionjury init my-benchmark
    """
    workspace = init_workspace(directory, name, database_url)
    print(f"workspace {workspace.name!r} is ready in {workspace.root}")


def status_command(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Say what the workspace holds.

    Example: motionjury status --json
    """
    opened = open_workspace(workspace)
    summary = workspace_summary(opened)
    if as_json:
        print_json(summary)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(summary["name"]), show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    table.add_row("folder", escape(summary["path"]))
    for key in ("clips", "captions"):
        table.add_row(key, str(summary[key]))
    table.add_row("clips rendered", str(summary["media"]))
    for state, count in summary["items"].items():
        table.add_row(f"items {state.replace('_', ' ')}", str(count))
    for study in summary["studies"]:
        mark = f", {study['simulated_labels']} simulated" if study["simulated_labels"] else ""
        table.add_row(
            escape(f"study {study['name']}"),
            f"{study['state']}: {study['items']} items, {study['labels']} labels{mark}",
        )
    Console().print(table)


def workspace_summary(workspace: Workspace) -> dict[str, Any]:
    """Count what a workspace holds.

    Args:
        workspace: An open workspace.

    Returns:
        Name, path, numbers of clips, captions and media, items by state, and the studies with
        their state, items and labels (how many of them simulated).
    """
    from store.summary import count_rows, study_counts

    with workspace.db.read() as session:
        return {
            "name": workspace.name,
            "path": str(workspace.root),
            **count_rows(session),
            "studies": study_counts(session),
        }


def doctor_command(
    check_log: Annotated[
        bool,
        typer.Option("--check-log", help="Count every study from the event log and compare."),
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check this machine and the workspace; exit 1 when something needed is missing.

    Where the workspace's `[llm]` names a model and an endpoint or key is set, the endpoint is
    asked one tiny question.

    With `--check-log`, the progress of each study is counted from the event log alone and must be
    what its tables say.

    Example: motionjury doctor --check-log
    """
    checks = [_python_check(), _ffmpeg_check(), _body_check(), _backend_check(), _browser_check()]
    table = None
    try:
        opened = open_workspace(workspace)
    except InputError as error:
        if workspace is not None or check_log:
            raise
        checks.append(_check("workspace", True, f"none opened ({error.problem.reason})"))
    else:
        checks.extend(_workspace_checks(opened))
        checks.extend(_bodies_checks(opened))
        if check_log:
            checks.extend(_log_checks(opened))
        table = opened.settings.get("llm")
    checks.extend(_endpoint_check(table))
    if as_json:
        print_json({"version": __version__, "checks": checks})
    else:
        for check in checks:
            print(f"{'ok  ' if check['ok'] else 'MISS'} {check['name']}: {check['detail']}")
    if not all(check["ok"] for check in checks):
        raise typer.Exit(1)


def _check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail}


def _python_check() -> dict[str, Any]:
    version = ".".join(map(str, sys.version_info[:3]))
    return _check("python", sys.version_info >= (3, 11), f"{version} (3.11 or newer is needed)")


def _ffmpeg_check() -> dict[str, Any]:
    import subprocess

    import imageio_ffmpeg

    try:
        binary = imageio_ffmpeg.get_ffmpeg_exe()
        run = subprocess.run(
            [binary, "-hide_banner", "-encoders"], capture_output=True, text=True, timeout=30
        )
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return _check("ffmpeg", False, f"cannot be run: {error}")
    has_x264 = "libx264" in run.stdout
    return _check("ffmpeg", has_x264, "with libx264" if has_x264 else "lacks libx264")


def _body_check() -> dict[str, Any]:
    from render.body import load_body

    body = load_body()
    return _check("embedded body", True, f"{len(body.vertices)} vertices, {len(body.faces)} faces")


def _backend_check() -> dict[str, Any]:
    from render.clip import RenderSettings, chosen_backend

    backend = chosen_backend(RenderSettings())
    why = "EGL has a graphics processor" if backend == "pyrender" else "no graphics processor"
    return _check("rendering", True, f"auto takes {backend} ({why})")


def _bodies_checks(workspace: Workspace) -> list[dict[str, Any]]:
    """Say which licensed bodies are in the workspace's folder, and which cannot be read."""
    from render.licensed import load_licensed, models_in

    if workspace.bodies_folder is None:
        return [_check("licensed bodies", True, "no [bodies] folder set; only SMPL's need one")]
    folder = Path(workspace.bodies_folder)
    found = models_in(folder)
    if not found:
        return [_check("licensed bodies", False, f"none in {folder}")]
    checks = []
    for kind, gender, file in found:
        try:
            body = load_licensed(folder, kind, gender)
        except InputError as error:
            checks.append(_check(f"{kind} {gender}", False, str(error)))
        else:
            detail = f"{file.relative_to(folder)}: {len(body.vertices)} vertices"
            checks.append(_check(f"{kind} {gender}", True, detail))
    return checks


def _browser_check() -> dict[str, Any]:
    from annotation_app.desktop import find_browser

    found = find_browser()
    missing = "not found: `app --desktop` opens the default browser, and browser tests are skipped"
    return _check("browser", True, missing if found is None else f"found: {Path(found).name}")


def _endpoint_check(table: Any) -> list[dict[str, Any]]:
    """Ask each language model one tiny question; send nothing where none is set up."""
    from llm.check import check_endpoint
    from llm.settings import STAGES, llm_settings, stage_settings

    if table is not None and not isinstance(table, dict):
        return [_check("language model", False, "[llm]: expected a table of settings")]
    stages = (table or {}).get(STAGES, {})
    checks = []
    for stage in ("", *(stages if isinstance(stages, dict) else ())):
        name = f"language model of {stage}" if stage else "language model"
        try:
            settings = stage_settings(table, stage) if stage else llm_settings(table)
        except InputError as error:
            checks.append(_check(name, False, str(error)))
            continue
        if settings is None:
            detail = "none set up ([llm] names no model, or no endpoint or key is set)"
            checks.append(_check(name, True, f"{detail}: nothing sent"))
            continue
        checks.append(_check(name, *check_endpoint(settings)))
    return checks


def _log_checks(workspace: Workspace) -> list[dict[str, Any]]:
    from audit.replay import log_differences
    from audit.studies import list_studies

    checks = []
    with workspace.db.read() as session:
        for study in list_studies(session):
            found = log_differences(session, study.id)
            detail = "; ".join(found) or "the log and the tables say the same"
            checks.append(_check(f"log of {study.name}", not found, detail))
    return checks


def _workspace_checks(workspace: Workspace) -> list[dict[str, Any]]:
    from store.clips import list_media

    summary = workspace_summary(workspace)
    with workspace.db.read() as session:
        files = [media.file for media in list_media(session)]
    lost = [file for file in files if not (workspace.media_dir / file).is_file()]
    detail = f"all {len(files)} rendered clips are there"
    if lost:
        detail = f"{len(lost)} of {len(files)} rendered clips are gone; run `motionjury render all`"
    return [
        _check("workspace", True, f"{summary['name']}: {summary['clips']} clips"),
        _check("media", not lost, detail),
    ]
