"""`motionjury study` where experts differ: disputes, settling, withdrawal, unblinding."""

from __future__ import annotations

from typing import Annotated

import typer

from corpus.problems import InputError
from motionjury.commands.study_run import StudyArgument
from motionjury.options import JsonOption, WorkspaceOption, print_json

app = typer.Typer()

ItemArgument = Annotated[str, typer.Argument(help="Id of the item.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is kept.")]


@app.command()
def disputes(
    name: StudyArgument,
    top: Annotated[int, typer.Option("--top", min=1, help="At most so many items.")] = 50,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List items by disagreement, the most disputed first.

    Example: motionjury study disputes "Audit 1" --top 20
    """
    from audit.disputes import disputes as find
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.read() as session:
        found = find(session, name)[:top]
    if as_json:
        print_json({"items": [one.model_dump() for one in found]})
        return
    if all(one.disagreement is None for one in found):
        print("no item has two ratings yet")
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("disagreement", "item", "state", "answers", title="Most disputed items")
    for one in found:
        share = "undefined" if one.disagreement is None else f"{one.disagreement:.2f}"
        answers = "\n".join(
            f"{question}: {_counted(votes)}" for question, votes in one.votes.items()
        )
        table.add_row(share, one.item_id, one.outcome or one.state, escape(answers))
    Console().print(table)


@app.command()
def settle(
    name: StudyArgument,
    item: ItemArgument,
    outcome: Annotated[str, typer.Argument(help="accepted, rejected or revise.")],
    reason: ReasonOption,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide an item in place of the rule.

    Example: motionjury study settle "Audit 1" ITEM accepted --reason "Both captions are read alike"
    """
    from audit.disputes import settle as settle_it
    from motionjury.workspace import open_workspace

    if outcome not in ("accepted", "rejected", "revise"):
        raise InputError(f"expected accepted, rejected or revise, got {outcome!r}")
    with open_workspace(workspace).db.write() as session:
        settle_it(session, name, item, outcome, reason)  # type: ignore[arg-type]
    if as_json:
        print_json({"item": item, "outcome": outcome})
    else:
        print(f"item {item}: {outcome}")


@app.command()
def withdraw(
    name: StudyArgument,
    item: ItemArgument,
    reason: ReasonOption,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take an item out of an open study; its ratings count no more.

    Example: motionjury study withdraw "Audit 1" ITEM --reason "The clip is cut short"
    """
    from audit.disputes import withdraw_item
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        withdraw_item(session, name, item, reason)
    if as_json:
        print_json({"item": item, "withdrawn": True})
    else:
        print(f"item {item} is withdrawn")


@app.command()
def lineage(
    item: ItemArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show all versions of an item and what was decided of each.

    Example: motionjury study lineage ITEM --json
    """
    from audit.lineage import lineage as find
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.read() as session:
        found = find(session, item)
    if as_json:
        print_json({"versions": [one.model_dump(mode="json") for one in found]})
        return
    for version in found:
        parent = f" (from {version.item.parent})" if version.item.parent else ""
        print(f"{version.item.id}{parent}: {version.item.state}")
        for decision in version.decisions:
            print(f"  {decision.study}: {decision.outcome} by {decision.rule}: {decision.reason}")


@app.command()
def unblind(
    name: StudyArgument,
    reason: ReasonOption,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who said what. It is logged and cannot be taken back.

    Example: motionjury study unblind "Audit 1" --reason "The paper is accepted"
    """
    from audit.unblinding import unblind as open_up
    from audit.unblinding import who_said_what
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        open_up(session, name, reason)
        found = who_said_what(session, name)
    if as_json:
        print_json({"answers": [one.model_dump() for one in found]})
        return
    for one in found:
        print(f"{one.item_id}  {one.code}  {one.name}  {one.answers}")


def _counted(votes: dict[str, int]) -> str:
    return ", ".join(f"{answer} ×{count}" for answer, count in votes.items() if count)
