"""What the routes and the script share: database, media folder, cookie signer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from annotation_app.figures import Figures

if TYPE_CHECKING:
    from annotation_app.identity import Signer
    from audit.records import StudyConfig
    from corpus.clips import Clip
    from store.session import Database


Render = Callable[["Sequence[Clip]", "StudyConfig", Callable[[int, int], None]], list[str]]
"""Renders clips; is told clips done and in all; returns one line for each that was refused."""


@dataclass(frozen=True)
class AppContext:
    """One per server process; safe to share between threads."""

    db: Database
    """The workspace database."""
    media_dir: Path
    """Folder of the rendered clips."""
    signer: Signer
    """Signs and verifies the session cookie."""
    name: str
    """Name of the workspace, shown to coordinators."""
    signs_in: bool = False
    """Whether people may sign in with an account of their organisation."""
    render: Render | None = None
    """Renders clips into the workspace; ``None`` where the server cannot."""
    figures: Figures = field(default_factory=Figures)
    """Reports on agreement that were computed already."""


_current: AppContext | None = None


def set_context(context: AppContext) -> None:
    """Set the context before the server starts."""
    global _current
    _current = context


def get_context() -> AppContext:
    """Return the context of this server.

    Raises:
        RuntimeError: The script runs outside ``annotation_app.server.serve``.
    """
    if _current is None:
        raise RuntimeError("no context set; start the app with `motionjury app`")
    return _current
