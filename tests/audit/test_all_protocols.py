"""Every protocol, from a blind item to what a study decides."""

import json
from collections import Counter
from typing import Any

import pytest

from audit.access import media_for_token
from audit.answers import AnswerError, check_answers
from audit.assignment import next_assignment
from audit.blind import BlindItem, blind_item, form_for
from audit.labelling import my_labels, study_ratings, submit
from audit.order import arrangement, person_order
from audit.preview import preview_item
from audit.progress import progress
from audit.protocols.registry import PROTOCOLS
from audit.replay import progress_from_log
from audit.shown import KINDS, form_of, shown_of
from audit.studies import StudyConfig, StudyError, close, create_study, launch
from benchmarks.nextmotionqa import FAILURE_MODES
from benchmarks.t2mbench import CATEGORIES, RUBRIC
from store.items import get_item
from store.session import Database
from tests.audit.kinds import GOOD_ANSWERS, SECRETS, items_of, study_of
from tests.audit.world import START, World, clip

EACH = pytest.mark.parametrize("protocol", list(PROTOCOLS))
VERIFY = PROTOCOLS["expert_verification"]


def walk(world: World, person: str, answers: dict[str, Any]) -> dict[str, BlindItem]:
    """Let a person answer all they are given; return what they saw, in order."""
    seen: dict[str, BlindItem] = {}
    while True:
        with world.db.write() as session:
            held = next_assignment(session, world.study, person, START + len(seen))
            if held is None:
                return seen
            seen[held.item_id] = blind_item(session, held.id, person)
            submit(session, held.id, person, f"s-{held.id}", answers, {}, START + len(seen))


@EACH
def test_no_protocol_shows_what_must_stay_hidden(db: Database, protocol: str) -> None:
    world = study_of(db, protocol, attention=1)
    views = [
        view
        for person in world.experts
        for view in walk(world, person, GOOD_ANSWERS[protocol]).values()
    ]
    per_number = len(items_of(protocol, range(4, 5)))
    assert len(views) == (len(world.items) + per_number) * 3
    sent = "".join(view.model_dump_json() for view in views)
    hidden = {
        *world.items,
        *world.experts,
        world.study,
        *(clip(n).id for n in range(1, 5)),
        *(f"{n:032x}" for n in range(1, 5)),
        *SECRETS,
        '"answer"',
        '"gold"',
        "stratum",
        "attention",
        "provenance",
        "stride.test",
    }
    assert [secret for secret in hidden if secret in sent] == []


@EACH
def test_every_protocol_shows_what_it_says_and_takes_its_answers(
    db: Database, protocol: str
) -> None:
    world = study_of(db, protocol)
    chosen = PROTOCOLS[protocol]
    person = world.experts[0]
    for item_id, view in walk(world, person, GOOD_ANSWERS[protocol]).items():
        assert bool(view.stimuli) == chosen.shows_clip
        assert bool(view.captions) == ("captions" in chosen.shows)
        assert bool(view.prompt) == bool({"question", "prompt"} & set(chosen.shows))
        assert bool(view.facts) == ("facts" in chosen.shows)
        with db.read() as session:
            record = get_item(session, item_id).model_dump(mode="json")
            assert (form_of(chosen, record).question(chosen.questions[0].name).domain) != ()
            for stimulus in view.stimuli:
                assert media_for_token(session, stimulus.token, person).clip_id in str(record)
        offered = {q.name: set(q.domain) for q in form_for(chosen, view)}
        asked = {q.name: set(q.domain) for q in form_of(chosen, record).questions}
        assert offered == asked
    with db.read() as session:
        labels = my_labels(session, world.study, person)
        assert [label.answers for label in labels] == [GOOD_ANSWERS[protocol]] * len(world.items)
        single = [q for q in chosen.questions if q.agreement and q.name in GOOD_ANSWERS[protocol]]
        rows = study_ratings(session, world.study)
        assert len(rows) == len(single) * len(world.items)
        assert all(row.label in row.domain for row in rows)
        assert progress(session, world.study, START) == progress_from_log(
            session, world.study, START
        )


