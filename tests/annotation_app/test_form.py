"""What the page is told of an item, and who a cookie names, without a server."""

from __future__ import annotations

import pytest

from annotation_app import identity
from annotation_app.desk import desk_state, feedback_data
from annotation_app.form import minutes_left, task_data
from annotation_app.identity import Signer
from annotation_app.views.frame import plain_text
from audit.blind import BlindCaption, BlindItem, BlindStimulus
from audit.labelling import submit
from audit.protocol import Condition, Option, Protocol, Question
from audit.records import get_study
from audit.training import acknowledge_guidelines, check_training, training_items
from tests.audit.kinds import GOOD_ANSWERS, study_of
from tests.audit.world import GOOD, fill

OPTIONS = (Option(value="accept", text="Accept"), Option(value="reject", text="Reject", help="No"))
PROTOCOL = Protocol(
    name="any",
    version=1,
    title="Any",
    paper="none",
    benchmark="stride",
    shows=("video", "captions"),
    guidelines="",
    decision="none",
    questions=(
        Question(name="verdict", text="Is {target} right?", kind="verdict", options=OPTIONS),
        Question(
            name="why",
            text="Why?",
            kind="multi",
            options=OPTIONS,
            shown_when=Condition(question="verdict", values=("reject",)),
        ),
        Question(
            name="only_hard",
            text="Hard?",
            kind="text",
            required=False,
            shown_when=Condition(stratum="difficulty", values=("hard",)),
        ),
    ),
)
CLIP = BlindStimulus(token="t", fps=30.0, frames=60)


def item(**changes) -> BlindItem:
    values = {
        "assignment_id": "handle",
        "stimuli": (CLIP,),
        "captions": (BlindCaption(letter="A", text="<b>walks</b>"),),
        "prompt": "not shown by this protocol",
        "target": "the order",
        "conditions": {"difficulty": "easy"},
    }
    return BlindItem(**{**values, **changes})


def test_questions_of_any_protocol():
    task = task_data(PROTOCOL, item())
    verdict, why = task["questions"]
    assert verdict["text"] == "Is the order right?"
    assert verdict["options"][1] == {"value": "reject", "text": "Reject", "help": "No"}
    assert why["shown_when"] == {"question": "verdict", "values": ("reject",)}
    assert task["captions"] == [{"letter": "A", "text": "<b>walks</b>"}]
    assert task["prompt"] == ""
    hard = task_data(PROTOCOL, item(conditions={"difficulty": "hard"}))
    assert [one["name"] for one in hard["questions"]] == ["verdict", "why", "only_hard"]


def test_an_item_without_a_clip_and_with_two():
    assert task_data(PROTOCOL, item(stimuli=()))["clip"] is None
    with pytest.raises(ValueError, match="plays one clip, got 2"):
        task_data(PROTOCOL, item(stimuli=(CLIP, CLIP)))


def test_time_left():
    assert minutes_left([], 4) == 3
    assert minutes_left([20.0], 0) is None
    # Three quick answers promise no early end: (3 × 4 s floored to 10 + 5 × 45 s) / 8 an item.
    assert minutes_left([4.0, 4.0, 4.0], 10) == 6
    assert minutes_left([4.0] * 8, 10) == 2
    # From eight on their own pace counts, and of that the last twelve: 20 × 30 s, 20 × 60 s.
    assert minutes_left([30.0] * 12, 20) == 10
    assert minutes_left([30.0] * 12 + [60.0] * 12, 20) == 20
    assert minutes_left([30.0] * 12, 1) == 0


def test_cookies(monkeypatch):
    signer = Signer("a secret of enough letters")
    cookie = signer.sign("person-1")
    assert signer.verify(cookie) == "person-1"
    assert Signer("another secret of enough").verify(cookie) is None
    assert signer.verify(cookie[:-2]) is None
    assert signer.verify(None) is None
    monkeypatch.setattr(identity, "MAX_AGE_SECONDS", -1)
    assert signer.verify(cookie) is None
    with pytest.raises(ValueError, match="at least 16 characters, got 5"):
        Signer("short")


def test_markdown_of_data_is_shown_as_text():
    assert plain_text("[a](b) $x$ <i>") == "\\[a\\]\\(b\\) \\$x\\$ \\<i\\>"


def test_the_total_does_not_move_when_a_hidden_or_repeated_item_comes(new_database):
    database = new_database()
    world = study_of(
        database, "prompt_review", items=7, attention=2, experts=1, repeats=3, repeat_gap=2
    )
    person = world.experts[0]
    with database.write() as session:
        acknowledge_guidelines(session, world.study, person)
    totals, answers = [], GOOD_ANSWERS["prompt_review"]
    while True:
        with database.write() as session:
            state = desk_state(session, world.study, person)
            if state["task"] is None:
                break
            totals.append(state["progress"]["total"])
            task = state["task"]["id"]
            submit(session, task, person, f"s-{len(totals)}", answers, {})
    # Seven items, two that check attention, and two that come back: after the third and the sixth.
    assert totals == [7 + 2 + 2] * 11


def test_tries_at_a_practice_item_are_told_before_and_after(db):
    world = fill(db, items=2, training=2, training_tries=3)
    person = world.experts[0]
    with db.write() as session:
        acknowledge_guidelines(session, world.study, person)
        lead = desk_state(session, world.study, person)["task"]["lead"]
        assert lead.endswith("You have 3 tries at it.")
        study = get_study(session, world.study)
        item = training_items(session, study.id, person)[0].item_id
        told = [
            feedback_data(study, check_training(session, study.id, person, item, GOOD))["message"]
            for _try in range(3)
        ]
    assert told[0].endswith("2 tries are left.")
    assert told[1].endswith("One try is left.")
    assert "left" not in told[2]
