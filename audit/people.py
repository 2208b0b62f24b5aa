"""People and their roles.

Roles are checked by the functions that write, on every call, not by the page that called them.
``None`` as actor means the owner of the workspace at the command line.
"""

from __future__ import annotations

import secrets
import time
from typing import Literal, get_args

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.items import Frozen
from corpus.problems import InputError
from store.events import log
from store.tables import PersonRow

Role = Literal["expert", "coordinator", "analyst"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Experts label; coordinators run studies; analysts read results."""

NAME_LIMIT = 120
"""Longest name of a person, characters."""


class AccessError(InputError):
    """Someone asked for what they may not have."""


class Person(Frozen):
    """Someone with access."""

    id: str
    """Random id."""
    name: str
    """For coordinators only; never leaves the workspace."""
    role: Role
    """What they may do."""
    simulated: bool
    """Whether a program answers in their place."""
    active: bool
    """False once revoked."""
    email: str | None = None
    """Address under which a sign-in service knows them, in lower case; for coordinators only."""


def add_person(
    session: Session,
    name: str,
    role: str,
    simulated: bool = False,
    *,
    email: str | None = None,
    actor: str | None = None,
    now: float | None = None,
) -> Person:
    """Add a person.

    Args:
        session: A writing session.
        name: Shown to coordinators only.
        role: One of ``ROLES``.
        simulated: Whether a program answers in their place.
        email: Address under which a sign-in service knows them; ``None`` for none.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The person.

    Raises:
        InputError: The name is empty, too long or not printable, the role is unknown, or the
            address is none or someone else's.
        AccessError: The actor is no coordinator.
    """
    require_actor(session, actor, "coordinator")
    clean = name.strip()
    if not clean or len(clean) > NAME_LIMIT or not clean.isprintable():
        raise InputError(f"expected a name of 1 to {NAME_LIMIT} printable characters")
    if role not in ROLES:
        raise InputError(f"unknown role {role!r}; roles are {list(ROLES)}")
    address = None if email is None else _address(session, email)
    row = PersonRow(
        id=secrets.token_hex(8),
        name=clean,
        role=role,
        simulated=simulated,
        active=True,
        created_at=time.time() if now is None else now,
        email=address,
    )
    session.add(row)
    session.flush()
    details = {"role": role, "simulated": simulated}
    log(session, "person_added", person_id=actor, subject=row.id, details=details, at=now)
    return as_person(row)


def person_by_email(session: Session, email: str) -> Person | None:
    """Return the active person with this address, or ``None``.

    Args:
        session: Any session.
        email: An address that a sign-in service has verified; case makes no difference.
    """
    query = select(PersonRow).where(PersonRow.email == email.strip().lower())
    row = session.scalars(query).one_or_none()
    return as_person(row) if row is not None and row.active else None


def _address(session: Session, email: str) -> str:
    clean = email.strip().lower()
    name, at, host = clean.partition("@")
    if not name or not at or not host or "@" in host or " " in clean or len(clean) > 254:
        raise InputError(f"expected an e-mail address, got {email[:80]!r}")
    if session.scalars(select(PersonRow.id).where(PersonRow.email == clean)).first() is not None:
        raise InputError(f"{clean} belongs to someone already")
    return clean


def list_people(session: Session) -> list[Person]:
    """Return everyone, in the order they were added."""
    query = select(PersonRow).order_by(PersonRow.created_at, PersonRow.id)
    return [as_person(row) for row in session.scalars(query)]


def find_person(session: Session, id_or_name: str) -> Person:
    """Return the one person with this id or name.

    Raises:
        InputError: Nobody, or more than one person, is called so.
    """
    query = select(PersonRow).where(
        (PersonRow.id == id_or_name) | (PersonRow.name == id_or_name.strip())
    )
    found = list(session.scalars(query))
    if not found:
        raise InputError(f"unknown person {id_or_name!r}")
    if len(found) > 1:
        ids = sorted(row.id for row in found)
        raise InputError(f"{len(found)} people are called {id_or_name!r}; name one by id: {ids}")
    return as_person(found[0])


def require(session: Session, person_id: str, *roles: str) -> Person:
    """Return an active person with one of these roles.

    Args:
        session: Any session.
        person_id: Who asks.
        *roles: Roles that may; any role when none is named.

    Raises:
        AccessError: Unknown, revoked, or another role.
    """
    row = session.get(PersonRow, person_id)
    if row is None:
        raise AccessError("unknown person; open your personal link again")
    if not row.active:
        raise AccessError("your access was revoked; ask your coordinator")
    if roles and row.role not in roles:
        raise AccessError(f"this needs the role {' or '.join(roles)}; yours is {row.role}")
    return as_person(row)


def require_actor(session: Session, actor: str | None, *roles: str) -> None:
    """Check the role of whoever acts; ``None`` is the workspace's owner at the command line.

    Raises:
        AccessError: As :func:`require`.
    """
    if actor is not None:
        require(session, actor, *roles)


def as_person(row: PersonRow) -> Person:
    """Turn a row into the record."""
    return Person(**{name: getattr(row, name) for name in Person.model_fields})