@EACH
def test_every_protocol_decides_as_it_says(db: Database, protocol: str) -> None:
    world = study_of(db, protocol)
    for person in world.experts:
        walk(world, person, GOOD_ANSWERS[protocol])
    with db.write() as session:
        report = close(session, world.study, world.coordinator, START)
        states = Counter(get_item(session, one).state for one in world.items)
    assert report.incomplete == {}
    decided = PROTOCOLS[protocol].decision != "none"
    assert states == {"accepted" if decided else "in_review": len(world.items)}


@EACH
def test_the_preview_is_what_an_expert_sees_before_and_after_launch(
    db: Database, protocol: str
) -> None:
    world = study_of(db, protocol, opened=False)
    for _round in range(2):
        with db.write() as session:
            view = preview_item(session, protocol, world.items[0], world.coordinator)
            for stimulus in view.stimuli:
                media_for_token(session, stimulus.token, world.coordinator)
            assert set(view.model_dump()) == set(BlindItem.model_fields)
            assert not [secret for secret in SECRETS if secret in view.model_dump_json()]
            if _round == 0:
                launch(session, world.study, now=START)


def test_text_alone_needs_no_clip(db: Database) -> None:
    world = study_of(db, "prompt_review", rendered=False)
    assert len(walk(world, world.experts[0], GOOD_ANSWERS["prompt_review"])) == 3
    study_of_clips = pytest.raises(StudyError, match="no rendered clip")
    with study_of_clips:
        study_of(db, "likert", rendered=False)


def test_options_stand_in_an_order_of_each_persons_own(db: Database) -> None:
    world = study_of(db, "pilot_qa", items=6)
    orders = []
    for person in world.experts:
        seen = walk(world, person, GOOD_ANSWERS["pilot_qa"])
        orders.append(tuple(tuple(o.text for o in seen[i].options) for i in world.items))
        assert all([o.letter for o in view.options] == list("ABCD") for view in seen.values())
    assert len(set(orders)) == 3


def test_an_answer_that_is_no_option_of_the_item_is_refused(db: Database) -> None:
    world = study_of(db, "pilot_qa")
    with db.write() as session:
        held = next_assignment(session, world.study, world.experts[0], START)
        assert held is not None
        with pytest.raises(AnswerError, match="'fly' is not an answer"):
            submit(
                session, held.id, world.experts[0], "s", {"answer": "fly", "confidence": "1"}, {}
            )
        with pytest.raises(AnswerError, match="'confidence' has no answer yet"):
            submit(session, held.id, world.experts[0], "s", {"answer": "run"}, {})


@pytest.mark.parametrize("code", list(FAILURE_MODES))
@pytest.mark.parametrize("verdict", ["accept", "revise", "reject"])
def test_any_failure_forces_reject(code: str, verdict: str) -> None:
    answers = {"verdict": verdict, "failures": [code], "edit": "other words"}
    if verdict == "reject":
        assert check_answers(VERIFY, {}, answers) == {"verdict": "reject", "failures": [code]}
        return
    with pytest.raises(AnswerError, match="must be rejected") as refused:
        check_answers(VERIFY, {}, answers)
    assert refused.value.problems == {
        "verdict": "An item that shows any of F1 to F4 must be rejected."
    }


def test_revise_needs_an_edit_and_the_codes_are_defined() -> None:
    with pytest.raises(AnswerError, match="'edit' has no answer"):
        check_answers(VERIFY, {}, {"verdict": "revise"})
    assert check_answers(VERIFY, {}, {"verdict": "revise", "edit": "x"})["edit"] == "x"
    options = VERIFY.question("failures").options
    assert [option.value for option in options] == ["F1", "F2", "F3", "F4"]
    assert all(len(option.help) > 40 for option in options)


