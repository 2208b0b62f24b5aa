"""Optional sign-in with an account of one's organisation (OpenID Connect, by ``st.login``).

The service only says who somebody is: the person, and what they may do, are looked up in the store
by the address that the service has verified. From then on the same cookie holds as after a link.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from audit.people import Person, person_by_email
from benchmarks.items import Frozen
from corpus.problems import InputError

if TYPE_CHECKING:
    from annotation_app.context import AppContext

CALLBACK = "/oauth2callback"
"""Where the service sends people back to; Streamlit's own route."""


class SignInSettings(Frozen):
    """``[oidc]`` of ``workspace.toml``."""

    server_metadata_url: str
    """Address of the service's ``.well-known/openid-configuration``."""
    client_id: str
    """The app's id there."""
    client_secret: str
    """The app's secret there."""
    redirect_uri: str
    """Public address of this app with ``/oauth2callback``."""


def read_settings(table: object, file: str) -> SignInSettings | None:
    """Return the settings of sign-in.

    Args:
        table: ``[oidc]`` as read; ``None`` where there is none.
        file: Name of the file, for messages.

    Raises:
        InputError: Something is missing, the address does not end so, or Authlib is not installed.
    """
    if table is None:
        return None
    try:
        settings = SignInSettings.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "oidc"
        raise InputError(f"[oidc] {field}: {first['msg']}", file=file) from error
    if not settings.redirect_uri.endswith(CALLBACK):
        raise InputError(
            f"[oidc] redirect_uri: expected an address ending in {CALLBACK}, "
            f"got {settings.redirect_uri!r}",
            file=file,
        )
    if find_spec("authlib") is None:
        raise InputError("[oidc] needs Authlib: `pip install 'motionjury[oidc]'`", file=file)
    return settings


def write_secrets(folder: Path, settings: SignInSettings, secret: str) -> Path:
    """Write the settings as Streamlit reads them, for the owner's eyes only.

    Args:
        folder: The workspace.
        settings: Settings of sign-in.
        secret: The workspace's secret; Streamlit's cookies get a key made from it.

    Returns:
        The file.
    """
    key = hmac.new(secret.encode(), b"motionjury.oidc.1", hashlib.sha256).hexdigest()
    values = {**settings.model_dump(), "cookie_secret": key}
    # A JSON string is a TOML string.
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    path = folder / ".oidc.toml"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("[auth]\n" + "\n".join(lines) + "\n")
    path.chmod(0o600)
    return path


def known_person(context: AppContext, claims: Mapping[str, object]) -> Person | None:
    """Return the person whom a signed-in account belongs to.

    Args:
        context: The server's context.
        claims: What the service says of them.

    Returns:
        The active person with this address; None where the service has not verified it, or
        nobody here has it.
    """
    email = claims.get("email")
    if not isinstance(email, str) or claims.get("email_verified") is not True:
        return None
    with context.db.read() as session:
        return person_by_email(session, email)
