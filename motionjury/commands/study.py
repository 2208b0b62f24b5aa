"""`motionjury study`: which items are judged, how often, by which rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus.problems import InputError
from motionjury.options import JsonOption, WorkspaceOption, print_json

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from audit.studies import Gold, Progress
    from benchmarks.items import Item

app = typer.Typer()

_DECISIONS = {"majority": "checks_majority", "unanimous": "checks_unanimous"}


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name of the study.")],
    protocol: Annotated[str, typer.Option("--protocol", help="Protocol.")] = "stride_audit",
    axis: Annotated[
        list[str] | None, typer.Option("--axis", help="Only this axis; may be repeated.")
    ] = None,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="Only this corpus; may be repeated.")
    ] = None,
    per_axis: Annotated[
        int | None, typer.Option("--per-axis", min=1, help="At most so many items per axis.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most so many items in all.")
    ] = None,
    ratings: Annotated[
        int | None, typer.Option("--ratings", min=1, help="Ratings per item; 3 for stride_audit.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the choice and the order.")] = 0,
    lease_minutes: Annotated[
        float,
        typer.Option("--lease-minutes", min=1.0, help="Minutes an idle expert keeps an item."),
    ] = 30.0,
    decision: Annotated[
        str | None, typer.Option("--decision", help="majority or unanimous, on every check.")
    ] = None,
    allow_3d: Annotated[
        bool,
        typer.Option("--allow-3d", help="Offer each clip in 3D too; the video is what is judged."),
    ] = False,
    training: Annotated[
        Path | None,
        typer.Option(
            "--training",
            help="JSON list of training items: item_id, or axis, clip_id, caption and perturbed; "
            "answers; explanation.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a study of undecided items that no other study holds.

    Where more items fit than are wanted, the seed chooses.

    Example: motionjury study create "Audit 1" --axis mirror_reflection --per-axis 50 --ratings 3
    """
    from pydantic import ValidationError

    from audit.protocols.registry import PROTOCOLS
    from audit.studies import StudyConfig, add_training, create_study, free_items
    from motionjury.workspace import open_workspace

    if protocol not in PROTOCOLS:
        raise InputError(f"--protocol: expected one of {sorted(PROTOCOLS)}, got {protocol!r}")
    if decision is not None and decision not in _DECISIONS:
        raise InputError(f"--decision: expected majority or unanimous, got {decision!r}")
    chosen = PROTOCOLS[protocol]
    ws = open_workspace(workspace)
    with ws.db.write() as session:
        entries = _read_training(session, training) if training else []
        known = {item.id for item, _gold in entries}
        free = [item for item in free_items(session, chosen.benchmark) if item.id not in known]
        wanted = [
            item
            for item in free
            if (not axis or item.stratum.get("axis") in axis)
            and (not corpus or item.stratum.get("corpus") in corpus)
        ]
        if not wanted:
            raise InputError(
                f"none of {len(free)} undecided {chosen.benchmark} items fits; "
                "draft some with `motionjury draft`"
            )
        picked = _pick(wanted, seed, per_axis, limit)
        try:
            config = StudyConfig(
                name=name,
                protocol=protocol,
                item_ids=tuple(item.id for item in picked),
                ratings_per_item=ratings or chosen.ratings_per_item,
                seed=seed,
                lease_minutes=lease_minutes,
                decision=_DECISIONS[decision] if decision else None,
                allow_3d=allow_3d,
            )
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{field}: {first['msg']}, got {first['input']!r:.80}") from error
        study = create_study(session, config)
        add_training(session, study.id, entries)
    if as_json:
        print_json(
            {
                "study": study.id,
                "name": study.name,
                "state": study.state,
                "items": len(picked),
                "training": len(entries),
                "ratings_per_item": config.ratings_per_item,
                "rule": study.rule,
                "allow_3d": study.offers_3d,
            }
        )
    else:
        print(
            f"study {study.name!r}: {len(picked)} items, {config.ratings_per_item} ratings each, "
            f"{len(entries)} training items; next: `motionjury study launch` and "
            "`motionjury people invite`"
        )


