"""`motionjury demo`: a study to label at once, on motions of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from motionjury.commands.app import HostOption, PortOption, serve_app

DEMO_FOLDER = Path("demo-workspace")


def demo_command(
    workspace: Annotated[
        Path, typer.Option("--workspace", "-w", help="Folder of the demo; made when absent.")
    ] = DEMO_FOLDER,
    simulate: Annotated[
        int,
        typer.Option(
            "--simulate", min=0, max=50, help="Also fill and close a study with N simulated raters."
        ),
    ] = 0,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Serve the page when all is made.")
    ] = True,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
) -> None:
    """Make a demo study of synthetic motions, print its links, serve the page.

    Example: motionjury demo --simulate 3 --no-serve
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from motionjury.demo import SIMULATED_STUDY, STUDY, make_demo
    from motionjury.workspace import init_workspace

    opened = init_workspace(workspace, name="MotionJury demo")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns) as bar:
        tasks = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        invitations = make_demo(opened, simulate, progress)
    print(f"\nStudy {STUDY!r} is open in {opened.root}")
    if simulate:
        print(f"Study {SIMULATED_STUDY!r} is closed; its raters are simulated and marked so")
    print("\nPersonal links (each signs one browser in; open them in different browsers):")
    for invitation in invitations:
        print(f"  {invitation.name:<12} http://{host}:{port}/enter/{invitation.secret}")
    print()
    if serve:
        serve_app(opened, host, port, open_browser=False)
