"""`motionjury study` and `motionjury people` on a workspace."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from audit.access import redeem
from audit.records import get_study
from corpus.problems import InputError
from motionjury.commands import people, study
from motionjury.workspace import Workspace, init_workspace
from store.session import Database
from tests.audit.world import fill, item


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = init_workspace(tmp_path / "ws")
    fill(made.db, items=6, axes=("mirror_reflection", "temporal_order"), opened=False)
    return made


def run(app: object, workspace: Workspace, *words: str) -> Result:
    result = CliRunner().invoke(app, [*words, "--workspace", str(workspace.root)])  # type: ignore[arg-type]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def answer(app: object, workspace: Workspace, *words: str) -> dict:
    return json.loads(run(app, workspace, *words, "--json").stdout)


@pytest.fixture
def fresh(tmp_path: Path) -> Workspace:
    """A workspace with six drafted items in no study."""
    from store.clips import add_clips, add_media
    from store.items import add_items
    from tests.audit.world import clip

    made = init_workspace(tmp_path / "fresh")
    axes = ("mirror_reflection", "temporal_order")
    with made.db.write() as session:
        add_clips(session, [clip(n) for n in range(1, 8)], [])
        for n in range(1, 8):
            add_media(
                session, key=f"{n:032x}", clip_id=clip(n).id, file=f"{n}.mp4", settings={},
                frames=60, fps=30.0, seconds=2.0, sha256="0" * 64, size=1,
            )  # fmt: skip
        add_items(session, [item(n, axes[n % 2]) for n in range(1, 7)])
    return made


def test_a_study_from_creation_to_close(fresh: Workspace) -> None:
    made = answer(study.app, fresh, "create", "Audit 1", "--per-axis", "2", "--ratings", "2")
    assert (made["items"], made["ratings_per_item"], made["state"]) == (4, 2, "draft")
    assert made["rule"] == "checks_majority"
    told = answer(people.app, fresh, "invite", "Ada", "--study", "Audit 1")
    assert told["studies"] == ["Audit 1"]
    assert answer(study.app, fresh, "launch", "Audit 1")["state"] == "open"
    seen = answer(study.app, fresh, "status", "Audit 1")
    assert (seen["items"], seen["ratings_wanted"], seen["experts"][0]["code"]) == (4, 8, "A1")
    assert "Ada" not in json.dumps(seen)
    assert "Audit 1" in run(study.app, fresh, "status", "Audit 1").stdout
    # Nobody can be asked here, and there is no way back: it is said first.
    with pytest.raises(InputError, match="4 of 4 items lack ratings .* give --yes"):
        run(study.app, fresh, "close", "Audit 1")
    assert answer(study.app, fresh, "status", "Audit 1")["state"] == "open"
    closed = answer(study.app, fresh, "close", "Audit 1", "--yes")
    assert closed["outcomes"] == {}
    assert len(closed["incomplete"]) == 4


def test_closing_says_little_and_creating_names_practice(fresh: Workspace) -> None:
    made = run(study.app, fresh, "create", "Audit 2", "--ratings", "1").stdout
    assert "--training FILE" in made
    run(study.app, fresh, "launch", "Audit 2")
    lines = run(study.app, fresh, "close", "Audit 2", "--yes").stdout.splitlines()
    assert lines == ["closed; decided: nothing", "6 items stay in review: 0 of 1 ratings"]
    assert "labelling" not in run(study.app, fresh, "status", "Audit 2").stdout


def test_items_are_chosen_by_axis_corpus_and_seed(fresh: Workspace) -> None:
    made = answer(study.app, fresh, "create", "A", "--axis", "temporal_order", "--limit", "2")
    assert made["items"] == 2
    with pytest.raises(InputError, match="none of 4 undecided stride items fits"):
        run(study.app, fresh, "create", "B", "--corpus", "elsewhere")
    assert answer(study.app, fresh, "create", "C", "--decision", "unanimous")["items"] == 4


def test_training_items_come_from_a_file(fresh: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "training.json"
    entries = [
        {"item_id": item(1, "temporal_order").id, "answers": {"fluent": "yes"}, "explanation": "x"},
        {
            "axis": "mirror_reflection",
            "clip_id": "demo:0007",
            "caption": "waves the left hand",
            "perturbed": "waves the right hand",
            "answers": {"fluent": "yes", "single_change": "yes"},
            "explanation": "Only the side changed.",
        },
    ]
    file.write_text(json.dumps(entries), encoding="utf-8")
    made = answer(study.app, fresh, "create", "A", "--training", str(file), "--training-tries", "3")
    with fresh.db.read() as session:
        assert get_study(session, "A").config.training_tries == 3
    assert (made["items"], made["training"]) == (5, 2)
    answer(study.app, fresh, "launch", "A")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"training\.json: expected JSON"),
        ("{}", r"training\.json: expected a list of objects"),
        ('[{"explanation": "x"}]', r"training\.json: entry 1: answers"),
        ('[{"answers": {"fluent": "yes"}, "explanation": "x"}]', "entry 1: unknown clip 'None'"),
        (
            '[{"answers": {"fluent": "yes"}, "explanation": "x", "item_id": "no"}]',
            "entry 1: unknown item 'no'",
        ),
    ],
)
def test_a_bad_training_file_is_named_with_its_entry(
    fresh: Workspace, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "training.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(study.app, fresh, "create", "A", "--training", str(file))
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read"):
        run(study.app, fresh, "create", "A", "--training", str(tmp_path / "nowhere.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--protocol", "no_such"], "--protocol: expected one of"),
        (["--decision", "coin"], "--decision: expected majority or unanimous"),
        (["--training-tries", "3"], "--training-tries goes with --training"),
    ],
)
def test_bad_options_are_named(fresh: Workspace, words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(study.app, fresh, "create", "A", *words)


def test_a_study_needs_a_name(fresh: Workspace) -> None:
    with pytest.raises(InputError, match="name: String should have at least 1 character, got ''"):
        run(study.app, fresh, "create", "")


def test_a_link_is_printed_once_and_opens(workspace: Workspace) -> None:
    printed = run(people.app, workspace, "invite", "Ada", "--base-url", "https://jury.lab/").stdout
    link = printed.strip()
    assert link.startswith("https://jury.lab/enter/")
    db: Database = workspace.db
    with db.write() as session:
        assert redeem(session, link.rsplit("/", 1)[1]).name == "Ada"
    assert link.rsplit("/", 1)[1] not in run(people.app, workspace, "list", "--json").stdout


def test_inviting_the_same_name_again_makes_a_new_link_for_the_same_person(
    workspace: Workspace,
) -> None:
    first = answer(people.app, workspace, "invite", "Ada")
    second = answer(people.app, workspace, "invite", "Ada")
    assert first["person"] == second["person"]
    assert first["link"] != second["link"]
    with pytest.raises(InputError, match="'Ada' is expert, not analyst"):
        run(people.app, workspace, "invite", "Ada", "--role", "analyst")


def test_people_are_listed_and_revoked(workspace: Workspace) -> None:
    answer(people.app, workspace, "invite", "Ada")
    assert answer(people.app, workspace, "revoke", "Ada")["active"] is False
    listed = answer(people.app, workspace, "list")["people"]
    assert [(p["role"], p["active"]) for p in listed if p["name"] == "Ada"] == [("expert", False)]
    assert "revoked" in run(people.app, workspace, "list").stdout
    with pytest.raises(InputError, match="unknown person 'Bob'"):
        run(people.app, workspace, "revoke", "Bob")


def test_bad_invitations_are_refused(workspace: Workspace) -> None:
    for words, message in (
        (["X", "--role", "boss"], "unknown role 'boss'"),
        (["X", "--base-url", "jury.lab"], "--base-url"),
        (["X", "--study", "nope"], "unknown study 'nope'"),
        (["X", "--role", "coordinator", "--study", "audit"], "--study goes with --role expert"),
    ):
        with pytest.raises(InputError, match=message):
            run(people.app, workspace, "invite", *words)
    assert "X" not in [p["name"] for p in answer(people.app, workspace, "list")["people"]]
