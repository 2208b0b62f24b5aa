"""Which items are held and since when, and taking one back; by whom would lead to a code."""

from __future__ import annotations

import time

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views.frame import act, distinct, done, pick, table
from audit.access import Person
from audit.leases import Lease, leases, reclaim
from audit.studies import Study


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw the items that are open on somebody's desk, each with a way to free it.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        found = leases(session, study.id, person.id)
    st.write(texts("held.lead"))
    if not found:
        st.write(texts("held.nobody"))
        return
    now = time.time()
    items = _labels(found)
    rows = [
        [
            items[lease.assignment_id],
            ago(now - lease.since, texts),
            texts("held.never") if lease.saved_at is None else ago(now - lease.saved_at, texts),
            texts("held.free")
            if lease.expired
            else texts("held.until", minutes=max(round((lease.lease_until - now) / 60), 1)),
        ]
        for lease in found
    ]
    names = ("item", "since", "saved", "state")
    table(texts("held.table"), [texts(f"held.{name}") for name in names], rows)
    kept = {lease.assignment_id: lease for lease in found if not lease.expired}
    if not kept or study.state != "open":
        return
    with st.form("reclaim", border=False):
        chosen = pick(texts("held.take"), {one: items[one] for one in kept}, texts)
        st.caption(texts("held.take_help"))
        sent = st.form_submit_button(texts("held.reclaim"))
    if sent and chosen is None:
        st.error(texts("console.choose_first"))
    elif (
        sent
        and chosen is not None
        and act(context, lambda session: reclaim(session, chosen, actor=person.id), texts)
    ):
        done(texts("held.reclaimed"))


def _labels(found: list[Lease]) -> dict[str, str]:
    # Several experts may hold one item; the assignment tells them apart and names nobody.
    return distinct({lease.assignment_id: short(lease.item_id) for lease in found})


def short(item_id: str) -> str:
    """Return the start of an item's id, enough to tell items apart."""
    return item_id.split(":")[-1][:8]


def ago(seconds: float, texts: Texts) -> str:
    """Return how long ago something was, in whole minutes, hours or days."""
    minutes = int(max(seconds, 0) // 60)
    if minutes < 1:
        return texts("held.just_now")
    if minutes < 120:
        return texts.count("held.minutes_ago", minutes)
    if minutes < 2880:
        return texts.count("held.hours_ago", minutes // 60)
    return texts.count("held.days_ago", minutes // 1440)
