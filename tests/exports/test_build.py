"""From labels given through the audit functions to a verified folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.access import add_person
from audit.assignment import next_assignment
from audit.labelling import revise, submit
from audit.studies import StudyConfig, add_member, close, create_study, launch
from corpus.clips import Caption, Clip
from corpus.problems import InputError
from exports.gather import build_release
from exports.selection import ReleaseSpec
from exports.tables import from_jsonl
from exports.verify import verify_release
from motionjury.commands.release import app
from motionjury.workspace import Workspace, init_workspace
from store.clips import add_clips, add_media, get_media
from store.items import add_items
from tests.exports.conftest import answers, item

NAMES = ("Zebedee Quux", "Ermintrude Blorp", "Dougal Snarf")
ITEMS = [item(n) for n in range(6)]
BAD = item(4).id
"""Item that everybody rejects."""


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = init_workspace(tmp_path / "ws")
    with made.db.write() as session:
        for number in range(3):
            clip_id = f"synthetic:clip-{number}"
            clip = Clip(
                id=clip_id,
                corpus="synthetic",
                path=f"/home/zebedee/private/{number}.npz",
                format="arrays",
                content_hash=f"{number:064x}",
                frames=60,
                fps=30.0,
                duration=2.0,
                joints=22,
                skeleton="smpl22",
                licence="Apache-2.0",
            )
            captions = [
                Caption(id=one.payload["caption_id"], clip_id=clip_id, text=one.payload["caption"])
                for one in ITEMS
                if one.payload["clip_id"] == clip_id
            ]
            add_clips(session, [clip], captions)
            add_media(
                session,
                key=f"{number:064x}",
                clip_id=clip_id,
                file=f"{number}.mp4",
                settings={
                    "size": 768,
                    "backend": "raster",
                    "body": "embedded",
                    "bodies": "/home/zebedee/smpl",
                    "renderer_version": 3,
                },
                fit_error_mm={"left_wrist": 40.5} if number else None,
                frames=60,
                fps=30.0,
                seconds=2.0,
                sha256=f"{number:064x}",
                size=100,
            )
        add_items(session, ITEMS)
    yield made
    made.db.close()


def open_study(workspace: Workspace, name: str = "pilot", simulated: bool = False) -> list[str]:
    """Launch a study of all items with three experts; return their ids."""
    with workspace.db.write() as session:
        study = create_study(
            session,
            StudyConfig(
                name=name, protocol="stride_audit", item_ids=tuple(one.id for one in ITEMS), seed=3
            ),
        )
        people = [add_person(session, who, "expert", simulated).id for who in NAMES]
        for person in people:
            add_member(session, study.id, person)
        launch(session, study.id)
        return people


def label_all(workspace: Workspace, people: list[str], name: str = "pilot") -> None:
    from audit.records import get_study

    by_id = {one.id: one for one in ITEMS}
    for person in people:
        with workspace.db.write() as session:
            study = get_study(session, name)
            while assignment := next_assignment(session, study.id, person):
                axis = by_id[assignment.item_id].stratum["axis"]
                verdict = "no" if assignment.item_id == BAD else "yes"
                submit(
                    session,
                    assignment.id,
                    person,
                    f"{person}-{assignment.item_id}",
                    answers(verdict, axis, "2"),
                    {"seconds": 9.5, "plays": 2, "seconds_3d": 1.5, "orbits": 3, "zooms": 0},
                )
                if person == people[0] and assignment.item_id == ITEMS[0].id:
                    changed = answers(verdict, axis, "4")
                    revise(session, assignment.id, person, "again", changed, {"seconds": 11.0})


def close_study(workspace: Workspace, name: str = "pilot") -> None:
    with workspace.db.write() as session:
        close(session, name)


SPEC = ReleaseSpec(name="test", version="1", tool_version="0.1.0")


def test_labels_given_by_people_arrive_and_verify(workspace: Workspace, tmp_path: Path):
    label_all(workspace, open_study(workspace))
    close_study(workspace)
    out = tmp_path / "release"
    built = build_release(workspace.db, out, SPEC)
    assert verify_release(out) == []
    labels = from_jsonl((out / "labels.jsonl").read_bytes())
    assert len(labels) == 3 * 6
    assert {row["rater"] for row in labels} == {"A1", "A2", "A3"}
    # Two, then four: the release has only four, as revision 2.
    changed = [r for r in labels if r["item_id"] == ITEMS[0].id and r["revision"] == 2]
    assert [(r["confidence"], r["revision"], r["seconds"]) for r in changed] == [(4, 2, 11.0)]
    used = {(r["seconds_3d"], r["orbits"], r["zooms"], r["pans"]) for r in labels}
    # The changed answer came with no word on the 3D view.
    assert used == {(1.5, 3, 0, None), (None, None, None, None)}
    assert all(row["first_caption"] in ("caption", "perturbed") for row in labels)
    assert {row["item_id"] for row in from_jsonl((out / "items.jsonl").read_bytes())} == {
        one.id for one in ITEMS if one.id != BAD
    }
    assert built.counts.dropped == {"rejected": 1}
    assert json.loads((out / "manifest.json").read_bytes())["motion_licences"] == {
        "synthetic": ["Apache-2.0"]
    }


def test_what_was_shown_is_in_the_release(workspace: Workspace, tmp_path: Path):
    label_all(workspace, open_study(workspace))
    close_study(workspace)
    with workspace.db.write() as session:
        # A later rendering is not the one that the experts saw.
        seen = get_media(session, f"{1:064x}").model_dump()
        add_media(session, **seen | {"key": "f" * 32, "rendered_at": 9e9})
    out = tmp_path / "release"
    build_release(workspace.db, out, SPEC)
    rows = from_jsonl((out / "stimuli.jsonl").read_bytes())
    assert rows == [
        {
            "study": "pilot",
            "motion_id": f"synthetic:clip-{number}",
            "key": f"{number:064x}",
            "renderer_version": 3,
            "settings": {"body": "embedded", "size": 768},
            "frames": 60,
            "fit_error_mm": {"left_wrist": 40.5} if number else None,
        }
        for number in range(3)
    ]
    assert verify_release(out) == []
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "They looked at 3 rendered clips." in card
    assert "In 2 the drawn body missed joints by over 30 mm." in card


def test_nobody_and_no_path_is_named_in_a_release(workspace: Workspace, tmp_path: Path):
    people = open_study(workspace)
    label_all(workspace, people)
    close_study(workspace)
    out = tmp_path / "release"
    build_release(workspace.db, out, SPEC.model_copy(update={"include_comments": False}))
    everything = b"".join(path.read_bytes() for path in out.iterdir()).lower()
    words = [word for name in NAMES for word in name.lower().split()]
    for secret in [*words, *people, "/home", str(tmp_path).lower(), ".npz", ".mp4"]:
        assert secret.encode() not in everything, secret


def test_built_twice_it_is_byte_identical(workspace: Workspace, tmp_path: Path):
    label_all(workspace, open_study(workspace))
    close_study(workspace)
    again = Workspace(workspace.root)
    build_release(workspace.db, tmp_path / "a", SPEC)
    build_release(again.db, tmp_path / "b", SPEC)
    again.db.close()
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / x).iterdir()} for x in "ab"
    )
    assert first == second
    build_release(workspace.db, tmp_path / "a", SPEC)
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == first


def test_open_unknown_and_missing_studies_are_refused(workspace: Workspace, tmp_path: Path):
    out = tmp_path / "release"
    with pytest.raises(InputError, match="there is no study"):
        build_release(workspace.db, out, SPEC)
    label_all(workspace, open_study(workspace))
    with pytest.raises(InputError, match=r"not closed: 'pilot'\); close one first"):
        build_release(workspace.db, out, SPEC)
    with pytest.raises(InputError, match="'pilot' is open, expected closed"):
        build_release(workspace.db, out, SPEC, studies=["pilot"])
    with pytest.raises(InputError, match="unknown study 'other'"):
        build_release(workspace.db, out, SPEC, studies=["other"])
    assert not out.exists()


def test_commands_write_verify_and_refuse(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MOTIONJURY_WORKSPACE", str(workspace.root))
    label_all(workspace, open_study(workspace, simulated=True))
    close_study(workspace)
    runner = CliRunner()
    refused = runner.invoke(app, ["build", "--json"])
    assert isinstance(refused.exception, InputError)
    assert "'pilot' holds 18 simulated labels" in str(refused.exception)
    assert list(workspace.releases_dir.iterdir()) == []

    built = runner.invoke(app, ["build", "--json", "--allow-simulated", "--name", "a/../b"])
    assert built.exit_code == 0, built.output
    result = json.loads(built.stdout)
    out = workspace.releases_dir / "a-..-b-1.0"
    assert result["out"] == str(out)
    assert result["counts"]["simulated_labels"] == 18
    verified = runner.invoke(app, ["verify", str(out), "--json"])
    assert verified.exit_code == 0
    assert json.loads(verified.stdout) == {"ok": True, "problems": []}
    assert runner.invoke(app, ["verify", str(out)]).stdout == f"{out}: ok\n"

    (out / "items.jsonl").write_text("{}\n")
    broken = runner.invoke(app, ["verify", str(out), "--json"])
    assert broken.exit_code == 1
    found = json.loads(broken.stdout)
    assert found["ok"] is False
    assert [problem["file"] for problem in found["problems"]] == ["items.jsonl"]
    assert set(found["problems"][0]) == {"file", "reason"}
    assert isinstance(runner.invoke(app, ["verify", str(tmp_path)]).exception, InputError)
