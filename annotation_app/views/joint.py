"""Joint editing: the room of an item that experts want revised, its new version, its history."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views import item as item_view
from annotation_app.views.disputes import votes
from annotation_app.views.frame import (
    act,
    act_on_one,
    distinct,
    done,
    plain_text,
    style,
    table,
    top,
)
from annotation_app.views.held import short
from annotation_app.views.manage import moment
from audit.access import Person
from audit.joint import (
    NOTE_LIMIT,
    Opinion,
    add_note,
    comments_and_edits,
    invite_to_joint,
    joint_items,
    joint_rooms_of,
    joint_view,
    notes,
    propose_version,
)
from audit.lineage import lineage
from audit.members import roster
from audit.protocols.registry import PROTOCOLS
from audit.records import item_record
from audit.studies import Study

ROOM = "room"
"""Query parameter of an invited expert: the place of the room in their list, from 1 on."""


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw the items to be revised and the room of one of them.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        found = joint_items(session, study.id, person.id)
    st.write(texts("joint.lead"))
    if not found:
        st.write(texts("joint.nothing"))
        return
    known = {one.item_id: one for one in found}
    # Labels do not tell the state: a choice whose label has changed is lost.
    labels = distinct({one.item_id: short(one.item_id) for one in found})
    chosen = st.selectbox(
        texts("joint.choose"), list(known), format_func=labels.__getitem__, key=f"joint-{study.id}"
    )
    room = known[chosen]
    st.caption(texts("joint.done" if room.child else "joint.open"))
    _room(context, person, study, chosen, texts)
    if room.votes:
        votes(study, room.votes, texts)
    if room.child is None:
        _invite(context, person, study, chosen, texts)
        _version(context, person, study, chosen, texts)
    _history(context, person, chosen, texts)


def draw_invited(context: AppContext, person: Person, study: Study, texts: Texts) -> bool:
    """Draw the room an invited expert chose; say which rooms there are where they chose none.

    Returns:
        Whether a room fills the page.
    """
    with context.db.read() as session:
        rooms = joint_rooms_of(session, study.id, person.id)
    place = st.query_params.get(ROOM, "")
    if place.isdecimal() and 1 <= int(place) <= len(rooms):
        style("reading")
        top(PROTOCOLS[study.protocol].title, study.name)
        st.title(texts("joint.room"), anchor=False)
        st.write(texts("joint.room_lead"))
        if st.button(texts("joint.back")):
            del st.query_params[ROOM]
            st.rerun()
        _room(context, person, study, rooms[int(place) - 1], texts)
        return True
    return False


def doors(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw a button for each room an expert was invited to."""
    with context.db.read() as session:
        rooms = joint_rooms_of(session, study.id, person.id)
    for at in range(1, len(rooms) + 1):
        if st.button(texts("joint.enter", n=at), key=f"room-{at}"):
            st.query_params[ROOM] = str(at)
            st.rerun()


def _room(context: AppContext, person: Person, study: Study, item_id: str, texts: Texts) -> None:
    with context.db.write() as session:
        shown = joint_view(session, study.id, item_id, person.id)
        opinions = comments_and_edits(session, study.id, item_id, person.id)
        remarks = notes(session, study.id, item_id, person.id)
    with st.container(border=True):
        item_view.draw(shown, texts)
    st.subheader(texts("joint.opinions"), anchor=False)
    for opinion in opinions:
        with st.container(border=True):
            item_view.facts(_said(study, opinion))
    st.subheader(texts("joint.remarks"), anchor=False)
    for remark in remarks:
        who = texts("joint.you" if remark.own else "joint.somebody")
        st.markdown(f"**{who}** · {plain_text(remark.text)}")
    with st.form("remark", border=False, clear_on_submit=True):
        text = st.text_area(texts("joint.remark"), max_chars=NOTE_LIMIT, height=80)
        sent = st.form_submit_button(texts("joint.say"))
    if sent and act(
        context, lambda session: add_note(session, study.id, item_id, text, person.id), texts
    ):
        st.rerun()


def _said(study: Study, opinion: Opinion) -> list[tuple[str, str]]:
    pairs = []
    for question in PROTOCOLS[study.protocol].questions:
        given = opinion.answers.get(question.name)
        if given in (None, "", []):
            continue
        words = {option.value: option.text for option in question.options}
        values = given if isinstance(given, list) else [given]
        told = ", ".join(words.get(str(value), str(value)) for value in values)
        pairs.append((question.text.replace("{target}", "…"), told))
    return pairs


def _invite(context: AppContext, person: Person, study: Study, item_id: str, texts: Texts) -> None:
    with context.db.read() as session:
        seats = {
            seat.person_id: seat.name
            for seat in roster(session, study.id, person.id)
            if seat.active and not seat.simulated
        }
    if not seats:
        return
    st.subheader(texts("joint.invite_title"), anchor=False)
    invited = act_on_one(
        context, f"joint-invite-{item_id}", texts("joint.invite"), seats,
        texts("joint.invite_button"),
        lambda session, chosen: invite_to_joint(session, study.id, item_id, chosen, person.id),
        texts,
    )  # fmt: skip
    if invited is not None:
        done(texts("joint.invited", name=seats[invited]))


def _version(context: AppContext, person: Person, study: Study, item_id: str, texts: Texts) -> None:
    with context.db.read() as session:
        record = item_record(session, item_id)
    payload = record["payload"]
    st.subheader(texts("joint.version_title"), anchor=False)
    st.write(texts("joint.version_open" if study.state == "open" else "joint.version_closed"))
    with st.form(f"version-{item_id}", border=False):
        changed: dict[str, Any] = dict(payload)
        for name, value in payload.items():
            words = texts.known("payload", name)
            # What the item is counted under stays as it is.
            if name.endswith(("_id", "id")) or name == "edit" or name in record["stratum"]:
                continue
            if isinstance(value, str):
                changed[name] = st.text_area(words, value, height=80, key=f"{item_id}-{name}")
            elif isinstance(value, list) and all(isinstance(one, str) for one in value):
                lines = st.text_area(
                    texts("joint.lines", name=words), "\n".join(value), key=f"{item_id}-{name}"
                )
                changed[name] = [line.strip() for line in lines.splitlines() if line.strip()]
        reason = st.text_area(texts("joint.reason"), max_chars=1000, height=80)
        sent = st.form_submit_button(texts("joint.make"), type="primary")
    if sent and act(
        context,
        lambda session: propose_version(session, study.id, item_id, changed, reason, person.id),
        texts,
    ):
        done(texts("joint.made"))


def _history(context: AppContext, person: Person, item_id: str, texts: Texts) -> None:
    with context.db.read() as session:
        versions = lineage(session, item_id, person.id)
    rows = [
        [
            short(version.item.id),
            short(version.item.parent) if version.item.parent else "—",
            texts.known("item_state", version.item.state),
            "; ".join(
                f"{moment(one.created_at)}: {texts.known('outcome', one.outcome)} ({one.reason})"
                for one in version.decisions
            )
            or "—",
        ]
        for version in versions
    ]
    names = ("version", "parent", "state", "decided")
    table(texts("joint.history"), [texts(f"joint.history_{name}") for name in names], rows)
