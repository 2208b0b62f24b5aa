"""`agreement pilot --study`: the figures of a pilot that was run in the workspace."""

import json

import pytest
from typer.testing import CliRunner

from audit.access import add_person
from audit.studies import StudyConfig, add_member, create_study, launch
from benchmarks.items import Provenance, make_item
from benchmarks.nextmotionqa import PilotQuestion
from corpus.clips import Clip
from corpus.problems import InputError
from motionjury.cli import cli
from motionjury.workspace import init_workspace
from store.clips import add_clips, add_media
from store.items import add_items
from tests.labels import label_everything

OPTIONS = ("left", "right", "both", "neither")
TYPES = ("direction", "action", "body_part")
N = 6


def clip(n):
    return Clip(
        id=f"c{n}", corpus="demo", path=f"{n}.npy", format="npy", content_hash=str(n) * 64,
        frames=20, fps=20.0, duration=1.0, joints=22, skeleton="smpl22",
    )  # fmt: skip


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """A pilot of six questions on three clips; A1 is right but for two, A2 on the even ones."""
    workspace = init_workspace(tmp_path_factory.mktemp("pilot") / "w")
    items = [
        make_item(
            "nextmotionqa",
            "pilot_question",
            {"query_type": TYPES[n % 3]},
            PilotQuestion(
                source_id=f"q{n}",
                clip_id=f"c{n // 2}",
                question=f"Which side moves ({n})?",
                options=OPTIONS,
                answer=OPTIONS[n % 4],
                query_type=TYPES[n % 3],
            ),
            Provenance(rule="r/1"),
        )
        for n in range(N)
    ]
    (workspace.media_dir / "c.mp4").write_bytes(b"video")
    with workspace.db.write() as session:
        add_clips(session, [clip(n) for n in range(3)], [])
        for n in range(3):
            add_media(
                session, key=f"k{n}", clip_id=f"c{n}", file="c.mp4", settings={}, frames=10,
                fps=10.0, seconds=1.0, sha256="0" * 64, size=1,
            )  # fmt: skip
        add_items(session, items)
        ids = tuple(item.id for item in items)
        study = create_study(
            session,
            StudyConfig(name="pilot", protocol="pilot_qa", item_ids=ids, ratings_per_item=2),
        )
        for name in ("Ada", "Bo"):
            add_member(session, study.id, add_person(session, name, "expert").id)
        launch(session, study.id)

    def answer(rater, item, question):
        if question == "confidence":
            return "5" if item < 4 else "2"
        right = item not in (3, 5) if rater == 0 else item % 2 == 0
        return OPTIONS[item % 4] if right else OPTIONS[(item + 1) % 4]

    label_everything(workspace, "pilot", answer)
    return workspace, items


def run(workspace, *arguments):
    root = ["--workspace", str(workspace.root)]
    return CliRunner().invoke(cli, ["agreement", "pilot", *arguments, *root])


def test_a_study_gives_the_papers_figures(pilot, tmp_path):
    workspace, items = pilot
    page = tmp_path / "out" / "pilot.html"
    result = run(workspace, "--study", "pilot", "--resamples", "50", "--json", "--html", str(page))
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    whole = found["whole"]
    assert whole["by_rater"] == {"A1": pytest.approx(4 / 6), "A2": pytest.approx(3 / 6)}
    assert whole["pooled"]["value"] == pytest.approx(7 / 12)
    assert whole["all_correct"]["value"] == pytest.approx(3 / 6)
    assert whole["either_correct"]["value"] == pytest.approx(4 / 6)
    assert {part["query_type"] for part in found["by_query_type"]} == set(TYPES)
    assert (found["unit"], found["n_units"]) == ("clip", 3)
    wrong = {one["item"]: one for one in found["confidently_wrong"]}
    assert set(wrong) == {items[1].id, items[3].id}
    assert wrong[items[3].id]["wrong"] == {"A1": 5.0, "A2": 5.0}
    seen = (page.parent / wrong[items[3].id]["link"]).resolve()
    assert seen == (workspace.media_dir / "c.mp4").resolve()
    assert "c.mp4" in page.read_text(encoding="utf-8")


def test_a_file_or_a_study_and_the_right_protocol(pilot, tmp_path):
    workspace, _items = pilot
    for arguments in ([], ["answers.csv", "--study", "pilot"]):
        result = run(workspace, *arguments)
        assert isinstance(result.exception, InputError)
        assert "one of them" in str(result.exception)
    result = run(workspace, "--study", "no-such")
    assert isinstance(result.exception, InputError)
