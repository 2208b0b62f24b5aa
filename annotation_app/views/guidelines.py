"""The guidelines of a study: one page with worked examples, and the word that they were read."""

from __future__ import annotations

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.views.frame import style, top
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
    protocol = PROTOCOLS[study.protocol]
    style("reading")
    top(protocol.title, study.name)
    st.title("Before you start", anchor=False)
    text(protocol)
    after = "Next come the items." if known.trained else "Next comes a short practice."
    st.write(f"You can open these guidelines again at any time with the key **g**. {after}")
    if st.button("I have read this", type="primary"):
        with context.db.write() as session:
            acknowledge_guidelines(session, study.id, person.id)
        st.rerun()
    return False


def text(protocol: Protocol) -> None:
    """Draw the guidelines and examples of a protocol."""
    st.markdown(protocol.guidelines)
    if protocol.examples:
        st.subheader("Worked examples", anchor=False)
    for example in protocol.examples:
        with st.container(border=True):
            st.markdown(f"**{example.title}**")
            st.markdown(example.body)
