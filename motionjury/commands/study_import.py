"""`motionjury study import`: items from a table of questions, generated clips or prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corpus.problems import InputError
from motionjury.options import JsonOption, WorkspaceOption, print_json, print_problems

app = typer.Typer()


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="CSV, JSON or JSONL with one item a row.")],
    protocol: Annotated[str, typer.Option("--protocol", help="Protocol that will judge them.")],
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="FIELD=COLUMN where a column is named otherwise; repeatable."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Kind of item, where the protocol takes several.")
    ] = None,
    clip_prefix: Annotated[
        str, typer.Option("--clip-prefix", help="Put before each clip id, e.g. humanml3d:")
    ] = "",
    max_options: Annotated[
        int | None,
        typer.Option("--options", min=2, help="Most options of a question; others are drawn."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of that draw.")] = 0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draft items from a table; rows that are no items are refused, named and counted.

    pilot_qa takes HumanMotionQA's columns: id, clip, question, program, answer, query type.
    likert and t2m_dimensions take prompt id, prompt, method and clip; prompt_review takes id, text
    and category.

    Example: motionjury study import questions.jsonl --protocol pilot_qa --map clip_id=babel_id
    """
    from audit.intake import TABLES, items_from_rows, read_table
    from audit.protocols.registry import PROTOCOLS
    from motionjury.workspace import open_workspace
    from store.clips import list_clips
    from store.items import add_items

    if protocol not in PROTOCOLS:
        raise InputError(f"--protocol: expected one of {sorted(PROTOCOLS)}, got {protocol!r}")
    chosen = PROTOCOLS[protocol]
    kinds = [one for one in chosen.kinds if one in TABLES]
    if not kinds:
        raise InputError(f"--protocol: items of {protocol} are drafted, not imported")
    if kind is None and len(kinds) > 1:
        raise InputError(f"--kind: expected one of {kinds}; {protocol} takes several")
    if kind is not None and kind not in kinds:
        raise InputError(f"--kind: expected one of {kinds}, got {kind!r}")
    named = {}
    for one in columns or []:
        field, mark, column = one.partition("=")
        if not field or not mark or not column:
            raise InputError(f"--map: expected FIELD=COLUMN, got {one!r}")
        named[field] = column
    rows = read_table(file)
    with open_workspace(workspace).db.write() as session:
        clips = {clip.id: clip.corpus for clip in list_clips(session)}
        found = items_from_rows(
            rows,
            chosen.benchmark,
            kind or kinds[0],
            named,
            clips,
            file=str(file),
            clip_prefix=clip_prefix,
            max_options=max_options,
            seed=seed,
        )
        new = add_items(session, found.items)
    if as_json:
        print_json(
            {
                "rows": len(rows),
                "items": len(found.items),
                "new": new,
                "refused": [problem.model_dump() for problem in found.refused],
            }
        )
    else:
        print_problems(found.refused)
        print(
            f"{len(found.items)} of {len(rows)} rows are items, {new} of them new; "
            f"{len(found.refused)} refused"
        )
    if not found.items:
        raise InputError(f"none of {len(rows)} rows is an item", file=str(file))
