"""Before the work: people without a link, people with several studies, things that went wrong."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.sign_in import known_person
from annotation_app.texts import Texts
from annotation_app.views.frame import plain_text, style, top, words
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.records import Study
from audit.studies import studies_of

CHOSEN = "study"
"""Query parameter that names the study an expert with several works in."""


def stranger(context: AppContext) -> None:
    """Tell someone without a valid cookie how to get in; let them sign in where that is set up.

    Args:
        context: The server's context.
    """
    style("reading")
    texts = words()
    if context.signs_in:
        _sign_in(context, texts)
        return
    st.title(texts("lobby.stranger_title"), anchor=False)
    st.write(texts("lobby.stranger"))
    # A window without an address bar has no other way in.
    label, button = escape(texts("lobby.paste")), escape(texts("lobby.paste_go"))
    st.html(
        '<form class="mj-paste" method="post" action="/enter">'
        f'<label>{label}<input name="link" required autocomplete="off" spellcheck="false">'
        f'</label><button type="submit">{button}</button></form>'
    )
    st.write(texts("lobby.stranger_help"))


def _sign_in(context: AppContext, texts: Texts) -> None:
    st.title(texts("lobby.sign_in_title"), anchor=False)
    if not st.user.is_logged_in:
        st.write(texts("lobby.sign_in_text"))
        st.button(texts("lobby.sign_in"), type="primary", on_click=st.login)
        return
    person = known_person(context, st.user.to_dict())
    if person is None:
        email = plain_text(str(st.user.get("email") or "—"))
        st.write(texts("lobby.sign_in_unknown", email=email))
    else:
        # A page of ours sets the cookie: scripts of Streamlit cannot.
        address = escape(f"/signed-in/{context.signer.sign_pass(person.id)}")
        line = escape(texts("lobby.sign_in_go_on", name=person.name))
        st.html(f'<p><a class="mj-go" href="{address}" target="_self">{line}</a></p>')
    st.button(texts("lobby.sign_out"), on_click=st.logout)


def problem(line: str) -> None:
    """Say in one line what went wrong."""
    style("reading")
    texts = words()
    top("MotionJury")
    st.title(texts("lobby.problem_title"), anchor=False)
    st.write(plain_text(texts.message(line)))
    st.button(texts("lobby.try_again"))


def choose_study(context: AppContext, person: Person) -> Study | None:
    """Return the study an expert works in; draw a choice where there are several.

    Args:
        context: The server's context.
        person: An expert.

    Returns:
        The study, or None when the page drawn is all there is for now.
    """
    with context.db.read() as session:
        studies = [study for study in studies_of(session, person.id) if study.state == "open"]
    if len(studies) == 1:
        return studies[0]
    # In the address, so that a reload comes back to the same study.
    chosen = st.query_params.get(CHOSEN)
    for study in studies:
        if study.id == chosen:
            return study
    style("reading")
    texts = words()
    top("MotionJury")
    if not studies:
        st.title(texts("lobby.nothing_title"), anchor=False)
        st.write(texts("lobby.nothing"))
        st.button(texts("lobby.look"))
        return None
    st.title(texts("lobby.studies_title"), anchor=False)
    for study in studies:
        title = f"{study.name} · {PROTOCOLS[study.protocol].title}"
        if st.button(plain_text(title), key=f"study-{study.id}"):
            st.query_params[CHOSEN] = study.id
            st.rerun()
    return None
