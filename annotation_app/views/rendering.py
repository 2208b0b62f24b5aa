"""Clips of a study: which it still lacks, and in which the drawn body misses joints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views.frame import done, plain_text, table
from audit.people import require
from audit.records import item_record
from audit.shown import shown_of
from audit.stimuli import missing_clips, study_media
from audit.studies import Study
from render.fit import FAR_MM, far_joints

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from audit.people import Person
    from corpus.clips import Clip


_MOST_ROWS = 30
"""So many clips are listed, the worst first."""


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Say which clips of a study are not rendered yet, offer to render them, and check the others.

    Nothing is drawn where all is well. What is rendered stays when the page is left.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        require(session, person.id, "coordinator")
        missing = missing_clips(session, study.id)
        errors = {
            media.clip_id: found
            for media in study_media(session, study.id)
            if (found := far_joints(media.fit_error_mm))
        }
        places = _places(session, study) if errors else {}
    _missing(context, study, missing, texts)
    _far(errors, places, texts)


def joints(far: Mapping[str, float], texts: Texts) -> str:
    """Return joints and how far the body is from them: ``left wrist 48 mm, head 31 mm``."""
    return ", ".join(f"{texts.known('body_part', name)} {mm:.0f} mm" for name, mm in far.items())


def _places(session: Session, study: Study) -> dict[str, list[str]]:
    """Return the numbers of the items, as the preview counts them, that show each clip."""
    found: dict[str, list[str]] = {}
    for place, item_id in enumerate(study.config.item_ids, start=1):
        clip_id = shown_of(item_record(session, item_id)).clip_id
        if clip_id is not None:
            found.setdefault(clip_id, []).append(str(place))
    return found


def _far(
    clips: Mapping[str, Mapping[str, float]], places: Mapping[str, list[str]], texts: Texts
) -> None:
    if not clips:
        return
    far = sorted(clips.items(), key=lambda one: (-max(one[1].values()), one[0]))
    st.warning(texts.count("render.far", len(far), mm=f"{FAR_MM:g}"))
    rows = [
        [clip, ", ".join(places.get(clip, ())) or None, joints(found, texts)]
        for clip, found in far[:_MOST_ROWS]
    ]
    heads = [texts(f"render.far_{name}") for name in ("clip", "items", "joints")]
    table(texts("render.far_table", most=_MOST_ROWS), heads, rows)


def _missing(context: AppContext, study: Study, missing: list[Clip], texts: Texts) -> None:
    if not missing:
        return
    st.warning(texts.count("render.missing", len(missing)))
    command = f"motionjury render all --study {shlex.quote(study.name)}"
    if context.render is None:
        st.write(texts("render.command"))
        st.code(command, language=None)
        return
    if not st.button(texts.count("render.now", len(missing)), type="primary"):
        st.caption(texts("render.or_command"))
        st.code(command, language=None)
        return
    bar = st.progress(0.0, texts("render.running", done=0, total=len(missing)))

    def tell(ready: int, total: int) -> None:
        bar.progress(ready / max(total, 1), texts("render.running", done=ready, total=total))

    refused = context.render(missing, study.config, tell)
    if not refused:
        done(texts.count("render.done", len(missing)))
    st.error(texts.count("render.refused", len(refused)))
    for line in refused[:20]:
        st.write(plain_text(line))
