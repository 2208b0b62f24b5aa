"""The agreement report of a study, built from its counted answers; one for app and command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.ratings import counted_labels, study_ratings
from audit.records import get_study
from audit.shown import shown_of
from audit.stimuli import clip_video
from store.clips import get_media
from store.items import get_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sqlalchemy.orm import Session

    from agreement.report import Report


def study_report(
    session: Session, study_id: str, *, tool_version: str, resamples: int, seed: int = 0
) -> Report | None:
    """Compute the agreement on every check of a study.

    Args:
        session: Any session.
        study_id: Name or id of the study.
        tool_version: Version of MotionJury.
        resamples: Resamples behind each interval.
        seed: Seed of the resamples.

    Returns:
        The report, raters under their codes; None while there is no label.

    Raises:
        StudyError: There is no such study.
    """
    from agreement.ratings import natural_key
    from agreement.report import build_report
    from agreement.tables import ratings_by_axis

    study = get_study(session, study_id)
    rows = study_ratings(session, study.id)
    if not rows:
        return None
    return build_report(
        ratings_by_axis(rows),
        title=study.name,
        meta={"protocol": f"{study.protocol} {study.protocol_version}", "study": study.state},
        tool_version=tool_version,
        simulated_raters=sorted({row.rater for row in rows if row.simulated}, key=natural_key),
        texts=_texts(session, study.id),
        seconds={(row.item_id, row.rater): row.seconds for row in rows if row.seconds is not None},
        resamples=resamples,
        seed=seed,
    )


def _texts(session: Session, study_id: str) -> dict[str, tuple[str, ...]]:
    """By item: what raters read of it, in the order of its fields."""
    found = {}
    for label, _code, record in counted_labels(session, study_id):
        shown = shown_of(record)
        texts = (shown.prompt, *(text for _name, text in shown.captions))
        found[label.item_id] = tuple(text for text in texts if text)
    return found


def clips_of_items(
    session: Session, media_dir: Path, item_ids: Iterable[str]
) -> dict[str, tuple[Path, float]]:
    """Find the rendered clips of items.

    Args:
        session: Any session.
        media_dir: Folder of the rendered clips.
        item_ids: Items; each is looked up once.

    Returns:
        File and seconds by item; items without a rendered clip are not there.
    """
    found: dict[str, tuple[Path, float]] = {}
    for item_id in dict.fromkeys(item_ids):
        clip = get_item(session, item_id).payload.get("clip_id")
        key = clip_video(session, str(clip)) if clip else None
        if key is not None:
            media = get_media(session, key)
            found[item_id] = (media_dir / media.file, media.seconds)
    return found


def thumbnails_of(media: Mapping[str, tuple[Path, float]]) -> dict[str, str]:
    """Draw a small strip of frames for each item; clips that several items share once.

    Args:
        media: File and seconds by item.

    Returns:
        Data URIs by item.
    """
    from render.thumbnails import strip_uri

    drawn = {clip: strip_uri(*clip) for clip in dict.fromkeys(media.values())}
    return {item: uri for item, clip in media.items() if (uri := drawn[clip]) is not None}


def disputed_items(report: Report) -> list[str]:
    """List the items that a report shows as disputed, each as often as it is shown."""
    return [item.item for check in report.checks for item in check.disputed]
