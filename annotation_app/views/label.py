"""The labelling page: hands the desk to the component, and draws what comes when it is empty."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.desk import desk_state, previous_state
from annotation_app.texts import Texts
from annotation_app.views import guidelines, joint
from annotation_app.views.frame import plain_text, style, top, words
from annotation_app.views.labelling import component
from annotation_app.views.lobby import CHOSEN
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.records import Study
from audit.training import standing

_RECALL = "recall"
"""Session key: the study whose last answer is to be changed from the done page."""


def draw(context: AppContext, person: Person, study: Study) -> None:
    """Draw the labelling page, or the done page when nothing is left.

    Args:
        context: The server's context.
        person: An expert who has read the guidelines.
        study: An open study they take part in.

    Raises:
        AccessError: The person was revoked.
        StudyError: The study was closed meanwhile.
    """
    texts = words()
    if joint.draw_invited(context, person, study, texts):
        return
    with context.db.write() as session:
        state = desk_state(session, study.id, person.id, texts)
        stopped = state["task"] is None and standing(session, study.id, person.id).stopped
        recalled = st.session_state.get(_RECALL) == study.id
        if state["task"] is None and recalled and not stopped:
            state = previous_state(session, study.id, person.id, texts)
    if stopped:
        _stopped(study, texts)
        return
    if state["task"] is None:
        _done(study, state["progress"], texts)
        joint.doors(context, person, study, texts)
        return
    style("full")
    event = component(texts)(key="desk", data=state, on_left_change=_left, on_guide_change=_pass)
    if event.guide:
        guidelines.dialog(study)


def _stopped(study: Study, texts: Texts) -> None:
    style("reading")
    top(PROTOCOLS[study.protocol].title, study.name)
    st.title(texts("label.stopped_title"), anchor=False)
    st.write(texts("label.stopped"))
    with st.container(horizontal=True):
        st.button(texts("label.stopped_look"), type="primary")
        _others(texts)


def _done(study: Study, progress: dict[str, Any], texts: Texts) -> None:
    style("reading")
    protocol = PROTOCOLS[study.protocol]
    top(protocol.title, study.name)
    count = progress["done"]
    st.title(texts("label.done_title" if count else "label.nothing_title"), anchor=False)
    if count:
        st.write(texts.count("label.answered", count, study=plain_text(study.name)))
    st.write(texts("label.may_close"))
    with st.container(horizontal=True):
        st.button(texts("label.look"))
        if count and st.button(texts("label.change_last")):
            st.session_state[_RECALL] = study.id
            st.rerun()
        _others(texts)


def _others(texts: Texts) -> None:
    """Draw the way back to the choice, for whoever chose among several studies."""
    if CHOSEN in st.query_params and st.button(texts("label.other_studies")):
        del st.query_params[CHOSEN]
        st.rerun()


def _left() -> None:
    """Go on from an answer that was changed or left as it was."""
    st.session_state.pop(_RECALL, None)


def _pass() -> None:
    """Rerun the script; the event itself is read from the component's result."""
