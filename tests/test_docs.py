"""The documents cannot drift: every command they show runs, every link leads somewhere."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from audit.access import add_person
from audit.members import add_member
from benchmarks.stride import AXES
from corpus.synthetic import demo_corpus
from motionjury.cli import cli
from motionjury.workspace import open_workspace
from tests.corpus import test_bvh as bvh
from tests.labels import label_everything
from tests.shared_data import ROOT

DOCS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
STORIES = [ROOT / "README.md", *sorted(ROOT.glob("docs/guides/*.md"))]
CLIPS = ("0027", "0028", "0033", "0034", "0065", "0066", "0021", "0022")

HOME_FILES = (
    "ratings.csv", "scores.csv", "answers.csv", "captions.jsonl", "joints.npy", "clip.bvh",
    "stride.csv", "other.csv", "retrieval.npz", "other.npz", "text.npy", "motion.npy",
    "reference.npy", "events.json", "order.csv",
)  # fmt: skip
"""Files of the reader's own that the documents speak of."""


def shell_lines(path: Path) -> list[str]:
    """Return the commands of the ``sh`` blocks of a page, continued lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.split(" #")[0].strip() for line in lines if line.strip() and line[0] != "#"]


def write_humanml3d(folder: Path) -> None:
    """Write a few demo clips in HumanML3D's layout."""
    (folder / "new_joints").mkdir(parents=True)
    (folder / "texts").mkdir()
    for number, made in enumerate(demo_corpus(), start=1):
        if made.clip.id.split(":")[1][:4] not in CLIPS:
            continue
        np.save(folder / "new_joints" / f"{number:06d}.npy", made.motion.resampled(20).positions)
        lines = [f"{caption.text}#a/DET#0.0#0.0" for caption in made.captions]
        (folder / "texts" / f"{number:06d}.txt").write_text("\n".join(lines), encoding="utf-8")


def write_vectors(folder: Path) -> None:
    """Write scores and embeddings of texts and motions."""
    rng = np.random.default_rng(0)
    motion = rng.standard_normal((120, 8))
    np.save(folder / "motion.npy", motion)
    np.save(folder / "text.npy", motion + rng.standard_normal(motion.shape))
    np.save(folder / "reference.npy", rng.standard_normal((90, 8)))
    names = np.array([f"m{i}" for i in range(40)])
    for file in ("retrieval.npz", "other.npz"):
        np.savez(
            folder / file,
            scores=rng.standard_normal((120, 40)),
            text_ids=np.array([f"{name}#{k}" for name in names for k in range(3)]),
            motion_ids=names,
            text_motion=np.repeat(names, 3),
            granularity=np.array(["concise", "standard", "fine"] * 40),
            higher_is_better=True,
        )


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home folder with the files that the documents speak of."""
    write_humanml3d(tmp_path / "data" / "HumanML3D")
    rows = [
        f"i{item},r{rater},{1 + (item + rater // 2) % 5},c{item // 2}"
        for item in range(12)
        for rater in range(3)
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,rater,label,clip", *rows]) + "\n")
    scores = [
        f"p{prompt},{method},{question},{version},"
        + ",".join(str(1 + (prompt + place * 2 + k * (prompt % 3)) % 5) for k in range(5))
        for prompt, version in ((0, "V1"), (1, "V1"), (2, "V1"), (3, "V2"), (4, "V2"), (5, "V2"))
        for place, method in enumerate(("MDM", "MoMask", "CoMo"))
        for question in ("realism", "consistency")
    ]
    head = "prompt,method,question,version,h1,h2,h3,gemini,gpt"
    (tmp_path / "scores.csv").write_text("\n".join([head, *scores]) + "\n")
    answers = [
        f"q{item},A{rater},{'up' if (item + rater) % 3 else 'left'},up,{1 + item % 5},action,"
        f"{'' if (item + rater) % 3 else 'F2'}"
        for item in range(12)
        for rater in range(3)
    ]
    head = "item,rater,answer,gold,confidence,type,modes"
    (tmp_path / "answers.csv").write_text("\n".join([head, *answers]) + "\n")
    caption = '{"id": "c1", "caption": "a person raises their left arm."}'
    (tmp_path / "captions.jsonl").write_text(caption + "\n")
    head = "item_id,corpus,axis,motion_id,s_mc,s_mcp,s_uc,s_ucp"
    items = [
        f"{axis}{k},humanml3d,{axis},m{k % 4},{2 + k % 3},{1 + k % 2},{k % 4},{1 + k % 3}"
        for axis in AXES
        for k in range(8)
    ]
    for name in ("stride.csv", "other.csv"):
        (tmp_path / name).write_text("\n".join([head, *items]) + "\n")
    events = {clip.clip.id: ["a person walks", "sits down"] for clip in demo_corpus()[:3]}
    (tmp_path / "events.json").write_text(json.dumps(events))
    rows = [f"{name},{k},1" for k, name in enumerate(events)]
    (tmp_path / "order.csv").write_text("\n".join(["motion_id,s_text,s_shuffled", *rows]) + "\n")
    write_vectors(tmp_path)
    walk = demo_corpus()[0].motion
    np.save(tmp_path / "joints.npy", walk.resampled(20).positions[:20])
    (tmp_path / "clip.bvh").write_text(bvh.document())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MOTIONJURY_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", STORIES, ids=lambda path: path.stem)
def test_every_command_of_a_page_runs_in_order(page: Path, home: Path, monkeypatch) -> None:
    from motionjury import demo

    monkeypatch.setattr(demo, "PER_AXIS", 1)
    for line in shell_lines(page):
        for command in line.split("&&"):
            words = shlex.split(command)
            if words[0] == "make":
                makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
                assert re.search(rf"^{words[1]}:", makefile, re.M), command
            elif words[0] == "cd":
                monkeypatch.chdir(Path.cwd() / words[1])
            else:
                run_motionjury(words, home)


def run_motionjury(words: list[str], home: Path) -> None:
    """Run one command; serving the app is taken as its help, and then enough people label."""
    assert words[0] in ("motionjury", ".venv/bin/motionjury"), words
    arguments = [word.replace("~", str(home)) for word in words[1:]]
    if arguments[0] == "app":
        result = CliRunner().invoke(cli, [*arguments, "--help"])
        workspace = open_workspace()
        with workspace.db.write() as session:
            for name in ("Bo", "Cy", "Di"):
                add_member(session, "audit-1", add_person(session, name, "expert").id)
        label_everything(workspace, "audit-1", lambda r, i, q: "4" if q == "confidence" else "yes")
    else:
        for name in HOME_FILES:
            arguments = [str(home / name) if word == name else word for word in arguments]
        result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, (words, result.output, result.exception)


def test_every_command_is_named_in_a_document() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
    missing = []

    def walk(group, words: str) -> None:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                walk(command, f"{words} {name}")
            elif f"{words} {name}" not in text:
                missing.append(f"{words} {name}")

    walk(typer.main.get_command(cli), "motionjury")
    assert missing == []


@pytest.mark.parametrize("page", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
