"""What an expert sees, for the coordinator: the guidelines, and the labelling page itself."""

from __future__ import annotations

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.desk import preview_state
from annotation_app.texts import Texts
from annotation_app.views import guidelines, rendering
from annotation_app.views.frame import style
from annotation_app.views.held import short
from annotation_app.views.labelling import component
from annotation_app.views.lobby import problem
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.studies import Study
from corpus.problems import InputError

SHOWN = "preview"
"""Query parameter: the place of the item that fills the page, from 1 on."""


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw the guidelines of a study, and a way to each of its items as experts see it."""
    st.write(texts("preview.lead"))
    rendering.draw(context, person, study, texts)
    ids = study.config.item_ids
    with st.form("preview", border=False):
        place = st.selectbox(
            texts("preview.item"),
            range(1, len(ids) + 1),
            format_func=lambda at: texts("preview.nth", n=at, item=short(ids[at - 1])),
        )
        sent = st.form_submit_button(texts("preview.show"), type="primary")
    if sent:
        st.query_params[SHOWN] = str(place)
        st.rerun()
    st.subheader(texts("label.guidelines"), anchor=False)
    with st.container(border=True):
        guidelines.text(PROTOCOLS[study.protocol])


def wanted(context: AppContext, person: Person, studies: list[Study], texts: Texts) -> bool:
    """Fill the page with an item as experts see it, where the address names one.

    Returns:
        Whether it did.
    """
    place = st.query_params.get(SHOWN)
    study = next((one for one in studies if one.id == st.query_params.get("study")), None)
    if place is None or study is None or person.role != "coordinator":
        return False
    ids = study.config.item_ids
    if not place.isdecimal() or not 1 <= int(place) <= len(ids):
        return False
    try:
        with context.db.write() as session:
            state = preview_state(session, study.id, person.id, ids[int(place) - 1], texts)
    except InputError as error:
        problem(str(error))
        if st.button(texts("console.back")):
            del st.query_params[SHOWN]
            st.rerun()
        return True
    style("full")
    event = component(texts)(
        key=f"preview-{study.id}-{place}",
        data=state,
        on_left_change=_back,
        on_guide_change=lambda: None,
    )
    if event.guide:
        guidelines.dialog(study)
    return True


def _back() -> None:
    if SHOWN in st.query_params:
        del st.query_params[SHOWN]
