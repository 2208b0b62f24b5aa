"""Personal links, and media that only their owner may fetch.

A link's secret is shown once; only its SHA-256 is kept.
"""

from __future__ import annotations

import hashlib
import secrets

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from audit.attempts import BadCodes
from audit.people import (
    ROLES,
    AccessError,
    Person,
    Role,
    add_person,
    as_person,
    find_person,
    list_people,
    require,
    require_actor,
)
from audit.records import Study, clock, get_study
from corpus.problems import InputError
from store.clips import Media, get_media
from store.events import log
from store.tables import (
    AssignmentRow,
    InviteRow,
    MediaGrantRow,
    MemberRow,
    PersonRow,
    StudyItemRow,
    StudyRow,
)

__all__ = [
    "ROLES",
    "AccessError",
    "Person",
    "Role",
    "add_person",
    "find_person",
    "grant_media",
    "invite",
    "list_people",
    "media_for_token",
    "motion_for_token",
    "redeem",
    "require",
    "require_actor",
    "revoke",
    "shown_in_3d",
]

_bad_codes = BadCodes(limit=10, window_seconds=600.0)
_DAY = 86400.0


def invite(
    session: Session,
    person_id: str,
    expires_in_days: float | None = 30,
    *,
    actor: str | None = None,
    now: float | None = None,
) -> str:
    """Make a personal link.

    Args:
        session: A writing session.
        person_id: Whose link it is.
        expires_in_days: Days until it stops working; ``None`` for never.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The secret, 32 URL-safe characters. It cannot be read again.

    Raises:
        AccessError: The person is unknown or revoked, or the actor is no coordinator.
        InputError: ``expires_in_days`` is not above 0.
    """
    require_actor(session, actor, "coordinator")
    require(session, person_id)
    if expires_in_days is not None and not expires_in_days > 0:
        raise InputError(f"expected expires_in_days above 0, got {expires_in_days}")
    at = clock(now)
    secret = secrets.token_urlsafe(24)
    row = InviteRow(
        id=secrets.token_hex(8),
        person_id=person_id,
        secret_hash=_digest(secret),
        created_at=at,
        expires_at=None if expires_in_days is None else at + expires_in_days * _DAY,
        revoked_at=None,
    )
    session.add(row)
    session.flush()
    log(
        session,
        "invited",
        person_id=actor,
        subject=person_id,
        details={"invite": row.id, "expires_at": row.expires_at},
        at=at,
    )
    return secret


def redeem(session: Session, secret: str, client: str = "", now: float | None = None) -> Person:
    """Return whose link this is.

    After ten wrong codes within ten minutes a client's further wrong codes are turned away
    uncounted, until the oldest is ten minutes old; a right one opens all the same, so that one
    person's slip shuts nobody out who shares the address. The count is kept in this process's
    memory only.

    Args:
        session: A writing session; the visit is logged.
        secret: The code in the link.
        client: What the rate limit counts by, e.g. the client's address.
        now: UTC seconds; the clock by default.

    Returns:
        The person.

    Raises:
        AccessError: The code is unknown (or one wrong code too many), revoked or expired, or the
            person was revoked.
    """
    at = clock(now)
    # That a right code is told from a wrong one while a client is refused helps no guessing:
    # codes have 192 random bits and are found by their hash.
    row = session.scalars(
        select(InviteRow).where(InviteRow.secret_hash == _digest(secret))
    ).one_or_none()
    if row is None:
        if _bad_codes.blocked(client, at):
            raise AccessError("too many wrong codes from here; a link copied whole still opens")
        _bad_codes.record(client, at)
        raise AccessError("this link is not known; check that it was copied whole")
    person = session.get(PersonRow, row.person_id)
    if row.revoked_at is not None or person is None or not person.active:
        raise AccessError("this link was revoked; ask your coordinator for a new one")
    if row.expires_at is not None and at >= row.expires_at:
        raise AccessError("this link has expired; ask your coordinator for a new one")
    details = {"invite": row.id}
    log(session, "signed_in", person_id=person.id, subject=person.id, details=details, at=at)
    return as_person(person)


