"""Clips, captions and rendered media in the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.items import Frozen
from corpus.clips import Caption, Clip
from corpus.problems import InputError
from store.tables import CaptionRow, ClipRow, MediaRow


class Media(Frozen):
    """A rendered stimulus."""

    key: str
    """Hash of motion content and settings."""
    clip_id: str
    """The clip it shows."""
    file: str
    """File name below the workspace's ``media/`` folder."""
    settings: dict[str, Any]
    """Render settings."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames per second."""
    seconds: float
    """Duration."""
    sha256: str
    """SHA-256 of the file, hex."""
    size: int
    """Bytes."""
    fit_error_mm: dict[str, float] | None = None
    """Mean distance of each joint of the drawn body from the source's, millimetres; null where
    it was not measured (before schema 0002)."""
    motion_hash: str | None = None
    """``corpus.clips.Clip.content_hash`` of the motion it shows; null before schema 0005."""
    rendered_at: float | None = None
    """When it was last asked for, UTC seconds; null before schema 0005."""


def add_clips(
    session: Session, clips: Iterable[Clip], captions: Iterable[Caption]
) -> tuple[int, int]:
    """Add clips and captions, or bring those with the same id up to date.

    Args:
        session: A writing session.
        clips: Clips.
        captions: Captions of these clips or of clips that are there already.

    Returns:
        How many clips and how many captions were new.

    Raises:
        InputError: A caption belongs to no known clip.
    """
    known_clips = {row.id: row for row in session.scalars(select(ClipRow))}
    new_clips = 0
    for clip in clips:
        row = known_clips.get(clip.id)
        if row is None:
            row = known_clips[clip.id] = ClipRow(id=clip.id)
            session.add(row)
            new_clips += 1
        row.corpus, row.split = clip.corpus, clip.split
        row.content_hash, row.record = clip.content_hash, clip.model_dump(mode="json")
    session.flush()
    known_captions = {row.id: row for row in session.scalars(select(CaptionRow))}
    new_captions = 0
    for caption in captions:
        if caption.clip_id not in known_clips:
            raise InputError(f"caption {caption.id!r} belongs to unknown clip {caption.clip_id!r}")
        found = known_captions.get(caption.id)
        if found is None:
            found = known_captions[caption.id] = CaptionRow(id=caption.id)
            session.add(found)
            new_captions += 1
        found.clip_id, found.record = caption.clip_id, caption.model_dump(mode="json")
    session.flush()
    return new_clips, new_captions


def list_clips(session: Session, corpus: str | None = None, split: str | None = None) -> list[Clip]:
    """Return clips by id, of one corpus or split where given."""
    query = select(ClipRow).order_by(ClipRow.id)
    if corpus is not None:
        query = query.where(ClipRow.corpus == corpus)
    if split is not None:
        query = query.where(ClipRow.split == split)
    return [Clip.model_validate(row.record) for row in session.scalars(query)]


def get_clip(session: Session, clip_id: str) -> Clip:
    """Return a clip.

    Raises:
        InputError: No clip has this id.
    """
    row = session.get(ClipRow, clip_id)
    if row is None:
        raise InputError(f"unknown clip {clip_id!r}")
    return Clip.model_validate(row.record)


def list_captions(session: Session, corpus: str | None = None) -> list[Caption]:
    """Return captions by id, of one corpus where given."""
    query = select(CaptionRow).order_by(CaptionRow.id)
    if corpus is not None:
        query = query.join(ClipRow, ClipRow.id == CaptionRow.clip_id).where(
            ClipRow.corpus == corpus
        )
    return [Caption.model_validate(row.record) for row in session.scalars(query)]


def add_media(
    session: Session,
    *,
    key: str,
    clip_id: str,
    file: str,
    settings: dict[str, Any],
    frames: int,
    fps: float,
    seconds: float,
    sha256: str,
    size: int,
    fit_error_mm: dict[str, float] | None = None,
    motion_hash: str | None = None,
    rendered_at: float | None = None,
) -> Media:
    """Record a rendered stimulus; the same key again replaces what was recorded.

    Args:
        session: A writing session.
        key: Hash of motion content and settings.
        clip_id: The clip it shows.
        file: File name below the workspace's ``media/`` folder.
        settings: Render settings.
        frames: Number of frames.
        fps: Frames per second.
        seconds: Duration.
        sha256: SHA-256 of the file, hex.
        size: Bytes.
        fit_error_mm: See ``Media``; null keeps what was recorded under the key before.
        motion_hash: See ``Media``.
        rendered_at: See ``Media``.

    Returns:
        The record.
    """
    if fit_error_mm is None:
        known = session.get(MediaRow, key)
        fit_error_mm = None if known is None else known.fit_error_mm
    media = Media(
        key=key,
        clip_id=clip_id,
        file=file,
        settings=settings,
        frames=frames,
        fps=fps,
        seconds=seconds,
        sha256=sha256,
        size=size,
        fit_error_mm=fit_error_mm,
        motion_hash=motion_hash,
        rendered_at=rendered_at,
    )
    session.merge(MediaRow(**media.model_dump(mode="json")))
    session.flush()
    return media


def media_for_clip(session: Session, clip_id: str) -> list[Media]:
    """Return the media rendered of a clip, ordered by key."""
    query = select(MediaRow).where(MediaRow.clip_id == clip_id).order_by(MediaRow.key)
    return [_media(row) for row in session.scalars(query)]


def list_media(session: Session) -> list[Media]:
    """Return all rendered media, ordered by key."""
    return [_media(row) for row in session.scalars(select(MediaRow).order_by(MediaRow.key))]


def get_media(session: Session, key: str) -> Media:
    """Return a rendered stimulus.

    Raises:
        InputError: Nothing was rendered under this key.
    """
    row = session.get(MediaRow, key)
    if row is None:
        raise InputError(f"unknown media {key!r}")
    return _media(row)


def _media(row: MediaRow) -> Media:
    return Media(**{name: getattr(row, name) for name in Media.model_fields})
