"""The command line as a whole: help, errors in one line, nothing heavy at start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from motionjury import __version__
from motionjury.cli import cli, main

HEAVY = {
    "numpy",
    "numba",
    "torch",
    "pandas",
    "scipy",
    "streamlit",
    "sqlalchemy",
    "openai",
    "plotly",
}


def commands() -> list[tuple[str, ...]]:
    """Return the words of every command."""
    found = []

    def walk(group: typer.main.TyperGroup, words: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                walk(command, (*words, name))
            else:
                found.append((*words, name))

    walk(typer.main.get_command(cli), ())
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_has_help_with_an_example(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, [*words, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"motionjury {' '.join(words)}" in result.output


def test_start_imports_nothing_heavy() -> None:
    code = "import sys, motionjury.cli; print(*{m.split('.')[0] for m in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(run.stdout.split())


def test_version() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert result.output.strip() == f"motionjury {__version__}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["status", "--workspace", "absent"], "no workspace here"),
        (["corpus", "inspect", "absent.npy"], "absent.npy"),
        (["agreement", "table", "absent.csv", "--item", "i", "--rater", "r", "--label", "l",
          "--level", "nominal"], "absent.csv"),
        (["draft", "captions", "absent.jsonl", "--axis", "mirror_reflection"], "absent.jsonl"),
        (["release", "verify", "absent"], "absent"),
        (["render", "clip", "absent.npy", "-o", "out.mp4"], "absent.npy"),
        (["init", "taken.txt"], "taken.txt"),
    ],
)  # fmt: skip
def test_a_users_mistake_is_one_line_and_exit_code_2(arguments, said, tmp_path) -> None:
    (tmp_path / "taken.txt").write_text("here first")
    run = subprocess.run(
        [sys.executable, "-m", "motionjury", *arguments],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 2
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def leave(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["motionjury", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("corpus", "inspect"), "path"),
        (("corpus", "inspect", "a.npy", "--fps", "fast"), "--fps"),
        (("agreement", "table", "a.csv", "--nope"), "--nope"),
        (("nope",), "nope"),
        (("app", "--port", "0"), "--port"),
    ],
)
def test_a_wrong_option_is_one_line(
    words: tuple[str, ...],
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert leave(monkeypatch, *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("motionjury: ")
    assert said.err.count("\n") == 1
    assert part in said.err.lower()


def test_a_group_by_itself_shows_its_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert leave(monkeypatch, "corpus") == 2
    said = capsys.readouterr()
    assert "inspect" in said.out + said.err
    assert "motionjury: " not in said.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"id": "a", "caption": "turns left"}\n')
    line = [sys.executable, "-c", "from motionjury.cli import main; main()", "draft", "captions"]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*line, str(file), "--axis", "mirror_reflection"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert run.returncode == 2
    assert run.stderr == "motionjury: No space left on device\n"
