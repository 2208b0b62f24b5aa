"""The demo, from motions of our own to a report and a release of simulated labels."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from motionjury import demo
from motionjury.cli import cli


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "w"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "PER_AXIS", 2)
        for _ in range(2):
            arguments = ["demo", "--simulate", "3", "--no-serve", "--workspace", str(folder)]
            result = CliRunner().invoke(cli, arguments)
            assert result.exit_code == 0, result.output
    return folder, result.output


def run(*arguments: str):
    return CliRunner().invoke(cli, list(arguments))


def status(folder) -> dict:
    return json.loads(run("status", "--workspace", str(folder), "--json").stdout)


def test_a_second_call_adds_nothing_but_links(workspace) -> None:
    folder, output = workspace
    found = status(folder)
    assert [study["name"] for study in found["studies"]] == [demo.STUDY, demo.SIMULATED_STUDY]
    assert [study["labels"] for study in found["studies"]] == [0, 24]
    assert output.count("/enter/") == 4


def test_studies_share_no_item_and_cover_the_axes(workspace) -> None:
    from motionjury.workspace import Workspace
    from store.items import list_items

    with Workspace(workspace[0]).db.read() as session:
        items = list_items(session, benchmark="stride")
    first, second = demo.pick_items(items, 2), demo.pick_items(items, 2, skip=2)
    assert not {item.id for item in first} & {item.id for item in second}
    for chosen in (first, second):
        axes = [item.stratum["axis"] for item in chosen]
        assert {axis: axes.count(axis) for axis in axes} == dict.fromkeys(demo.AXES, 2)


def test_the_report_says_that_raters_are_simulated(workspace) -> None:
    folder, _ = workspace
    result = run("agreement", "report", demo.SIMULATED_STUDY, "--workspace", str(folder), "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert "simulated" in json.dumps(report)
    page = next((folder / "reports").rglob("report.html")).read_text(encoding="utf-8")
    assert "simulated" in page.lower()


def test_a_release_refuses_simulated_labels_unless_told(workspace, tmp_path) -> None:
    folder, _ = workspace
    arguments = ["release", "build", "--out", str(tmp_path / "r"), "--workspace", str(folder)]
    refused = run(*arguments)
    assert "simulated" in str(refused.exception)
    assert not (tmp_path / "r").exists()
    assert run(*arguments, "--allow-simulated").exit_code == 0
    verified = run("release", "verify", str(tmp_path / "r"), "--json")
    assert json.loads(verified.stdout) == {"ok": True, "problems": []}
    assert "simulated" in (tmp_path / "r" / "README.md").read_text(encoding="utf-8").lower()


def test_simulated_answers_are_what_the_form_asks() -> None:
    from audit.answers import check_answers
    from audit.protocols.registry import PROTOCOLS

    for axis in demo.AXES:
        answers, _ = demo.simulated_answers("item", axis, 1)
        assert check_answers(PROTOCOLS["stride_audit"], {"axis": axis}, answers)


def test_clips_of_a_study_include_its_training(workspace) -> None:
    from audit.studies import study_clips
    from motionjury.workspace import Workspace

    with Workspace(workspace[0]).db.read() as session:
        assert demo.TRAINING_CLIP in study_clips(session, demo.STUDY)
        assert len(study_clips(session, demo.SIMULATED_STUDY)) <= 8
