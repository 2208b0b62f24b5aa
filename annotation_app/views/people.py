"""Who takes part and who has access: names without codes, links that are shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views.frame import act, act_on_one, distinct, done, pick, plain_text, table
from annotation_app.views.manage import moment
from audit.access import add_person, invite, list_people, revoke
from audit.members import add_member, retire, roster
from audit.people import ROLES, Person
from audit.studies import Study
from audit.tries import allow_tries

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_LINK = "personal-link"
"""Session key: whose link was just made, and the link; it is nowhere else."""
_DAYS = 30


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw who takes part in a study, and ways to add and retire experts.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        seats = roster(session, study.id, person.id)
        others = [one for one in list_people(session) if one.active and one.role == "expert"]
    names = distinct({seat.person_id: seat.name for seat in seats})
    rows = [
        [
            names[seat.person_id] + (f" ({texts('progress.simulated')})" if seat.simulated else ""),
            texts("people.revoked")
            if not seat.active
            else texts("people.left", when=moment(seat.retired_at))
            if seat.retired_at is not None
            else texts("people.stopped" if seat.stopped else "people.taking_part"),
        ]
        for seat in seats
    ]
    st.write(texts("people.no_codes"))
    table(texts("people.experts"), [texts("people.name"), texts("people.state")], rows)
    inside = {seat.person_id for seat in seats if seat.retired_at is None}
    if study.state != "closed":
        free = {one.id: one.name for one in others if one.id not in inside}
        _add(context, person, study, free, texts)
        now = {s.person_id: names[s.person_id] for s in seats if s.retired_at is None and s.active}
        stopped = {s.person_id: names[s.person_id] for s in seats if s.stopped}
        if stopped:
            _allow(context, person, study, stopped, texts)
        if now:
            _retire(context, person, study, now, texts)
    everybody(context, person, texts)


def everybody(context: AppContext, person: Person, texts: Texts) -> None:
    """Draw everyone with access to the workspace, with new links and the taking away of access."""
    with context.db.read() as session:
        people = list_people(session)
    called = distinct({one.id: one.name for one in people})
    with st.expander(texts("people.everybody")):
        rows = [
            [
                called[one.id],
                texts.known("role", one.role),
                texts("people.active" if one.active else "people.revoked"),
            ]
            for one in people
        ]
        heads = [texts(f"people.{name}") for name in ("name", "role", "state")]
        table(texts("people.everybody"), heads, rows)
        _person(context, person, texts)
        active = {one.id: called[one.id] for one in people if one.active}
        with st.form("access", border=False):
            chosen = pick(texts("people.who"), active, texts)
            left, right = st.columns(2)
            renew = left.form_submit_button(texts("people.new_link"), width="stretch")
            sure = right.checkbox(texts("people.revoke_sure", name=""))
            gone = right.form_submit_button(texts("people.revoke"), width="stretch")
        if chosen is None:
            if renew or gone:
                st.error(texts("console.choose_first"))
            return
        if renew:
            _invite(context, person, chosen, active[chosen], texts)
        if gone and not sure:
            st.error(texts("manage.confirm_first"))
        elif gone and act(context, lambda session: revoke(session, chosen, actor=person.id), texts):
            done(texts("people.access_gone", name=active[chosen]))


def _add(
    context: AppContext, person: Person, study: Study, free: dict[str, str], texts: Texts
) -> None:
    st.subheader(texts("people.add_title"), anchor=False)
    if free:
        known = act_on_one(
            context, "add-known", texts("people.known"), free, texts("people.add_known"),
            lambda session, chosen: add_member(session, study.id, chosen, person.id), texts,
        )  # fmt: skip
        if known is not None:
            done(texts("people.added", name=free[known]))
    with st.form("add-new", border=False, clear_on_submit=True):
        name = st.text_input(texts("people.new_name"), max_chars=120)
        email = st.text_input(texts("people.email"), max_chars=254, help=texts("people.email_help"))
        sent = st.form_submit_button(texts("people.add_new"))
    if sent:
        links: list[str] = []

        def change(session: Session) -> None:
            expert = add_person(
                session, name, "expert", email=email.strip() or None, actor=person.id
            )
            add_member(session, study.id, expert.id, person.id)
            links.append(invite(session, expert.id, _DAYS, actor=person.id))

        if act(context, change, texts):
            st.session_state[_LINK] = (name.strip(), _address(links[0]))
            done(texts("people.added", name=name.strip()))


def _allow(
    context: AppContext, person: Person, study: Study, stopped: dict[str, str], texts: Texts
) -> None:
    st.subheader(texts("people.allow_title"), anchor=False)
    st.write(texts("people.allow_help"))
    allowed = act_on_one(
        context, "allow", texts("people.allow_who"), stopped, texts("people.allow"),
        lambda session, chosen: allow_tries(session, study.id, chosen, person.id), texts,
    )  # fmt: skip
    if allowed is not None:
        done(texts("people.allowed", name=stopped[allowed]))


def _retire(
    context: AppContext, person: Person, study: Study, now: dict[str, str], texts: Texts
) -> None:
    st.subheader(texts("people.retire_title"), anchor=False)
    st.write(texts("people.retire_help"))
    with st.form("retire", border=False):
        chosen = pick(texts("people.who"), now, texts)
        replace = st.checkbox(texts("people.replace"))
        sent = st.form_submit_button(texts("people.retire"))
    if not sent:
        return
    if chosen is None:
        st.error(texts("console.choose_first"))
        return
    counts: list[int] = []
    if act(
        context,
        lambda session: counts.append(
            retire(session, study.id, chosen, replace=replace, actor=person.id)
        ),
        texts,
    ):
        done(texts.count("people.retired", counts[0], name=now[chosen]))


def _person(context: AppContext, person: Person, texts: Texts) -> None:
    with st.form("person", border=False, clear_on_submit=True):
        name = st.text_input(texts("people.new_name"), max_chars=120, key="person-name")
        role = st.selectbox(
            texts("people.role"), ROLES, format_func=lambda one: texts.known("role", one)
        )
        email = st.text_input(texts("people.email"), max_chars=254, key="person-email")
        sent = st.form_submit_button(texts("people.add_person"))
    if not sent:
        return
    links: list[str] = []

    def change(session: Session) -> None:
        one = add_person(session, name, role, email=email.strip() or None, actor=person.id)
        links.append(invite(session, one.id, _DAYS, actor=person.id))

    if act(context, change, texts):
        st.session_state[_LINK] = (name.strip(), _address(links[0]))
        done(texts("people.person_added", name=name.strip()))


def _invite(context: AppContext, person: Person, person_id: str, name: str, texts: Texts) -> None:
    links: list[str] = []
    if act(
        context,
        lambda session: links.append(invite(session, person_id, _DAYS, actor=person.id)),
        texts,
    ):
        st.session_state[_LINK] = (name, _address(links[0]))
        st.rerun()


def link(texts: Texts) -> None:
    """Draw a link that was just made until it is put away; it cannot be shown again."""
    made = st.session_state.get(_LINK)
    if made is None:
        return
    name, link = made
    with st.container(border=True, key="link"):
        st.write(texts("people.link", name=plain_text(name), days=_DAYS))
        st.code(link, language=None, wrap_lines=True)
        if st.button(texts("people.link_copied"), type="primary"):
            del st.session_state[_LINK]
            st.rerun()


def _address(secret: str) -> str:
    here = urlsplit(str(st.context.url))
    return f"{here.scheme}://{here.netloc}/enter/{secret}"
