"""The labelling component, registered once a language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from annotation_app import player
from annotation_app.texts import LANGUAGES, Texts
from annotation_app.texts import texts as texts_of

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_components = {
    language: st.components.v2.component(
        f"labelling-{language}",
        html=texts_of(language).fill(player.source("labelling.html")),
        css=player.source("labelling.css"),
        js=player.script(),
    )
    for language in LANGUAGES
}


def component(texts: Texts) -> ComponentRenderer:
    """Return the component whose markup is in the language of these words."""
    return _components[texts.language]
