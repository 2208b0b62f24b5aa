"""Payloads and answers of every protocol, for the tests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from audit.people import add_person
from audit.protocols.registry import PROTOCOLS
from audit.studies import Gold, StudyConfig, add_attention, add_member, create_study, launch
from benchmarks.items import Item, Provenance, make_item
from benchmarks.judged import JudgedClip
from benchmarks.mrbench import CaptionSet
from benchmarks.nextmotionqa import CaptionItem, ChoiceItem, CorrectionItem, PilotQuestion
from benchmarks.t2mbench import MotionPrompt, TargetCheck
from store.clips import add_clips, add_media
from store.items import add_items
from store.session import Database
from tests.audit.world import START, World, clip, item

SECRETS = ("goldly", "sourcey", "methody", "programmy", "modelly", "parenty")
"""Roots of words that stand only where no expert may see them."""


def payloads(protocol: str, number: int) -> list[tuple[str, BaseModel]]:
    """Return kind and payload of the items that number ``number`` stands for."""
    clip_id = clip(number).id
    cell: dict[str, Any] = {"clip_id": clip_id, "axis": "action", "difficulty": "easy"}
    if protocol == "pilot_qa":
        made = PilotQuestion(
            source_id=f"sourcey-{number}",
            clip_id=clip_id,
            question=f"What does the person do in part {number}?",
            options=("walk", "run", "jump", "sit"),
            answer="jump",
            query_type="action",
            program=f"programmy({number})",
        )
        return [("pilot_question", made)]
    if protocol == "expert_verification":
        return [
            (
                "choice",
                ChoiceItem(
                    **cell,
                    question=f"Which of these is seen in part {number}?",
                    options=("walk", "run", "jump", "sit"),
                    gold=("jump",),
                ),
            ),
            ("caption", CaptionItem(**cell, caption=f"a person jumps {number} times")),
            (
                "correction",
                CorrectionItem(
                    **cell,
                    corrupted=f"a person sits down {number} times",
                    errors=({"start": 9, "end": 13, "rewrite": "goldly", "axis": "action"},),
                    corrected="goldly corrected",
                ),
            ),
        ]
    if protocol == "mrbench_validation":
        made_set = CaptionSet(
            clip_id=clip_id,
            source="sourcey",
            category=("Locomotion", "Horizontal", f"Walk {number}"),
            concise=f"walks {number}",
            standard=f"a person walks {number}",
            fine=f"a person walks slowly {number}",
        )
        return [("caption_set", made_set)]
    if protocol in ("likert", "t2m_dimensions"):
        prompt = (number + 2) // 3
        made_clip = JudgedClip(
            prompt_id=f"sourcey-{prompt}",
            prompt=f"a person waves {prompt} times",
            method=f"methody-{number % 3}",
            clip_id=clip_id,
        )
        return [("judged_clip", made_clip)]
    if protocol == "prompt_review":
        made_prompt = MotionPrompt(
            prompt_id=f"sourcey-{number}", text=f"raise {number} arms", category="sourcey-dance"
        )
        return [("prompt", made_prompt)]
    if protocol == "target_check":
        made_target = TargetCheck(
            prompt_id=f"sourcey-{number}",
            text=f"walk {number} m forward",
            category="sourcey-whole-body",
            target=f"root translation: {number} m forward",
        )
        return [("target", made_target)]
    return []


GOOD_ANSWERS: dict[str, dict[str, Any]] = {
    "stride_audit": {
        "fluent": "yes",
        "single_change": "yes",
        "distinguishable": "yes",
        "confidence": "4",
    },
    "pilot_qa": {"answer": "jump", "confidence": "5"},
    "expert_verification": {"verdict": "accept"},
    "mrbench_validation": {
        "concise_right": "yes",
        "standard_right": "yes",
        "fine_right": "yes",
        "hierarchy": "yes",
        "category_right": "yes",
    },
    "likert": {"realism": "4", "semantic_consistency": "2"},
    "t2m_dimensions": {
        "extra_actions": "10",
        "completeness": "20",
        "order": "0",
        "body_parts": "5",
        "plausibility": "7",
    },
    "prompt_review": {
        "kinematic": "yes",
        "executable": "yes",
        "wording": "yes",
        "verdict": "accept",
    },
    "target_check": {"verdict": "accept"},
}
"""Answers that an item of each protocol takes."""


def items_of(protocol: str, numbers: range) -> list[Item]:
    """Return drafted items of a protocol; three for each number where it takes three kinds."""
    if protocol == "stride_audit":
        return [item(number) for number in numbers]
    provenance = Provenance(
        rule="sourcey-rule/1", model_asked="modelly-1", model_answered="modelly-2"
    )
    return [
        make_item(PROTOCOLS[protocol].benchmark, kind, {"corpus": "demo"}, payload, provenance)
        for number in numbers
        for kind, payload in payloads(protocol, number)
    ]


def study_of(
    db: Database,
    protocol: str,
    *,
    items: int = 3,
    experts: int = 3,
    attention: int = 0,
    opened: bool = True,
    rendered: bool = True,
    **config: Any,
) -> World:
    """Make clips, items, people and a study of any protocol."""
    numbers = range(1, items + attention + 1)
    made = items_of(protocol, numbers[:items])
    hidden = items_of(protocol, numbers[items:])
    with db.write() as session:
        add_clips(session, [clip(n) for n in numbers], [])
        for n in numbers if rendered else ():
            add_media(
                session, key=f"{n:032x}", clip_id=clip(n).id, file=f"{n:032x}.mp4",
                settings={"size": 768}, frames=60, fps=30.0, seconds=2.0, sha256=f"{n:064x}",
                size=1000,
            )  # fmt: skip
        add_items(session, made)
        coordinator = add_person(session, "Cora", "coordinator", now=START)
        people = [add_person(session, f"Ella {n}", "expert", now=START + n) for n in range(experts)]
        settings = {"ratings_per_item": experts, "seed": 7, "name": protocol, **config}
        study = create_study(
            session,
            StudyConfig(protocol=protocol, item_ids=tuple(one.id for one in made), **settings),
            coordinator.id,
            now=START,
        )
        gold = Gold(answers=GOOD_ANSWERS[protocol], explanation="goldly")
        add_attention(session, study.id, [(one, gold) for one in hidden], coordinator.id)
        for person in people:
            add_member(session, study.id, person.id, coordinator.id, now=START)
        if opened:
            launch(session, study.id, coordinator.id, now=START)
    return World(
        db=db,
        study=study.id,
        items=[one.id for one in made],
        experts=[person.id for person in people],
        coordinator=coordinator.id,
    )
