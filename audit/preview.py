"""What an expert would see of an item, for the coordinator, before or after launch."""

from __future__ import annotations

from sqlalchemy.orm import Session

from audit.blind import BlindItem, blind_for
from audit.people import require
from audit.records import StudyError, get_study
from store.tables import StudyItemRow


def preview_item(session: Session, study_id: str, item_id: str, actor: str) -> BlindItem:
    """Return an item exactly as an expert would see it; captions and answers in the actor's order.

    Args:
        session: A writing session: media tokens are made for the actor.
        study_id: Id or name of the study.
        item_id: One of its items, training and attention items included.
        actor: A coordinator.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is unknown, the item is not in it or has no rendered clip.
    """
    require(session, actor, "coordinator")
    study = get_study(session, study_id)
    row = session.get(StudyItemRow, (study.id, item_id))
    if row is None:
        raise StudyError(f"item {item_id} is not in study {study.name!r}")
    training = row.purpose == "training"
    return blind_for(session, study, item_id, actor, "preview", training=training)
