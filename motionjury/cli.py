"""The command line: `motionjury GROUP COMMAND`. Heavy libraries are imported by the commands."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from corpus.problems import InputError
from motionjury import __version__
from motionjury.commands import (
    agreement,
    app,
    corpus,
    demo,
    draft,
    people,
    release,
    render,
    score,
    study,
    train,
)
from motionjury.commands.house import doctor_command, init_command, status_command

_STOPPED = 130

cli = typer.Typer(
    name="motionjury",
    help="The workbench in which motion-language benchmarks are made and kept honest.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
cli.command("init")(init_command)
cli.command("demo")(demo.demo_command)
cli.command("doctor")(doctor_command)
cli.command("status")(status_command)
cli.command("app")(app.app_command)
for group, module, text in (
    ("corpus", corpus, "Motions and captions: in, listed, counted."),
    ("draft", draft, "Draft items of the four benchmarks, and audit them."),
    ("render", render, "Render clips, pictures and 3D files of motions."),
    ("study", study, "Studies: make them, watch them, settle and close them."),
    ("people", people, "Experts, coordinators, analysts and their personal links."),
    ("agreement", agreement, "Agreement coefficients and reports."),
    ("score", score, "Score models: retrieval, generation, STRIDE."),
    ("train", train, "Train the built-in evaluator."),
    ("release", release, "Verified releases: build and verify."),
):
    cli.add_typer(module.app, name=group, help=text, no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"motionjury {__version__}")
        raise typer.Exit


@cli.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Motions to verified benchmark releases, with people in the loop."""


def main() -> None:
    """Run the command line; a user's mistake ends as one line on stderr and exit code 2."""
    try:
        code = cli(standalone_mode=False)
    except InputError as error:
        _leave(str(error), 2)
    except TyperException as error:
        # A group called by itself has printed its help; the message is empty then.
        message = " ".join(error.format_message().split())
        if not message:
            sys.exit(2)
        _leave(f"{message.rstrip('.')}; see --help", 2)
    except typer.Abort:
        _leave("stopped: an answer was expected, none came", 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        place = f"{ascii(str(error.filename))[1:-1]}: " if error.filename else ""
        _leave(f"{place}{error.strerror or error}", 2)
    if code == _STOPPED:
        _leave("stopped; run the same command again to go on", _STOPPED)
    sys.exit(code)


def _leave(message: str, code: int) -> NoReturn:
    print(f"motionjury: {message}", file=sys.stderr)
    sys.exit(code)
