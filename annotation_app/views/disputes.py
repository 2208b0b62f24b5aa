"""What experts disagree on, the most disputed first, and settling it with a reason."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views import item as item_view
from annotation_app.views.frame import act, bar, distinct, done, table
from annotation_app.views.held import short
from audit.access import Person
from audit.adjudication import Outcome
from audit.disputes import Dispute, disputes, settle, withdraw_item
from audit.preview import preview_item
from audit.protocols.registry import PROTOCOLS
from audit.studies import Study

_LISTED = 100
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw the disputed items and, for one of them, all votes and the ways to settle it.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        found = disputes(session, study.id, person.id)
    st.write(texts("disputes.lead"))
    apart = [one for one in found if one.disagreement]
    if not found:
        st.write(texts("progress.no_answers"))
        return
    rows = [
        [
            short(one.item_id),
            bar(one.disagreement or 0.0),
            "—" if one.disagreement is None else f"{one.disagreement:.2f}",
            f"{one.ratings} / {one.wanted}",
            ", ".join(one.stratum.values()).replace("_", " "),
            _state(one, texts),
        ]
        for one in apart[:_LISTED]
    ]
    names = ("item", "", "apart", "ratings", "kind", "state")
    heads = [texts(f"disputes.{name}") if name else "" for name in names]
    if rows:
        table(texts.count("disputes.table", len(apart)), heads, rows)
    else:
        st.write(texts("disputes.none"))
    known = {one.item_id: one for one in found}
    # Labels do not tell the state: a choice whose label has changed is lost.
    labels = distinct({one.item_id: short(one.item_id) for one in found})
    chosen = st.selectbox(
        texts("disputes.choose"),
        list(known),
        format_func=labels.__getitem__,
        key=f"dispute-{study.id}",
    )
    st.caption(_state(known[chosen], texts))
    _one(context, person, study, known[chosen], texts)


def _one(context: AppContext, person: Person, study: Study, dispute: Dispute, texts: Texts) -> None:
    with context.db.write() as session:
        item = preview_item(session, study.id, dispute.item_id, person.id)
    with st.container(border=True):
        item_view.draw(item, texts)
        votes(study, dispute.votes, texts)
    if dispute.state != "in_review":
        return
    # A form of its own: what is entered for one item is never sent for another.
    with st.form(f"settle-{dispute.item_id}", border=False, clear_on_submit=True):
        outcome = st.radio(
            texts("disputes.outcome"),
            OUTCOMES,
            format_func=lambda one: texts(f"disputes.settle_{one}"),
            horizontal=True,
            index=None,
        )
        reason = st.text_area(texts("disputes.reason"), max_chars=2000, height=80)
        left, right = st.columns(2)
        settled = left.form_submit_button(texts("disputes.settle"), type="primary", width="stretch")
        gone = study.state == "open" and right.form_submit_button(
            texts("disputes.withdraw"), width="stretch", help=texts("disputes.withdraw_help")
        )
    key = dispute.item_id
    if settled and outcome is None:
        st.error(texts("disputes.no_outcome"))
    elif settled and outcome is not None:
        verdict = outcome
        if act(
            context,
            lambda session: settle(session, study.id, key, verdict, reason, person.id),
            texts,
        ):
            done(texts("disputes.settled", outcome=texts.known("outcome", verdict)))
    if gone and act(
        context, lambda session: withdraw_item(session, study.id, key, reason, person.id), texts
    ):
        done(texts("disputes.withdrawn"))


def votes(study: Study, counts: dict[str, dict[str, int]], texts: Texts) -> None:
    """Draw how often each answer was given, question by question, without names or codes."""
    protocol = PROTOCOLS[study.protocol]
    rows: list[list[object]] = []
    for name, count in counts.items():
        question = protocol.question(name)
        words = {option.value: option.text for option in question.options}
        told = ", ".join(f"{n} × {words.get(value, value)}" for value, n in count.items() if n)
        rows.append([question.text.replace("{target}", "…"), told])
    heads = [texts("disputes.question"), texts("disputes.answers")]
    table(texts("disputes.votes"), heads, rows)


def _state(dispute: Dispute, texts: Texts) -> str:
    if dispute.outcome is not None:
        return texts.known("outcome", dispute.outcome)
    return texts.known("item_state", dispute.state)
