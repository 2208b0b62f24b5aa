"""The demo: a workspace from the demo corpus, with a study people can label at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.items import Item, Provenance, content_hash, make_item
from benchmarks.stride import AXES, Triplet
from corpus.problems import InputError
from motionjury import __version__

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from audit.gold import Gold
    from audit.records import Study
    from motionjury.workspace import Workspace

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and out of how many."""

STUDY = "STRIDE demo"
SIMULATED_STUDY = "STRIDE demo (simulated raters)"
PER_AXIS = 5
"""Items of each axis in a study."""
SEED = 0
EXPERTS = ("Expert 1", "Expert 2", "Expert 3")
COORDINATOR = "Coordinator"
TRAINING_CLIP = "synthetic:0033_raise_left_arm"


class Invitation(NamedTuple):
    """A person of the demo and the secret of their link."""

    name: str
    role: str
    secret: str


def fill_corpus(workspace: Workspace) -> None:
    """Write the demo corpus into the workspace, import it and draft STRIDE items from it.

    Calling it again adds nothing.
    """
    from construction.stride import draft_stride
    from corpus.synthetic import write_demo_corpus
    from store.clips import add_clips, list_captions, list_clips
    from store.items import add_items

    with workspace.db.read() as session:
        if list_clips(session, corpus="synthetic"):
            return
    written = write_demo_corpus(workspace.root / "corpus" / "demo", seed=SEED)
    clips = [
        entry.clip.model_copy(update={"path": f"corpus/demo/{entry.clip.path}"})
        for entry in written
    ]
    captions = [caption for entry in written for caption in entry.captions]
    with workspace.db.write() as session:
        add_clips(session, clips, captions)
        result = draft_stride(
            list_clips(session, corpus="synthetic"),
            list_captions(session, corpus="synthetic"),
            seed=SEED,
        )
        add_items(session, result.items)


def pick_items(items: list[Item], per_axis: int, skip: int = 0) -> list[Item]:
    """Choose items evenly over the axes, in an order set by the seed, one clip at most once.

    Args:
        items: Drafted STRIDE items.
        per_axis: Items of each axis.
        skip: Items of each axis passed over first, so that two studies share none.

    Returns:
        At most ``per_axis`` items of each axis.
    """
    chosen = []
    for axis in AXES:
        ordered = sorted(
            (item for item in items if item.stratum["axis"] == axis),
            key=lambda item: content_hash([SEED, item.id]),
        )
        first_per_clip = {item.payload["clip_id"]: item for item in reversed(ordered)}
        distinct = [item for item in ordered if first_per_clip[item.payload["clip_id"]] is item]
        chosen.extend(distinct[skip : skip + per_axis])
    return chosen


def make_demo(workspace: Workspace, simulate: int, progress: Progress) -> list[Invitation]:
    """Bring a workspace to the point where the demo study can be labelled.

    Args:
        workspace: An initialised workspace; what is there already is kept.
        simulate: Number of simulated raters of a second, closed study; 0 for none.
        progress: Told how far the work is.

    Returns:
        The people of the study with new links, experts first.
    """
    from store.items import list_items

    progress("corpus and items", 0, 1)
    fill_corpus(workspace)
    progress("corpus and items", 1, 1)
    with workspace.db.read() as session:
        items = list_items(session, benchmark="stride")
    work = pick_items(items, PER_AXIS)
    simulated = pick_items(items, PER_AXIS, skip=PER_AXIS) if simulate else []
    clip_ids = {item.payload["clip_id"] for item in (*work, *simulated)}
    _render(workspace, sorted(clip_ids | {TRAINING_CLIP}), progress)
    with workspace.db.write() as session:
        study = _study(session, STUDY, work, ratings=len(EXPERTS), training=[_training_item()])
        invitations = _invite(session, study)
    if simulate:
        _simulate(workspace, simulated, simulate, progress)
    return invitations


def _render(workspace: Workspace, clip_ids: Sequence[str], progress: Progress) -> None:
    from motionjury.commands.render import render_into_workspace
    from store.clips import get_clip

    with workspace.db.read() as session:
        clips = [get_clip(session, clip_id) for clip_id in clip_ids]
    results = render_into_workspace(
        workspace, clips, progress=lambda done, total: progress("clips rendered", done, total)
    )
    for result in results:
        if result.problem is not None:
            raise InputError(result.problem.reason, file=result.problem.file)


