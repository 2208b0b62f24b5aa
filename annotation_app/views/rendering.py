"""Clips that a study still lacks: how many, and rendering them from the console."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views.frame import done, plain_text
from audit.lifecycle import missing_clips
from audit.people import require
from audit.studies import Study

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from audit.people import Person
    from corpus.clips import Clip


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Say which clips of a study are not rendered yet and offer to render them.

    Nothing is drawn where none is missing. What is rendered stays when the page is left.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        missing = _missing(session, person, study)
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


def _missing(session: Session, person: Person, study: Study) -> list[Clip]:
    require(session, person.id, "coordinator")
    return missing_clips(session, study.id)
