"""`motionjury app`: serve the pages on which experts label and coordinators watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.options import WorkspaceOption

if TYPE_CHECKING:
    from audit.records import StudyConfig
    from corpus.clips import Clip
    from motionjury.workspace import Workspace


HostOption = Annotated[
    str, typer.Option(help="Address to listen on; 0.0.0.0 for the whole network.")
]
"""``--host`` of the commands that serve the app."""
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")]
"""``--port`` of the commands that serve the app."""


def app_command(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = False,
    desktop: Annotated[
        bool,
        typer.Option(
            "--desktop", help="Open it in a window of its own (Chromium, Chrome or Edge)."
        ),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Serve the labelling app until it is stopped with Ctrl+C.

    Example: `motionjury app --workspace my-study --port 8501`
    """
    from motionjury.workspace import open_workspace

    serve_app(open_workspace(workspace), host, port, browser, desktop=desktop)


def serve_app(
    workspace: Workspace, host: str, port: int, open_browser: bool, *, desktop: bool = False
) -> None:
    """Serve the app of a workspace; blocks until it is stopped.

    Args:
        workspace: An open workspace.
        host: Address to listen on.
        port: Port to listen on, 1 to 65535.
        open_browser: Whether to open the page in a browser.
        desktop: Whether to open it in a window of its own.

    Raises:
        InputError: The address cannot be used, or sign-in is not set up right.
    """
    from annotation_app.server import check_address, page_address, serve
    from annotation_app.sign_in import read_settings, write_secrets
    from motionjury.workspace import CONFIG_NAME

    config = workspace.root / CONFIG_NAME
    settings = read_settings(workspace.settings.get("oidc"), str(config))
    secrets = write_secrets(workspace.root, settings, workspace.secret) if settings else None
    check_address(host, port)
    print(f"Serving {workspace.name} at {page_address(host, port)} (stop with Ctrl+C)", flush=True)
    serve(
        workspace.db,
        workspace.media_dir,
        workspace.secret,
        name=workspace.name,
        host=host,
        port=port,
        open_browser=open_browser,
        desktop=desktop,
        secrets_file=secrets,
        render=partial(_render, workspace),
    )


def _render(
    workspace: Workspace,
    clips: Sequence[Clip],
    config: StudyConfig,
    progress: Callable[[int, int], None],
) -> list[str]:
    from motionjury.commands.render import render_into_workspace
    from render.clip import RenderSettings

    settings = RenderSettings(facing_arrow=config.facing_arrow, legend=config.legend)
    # One process: people label on this machine meanwhile.
    results = render_into_workspace(workspace, clips, settings, 1, progress)
    return [f"{one.clip_id}: {one.problem.reason}" for one in results if one.problem]
