"""The Streamlit script: who is asking decides which page is drawn."""

from __future__ import annotations

import streamlit as st

from annotation_app.context import get_context
from annotation_app.identity import person_of
from annotation_app.views import console, guidelines, label, lobby
from corpus.problems import InputError


def run() -> None:
    """Draw the page of the person behind the cookie."""
    st.set_page_config(page_title="MotionJury", page_icon="⚖️", layout="wide")
    context = get_context()
    person = person_of(context, st.context.cookies)
    if person is None:
        lobby.stranger(context)
        return
    try:
        if person.role == "expert":
            study = lobby.choose_study(context, person)
            if study is not None and guidelines.read(context, person, study):
                label.draw(context, person, study)
        else:
            console.draw(context, person)
    except InputError as error:
        lobby.problem(str(error))


run()
