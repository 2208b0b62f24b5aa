"""`agreement report`: the agreement of a study's experts, as HTML, JSON, CSV and LaTeX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionjury.commands.agreement_judge import ResamplesOption, SeedOption, check_resampling
from motionjury.options import JsonOption, WorkspaceOption
from motionjury.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agreement.report import Report
    from motionjury.workspace import Workspace


def report_command(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Name or id; may be left out where there is one."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; by default in the workspace.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report the agreement of a study's experts, check by check: HTML, JSON, CSV, LaTeX.

    Example: `motionjury agreement report my-study --json`
    """
    from agreement.export import to_csv, to_latex
    from agreement.report import render_html
    from motionjury.commands.agreement import print_analysis
    from motionjury.workspace import open_workspace

    check_resampling(resamples, seed)
    opened = open_workspace(workspace)
    name = study or only_study(opened)
    report = study_report(opened, name, resamples=resamples, seed=seed)
    slug = re.sub(r"[^\w.-]+", "-", report.title).strip("-.") or "study"
    folder = out or opened.reports_dir / slug
    media = clips_of_items(opened, [item.item for c in report.checks for item in c.disputed])
    report = with_links(report, media, folder)
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


def clips_of_items(workspace: Workspace, item_ids: Iterable[str]) -> dict[str, tuple[Path, float]]:
    """Find the rendered clips of items.

    Args:
        workspace: An open workspace.
        item_ids: Items; each is looked up once.

    Returns:
        File and seconds by item; items without a rendered clip are not there.
    """
    from store.clips import media_for_clip
    from store.items import get_item

    found: dict[str, tuple[Path, float]] = {}
    with workspace.db.read() as session:
        for item_id in dict.fromkeys(item_ids):
            payload = get_item(session, item_id).payload
            clip = payload.get("clip_id")
            media = media_for_clip(session, str(clip)) if clip else []
            if media:
                found[item_id] = (workspace.media_dir / media[0].file, media[0].seconds)
    return found


def thumbnails_of(media: Mapping[str, tuple[Path, float]]) -> dict[str, str]:
    """Draw a small strip of frames for each item; clips that several items share once.

    Args:
        media: File and seconds by item.

    Returns:
        Data URIs by item.
    """
    from motionjury.thumbnails import strip_uri

    drawn = {clip: strip_uri(*clip) for clip in dict.fromkeys(media.values())}
    return {item: uri for item, clip in media.items() if (uri := drawn[clip]) is not None}


def with_links(report: Report, media: Mapping[str, tuple[Path, float]], folder: Path) -> Report:
    """Link disputed items to their clips, by paths that hold while the workspace stays together.

    Args:
        report: The report.
        media: File and seconds by item.
        folder: Where the report is written.

    Returns:
        The report with links.
    """
    import os.path

    def link(item: str) -> str | None:
        if item not in media or not media[item][0].is_file():
            return None
        return Path(os.path.relpath(media[item][0].resolve(), folder.resolve())).as_posix()

    checks = tuple(
        check.model_copy(
            update={
                "disputed": tuple(
                    one.model_copy(update={"link": link(one.item)}) for one in check.disputed
                )
            }
        )
        for check in report.checks
    )
    return report.model_copy(update={"checks": checks})


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
    from agreement.ratings import natural_key
    from agreement.report import build_report
    from agreement.tables import ratings_by_axis
    from audit.ratings import study_ratings
    from audit.records import get_study
    from corpus.problems import InputError
    from motionjury import __version__
    from store.items import get_item

    with workspace.db.read() as session:
        found = get_study(session, study)
        rows = study_ratings(session, found.id)
        texts = {
            item_id: _texts_of(get_item(session, item_id).payload)
            for item_id in {row.item_id for row in rows}
        }
    if not rows:
        raise InputError(f"study {found.name!r} has no labels yet")
    simulated = {row.rater for row in rows if row.simulated}
    return build_report(
        ratings_by_axis(rows),
        title=found.name,
        meta={"protocol": f"{found.protocol} {found.protocol_version}", "study": found.state},
        tool_version=__version__,
        simulated_raters=sorted(simulated, key=natural_key),
        texts=texts,
        seconds={(row.item_id, row.rater): row.seconds for row in rows if row.seconds is not None},
        resamples=resamples,
        seed=seed,
    )


def _texts_of(payload: Mapping[str, Any]) -> list[str]:
    """What raters read of an item, whatever its benchmark."""
    names = ("prompt", "question", "caption", "perturbed")
    return [text for name in names if isinstance(text := payload.get(name), str) and text]