@app.command()
def launch(
    name: Annotated[str, typer.Argument(help="Name or id of the study.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a study for labelling; from now on its configuration is frozen.

    Example: motionjury study launch "Audit 1"
    """
    from audit.studies import launch as open_it
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        study = open_it(session, name)
    if as_json:
        print_json({"study": study.id, "name": study.name, "state": study.state})
    else:
        print(f"study {study.name!r} is open")


@app.command()
def close(
    name: Annotated[str, typer.Argument(help="Name or id of the study.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close a study and decide every item that has all its ratings.

    Example: motionjury study close "Audit 1"
    """
    from audit.studies import close as close_it
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        report = close_it(session, name)
    if as_json:
        print_json(report.model_dump())
        return
    decided = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items())
    print(f"closed; decided: {decided or 'nothing'}")
    for item_id, reason in report.incomplete.items():
        print(f"stays in review: {item_id}: {reason}")


@app.command()
def status(
    name: Annotated[str, typer.Argument(help="Name or id of the study.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far a study is, by expert code and by stratum.

    Example: motionjury study status "Audit 1" --json
    """
    from audit.studies import progress
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.read() as session:
        found = progress(session, name)
    if as_json:
        print_json(found.model_dump())
    else:
        _print_progress(found)


def _pick(items: list[Item], seed: int, per_axis: int | None, limit: int | None) -> list[Item]:
    from benchmarks.items import content_hash

    order = sorted(items, key=lambda item: content_hash([seed, item.id], digits=64))
    picked = []
    taken: dict[str, int] = {}
    for item in order:
        axis = item.stratum.get("axis", "")
        if per_axis is None or taken.get(axis, 0) < per_axis:
            taken[axis] = taken.get(axis, 0) + 1
            picked.append(item)
    return sorted(picked[:limit], key=lambda item: item.id)


def _read_training(session: Session, path: Path) -> list[tuple[Item, Gold]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"expected JSON in UTF-8, got: {error}", file=str(path)) from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("expected a list of objects", file=str(path))
    return [_training(session, path, place, entry) for place, entry in enumerate(entries, 1)]


def _training(session: Session, path: Path, place: int, entry: dict[str, Any]) -> tuple[Item, Gold]:
    from pydantic import ValidationError

    from audit.studies import Gold
    from benchmarks.items import Provenance, make_item
    from benchmarks.stride import Triplet
    from store.clips import get_clip
    from store.items import get_item

    try:
        gold = Gold(answers=entry.get("answers"), explanation=entry.get("explanation"))
        if "item_id" in entry:
            return get_item(session, str(entry["item_id"])), gold
        clip = get_clip(session, str(entry.get("clip_id")))
        triplet = Triplet(
            axis=entry.get("axis"),
            corpus=clip.corpus,
            clip_id=clip.id,
            caption_id=f"{clip.id}#training",
            caption=entry.get("caption"),
            perturbed=entry.get("perturbed"),
            edit={},
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{field}: {first['msg']}", file=str(path), place=f"entry {place}"
        ) from error
    except InputError as error:
        raise InputError(error.problem.reason, file=str(path), place=f"entry {place}") from error
    stratum = {"axis": triplet.axis, "corpus": triplet.corpus}
    return make_item("stride", "triplet", stratum, triplet, Provenance(rule="training/1")), gold


def _print_progress(found: Progress) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    share = found.simulated_share
    mark = f", {share:.0%} of them simulated" if share else ""
    console.print(
        f"{escape(found.name)}: {found.state}, {found.complete} of {found.items} items complete, "
        f"{found.ratings} of {found.ratings_wanted} ratings{mark}"
    )
    experts = Table("expert", "done", "held", "remaining", "surplus", "stage", title="Experts")
    for one in found.experts:
        code = one.code + (" (simulated)" if one.simulated else "")
        experts.add_row(
            code, str(one.done), str(one.held), str(one.remaining), str(one.surplus), one.stage
        )
    console.print(experts)
    strata = Table("stratum", "value", "items", "complete", "ratings", title="Strata")
    for cell in found.strata:
        strata.add_row(
            escape(cell.stratum),
            escape(cell.value),
            str(cell.items),
            str(cell.complete),
            str(cell.ratings),
        )
    console.print(strata)
