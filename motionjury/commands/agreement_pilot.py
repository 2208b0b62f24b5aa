"""`agreement pilot`: experts against a benchmark's own answers, from a file or a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.commands.agreement_judge import (
    HtmlOption,
    LatexOption,
    ResamplesOption,
    SeedOption,
    check_resampling,
    say_written,
)
from motionjury.options import JsonOption, WorkspaceOption
from motionjury.writing import write_text

if TYPE_CHECKING:
    from agreement.coefficient import Coefficient
    from agreement.files import Table
    from agreement.pilot import Pilot
    from motionjury.workspace import Workspace

PILOT_COLUMNS = ("item", "rater", "answer", "gold", "confidence", "query_type", "clip", "link")
"""Columns of a pilot's table."""


def pilot_command(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="CSV, TSV, Parquet or JSONL, one row per answer."),
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Instead of a file: a pilot_qa study of the workspace.")
    ] = None,
    item: Annotated[str, typer.Option(help="Column of item ids.")] = "item",
    rater: Annotated[str, typer.Option(help="Column of rater ids.")] = "rater",
    correct: Annotated[
        str | None,
        typer.Option(help="Column of right (1, yes) or wrong (0, no); or --answer and --gold."),
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="Column of answers; also gives Fleiss' kappa of them.")
    ] = None,
    gold: Annotated[str | None, typer.Option(help="Column of the benchmark's own answers.")] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Column of stated confidence, e.g. 1 to 5.")
    ] = None,
    high: Annotated[float, typer.Option(help="Confidence from which an answer is confident.")] = 4,
    query_type: Annotated[
        str | None, typer.Option(help="Column of query types, e.g. direction.")
    ] = None,
    failure: Annotated[
        str | None, typer.Option(help="Column of failure modes F1 to F4, comma between.")
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="Column of addresses where an item can be seen.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of what items share, e.g. the clip.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
    html: HtmlOption = None,
    latex: LatexOption = None,
) -> None:
    """Ask whether experts recover a benchmark's answers, and know when they do.

    Example: `motionjury agreement pilot answers.csv --item item --rater who --correct correct
    --confidence confidence --query-type type --json`, or `--study my-pilot --html pilot.html`
    """
    from agreement.axis import identity
    from agreement.files import read_table
    from agreement.pilot import analyse_pilot
    from agreement.pilot_table import PilotColumns, read_answers
    from corpus.problems import InputError
    from motionjury import __version__
    from motionjury.workspace import open_workspace

    check_resampling(resamples, seed)
    if (file is None) == (study is None):
        raise InputError("name a FILE or a --study, one of them")
    if file is not None:
        table, title = read_table(file), file.name
    else:
        named = str(study)
        table = pilot_answers(
            open_workspace(workspace), named, html.parent if html is not None else Path()
        )
        title = table.file.removeprefix("study ")
        item, rater, correct, answer, gold = "item", "rater", None, "answer", "gold"
        confidence, query_type, failure = "confidence", "query_type", None
        link, cluster = "link", "clip"
    columns = PilotColumns(
        item=item,
        rater=rater,
        correct=correct or (None if answer and gold else "correct"),
        answer=answer,
        gold=gold,
        confidence=confidence,
        query_type=query_type,
        failure=failure,
        cluster=cluster,
    )
    answers = read_answers(table, columns)
    addresses = table.column(link) if link else [""] * table.n_rows
    pilot = analyse_pilot(
        answers,
        title=title,
        tool_version=__version__,
        high=high,
        links={
            identity(name): str(address)
            for name, address in zip(table.column(item), addresses, strict=True)
            if address
        },
        resamples=resamples,
        seed=seed,
    )
    if html is not None:
        from agreement.pilot_page import render_pilot

        write_text(html, render_pilot(pilot))
    if latex is not None:
        from agreement.export_studies import pilot_to_latex

        write_text(latex, pilot_to_latex(pilot))
    if as_json:
        print(pilot.model_dump_json(indent=2))
        return
    _print_pilot(pilot)
    say_written(html, latex)


