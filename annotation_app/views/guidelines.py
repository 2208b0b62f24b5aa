"""The guidelines of a study: one page with worked examples, and the word that they were read."""

from __future__ import annotations

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.views.frame import style, top, words
from audit.access import Person
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.records import Study
from audit.training import acknowledge_guidelines, standing


def read(context: AppContext, person: Person, study: Study) -> bool:
    """Return whether the person has read the guidelines; draw the page when not.

    Args:
        context: The server's context.
        person: An expert who takes part in the study.
        study: The study.
    """
    with context.db.read() as session:
        known = standing(session, study.id, person.id)
    if known.guidelines_read:
        return True
    protocol, texts = PROTOCOLS[study.protocol], words()
    style("reading")
    top(protocol.title, study.name)
    st.title(texts("guidelines.title"), anchor=False)
    text(protocol)
    after = texts("guidelines.then_items" if known.trained else "guidelines.then_practice")
    st.write(f"{texts('guidelines.reopen')} {after}")
    if st.button(texts("guidelines.agree"), type="primary"):
        with context.db.write() as session:
            acknowledge_guidelines(session, study.id, person.id)
        st.rerun()
    return False


def dialog(study: Study) -> None:
    """Show the guidelines over the page."""
    st.dialog(words()("label.guidelines"), width="medium")(text)(PROTOCOLS[study.protocol])


def text(protocol: Protocol) -> None:
    """Draw the guidelines and examples of a protocol."""
    st.markdown(protocol.guidelines)
    if protocol.examples:
        st.subheader(words()("guidelines.examples"), anchor=False)
    for example in protocol.examples:
        with st.container(border=True):
            st.markdown(f"**{example.title}**")
            st.markdown(example.body)
