"""`agreement report`: the agreement of a study's experts, as HTML, JSON, CSV and LaTeX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.commands.agreement_judge import ResamplesOption, SeedOption, check_resampling
from motionjury.options import JsonOption, WorkspaceOption
from motionjury.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agreement.report import Report
    from motionjury.workspace import Workspace


def report_command(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Name or id; may be left out where there is one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write to; by default in the workspace."),
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report the agreement of a study's experts, check by check: HTML, JSON, CSV, LaTeX.

    Example: motionjury agreement report my-study --json
    """
    from agreement.export import to_csv, to_latex
    from agreement.report import render_html, with_links
    from annotation_app.reports import clips_of_items, disputed_items, thumbnails_of
    from motionjury.commands.agreement import print_analysis
    from motionjury.workspace import open_workspace

    check_resampling(resamples, seed)
    opened = open_workspace(workspace)
    name = study or only_study(opened)
    report = study_report(opened, name, resamples=resamples, seed=seed)
    slug = re.sub(r"[^\w.-]+", "-", report.title).strip("-.") or "study"
    folder = out or opened.reports_dir / slug
    with opened.db.read() as session:
        media = clips_of_items(session, opened.media_dir, disputed_items(report))
    report = with_links(report, file_links(media, folder))
    text = report.model_dump_json(indent=2)
    write_text(folder / "report.html", render_html(report, thumbnails=thumbnails_of(media)))
    write_text(folder / "report.json", text + "\n")
    write_text(folder / "coefficients.csv", to_csv(report))
    write_text(folder / "table.tex", to_latex(report))
    if as_json:
        print(text)
        return
    if report.simulated_raters:
        print(f"SIMULATED raters: {', '.join(report.simulated_raters)}")
    for check in report.checks:
        print_analysis(check.analysis, title=check.analysis.axis.name)
    print(f"report written to {folder / 'report.html'}; JSON, CSV and LaTeX lie beside it")


def only_study(workspace: Workspace) -> str:
    """Name the study that is meant when none is named: the only one with labels.

    Args:
        workspace: An open workspace.

    Returns:
        Its id.

    Raises:
        InputError: No study has labels, or several have.
    """
    from audit.ratings import counted_labels
    from audit.studies import list_studies
    from corpus.problems import InputError

    with workspace.db.read() as session:
        labelled = [s for s in list_studies(session) if counted_labels(session, s.id)]
    if len(labelled) == 1:
        return labelled[0].id
    if not labelled:
        raise InputError("no study has labels yet", file=str(workspace.root))
    names = ", ".join(repr(found.name) for found in labelled)
    raise InputError(f"several studies have labels, name one of {names}", file=str(workspace.root))


def file_links(media: Mapping[str, tuple[Path, float]], folder: Path) -> dict[str, str]:
    """Address the clips of items by paths that hold while the workspace stays together.

    Args:
        media: File and seconds by item.
        folder: Where the report is written.

    Returns:
        Relative path by item; clips whose file is gone are left out.
    """
    import os.path

    return {
        item: Path(os.path.relpath(clip.resolve(), folder.resolve())).as_posix()
        for item, (clip, _seconds) in media.items()
        if clip.is_file()
    }


def study_report(workspace: Workspace, study: str, *, resamples: int, seed: int) -> Report:
    """Compute the report of a study.

    Args:
        workspace: An open workspace.
        study: Name or id of the study.
        resamples: Resamples behind each interval.
        seed: Seed of the resamples.

    Returns:
        The report, raters anonymous.

    Raises:
        InputError: No such study, or no label in it yet.
    """
    from annotation_app import reports
    from corpus.problems import InputError
    from motionjury import __version__

    with workspace.db.read() as session:
        report = reports.study_report(
            session, study, tool_version=__version__, resamples=resamples, seed=seed
        )
    if report is None:
        raise InputError(f"study {study!r} has no labels yet")
    return report
