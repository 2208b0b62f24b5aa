"""The coordinator's console: one study and one page of it at a time; analysts see progress."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views import (
    disputes,
    drafts,
    held,
    joint,
    manage,
    new_study,
    people,
    preview,
    progress,
)
from annotation_app.views.frame import distinct, plain_text, style, tell, top, words
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.studies import Study, studies_of

STUDY, PAGE = "study", "page"
"""Query parameters: what is looked at, so that a reload comes back to it."""
_NEW, _DRAFTS = "new", "drafts"

_PAGES: dict[str, Callable[[AppContext, Person, Study, Texts], None]] = {
    "progress": progress.draw,
    "held": held.draw,
    "disputes": disputes.draw,
    "joint": joint.draw,
    "people": people.draw,
    "preview": preview.draw,
    "manage": manage.draw,
}
"""Pages of a study by name; all but the first are for coordinators."""


def draw(context: AppContext, person: Person) -> None:
    """Draw the console.

    Args:
        context: The server's context.
        person: A coordinator or analyst.

    Raises:
        AccessError: The person was revoked.
    """
    texts = words()
    with context.db.read() as session:
        studies = studies_of(session, person.id)
    if preview.wanted(context, person, studies, texts):
        return
    style("wide")
    top(context.name, f"{person.name} · {texts.known('role', person.role)}")
    tell()
    people.link(texts)
    coordinates = person.role == "coordinator"
    page = st.query_params.get(PAGE)
    back = st.query_params.get(STUDY, studies[-1].id if studies else "")
    if coordinates and page == _DRAFTS:
        if st.button(texts("console.back")):
            _go(back, "progress")
        if drafts.draw(context, person, texts):
            _go(back, _NEW)
        return
    if coordinates and (page == _NEW or not studies):
        if not studies:
            st.write(texts("console.first_study"))
        with st.container(horizontal=True):
            if studies and st.button(texts("console.back")):
                _go(back, "progress")
            if st.button(texts("console.drafts")):
                _go(back, _DRAFTS)
        new_study.draw(context, person, texts)
        people.everybody(context, person, texts)
        return
    if not studies:
        st.title(texts("console.no_study"), anchor=False)
        return
    study = _chosen(studies, texts, coordinates)
    st.title(plain_text(study.name), anchor=False)
    st.caption(plain_text(_state(study, texts)))
    _PAGES[_page(page, texts) if coordinates else "progress"](context, person, study, texts)


def _chosen(studies: list[Study], texts: Texts, coordinates: bool) -> Study:
    known = {study.id: study for study in studies}
    wanted = st.query_params.get(STUDY)
    ids = list(known)
    titles = distinct({one: _title(study) for one, study in known.items()})
    select, refresh, look, make = st.columns([5, 1, 1, 1], vertical_alignment="bottom")
    with select:
        chosen = st.selectbox(
            texts("console.study"),
            ids,
            index=ids.index(wanted) if wanted in known else 0,
            format_func=titles.__getitem__,
            key="console-study",
        )
    refresh.button(texts("console.refresh"), width="stretch")
    if coordinates and look.button(texts("console.drafts"), width="stretch"):
        _go(chosen, _DRAFTS)
    if coordinates and make.button(texts("console.new"), width="stretch"):
        _go(chosen, _NEW)
    st.query_params[STUDY] = chosen
    return known[chosen]


def _page(wanted: str | None, texts: Texts) -> str:
    pages = list(_PAGES)
    chosen = st.segmented_control(
        texts("console.page"),
        pages,
        default=wanted if wanted in pages else pages[0],
        required=True,
        format_func=lambda name: texts(f"console.page_{name}"),
        key="console-page",
        label_visibility="collapsed",
    )
    page = chosen or pages[0]
    st.query_params[PAGE] = page
    return page


def _title(study: Study) -> str:
    # Nothing that changes: a choice whose label has changed shows the old one.
    label = f" · {study.config.label}" if study.config.label else ""
    return f"{study.name}{label} · {PROTOCOLS[study.protocol].title}"


def _state(study: Study, texts: Texts) -> str:
    state = "paused" if study.state == "open" and study.paused_at is not None else study.state
    return f"{PROTOCOLS[study.protocol].title} · {texts.known('state', state)}"


def _go(study_id: str, page: str) -> None:
    st.query_params[STUDY], st.query_params[PAGE] = study_id, page
    for key in ("console-page", "console-study"):
        st.session_state.pop(key, None)
    st.rerun()