def test_each_rater_gets_a_prompts_methods_in_another_order(db: Database) -> None:
    world = study_of(db, "likert", items=12, experts=6)
    orders: dict[str, list[tuple[str, ...]]] = {}
    for person in world.experts:
        sequence: dict[str, list[str]] = {}
        for item_id in walk(world, person, GOOD_ANSWERS["likert"]):
            with db.read() as session:
                payload = get_item(session, item_id).payload
            sequence.setdefault(payload["prompt_id"], []).append(payload["method"])
        for prompt, methods in sequence.items():
            orders.setdefault(prompt, []).append(tuple(methods))
    assert len(orders) == 4
    for found in orders.values():
        # Six raters, three methods: every one of the 3! orders once, and in each half of the
        # raters every method once in every place.
        assert len(set(found)) == 6
        for half in (found[:3], found[3:]):
            assert all(len({order[place] for order in half}) == 3 for place in range(3))


def test_arrangements_are_all_different_and_latin() -> None:
    found = [tuple(arrangement("abcd", number)) for number in range(24)]
    assert len(set(found)) == 24
    for start in range(0, 24, 4):
        square = found[start : start + 4]
        assert all(len({row[place] for row in square}) == 4 for place in range(4))
    assert arrangement([], 3) == []
    assert arrangement("a", 9) == ["a"]


def test_items_that_are_not_compared_keep_the_order_of_their_hashes() -> None:
    entries = tuple((f"i{n}", None) for n in range(9))
    assert person_order(1, "p", 0, entries) == person_order(1, "p", 5, entries)
    assert person_order(1, "p", 0, entries) != person_order(1, "q", 0, entries)


def test_labels_of_studies_are_the_protocols(db: Database) -> None:
    world = study_of(db, "likert", label="V2", opened=False)
    with db.write() as session:
        assert world.items
        for protocol, label in (("likert", "V9"), ("pilot_qa", "V1")):
            config = StudyConfig(name="x", protocol=protocol, item_ids=("a",), label=label)
            with pytest.raises(StudyError, match="unknown label"):
                create_study(session, config)


def test_a_protocol_takes_its_kinds_only(db: Database) -> None:
    world = study_of(db, "pilot_qa", opened=False)
    with db.write() as session:
        config = StudyConfig(name="x", protocol="likert", item_ids=(world.items[0],))
        with pytest.raises(StudyError, match="of kind 'pilot_question'; likert takes"):
            create_study(session, config)


def test_every_kind_a_protocol_takes_is_known() -> None:
    for protocol in PROTOCOLS.values():
        for kind in protocol.kinds:
            assert protocol.benchmark in KINDS[kind].benchmarks


def test_the_hidden_fields_are_really_in_the_items() -> None:
    # The scan above proves nothing where an item holds no secret.
    for protocol in PROTOCOLS:
        if protocol != "stride_audit":
            record = json.dumps(
                [i.model_dump(mode="json") for i in items_of(protocol, range(1, 2))]
            )
            assert [secret for secret in SECRETS if secret in record]
    view = shown_of(items_of("likert", range(1, 2))[0].model_dump(mode="json"))
    assert "methody" not in repr(view)


def test_the_rubric_and_the_counts_are_the_papers() -> None:
    # T2MBench 4.2.1 and 3.1: five scores, 60 points; 1,025 prompts, 745 outside Accuracy.
    assert sum(one.top for one in RUBRIC.values()) == 60
    assert [len(q.options) for q in PROTOCOLS["t2m_dimensions"].questions[:5]] == [
        11,
        21,
        11,
        11,
        11,
    ]
    total = sum(cell.long + cell.short for cell in CATEGORIES.values())
    accuracy = sum(c.short for c in CATEGORIES.values() if c.dimension == "accuracy")
    assert (total, total - accuracy) == (1025, 745)
