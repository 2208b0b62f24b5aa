"""What lies on an expert's desk: the next training item or the next item, and how far they are."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from annotation_app.form import legend, minutes_left, task_data
from annotation_app.texts import Texts
from annotation_app.texts import texts as texts_of
from annotation_app.view3d import offer
from audit.access import grant_media
from audit.assignment import next_assignment, upcoming
from audit.blind import BlindItem, blind_item, blind_training
from audit.labelling import load_draft, my_labels
from audit.preview import preview_item
from audit.protocols.registry import PROTOCOLS
from audit.queue import waiting
from audit.records import Study, StudyError, get_study
from audit.repeats import repeats_ahead
from audit.training import Feedback, standing, training_items
from audit.tries import tries_left

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_ENGLISH = texts_of("en")


def desk_state(
    session: Session, study_id: str, person_id: str, texts: Texts = _ENGLISH
) -> dict[str, Any]:
    """Return all that the labelling page is told; claims the next item where there is one.

    Args:
        session: A writing session.
        study_id: An open study.
        person_id: An expert who takes part in it.
        texts: Words of the page.

    Returns:
        Plain JSON; ``task`` is None when nothing is left for this person, or no try in training.

    Raises:
        AccessError: The person was revoked or takes no part in the study.
        StudyError: The study is not open.
    """
    study = get_study(session, study_id)
    known = standing(session, study.id, person_id)
    if known.trained:
        return _work_state(session, study, person_id, texts)
    if known.stopped:
        return _state(study, None, {"done": 0, "total": 0, "minutes": None}, None, texts)
    return _training_state(session, study, person_id, texts)


def previous_state(
    session: Session, study_id: str, person_id: str, texts: Texts = _ENGLISH
) -> dict[str, Any]:
    """Return the answer a person gave last, to be changed; nothing is claimed.

    Args:
        session: A writing session.
        study_id: A study.
        person_id: An expert who takes part in it.
        texts: Words of the page.

    Returns:
        Plain JSON as of :func:`desk_state`, with a task of kind ``revision``.

    Raises:
        AccessError: The person was revoked.
        StudyError: They have not answered anything yet.
    """
    study = get_study(session, study_id)
    labels = my_labels(session, study.id, person_id)
    if not labels:
        raise StudyError("you have not answered anything yet")
    last = labels[-1]
    task = task_data(
        PROTOCOLS[study.protocol],
        blind_item(session, last.assignment_id, person_id),
        answers=last.answers,
        activity=last.activity,
    )
    task["kind"] = "revision"
    task["lead"] = texts("desk.revision_lead")
    progress = {"done": len(labels), "total": len(labels), "minutes": None}
    return _state(study, task, progress, None, texts)


def preview_state(
    session: Session, study_id: str, person_id: str, item_id: str, texts: Texts = _ENGLISH
) -> dict[str, Any]:
    """Return what the labelling page is told of an item, for a coordinator; nothing is claimed.

    Args:
        session: A writing session.
        study_id: A study.
        person_id: A coordinator.
        item_id: One of the study's items.
        texts: Words of the page.

    Returns:
        Plain JSON as of :func:`desk_state`, with a task of kind ``preview``.

    Raises:
        AccessError: The person is no coordinator.
        StudyError: The item is not in the study or has no rendered clip.
    """
    study = get_study(session, study_id)
    task = task_data(PROTOCOLS[study.protocol], preview_item(session, study.id, item_id, person_id))
    task["kind"] = "preview"
    task["lead"] = texts("desk.preview_lead")
    return _state(study, task, {"done": 0, "total": 1, "minutes": None}, None, texts)


def training_item_of(session: Session, study_id: str, person_id: str, handle: str) -> str:
    """Return the id of the training item behind the handle that the page knows it by.

    Raises:
        StudyError: No training item of this person has that handle.
    """
    for entry in training_items(session, study_id, person_id):
        blind = blind_training(session, study_id, person_id, entry.item_id)
        if blind.assignment_id == handle:
            return entry.item_id
    raise StudyError("this is no training item of the study")


def feedback_data(study: Study, feedback: Feedback, texts: Texts = _ENGLISH) -> dict[str, Any]:
    """Return the feedback on a training item as the page draws it."""
    protocol = PROTOCOLS[study.protocol]
    questions = {}
    for entry in feedback.questions:
        names = {option.value: option.text for option in protocol.question(entry.question).options}
        expected = names.get(entry.expected, entry.expected)
        questions[entry.question] = {
            "right": entry.right,
            "explanation": "" if entry.right else texts("desk.expected", expected=expected),
        }
    passed = feedback.passed or feedback.trained
    message = feedback.explanation
    if not passed and feedback.tries_left:
        message = f"{message} {texts.count('desk.tries_left', feedback.tries_left)}".strip()
    return {
        "passed": passed,
        "message": message,
        "questions": questions,
    }


def _work_state(session: Session, study: Study, person_id: str, texts: Texts) -> dict[str, Any]:
    now = time.time()
    assignment = next_assignment(session, study.id, person_id, now)
    labels = my_labels(session, study.id, person_id)
    # What checks attention and what comes back counts from the start: a total that grew would
    # point at it.
    ahead = waiting(session, study, person_id, now)
    work = sum(purpose == "work" for _item, purpose in ahead)
    again = repeats_ahead(session, study, person_id, work)
    remaining = len(ahead) + again + (assignment is not None)
    seconds = [float(label.activity.get("seconds") or 0.0) for label in labels]
    progress = {
        "done": len(labels),
        "total": len(labels) + remaining,
        "minutes": minutes_left([value for value in seconds if value > 0], remaining),
    }
    if assignment is None:
        return _state(study, None, progress, None, texts)
    draft = load_draft(session, assignment.id, person_id)
    task = task_data(
        PROTOCOLS[study.protocol],
        blind_item(session, assignment.id, person_id),
        answers=draft.answers,
        version=draft.version,
        activity=draft.activity,
    )
    key = upcoming(session, study.id, person_id, now)
    preload = grant_media(session, person_id, study.id, key) if key else None
    return _state(study, task, progress, preload, texts)


def _training_state(session: Session, study: Study, person_id: str, texts: Texts) -> dict[str, Any]:
    entries = training_items(session, study.id, person_id)
    ahead = [entry for entry in entries if not entry.passed] or entries
    items: list[BlindItem] = [
        blind_training(session, study.id, person_id, entry.item_id) for entry in ahead[:2]
    ]
    task = task_data(PROTOCOLS[study.protocol], items[0])
    task["lead"] = texts("desk.training_lead")
    left = tries_left(session, study, person_id, ahead[0].item_id)
    if left:
        task["lead"] += f" {texts.count('desk.tries', left)}"
    progress = {"done": entries.index(ahead[0]), "total": len(entries), "minutes": None}
    follows = items[1].stimuli if len(items) > 1 else ()
    return _state(study, task, progress, follows[0].token if follows else None, texts)


def _state(
    study: Study,
    task: dict[str, Any] | None,
    progress: dict[str, Any],
    preload: str | None,
    texts: Texts,
) -> dict[str, Any]:
    return {
        "study": {"id": study.id, "title": PROTOCOLS[study.protocol].title},
        "task": task,
        "progress": progress,
        "preload": preload,
        "legend": legend(texts),
        "view3d": offer(study),
        "words": {**texts.table("page"), "language": texts.language},
    }