def revoke(
    session: Session, person_id: str, *, actor: str | None = None, now: float | None = None
) -> None:
    """Take a person's access away; their labels stay, what they hold is free at once.

    Args:
        session: A writing session.
        person_id: Who loses access.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        InputError: Nobody has this id.
        AccessError: The actor is no coordinator.
    """
    require_actor(session, actor, "coordinator")
    row = session.get(PersonRow, person_id, with_for_update={"key_share": True})
    if row is None:
        raise InputError(f"unknown person {person_id!r}")
    at = clock(now)
    row.active = False
    session.execute(
        update(InviteRow)
        .where(InviteRow.person_id == person_id, InviteRow.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.person_id == person_id, AssignmentRow.state == "held")
        .values(lease_until=0.0)
    )
    session.flush()
    log(session, "person_revoked", person_id=actor, subject=person_id, at=at)


def grant_media(session: Session, person_id: str, study_id: str, media_key: str) -> str:
    """Give a person an opaque token for one rendered clip of a study.

    Args:
        session: A writing session.
        person_id: Who may fetch it.
        study_id: In which study.
        media_key: The rendered clip.

    Returns:
        The token, the same on every call.

    Raises:
        AccessError: The person takes no part in the study, or the clip is not in it.
    """
    study = _require_part(session, person_id, study_id)
    shown = session.scalars(
        select(StudyItemRow.item_id)
        .where(StudyItemRow.study_id == study_id, StudyItemRow.media_key == media_key)
        .limit(1)
    ).first()
    if shown is None and not _previews(session, study, person_id):
        raise AccessError("this clip is not part of the study")
    query = select(MediaGrantRow.token).where(
        MediaGrantRow.person_id == person_id,
        MediaGrantRow.study_id == study_id,
        MediaGrantRow.media_key == media_key,
    )
    token = session.scalars(query).one_or_none()
    if token is None:
        token = secrets.token_urlsafe(24)
        session.add(
            MediaGrantRow(
                token=token,
                person_id=person_id,
                study_id=study_id,
                media_key=media_key,
                created_at=clock(None),
            )
        )
        session.flush()
    return token


def media_for_token(session: Session, token: str, person_id: str) -> Media:
    """Return the rendered clip behind a token, for its owner only.

    Args:
        session: Any session.
        token: Token of :func:`grant_media`.
        person_id: Who asks, by their signed cookie.

    Raises:
        AccessError: The token is unknown or another person's, the person was revoked or takes
            no part in the study (any more), or the study was not launched and they are no
            coordinator. One message for all of them.
    """
    grant = session.get(MediaGrantRow, token)
    if grant is None or grant.person_id != person_id:
        raise AccessError("no such clip for you")
    study = _require_part(session, person_id, grant.study_id)
    if study.state == "draft" and not _previews(session, study, person_id):
        raise AccessError("no such clip for you")
    return get_media(session, grant.media_key)


def motion_for_token(session: Session, token: str, person_id: str) -> Media:
    """Return the clip behind a token whose motion its owner may see in 3D.

    Args:
        session: Any session.
        token: Token of :func:`grant_media`.
        person_id: Who asks, by their signed cookie.

    Raises:
        AccessError: As :func:`media_for_token`, or the study offers no 3D view of the clip.
    """
    media = media_for_token(session, token, person_id)
    grant = session.get(MediaGrantRow, token)
    if grant is None or not shown_in_3d(get_study(session, grant.study_id), media):
        raise AccessError("no such clip for you")
    return media


def shown_in_3d(study: Study, media: Media) -> bool:
    """Return whether a study offers a clip in 3D: only where the video shows the embedded body."""
    drawn = media.settings
    embedded = drawn.get("view") == "mesh" and drawn.get("body", "embedded") == "embedded"
    return study.offers_3d and embedded


def _require_part(session: Session, person_id: str, study_id: str) -> StudyRow:
    person = require(session, person_id)
    study = session.get(StudyRow, study_id)
    if study is None:
        raise AccessError("unknown study")
    member = session.get(MemberRow, (study_id, person_id))
    if person.role != "coordinator" and (member is None or member.retired_at is not None):
        raise AccessError("you take no part in this study")
    return study


def _previews(session: Session, study: StudyRow, person_id: str) -> bool:
    """Return whether a person sees a study's clips before launch fixes them."""
    return study.state == "draft" and require(session, person_id).role == "coordinator"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
