"""The labelling page: hands the desk to the component, and draws what comes when it is empty."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotation_app import player
from annotation_app.context import AppContext
from annotation_app.desk import desk_state, previous_state
from annotation_app.views import guidelines
from annotation_app.views.frame import plain_text, style, top
from annotation_app.views.lobby import CHOSEN
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.records import Study

_component = st.components.v2.component(
    "labelling",
    html=player.source("labelling.html"),
    css=player.source("labelling.css"),
    js=player.script(),
)

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
    with context.db.write() as session:
        state = desk_state(session, study.id, person.id)
        if state["task"] is None and st.session_state.get(_RECALL) == study.id:
            state = previous_state(session, study.id, person.id)
    if state["task"] is None:
        _done(study, state["progress"])
        return
    style("full")
    event = _component(key="desk", data=state, on_left_change=_left, on_guide_change=_pass)
    if event.guide:
        _show_guidelines(study)


def _done(study: Study, progress: dict[str, Any]) -> None:
    style("reading")
    protocol = PROTOCOLS[study.protocol]
    top(protocol.title, study.name)
    count = progress["done"]
    st.title("All done. Thank you!" if count else "Nothing left for you here", anchor=False)
    if count:
        things = "one item" if count == 1 else f"{count} items"
        st.write(f"You have answered {things} of “{plain_text(study.name)}”; all are saved.")
    st.write(
        "You can close this page. An item may come back when a colleague cannot finish theirs; "
        "your link stays the same."
    )
    again, change, others, _rest = st.columns(4)
    again.button("Look for more items", width="stretch")
    if count and change.button("Change my last answer", width="stretch"):
        st.session_state[_RECALL] = study.id
        st.rerun()
    if CHOSEN in st.query_params and others.button("My other studies", width="stretch"):
        del st.query_params[CHOSEN]
        st.rerun()


@st.dialog("Guidelines", width="medium")
def _show_guidelines(study: Study) -> None:
    guidelines.text(PROTOCOLS[study.protocol])


def _left() -> None:
    """Go on from an answer that was changed or left as it was."""
    st.session_state.pop(_RECALL, None)


def _pass() -> None:
    """Rerun the script; the event itself is read from the component's result."""