def _study(
    session: Session,
    name: str,
    items: Sequence[Item],
    ratings: int,
    training: Sequence[tuple[Item, Gold]] = (),
) -> Study:
    """Return the study of this name, made and launched when it is not there yet."""
    from audit.records import StudyConfig
    from audit.studies import add_training, create_study, launch, list_studies

    for known in list_studies(session):
        if known.name == name:
            return known
    config = StudyConfig(
        name=name,
        protocol="stride_audit",
        item_ids=tuple(item.id for item in items),
        ratings_per_item=ratings,
        seed=SEED,
        allow_3d=True,
    )
    study = create_study(session, config)
    if training:
        add_training(session, study.id, training)
    return launch(session, study.id)


def _training_item() -> tuple[Item, Gold]:
    """Make a pair in which more than the side was changed, with what is right about it."""
    from audit.gold import Gold

    triplet = Triplet(
        axis="mirror_reflection",
        corpus="synthetic",
        clip_id=TRAINING_CLIP,
        caption_id=f"{TRAINING_CLIP}#training",
        caption="a person raises their left arm.",
        perturbed="a person raises their right arm and then waves.",
        edit={"source": "left", "target": "right"},
    )
    provenance = Provenance(rule="demo.training/1", tool_version=__version__)
    stratum = {"axis": triplet.axis, "corpus": triplet.corpus}
    gold = Gold(
        answers={"fluent": "yes", "single_change": "no", "distinguishable": "yes"},
        explanation=(
            "Both captions are plain English, and the clip shows which arm goes up. But one of "
            "them also adds a wave, so more than left and right was changed."
        ),
    )
    return make_item("stride", "triplet", stratum, triplet, provenance), gold


def _invite(session: Session, study: Study) -> list[Invitation]:
    """Give everyone of the demo a new link; people who are there already stay who they are."""
    from audit.access import add_person, invite, list_people
    from audit.studies import add_member

    known = {person.name: person for person in list_people(session) if not person.simulated}
    invitations = []
    for name in (*EXPERTS, COORDINATOR):
        role = "coordinator" if name == COORDINATOR else "expert"
        person = known.get(name) or add_person(session, name, role)
        if not person.active:
            continue
        if role == "expert" and study.state != "closed":
            add_member(session, study.id, person.id)
        invitations.append(Invitation(name, role, invite(session, person.id)))
    return invitations


def _simulate(workspace: Workspace, items: Sequence[Item], raters: int, progress: Progress) -> None:
    """Fill and close the simulated study: its raters are marked, its labels come from a seed."""
    from audit.access import add_person
    from audit.assignment import next_assignment
    from audit.labelling import submit
    from audit.studies import add_member, close
    from audit.training import acknowledge_guidelines

    task = "simulated raters"
    with workspace.db.write() as session:
        study = _study(session, SIMULATED_STUDY, items, ratings=raters)
        if study.state == "closed":
            return
        people = []
        for number in range(1, raters + 1):
            name = f"Simulated rater {number}"
            person = add_person(session, name, "expert", simulated=True)
            add_member(session, study.id, person.id)
            acknowledge_guidelines(session, study.id, person.id)
            people.append(person)
        axes = {item.id: item.stratum["axis"] for item in items}
        done = 0
        for number, person in enumerate(people, start=1):
            while (held := next_assignment(session, study.id, person.id)) is not None:
                answers, activity = simulated_answers(held.item_id, axes[held.item_id], number)
                submission = f"simulated-{number}-{held.item_id}"
                submit(session, held.id, person.id, submission, answers, activity)
                done += 1
                progress(task, done, raters * len(items))
        close(session, study.id)


def simulated_answers(item_id: str, axis: str, rater: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make up one rater's answers: items differ in quality, raters in how often they err.

    Args:
        item_id: Id of the item; its quality is drawn from it.
        axis: Axis of the item; it decides which questions are asked.
        rater: Running number of the rater, from 1.

    Returns:
        Answers and activity as a browser would send them. They say nothing about the item.
    """
    quality = random.Random(f"{SEED}|{item_id}")
    errs = random.Random(f"{SEED}|{item_id}|{rater}")
    answers: dict[str, Any] = {}
    for check in ("fluent", "single_change", "distinguishable", "exclusive"):
        good = quality.random() < 0.92
        if (check == "single_change" and axis == "random_content") or (
            check == "exclusive" and axis != "action_identity"
        ):
            continue
        answers[check] = "yes" if good != (errs.random() < 0.1) else "no"
    sure = 5 if all(value == "yes" for value in answers.values()) else 4
    answers["confidence"] = str(max(1, sure - errs.choice((0, 0, 1, 2))))
    return answers, {"seconds": round(errs.uniform(8.0, 40.0), 1), "plays": errs.randint(1, 5)}
