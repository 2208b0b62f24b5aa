"""`motionjury study`: which items are judged, how often, by which rule."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.problems import InputError
from motionjury.commands import study_import, study_run, study_settle
from motionjury.options import JsonOption, WorkspaceOption, print_json
from motionjury.times import parse_time

if TYPE_CHECKING:
    from benchmarks.items import Item

app = typer.Typer()

_LISTED = 8
"""Reasons listed for items that stay in review."""
_DECISIONS = {
    "majority": ("checks_majority", "verdict_majority"),
    "unanimous": ("checks_unanimous", "verdict"),
}


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
        int | None,
        typer.Option("--ratings", min=1, help="Ratings per item; the protocol's own by default."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Only items of this stratum, NAME=VALUE; may be repeated."),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Label of the study, e.g. V1 for likert.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option("--deadline", help="UTC, e.g. 2027-03-01 or 2027-03-01T18:00.")
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=0, help="Items each expert is shown a second time.")
    ] = 0,
    repeat_gap: Annotated[
        int, typer.Option("--repeat-gap", min=1, help="Least number of other items in between.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the choice and the order.")] = 0,
    lease_minutes: Annotated[
        float,
        typer.Option("--lease-minutes", min=1.0, help="Minutes an idle expert keeps an item."),
    ] = 30.0,
    decision: Annotated[
        str | None, typer.Option("--decision", help="majority or unanimous.")
    ] = None,
    allow_3d: Annotated[
        bool,
        typer.Option("--allow-3d", help="Offer each clip in 3D too; the video is what is judged."),
    ] = False,
    facing_arrow: Annotated[
        bool, typer.Option("--facing-arrow", help="Clips show by an arrow where the person faces.")
    ] = False,
    legend: Annotated[
        bool, typer.Option("--legend", help="Clips say which side is left and right.")
    ] = False,
    training: Annotated[
        Path | None,
        typer.Option(
            "--training",
            help="JSON list of training items: item_id, or kind and payload; answers; explanation.",
        ),
    ] = None,
    training_tries: Annotated[
        int | None,
        typer.Option(
            "--training-tries", min=1, help="Most tries at a training item; no limit by default."
        ),
    ] = None,
    attention: Annotated[
        Path | None,
        typer.Option("--attention", help="The same for attention items, mixed in unmarked."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a study of undecided items that no other study holds.

    Where more items fit than are wanted, the seed chooses.

    Example: motionjury study create "Audit 1" --axis mirror_reflection --per-axis 50 --ratings 3
    """
    from pydantic import ValidationError

    from audit import studies
    from audit.adjudication import rules_for
    from audit.known_answers import read_known
    from audit.protocols.registry import PROTOCOLS
    from motionjury.workspace import open_workspace

    if protocol not in PROTOCOLS:
        raise InputError(f"--protocol: expected one of {sorted(PROTOCOLS)}, got {protocol!r}")
    if decision is not None and decision not in _DECISIONS:
        raise InputError(f"--decision: expected majority or unanimous, got {decision!r}")
    if training_tries is not None and training is None:
        raise InputError("--training-tries goes with --training")
    chosen = PROTOCOLS[protocol]
    rule = None
    if decision is not None:
        rule = next((one for one in _DECISIONS[decision] if one in rules_for(chosen)), None)
        if rule is None:
            raise InputError(f"--decision: {protocol} decides nothing")
    strata = _strata(where or [])
    ws = open_workspace(workspace)
    with ws.db.write() as session:
        entries, hidden = (
            read_known(session, _bytes(path), chosen, str(path)) if path else []
            for path in (training, attention)
        )
        known = {item.id for item, _gold in entries + hidden}
        free = [
            item
            for item in studies.free_items(session, chosen.benchmark, chosen.kinds)
            if item.id not in known
        ]
        wanted = [
            item
            for item in free
            if (not axis or item.stratum.get("axis") in axis)
            and (not corpus or item.stratum.get("corpus") in corpus)
            and all(item.stratum.get(name) in values for name, values in strata.items())
        ]
        if not wanted:
            raise InputError(
                f"none of {len(free)} undecided {chosen.benchmark} items fits; "
                "draft some with `motionjury draft` or `motionjury study import`"
            )
        picked = _pick(wanted, seed, per_axis, limit)
        try:
            config = studies.StudyConfig(
                name=name,
                protocol=protocol,
                item_ids=tuple(item.id for item in picked),
                ratings_per_item=ratings or chosen.ratings_per_item,
                seed=seed,
                lease_minutes=lease_minutes,
                decision=rule,
                label=label,
                deadline=parse_time(deadline, "--deadline") if deadline else None,
                repeats=repeats,
                repeat_gap=repeat_gap,
                training_tries=training_tries,
                allow_3d=allow_3d,
                facing_arrow=facing_arrow,
                legend=legend,
            )
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{field}: {first['msg']}, got {first['input']!r:.80}") from error
        study = studies.create_study(session, config)
        studies.add_training(session, study.id, entries)
        studies.add_attention(session, study.id, hidden)
        shown = studies.study_clips(session, study.id)
    if as_json:
        print_json(
            {
                "study": study.id,
                "name": study.name,
                "state": study.state,
                "items": len(picked),
                "training": len(entries),
                "attention": len(hidden),
                "ratings_per_item": config.ratings_per_item,
                "rule": study.rule,
                "allow_3d": study.offers_3d,
            }
        )
    else:
        print(
            f"study {study.name!r}: {len(picked)} items, {config.ratings_per_item} ratings each, "
            f"{len(entries)} training items; next: "
            f"{'`motionjury render all --study`, ' if shown else ''}"
            "`motionjury people invite --study`, `motionjury study launch`"
        )
        if not entries:
            print(
                "no practice items: experts start at once; --training FILE gives them some with "
                "known answers first (docs/guides/coordinator.md)"
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
    from audit.studies import progress
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        study = open_it(session, name)
        experts = len(progress(session, study.id).experts)
    if as_json:
        print_json({"study": study.id, "name": study.name, "state": study.state})
    else:
        print(f"study {study.name!r} is open")
        if experts < study.config.ratings_per_item:
            wanted = study.config.ratings_per_item
            print(f"{experts} of {wanted} experts are invited: `motionjury people invite --study`")


@app.command()
def close(
    name: Annotated[str, typer.Argument(help="Name or id of the study.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Close without asking, though ratings are missing.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close a study and decide every item that has all its ratings. This cannot be undone.

    Where items lack ratings it asks first; where nobody can be asked it needs --yes.

    Example: motionjury study close "Audit 1"
    """
    from audit.studies import close as close_it
    from audit.studies import progress
    from motionjury.workspace import open_workspace

    ws = open_workspace(workspace)
    with ws.db.read() as session:
        found = progress(session, name)
    lacking = found.items - found.complete
    if found.state == "open" and lacking and not yes:
        told = f"{lacking} of {found.items} items lack ratings and would stay undecided"
        if not sys.stdin.isatty():
            raise InputError(f"{told}; closing cannot be undone; give --yes to close all the same")
        typer.confirm(f"{told}. Closing cannot be undone. Close {found.name!r}?", abort=True)
    with ws.db.write() as session:
        report = close_it(session, name)
    if as_json:
        print_json(report.model_dump())
        return
    decided = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items())
    print(f"closed; decided: {decided or 'nothing'}")
    reasons = Counter(report.incomplete.values()).most_common()
    for reason, count in reasons[:_LISTED]:
        items = "1 item stays" if count == 1 else f"{count} items stay"
        print(f"{items} in review: {reason}")
    if len(reasons) > _LISTED:
        rest = sum(count for _reason, count in reasons[_LISTED:])
        print(f"{rest} more stay in review for other reasons; --json lists each item")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _strata(where: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in where:
        name, mark, value = one.partition("=")
        if not name or not mark:
            raise InputError(f"--where: expected NAME=VALUE, got {one!r}")
        found.setdefault(name, set()).add(value)
    return found


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


for _module in (study_import, study_run, study_settle):
    app.registered_commands += _module.app.registered_commands
