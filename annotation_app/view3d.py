"""The 3D view: whether a study offers it, its script, the body, and the motion of one clip."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from annotation_app.context import AppContext
from annotation_app.media import serve_file
from audit.access import motion_for_token
from audit.records import Study

DIST = Path(__file__).parent / "player" / "dist"
"""Where ``scripts/build-player.sh`` puts the script, or why there is none."""

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


class Asset(NamedTuple):
    """A file that is the same for everybody, under an address that changes with its content."""

    data: bytes
    """The content."""
    digest: str
    """Start of its SHA-256, hex."""


def offer(study: Study) -> dict[str, str] | None:
    """Return what the page needs for the 3D view.

    Args:
        study: The study that is worked on.

    Returns:
        ``script`` and ``body``, two addresses; or ``off``, one line that says why there is no 3D
        view though the study allows it; None where it does not.
    """
    if not study.offers_3d:
        return None
    built = script()
    if built is None:
        return {"off": why_off()}
    return {"script": f"/player/{built.digest}.js", "body": f"/body/{body().digest}"}


def why_off() -> str:
    """Return why the script is not there, one sentence for the person who labels."""
    try:
        reason = (DIST / "why.txt").read_text(encoding="utf-8").strip()
    except OSError:
        reason = "it has not been built"
    return f"The 3D view is off on this server: {reason}. The video is all you need."


@cache
def script() -> Asset | None:
    """Return the built script; None where it was not built when the server started."""
    try:
        return _asset((DIST / "player3d.js").read_bytes())
    except OSError:
        return None


@cache
def body() -> Asset:
    """Return the embedded body, the same for every clip."""
    from render.glb import mesh_glb

    return _asset(mesh_glb())


def serve_script(request: Request) -> Response:
    """Answer ``/player/<digest>.js``; it may be kept for ever."""
    return _serve(script(), str(request.path_params["digest"]), "text/javascript")


def serve_body(request: Request) -> Response:
    """Answer ``/body/<digest>``; it may be kept for ever and tells nothing of any clip."""
    return _serve(body(), str(request.path_params["digest"]), "model/gltf-binary")


def serve_motion(context: AppContext, request: Request) -> Response:
    """Answer ``/clip/<token>/motion`` to the token's owner, where the study offers the 3D view.

    Args:
        context: The server's context.
        request: Request with ``token`` in its path.

    Returns:
        The animation that ``render all`` wrote beside the video, or one plain line with 403 or 404.
    """
    return serve_file(context, request, motion_for_token, ".glb", "model/gltf-binary")


def _asset(data: bytes) -> Asset:
    return Asset(data, hashlib.sha256(data).hexdigest()[:16])


def _serve(asset: Asset | None, digest: str, media_type: str) -> Response:
    if asset is None or asset.digest != digest:
        return PlainTextResponse("No such file.", 404, headers={"Cache-Control": "no-store"})
    return Response(asset.data, media_type=media_type, headers=_FOREVER)
