"""`motionjury people`: who takes part, and their personal links."""

from __future__ import annotations

from typing import Annotated

import typer

from corpus.problems import InputError
from motionjury.options import JsonOption, WorkspaceOption, print_json

app = typer.Typer()


@app.command()
def invite(
    name: Annotated[str, typer.Argument(help="Name, shown to coordinators only.")],
    role: Annotated[str, typer.Option("--role", help="expert, coordinator or analyst.")] = "expert",
    study: Annotated[
        list[str] | None,
        typer.Option("--study", help="Study an expert takes part in; may be given several times."),
    ] = None,
    email: Annotated[
        str | None,
        typer.Option("--email", help="Address under which a sign-in service knows them."),
    ] = None,
    base_url: Annotated[
        str, typer.Option("--base-url", help="Address under which people reach the app.")
    ] = "http://127.0.0.1:8501",
    days: Annotated[
        float, typer.Option("--days", min=0.01, help="Days until the link stops working.")
    ] = 30.0,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a person, or find the one of that name, and print a personal link once.

    Only the hash of the link's secret is kept: copy it now.

    Example: motionjury people invite "Ada L." --study "Audit 1" --base-url https://jury.lab
    """
    from audit.access import add_person, list_people
    from audit.access import invite as make_link
    from audit.studies import add_member, get_study
    from motionjury.workspace import open_workspace

    if study and role != "expert":
        raise InputError("--study goes with --role expert; coordinators see every study")
    if not base_url.startswith(("http://", "https://")):
        raise InputError(f"--base-url: expected http://… or https://…, got {base_url!r}")
    ws = open_workspace(workspace)
    with ws.db.write() as session:
        same = [one for one in list_people(session) if one.name == name.strip() and one.active]
        if any(one.role != role for one in same):
            raise InputError(f"{name.strip()!r} is {same[0].role}, not {role}; use another name")
        if len(same) > 1:
            raise InputError(f"{len(same)} people are called {name.strip()!r}")
        if same and email is not None:
            raise InputError(f"{name.strip()!r} is there already; --email goes with a new person")
        person = same[0] if same else add_person(session, name, role, email=email)
        joined = []
        for wanted in study or []:
            found = get_study(session, wanted)
            add_member(session, found.id, person.id)
            joined.append(found.name)
        secret = make_link(session, person.id, days)
    link = f"{base_url.rstrip('/')}/enter/{secret}"
    if as_json:
        print_json(
            {
                "person": person.id,
                "name": person.name,
                "role": role,
                "link": link,
                "days": days,
                "studies": joined,
            }
        )
    else:
        print(link)


@app.command("list")
def list_command(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List people with their roles.

    Example: motionjury people list
    """
    from audit.access import list_people
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.read() as session:
        people = list_people(session)
    if as_json:
        print_json({"people": [person.model_dump() for person in people]})
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("id", "name", "role", "access", title="People")
    for person in people:
        access = "yes" if person.active else "revoked"
        mark = ", simulated" if person.simulated else ""
        table.add_row(person.id, escape(person.name), person.role + mark, access)
    Console().print(table)


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="Name or id.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a person's access away at once; what they labelled stays.

    Example: motionjury people revoke "Ada L."
    """
    from audit.access import find_person
    from audit.access import revoke as take_away
    from motionjury.workspace import open_workspace

    with open_workspace(workspace).db.write() as session:
        person = find_person(session, name)
        take_away(session, person.id)
    if as_json:
        print_json({"person": person.id, "name": person.name, "active": False})
    else:
        print(f"{person.name} has no access any more")
