import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from motionjury.commands.corpus import app
from motionjury.workspace import init_workspace, open_workspace
from store.clips import list_captions, list_clips
from tests.corpus.people import moving
from tests.shared_data import ROOT, shared


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "motions"
    root.mkdir()
    for name in ("a", "b"):
        np.save(root / f"{name}.npy", moving(frames=30).positions)
    (root / "broken.npy").write_bytes(b"nothing")
    return root


@pytest.fixture
def workspace(tmp_path):
    return str(init_workspace(tmp_path / "ws").root)


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_inspect_prints_json_and_leaves_with_0(folder):
    result = run("inspect", folder, "--fps", 30, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [c["id"] for c in found["clips"]] == ["arrays:a", "arrays:b"]
    assert [p["file"] for p in found["problems"]] == [str(folder / "broken.npy")]


def test_inspect_prints_a_table_and_lists_the_refused(folder):
    result = run("inspect", folder, "--fps", 30)
    assert "arrays:a" in result.stdout
    assert "assumed for 2: fps 30: as given" in result.stdout
    assert result.stderr.count("refused: ") == 1


@pytest.mark.parametrize("json_flag", [(), ("--json",)])
def test_inspect_of_one_bad_file_says_one_line(folder, json_flag):
    result = run("inspect", folder / "broken.npy", *json_flag)
    assert isinstance(result.exception, InputError)
    assert (
        str(result.exception)
        == f"{folder}/broken.npy: expected a .npy array, got no valid .npy header"
    )
    assert result.stderr == ""
    if json_flag:
        assert json.loads(result.stdout)["clips"] == []


def test_the_whole_program_leaves_with_2_and_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "motionjury", "corpus", "inspect", str(tmp_path / "no.bvh")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"motionjury: {tmp_path}/no.bvh: no such file or folder\n"


def test_import_twice_adds_once(folder, workspace):
    first = run("import", folder, "--fps", 30, "--name", "mine", "-w", workspace, "--json")
    assert first.exit_code == 0
    summary = json.loads(first.stdout)
    assert (summary["clips"], summary["new_clips"], summary["refused"]) == (2, 2, 1)
    assert first.stderr.startswith(f"refused: {folder}/broken.npy: ")
    second = json.loads(
        run("import", folder, "--fps", 30, "--name", "mine", "-w", workspace, "--json").stdout
    )
    assert (second["clips"], second["new_clips"]) == (2, 0)
    with open_workspace(Path(workspace)).db.read() as session:
        clips = list_clips(session)
    assert [c.id for c in clips] == ["mine:a", "mine:b"]
    assert clips[0].options == {"fps": 30}


def test_a_licence_is_kept_with_motions_that_state_none(folder, workspace):
    given = ("--fps", 30, "--name", "mine", "--licence", "CC-BY-4.0", "-w", workspace)
    assert run("import", folder, *given).exit_code == 0
    with open_workspace(Path(workspace)).db.read() as session:
        assert {clip.licence for clip in list_clips(session)} == {"CC-BY-4.0"}


def test_import_of_nothing_leaves_nothing(folder, workspace):
    result = run("import", folder, "-w", workspace)
    assert isinstance(result.exception, InputError)
    assert "got none: 3 refused" in str(result.exception)
    assert json.loads(run("list", "-w", workspace, "--json").stdout) == []


def test_import_of_the_sample_by_split(workspace):
    sample = shared("data/motions/humanml3d_sample")
    assert run("import", sample, "--split", "test", "-w", workspace).exit_code == 0
    (clip,) = json.loads(run("list", "-w", workspace, "--json").stdout)
    assert (clip["id"], clip["split"], clip["captions"]) == ("humanml3d:000000", "test", 4)
    assert run("import", sample, "-w", workspace).exit_code == 0
    with open_workspace(Path(workspace)).db.read() as session:
        assert len(list_captions(session)) == 7
    table = run("list", "-w", workspace).stdout
    assert "humanml3d:012314" in table
    other = run("import", sample, "--split", "val", "-w", workspace)
    assert "all 2 are of others" in str(other.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", "x.npy", "--fps", "0"), "--fps: expected a number in (0, 1000], got 0"),
        (("inspect", "x.npy", "--fps", "nan"), "--fps: expected a number in (0, 1000], got nan"),
        (("import", "x.npy", "--name", "a:b"), "--name: expected a name without ':' and '#'"),
        (("import", "x.npy", "--licence", " "), "--licence: expected a name such as CC-BY-4.0"),
    ],
)
def test_options_that_are_none(arguments, said):
    result = run(*arguments)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)


def test_unknown_axis_is_a_usage_error():
    assert run("inspect", "x.npy", "--up", "w").exit_code == 2


def test_help_loads_no_heavy_library():
    code = (
        "import sys, motionjury.commands.corpus; "
        "print([m for m in ('numpy', 'scipy', 'rich.table', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"
