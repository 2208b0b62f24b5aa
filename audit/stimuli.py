"""Which rendering of a clip a study shows."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.protocols.registry import PROTOCOLS
from audit.records import StudyConfig, as_study, study_row
from audit.shown import shown_of
from corpus.clips import Clip
from store.clips import Media, get_clip, get_media, media_for_clip
from store.tables import ClipRow, ItemRow, StudyItemRow

MARKS = ("facing_arrow", "legend")
"""Settings of a study that its clips are rendered with, named as in ``render``."""


def clip_video(
    session: Session, clip_id: str | None, config: StudyConfig | None = None
) -> str | None:
    """Return the key of a clip's video: of its motion as it is now, the one asked for last.

    Args:
        session: Any session.
        clip_id: The clip; ``None`` has no video.
        config: Study whose marks (facing arrow, legend) the video must have; any if ``None``.

    Returns:
        The key, or ``None`` where no such video was rendered.
    """
    clip = None if clip_id is None else session.get(ClipRow, clip_id)
    if clip is None:
        return None
    videos = [
        media
        for media in media_for_clip(session, clip.id)
        if media.file.endswith(".mp4")
        and media.motion_hash in (None, clip.content_hash)
        and (config is None or all(_has(media, mark) == getattr(config, mark) for mark in MARKS))
    ]
    newest = max(videos, key=lambda media: (media.rendered_at or 0.0, media.key), default=None)
    return None if newest is None else newest.key


def _has(media: Media, mark: str) -> bool:
    return bool(media.settings.get(mark, False))


def missing_clips(session: Session, study_id: str) -> list[Clip]:
    """Return the clips that a study shows and that have no fitting video yet, ordered by id.

    Args:
        session: Any session.
        study_id: Id or name of the study; practice and attention items belong to it.

    Raises:
        StudyError: There is no such study.
        InputError: An item names a clip that the workspace does not have.
    """
    row = study_row(session, study_id)
    if not PROTOCOLS[row.protocol].shows_clip:
        return []
    config = as_study(row).config
    query = (
        select(ItemRow.record)
        .join(StudyItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(StudyItemRow.study_id == row.id, StudyItemRow.withdrawn_at.is_(None))
    )
    shown = {shown_of(record).clip_id for record in session.scalars(query)}
    return [
        get_clip(session, clip_id)
        for clip_id in sorted(one for one in shown if one is not None)
        if clip_video(session, clip_id, config) is None
    ]


def study_media(session: Session, study_id: str, *, work_only: bool = False) -> list[Media]:
    """Return the renderings that a study shows, each once, ordered by clip and key.

    Launch fixes them; before it they are those it would fix now.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        work_only: Leave practice and attention items out.

    Raises:
        StudyError: There is no such study.
    """
    row = study_row(session, study_id)
    if not PROTOCOLS[row.protocol].shows_clip:
        return []
    config = as_study(row).config
    query = (
        select(StudyItemRow, ItemRow.record)
        .join(ItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(StudyItemRow.study_id == row.id, StudyItemRow.withdrawn_at.is_(None))
    )
    if work_only:
        query = query.where(StudyItemRow.purpose == "work")
    keys: set[str | None] = set()
    for entry, record in session.execute(query):
        if row.state == "draft":
            keys.add(clip_video(session, shown_of(record).clip_id, config))
        else:
            keys.add(entry.media_key)
    found = [get_media(session, key) for key in keys if key is not None]
    return sorted(found, key=lambda media: (media.clip_id, media.key))
