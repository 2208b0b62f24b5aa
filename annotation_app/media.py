"""Serving a rendered clip, with byte ranges, to the one person its token was made for."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from annotation_app.context import AppContext
from annotation_app.identity import person_id_of
from audit.access import AccessError, media_for_token

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.clips import Media


def serve_clip(context: AppContext, request: Request) -> Response:
    """Answer ``/clip/<token>``.

    Owner, activity and study are asked of the store at each request. The answer names neither
    file, clip nor study, and refusals do not say why.

    Args:
        context: The server's context.
        request: Request with ``token`` in its path.

    Returns:
        The clip (200, or 206 for a range), or one plain line with 403 or 404.
    """
    return serve_file(context, request, media_for_token, ".mp4", "video/mp4")


def serve_file(
    context: AppContext,
    request: Request,
    allowed: Callable[[Session, str, str], Media],
    suffix: str,
    media_type: str,
) -> Response:
    """Answer with a file of the clip behind a token.

    Args:
        context: The server's context.
        request: Request with ``token`` in its path.
        allowed: Returns the clip of a session, token and person, or raises ``AccessError``.
        suffix: Which of the clip's files, e.g. ``.mp4``.
        media_type: Type of the answer.

    Returns:
        The file (200, or 206 for a range), or one plain line with 403 or 404.
    """
    token = str(request.path_params["token"])
    person_id = person_id_of(context, request.cookies)
    if person_id is None:
        return _refused(403)
    try:
        with context.db.read() as session:
            media = allowed(session, token, person_id)
    except AccessError:
        return _refused(403)
    root = context.media_dir.resolve()
    path = (root / media.file).with_suffix(suffix).resolve()
    if not path.is_relative_to(root):
        return _refused(404)
    try:
        status = os.stat(path)
    except OSError:
        return _refused(404)
    if not stat.S_ISREG(status.st_mode):
        return _refused(404)
    version = f"{token}:{suffix}:{status.st_size}:{status.st_mtime_ns}".encode()
    return FileResponse(
        path,
        media_type=media_type,
        stat_result=status,
        headers={
            "Cache-Control": "private, max-age=3600",
            # From the token, not from the file: equal clips of two people do not look equal.
            "ETag": f'"{hashlib.sha256(version).hexdigest()[:32]}"',
        },
    )


def _refused(status: int) -> Response:
    text = "This clip is not available to you." if status == 403 else "No such clip."
    return PlainTextResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
