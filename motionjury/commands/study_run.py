"""`motionjury study` while a study runs: how far it is, pauses, leases, who leaves, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.options import JsonOption, WorkspaceOption, print_json
from motionjury.times import parse_time

if TYPE_CHECKING:
    from audit.checks import ChecksReport
    from audit.studies import Progress
    from audit.told import ToldProgress

app = typer.Typer()

StudyArgument = Annotated[str, typer.Argument(help="Name or id of the study.")]
"""The study of a command."""
_LATER = "results are shown once the study is closed: until then it could be told whose they are"


@app.command()
def status(
    name: StudyArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show how far a study is, by expert code and by stratum.

    Clips in which the drawn body misses joints of the motion by over 30 mm are named.

    Until it is closed, the share each expert has answered is told in quarters, not in counts.

    Example: motionjury study status "Audit 1" --json
    """
    from audit.stimuli import study_media
    from audit.studies import get_study, progress
    from audit.told import told_progress
    from motionjury.commands.render_options import fit_warning
    from motionjury.workspace import open_workspace
    from render.fit import far_joints

    with open_workspace(workspace).db.read() as session:
        found = progress(session, name)
        experts = told_progress(get_study(session, name), found)
        shown = study_media(session, name)
    if as_json:
        told = [one.model_dump() for one in experts]
        far = {
            media.clip_id: errors for media in shown if (errors := far_joints(media.fit_error_mm))
        }
        print_json({**found.model_dump(), "experts": told, "far": far})
        return
    _print_progress(found, experts)
    for media in shown:
        if warning := fit_warning(media.fit_error_mm):
            print(f"{media.clip_id}: {warning}")