def pilot_answers(workspace: Workspace, study: str, folder: Path) -> Table:
    """Read the counted answers of a pilot study.

    Args:
        workspace: An open workspace.
        study: Name or id of a study of the protocol ``pilot_qa``.
        folder: Where the report is written; clips are linked from there.

    Returns:
        One row per answer with the columns ``PILOT_COLUMNS``, raters under their codes.

    Raises:
        InputError: There is no such study, it is of another protocol, or it has no answers yet.
    """
    from agreement.files import Table
    from annotation_app.reports import clips_of_items
    from audit.ratings import counted_labels
    from audit.records import get_study
    from corpus.problems import InputError
    from motionjury.commands.agreement_report import file_links

    with workspace.db.read() as session:
        found = get_study(session, study)
        if found.protocol != "pilot_qa":
            raise InputError(f"study {found.name!r} is of {found.protocol}, expected pilot_qa")
        labels = counted_labels(session, found.id)
        media = clips_of_items(
            session, workspace.media_dir, [label.item_id for label, _code, _record in labels]
        )
    if not labels:
        raise InputError(f"study {found.name!r} has no labels yet")
    links = file_links(media, folder)
    rows = [
        (
            label.item_id,
            code,
            label.answers.get("answer"),
            record["payload"]["answer"],
            label.answers.get("confidence"),
            record["payload"]["query_type"],
            record["payload"]["clip_id"],
            links.get(label.item_id, ""),
        )
        for label, code, record in labels
    ]
    columns = dict(zip(PILOT_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    simulated = sorted({code for label, code, _record in labels if label.simulated})
    notes = (f"SIMULATED raters: {', '.join(simulated)}",) if simulated else ()
    return Table(columns, f"study {found.name}", 1, notes)


def _print_pilot(pilot: Pilot) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title=pilot.title, title_justify="left")
    for name in ("", "items", "per annotator", "pooled", "all correct", "either correct"):
        table.add_column(name, justify="right" if name else "left")
    for name, part in (("all", pilot.whole), *((t.query_type, t) for t in pilot.by_query_type)):
        mean, sd = part.per_annotator_mean, part.per_annotator_sd
        spread = "" if sd is None else f" ± {100 * sd:.1f}"
        table.add_row(
            name,
            str(part.n_items),
            "—" if mean is None else f"{mean:.1%}{spread}",
            *(
                "—" if c.value is None else f"{c.value:.1%}"
                for c in (part.pooled, part.all_correct, part.either_correct)
            ),
        )
    console.print(table)
    of_answers = pilot.fleiss_answers
    if of_answers is not None:
        console.print(f"Fleiss’ κ of the answers {_with_ci(of_answers)}")
    console.print(f"Fleiss’ κ of right and wrong {_with_ci(pilot.fleiss_correct)}")
    found = pilot.calibration
    if found is not None:
        console.print(
            f"confidence ≥ {found.high:g}: {_with_ci(found.high_share)} of the answers, right "
            f"{_with_ci(found.high_accuracy)}; AUROC {_with_ci(found.auroc)}, "
            f"gamma {_with_ci(found.gamma)}, Pearson r {_with_ci(found.pearson_r)}"
        )
        for level in found.levels:
            console.print(
                f"  confidence {level.confidence:g}: {level.accuracy:.1%} of {level.n} right "
                f"({level.wilson[0]:.1%} … {level.wilson[1]:.1%})"
            )
    if pilot.failures:
        tally = ", ".join(f"{f.mode} {f.n_items}" for f in pilot.failures)
        console.print(f"failure modes, items: {tally}")
    for text in pilot.warnings:
        console.print(f"note: {text}", style="yellow", highlight=False)


def _with_ci(row: Coefficient) -> str:
    if row.value is None:
        return f"— ({row.reason})"
    return f"{row.value:.3f}" + (f" [{row.ci[0]:.3f}, {row.ci[1]:.3f}]" if row.ci else "")
