"""A small workspace database with clips, items, people and a study, for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.access import add_person
from audit.studies import Gold, StudyConfig, add_member, add_training, create_study, launch
from benchmarks.items import Item, Provenance, make_item
from benchmarks.stride import StrideAxis, Triplet
from corpus.clips import Clip
from store.clips import add_clips, add_media
from store.items import add_items
from store.session import Database

GOOD = {"fluent": "yes", "single_change": "yes", "distinguishable": "yes", "confidence": "4"}
"""Answers that a mirror item takes."""
START = 1_800_000_000.0
"""A fixed time, UTC seconds."""


@dataclass
class World:
    """What the tests act on."""

    db: Database
    study: str
    items: list[str]
    experts: list[str]
    coordinator: str


def clip(number: int) -> Clip:
    return Clip(
        id=f"demo:{number:04d}",
        corpus="demo",
        path=f"{number}.npy",
        format="arrays",
        content_hash=f"{number:064x}",
        frames=40,
        fps=20.0,
        duration=2.0,
        joints=22,
        skeleton="smpl22",
    )


def item(number: int, axis: StrideAxis = "mirror_reflection", clip_number: int = 0) -> Item:
    triplet = Triplet(
        axis=axis,
        corpus="demo",
        clip_id=clip(clip_number or number).id,
        caption_id=f"{clip(clip_number or number).id}#0",
        caption=f"a person raises the left arm {number} times",
        perturbed=f"a person raises the right arm {number} times",
        edit={"left": "right"},
    )
    stratum = {"axis": axis, "corpus": "demo"}
    return make_item("stride", "triplet", stratum, triplet, Provenance(rule="stride.test/1"))


def fill(
    db: Database,
    *,
    items: int = 3,
    experts: int = 3,
    ratings: int = 3,
    lease_minutes: float = 30.0,
    axes: Sequence[StrideAxis] = ("mirror_reflection",),
    training: int = 0,
    training_tries: int | None = None,
    decision: str | None = None,
    seed: int = 7,
    opened: bool = True,
    name: str = "audit",
    first: int = 1,
) -> World:
    """Make clips, items, people and a study; ``opened`` launches it."""
    numbers = range(first, first + items + training)
    work = [item(n, axes[n % len(axes)]) for n in numbers[:items]]
    drill = [item(n) for n in numbers[items:]]
    with db.write() as session:
        add_clips(session, [clip(n) for n in numbers], [])
        for n in numbers:
            add_media(
                session,
                key=f"{n:032x}",
                clip_id=clip(n).id,
                file=f"{n:032x}.mp4",
                settings={"size": 768},
                frames=60,
                fps=30.0,
                seconds=2.0,
                sha256=f"{n:064x}",
                size=1000,
            )
        add_items(session, work)
        coordinator = add_person(session, "Cora", "coordinator", now=START)
        people = [add_person(session, f"Ella {n}", "expert", now=START + n) for n in range(experts)]
        config = StudyConfig(
            name=name,
            protocol="stride_audit",
            item_ids=tuple(one.id for one in work),
            ratings_per_item=ratings,
            seed=seed,
            lease_minutes=lease_minutes,
            decision=decision,
            training_tries=training_tries,
        )
        study = create_study(session, config, coordinator.id, now=START)
        gold = {"fluent": "yes", "single_change": "no", "distinguishable": "yes"}
        add_training(
            session,
            study.id,
            [(one, Gold(answers=gold, explanation="A number changed.")) for one in drill],
            coordinator.id,
        )
        for person in people:
            add_member(session, study.id, person.id, coordinator.id, now=START)
        if opened:
            launch(session, study.id, coordinator.id, now=START)
    return World(
        db=db,
        study=study.id,
        items=[one.id for one in work],
        experts=[person.id for person in people],
        coordinator=coordinator.id,
    )