@app.command()
def pause(
    name: StudyArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Give nobody new items; what someone holds may still be answered.

    Example: motionjury study pause "Audit 1"
    """
    from audit.lifecycle import pause as pause_it
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        study = pause_it(session, name)
    _say(as_json, {"study": study.id, "paused": True}, f"study {study.name!r} is paused")


@app.command()
def resume(
    name: StudyArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Go on after a pause.

    Example: motionjury study resume "Audit 1"
    """
    from audit.lifecycle import resume as resume_it
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        study = resume_it(session, name)
    _say(as_json, {"study": study.id, "paused": False}, f"study {study.name!r} goes on")


@app.command()
def deadline(
    name: StudyArgument,
    when: Annotated[str, typer.Argument(help="UTC, e.g. 2027-03-01T18:00, or none.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move the deadline of an open study.

    Example: motionjury study deadline "Audit 1" 2027-03-01
    """
    from audit.lifecycle import move_deadline
    from motionjury.workspace import open_workspace

    at = None if when == "none" else parse_time(when, "WHEN")
    with open_workspace(workspace).db.write() as session:
        study = move_deadline(session, name, at)
    _say(as_json, {"study": study.id, "deadline": at}, f"study {study.name!r} ends: {when}")


@app.command()
def leases(
    name: StudyArgument,
    reclaim: Annotated[
        list[str] | None,
        typer.Option("--reclaim", help="Free the item of this assignment; may be repeated."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List items that are held, or take items back; by whom is told once the study is unblinded.

    Example: motionjury study leases "Audit 1"
    """
    from datetime import UTC, datetime

    from audit.leases import leases as held
    from audit.leases import reclaim as take_back
    from audit.records import get_study
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        for assignment in reclaim or []:
            take_back(session, assignment)
        found = held(session, name)
        tells = get_study(session, name).tells_codes
    if as_json:
        hidden = {} if tells else {"code": None}
        print_json({"leases": [{**lease.model_dump(), **hidden} for lease in found]})
        return
    for lease in found:
        until = datetime.fromtimestamp(lease.lease_until, UTC).isoformat(timespec="minutes")
        state = "free for others" if lease.expired else f"held until {until}"
        code = f"{lease.code}  " if tells else ""
        print(f"{code}{lease.assignment_id}  item {lease.item_id}  {state}")
    if not found:
        print("nobody holds an item")


@app.command()
def retire(
    name: StudyArgument,
    person: Annotated[str, typer.Argument(help="Name or id of the expert.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Let others give their ratings anew.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """End an expert's part in a study; what they did is kept.

    Example: motionjury study retire "Audit 1" "Ada L." --replace
    """
    from audit.access import find_person
    from audit.members import retire as retire_them
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        found = find_person(session, person)
        number = retire_them(session, name, found.id, replace=replace)
    _say(
        as_json,
        {"person": found.id, "replaced_ratings": number},
        f"{found.name} takes no part any more; {number} ratings will be given anew",
    )


@app.command("allow-tries")
def allow_tries(
    name: StudyArgument,
    person: Annotated[str, typer.Argument(help="Name or id of the expert.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an expert who ran out of tries at the training items train on.

    Example: motionjury study allow-tries "Audit 1" "Ada L."
    """
    from audit.access import find_person
    from audit.tries import allow_tries as allow
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        found = find_person(session, person)
        allow(session, name, found.id)
    _say(as_json, {"person": found.id, "allowed": True}, f"{found.name} may train on")


@app.command()
def checks(
    name: StudyArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Report training, attention items and repeated items by expert code, once a study is closed.

    None is part of the data. Kappa is of each question's two occasions, all experts together.
    Training by code is told once the study is unblinded.

    Example: motionjury study checks "Audit 1" --json
    """
    from audit.checks import checks_report, retest_rows
    from audit.records import get_study
    from motionjury.retest import retest_table
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.read() as session:
        tells = get_study(session, name).tells_codes
        report = checks_report(session, name)
        rows = retest_rows(session, name)
    if not tells:
        planned: dict[str, object] = {
            "attention_items": report.attention_items,
            "repeats_wanted": report.repeats_wanted,
            "training_items": report.training_items,
            "first_try_share": report.first_try_share,
        }
        told = {**planned, "experts": None, "retest": None, "reason": _LATER}
        _say(as_json, told, "\n".join([*_training(report), _LATER]))
        return
    table = retest_table(rows)
    if as_json:
        print_json({**report.model_dump(), "retest": table})
        return
    for line in _training(report):
        print(line)
    for expert in report.experts:
        stable = ", ".join(
            f"{question} {found.same}/{found.pairs}" for question, found in expert.stability.items()
        )
        right = f"attention {expert.passed}/{expert.attention} right"
        print(
            f"{expert.code}: {right if expert.attention else 'no attention items answered'}; "
            f"same again: {stable or 'nothing repeated'}"
        )
        if expert.training is not None and expert.training.tried:
            first, tried = expert.training.first, expert.training.tried
            print(
                f"{expert.code}: practice {first}/{tried} right at the first try, "
                f"{expert.training.tries} tries"
            )
    for row in table:
        value = "undefined" if row["value"] is None else f"{row['value']:.3f}"
        print(f"test-retest {row['axis']}: kappa {value}, {row['pairs']} pairs")


def _print_progress(found: Progress, experts: list[ToldProgress]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from annotation_app.texts import texts

    words = texts("en")
    console = Console()
    share = found.simulated_share
    mark = f", {share:.0%} of them simulated" if share else ""
    console.print(
        f"{escape(found.name)}: {'paused' if found.paused else found.state}, "
        f"{found.complete} of {found.items} items complete, "
        f"{found.ratings} of {found.ratings_wanted} ratings{mark}"
    )
    exact = any(one.done is not None for one in experts)
    counted = ("done", "held", "remaining", "surplus") if exact else ("answered",)
    shown = Table("expert", *counted, "stage", title="Experts")
    for one in experts:
        code = one.code + (" (simulated)" if one.simulated else "")
        counts = (one.done, one.held, one.remaining, one.surplus)
        told = map(str, counts) if exact else (words(f"progress.band_{one.quarters}"),)
        shown.add_row(code, *told, one.stage)
    console.print(shown)
    if experts and not exact:
        console.print(words("progress.blind_note"))
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


def _training(report: ChecksReport) -> list[str]:
    if report.first_try_share is None:
        return []
    share = f"{report.first_try_share:.0%}"
    return [f"practice items passed at the first try: {share}, over all experts"]


def _say(as_json: bool, value: dict[str, object], words: str) -> None:
    if as_json:
        print_json(value)
    else:
        print(words)
