"""The labelling component: markup, style and script, read as they are; no build step.

Only the 3D view is built, from ``player3d/`` into ``dist/``; see ``annotation_app.view3d``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_SCRIPTS = ("words.js", "player.js", "form.js", "post.js", "view3d.js", "labelling.js")


@cache
def source(name: str) -> str:
    """Return the text of one file of the component, e.g. ``labelling.css``."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """Return the component's one script: the files in the order they build on each other."""
    return "\n".join(source(name) for name in _SCRIPTS)
