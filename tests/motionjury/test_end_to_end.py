"""Real motions all the way: import, draft, render, label, report, release."""

from __future__ import annotations

import json

import pandas as pd
from typer.testing import CliRunner

from motionjury.cli import cli
from motionjury.workspace import Workspace
from tests.labels import label_everything
from tests.shared_data import shared


def run(workspace, *arguments: str):
    result = CliRunner().invoke(cli, [*arguments, "--workspace", str(workspace)])
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return result


def test_humanml3d_and_bvh_to_a_verified_release(tmp_path) -> None:
    root = tmp_path / "w"
    assert CliRunner().invoke(cli, ["init", str(root)]).exit_code == 0
    sample = shared("data/motions/humanml3d_sample")
    bvh = shared("data/motions/bandai_namco/dataset-2_wave-left-hand_normal_001.bvh")
    run(root, "corpus", "import", str(sample))
    run(root, "corpus", "import", str(bvh))
    clips = json.loads(run(root, "corpus", "list", "--json").stdout)
    assert {"humanml3d:000000", "humanml3d:012314"} <= {clip["id"] for clip in clips}

    run(root, "draft", "stride")
    run(root, "study", "create", "audit", "--ratings", "2", "--per-axis", "2")
    rendered = json.loads(run(root, "render", "all", "--size", "192", "--json").stdout)
    assert rendered["refused"] == 0
    for name in ("Ada", "Bo"):
        run(root, "people", "invite", name, "--role", "expert", "--study", "audit")
    run(root, "study", "launch", "audit")

    def answer(rater: int, item: int, question: str) -> str:
        if question == "confidence":
            return str(1 + (item + rater) % 5)
        return "no" if (item == 0 and question == "fluent") else "yes"

    given = label_everything(Workspace(root), "audit", answer)
    run(root, "study", "close", "audit")
    report = json.loads(run(root, "agreement", "report", "audit", "--json").stdout)
    assert report
    run(root, "release", "build", "--out", str(tmp_path / "r"))
    assert CliRunner().invoke(cli, ["release", "verify", str(tmp_path / "r")]).exit_code == 0

    labels = pd.read_parquet(tmp_path / "r" / "labels.parquet")
    assert len(labels) == len(given)
    excluded = (tmp_path / "r" / "excluded.jsonl").read_text(encoding="utf-8").splitlines()
    items = (tmp_path / "r" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(excluded) == 1
    assert len(items) == len({item for _code, item in given}) - 1
    assert "left" in "".join(items)
