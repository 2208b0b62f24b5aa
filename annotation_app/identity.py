"""Who is asking: a signed cookie that names a person; what they may do is asked of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itsdangerous import BadData, URLSafeTimedSerializer

from annotation_app.context import AppContext
from audit.access import AccessError, Person, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

COOKIE = "motionjury"
MAX_AGE_SECONDS = 30 * 24 * 3600
"""A personal link has to be opened again after this many seconds."""
PASS_SECONDS = 600
"""A pass from sign-in to the cookie holds so long."""


class Signer:
    """Signs person ids with the workspace's secret and the time of issue."""

    def __init__(self, secret: str) -> None:
        """Keep the key.

        Raises:
            ValueError: The secret is shorter than 16 characters.
        """
        if len(secret) < 16:
            raise ValueError(f"secret: expected at least 16 characters, got {len(secret)}")
        self._serializer = URLSafeTimedSerializer(secret, salt="motionjury.person.1")
        self._passes = URLSafeTimedSerializer(secret, salt="motionjury.pass.1")

    def sign(self, person_id: str) -> str:
        """Return the cookie value of a person."""
        return str(self._serializer.dumps(person_id))

    def verify(self, value: str | None) -> str | None:
        """Return the person id of a cookie; None when it is absent, forged or too old."""
        if not value:
            return None
        try:
            person_id = self._serializer.loads(value, max_age=MAX_AGE_SECONDS)
        except BadData:
            return None
        return person_id if isinstance(person_id, str) else None

    def sign_pass(self, person_id: str) -> str:
        """Return a pass with which someone who has signed in gets their cookie."""
        return str(self._passes.dumps(person_id))

    def verify_pass(self, value: str) -> str | None:
        """Return the person id of a pass; None when it is forged or older than ten minutes."""
        try:
            person_id = self._passes.loads(value, max_age=PASS_SECONDS)
        except BadData:
            return None
        return person_id if isinstance(person_id, str) else None


def set_cookie(response: Response, context: AppContext, person_id: str, *, secure: bool) -> None:
    """Put the signed cookie on a response: HttpOnly, SameSite=Lax, Secure over https."""
    response.set_cookie(
        COOKIE,
        context.signer.sign(person_id),
        max_age=MAX_AGE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=secure,
    )


def person_id_of(context: AppContext, cookies: Mapping[str, str]) -> str | None:
    """Return the person id of a verified cookie, or None."""
    return context.signer.verify(cookies.get(COOKIE))


def person_of(context: AppContext, cookies: Mapping[str, str]) -> Person | None:
    """Return the person behind the cookies, or None when unknown, revoked or not signed in.

    The store is asked every time, so that a revoked link ends at the next request.
    """
    person_id = person_id_of(context, cookies)
    if person_id is None:
        return None
    try:
        with context.db.read() as session:
            return require(session, person_id)
    except AccessError:
        return None
