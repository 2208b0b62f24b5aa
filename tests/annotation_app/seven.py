"""A workspace with a study of each protocol, full of planted words that no expert may see."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select

from audit.access import add_person, invite
from audit.assignment import next_assignment
from audit.blind import blind_item
from audit.labelling import save_draft, submit
from audit.protocols.registry import PROTOCOLS
from audit.studies import Gold, StudyConfig, add_attention, add_member, create_study, launch
from benchmarks.items import Item, make_item
from motionjury.workspace import init_workspace
from store.clips import add_clips, add_media
from store.items import add_items
from store.session import Database
from store.tables import LabelRow
from tests.annotation_app.site import FPS, FRAMES, SIZE, Site, numbered_clip
from tests.audit import kinds
from tests.audit.world import clip

ITEMS = 3
"""Items of each study besides the one that checks attention."""
PLANTED = (*kinds.SECRETS, "flaggy", "judgey", "strataly", "commenty", "editedly")
"""Roots of words that stand in the workspace and must not reach an expert."""
WATCHED = "Ada Quillfeather"
"""The expert whose pages are captured."""


@dataclass
class Seven:
    """The site, and what a test may look for."""

    site: Site
    items: dict[str, list[Item]] = field(default_factory=dict)
    """Items of each protocol, the one that checks attention last."""
    media: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)
    """An assignment that Ben holds, by protocol."""
    tokens: dict[str, str] = field(default_factory=dict)
    """Token of the clip of that assignment."""

    @property
    def db(self) -> Database:
        return self.site.workspace.db

    def leaks(self, text: str, reader: str = WATCHED) -> list[str]:
        """Return what stands in a text that an expert, the reader, must not be given."""
        others = {name: person for name, person in self.site.people.items() if name != reader}
        words = [
            *PLANTED,
            *(word for name in others for word in name.split()),
            *others.values(),
            *self.media,
            *(one.id for items in self.items.values() for one in items),
            *self.held.values(),
            *self.tokens.values(),
            *("demo:", "clip_id", "prompt_id", "perturbed", "caption_id", "provenance"),
            *("stride.test", "media_key", ".mp4", "sqlite", "attention", "fit_error", "61 mm"),
            str(self.site.workspace.root),
        ]
        with self.db.read() as session:
            for label in session.scalars(
                select(LabelRow).where(LabelRow.person_id.in_(others.values()))
            ):
                words += [label.id, label.assignment_id, label.submission_id]
        return [word for word in words if word in text]


def planted(protocol: str, first: int) -> list[Item]:
    """Return items whose stratum, parent and provenance are full of what must stay hidden."""
    found = []
    for one in kinds.items_of(protocol, range(first, first + ITEMS + 1))[: ITEMS + 1]:
        provenance = one.provenance.model_copy(
            update={
                "rule": "sourcey-rule/1",
                "model_asked": "modelly-1",
                "model_answered": "modelly-2",
                "parameters": {
                    "flags": ["flaggy: F3 suspected"],
                    "verdict": "judgey accept",
                    "captioner": "methody",
                    "before": "parenty",
                },
                "media": {"sourcey-media": "0" * 64},
            }
        )
        stratum = {**one.stratum, "corpus": "strataly"}
        found.append(one.model_copy(update={"provenance": provenance, "stratum": stratum}))
    return found


def build(root: Path) -> Seven:
    """Make the workspace: seven studies, two colleagues who answered, one who is watched."""
    seven = Seven(Site("", init_workspace(root, name="Seven")))
    site, number = seven.site, 0
    people = {WATCHED: "expert", "Ben Oxbridge": "expert", "Cora Stavangerson": "coordinator"}
    picture = root / "picture.mp4"
    numbered_clip(picture, 1)
    data = picture.read_bytes()
    with seven.db.write() as session:
        for name, role in people.items():
            site.people[name] = add_person(session, name, role).id
            site.links[name.split()[0]] = invite(session, site.people[name])
        robot = add_person(session, "judgey modelly-robot", "expert", simulated=True)
        site.people[robot.name] = robot.id
        for protocol in PROTOCOLS:
            numbers = range(number + 1, number + ITEMS + 2)
            number = numbers[-1]
            add_clips(session, [clip(n) for n in numbers], [])
            for n in numbers:
                key = hashlib.sha256(f"media {n}".encode()).hexdigest()[:32]
                (site.workspace.media_dir / f"{key}.mp4").write_bytes(data)
                add_media(
                    session, key=key, clip_id=clip(n).id, file=f"{key}.mp4",
                    settings={"size": SIZE}, frames=FRAMES, fps=FPS, seconds=FRAMES / FPS,
                    sha256=hashlib.sha256(data).hexdigest(), size=len(data),
                    fit_error_mm={"left_wrist": 61.0},
                )  # fmt: skip
                seven.media.append(key)
            _study(session, seven, protocol, planted(protocol, numbers[0]))
    return seven


def _study(session, seven: Seven, protocol: str, made: list[Item]) -> None:
    *work, hidden = made
    # One is a later version of an item that was edited: its parent is on record.
    before, last = work[-1], work[-1].model_copy()
    child = make_item(
        last.benchmark,
        last.kind,
        last.stratum,
        _payload(last),
        last.provenance,
        parent=before.id,
    )
    add_items(session, [*work, child])
    work = [*work[:-1], child]
    seven.items[protocol] = [before, *work, hidden]
    config = StudyConfig(
        name=f"Study {len(seven.items)}",
        protocol=protocol,
        item_ids=tuple(one.id for one in work),
        ratings_per_item=5,
        seed=3,
    )
    study = create_study(session, config)
    seven.site.studies[protocol] = study.id
    gold = Gold(answers=kinds.GOOD_ANSWERS[protocol], explanation="goldly: it is plain")
    add_attention(session, study.id, [(hidden, gold)])
    for name, person in seven.site.people.items():
        if not name.startswith("Cora"):
            add_member(session, study.id, person)
    launch(session, study.id)
    answers = kinds.GOOD_ANSWERS[protocol]
    for name, person in seven.site.people.items():
        if name in (WATCHED, "Cora Stavangerson"):
            continue
        said = {**answers, "comment": f"commenty {protocol}"}
        while (held := next_assignment(session, study.id, person)) is not None:
            if name.startswith("Ben") and held.item_id == work[-1].id:
                break
            submit(session, held.id, person, f"{protocol}-{name}-{held.item_id}", said, {})
        if held is not None:
            seven.held[protocol] = held.id
            save_draft(session, held.id, person, {"comment": "editedly"}, {}, 0)
            for stimulus in blind_item(session, held.id, person).stimuli:
                seven.tokens[protocol] = stimulus.token


def _payload(one: Item):
    from audit.shown import KINDS

    return KINDS[one.kind].payload.model_validate(one.payload)
