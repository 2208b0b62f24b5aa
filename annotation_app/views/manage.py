"""One study as a whole: launch, pause, deadline, close, checks on attention, who said what."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views import rendering
from annotation_app.views.frame import act, banner, done, plain_text, table
from annotation_app.views.held import short
from audit.access import Person
from audit.adjudication import CloseReport
from audit.checks import ChecksReport, checks_report
from audit.lifecycle import close, launch, move_deadline, pause, resume
from audit.protocols.registry import PROTOCOLS
from audit.studies import Study, progress
from audit.unblinding import unblind, who_said_what


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw what can be done with a study as a whole.

    Raises:
        AccessError: The person is no coordinator.
    """
    with context.db.read() as session:
        known = checks_report(session, study.id)
    _facts(study, known, texts)
    if study.state == "draft":
        rendering.draw(context, person, study, texts)
        st.write(texts("manage.draft"))
        if st.button(texts("manage.launch"), type="primary") and act(
            context, lambda session: launch(session, study.id, person.id), texts
        ):
            done(texts("manage.launched"))
        return
    if study.state == "open":
        _pause(context, person, study, texts)
        _deadline(context, person, study, texts)
        _close(context, person, study, texts)
    _checks(study, known, texts)
    _unblind(context, person, study, texts)


def _facts(study: Study, known: ChecksReport, texts: Texts) -> None:
    config = study.config
    rows: list[list[object]] = [
        [texts("manage.protocol"), f"{PROTOCOLS[study.protocol].title} ({study.protocol})"],
        [texts("manage.rule"), texts.known("rule", study.rule)],
        [texts("manage.items"), str(len(config.item_ids))],
        [texts("manage.ratings"), str(config.ratings_per_item)],
        [texts("manage.seed"), str(config.seed)],
        [texts("manage.lease"), f"{config.lease_minutes:g}"],
        [texts("manage.deadline"), moment(study.deadline)],
    ]
    for name, count in (("training", known.training_items), ("attention", known.attention_items)):
        if count:
            rows.append([texts(f"manage.{name}"), str(count)])
    if config.training_tries is not None:
        rows.append([texts("manage.tries"), str(config.training_tries)])
    if config.repeats:
        rows.append([texts("new.repeats"), str(config.repeats)])
        rows.append([texts("new.repeat_gap"), str(config.repeat_gap)])
    for name in ("allow_3d", "facing_arrow", "legend"):
        if getattr(config, name):
            rows.append([texts(f"new.{name}"), texts("manage.yes")])
    table(texts("manage.frozen"), [texts("manage.setting"), texts("manage.value")], rows)


def _pause(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    st.subheader(texts("manage.pause_title"), anchor=False)
    st.write(texts("manage.pause_help"))
    if study.paused_at is None:
        if st.button(texts("manage.pause")) and act(
            context, lambda session: pause(session, study.id, person.id), texts
        ):
            done(texts("manage.paused"))
    elif st.button(texts("manage.resume"), type="primary") and act(
        context, lambda session: resume(session, study.id, person.id), texts
    ):
        done(texts("manage.resumed"))


def _deadline(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    st.subheader(texts("manage.deadline"), anchor=False)
    with st.form("deadline", border=False):
        limit = deadline_fields(texts, study.deadline)
        sent = st.form_submit_button(texts("manage.move_deadline"))
    if sent and act(
        context, lambda session: move_deadline(session, study.id, limit, person.id), texts
    ):
        done(texts("manage.deadline_moved"))


def deadline_fields(texts: Texts, known: float | None = None) -> float | None:
    """Draw a date and a time in UTC; return UTC seconds, or None without a date."""
    at = None if known is None else datetime.fromtimestamp(known, UTC)
    left, right = st.columns(2)
    day = left.date_input(texts("manage.deadline_day"), value=at.date() if at else None)
    clock = right.time_input(
        texts("manage.deadline_time"),
        value=at.time() if at else datetime(2000, 1, 1, 23, 59).time(),  # noqa: DTZ001
    )
    if not day or not clock:
        return None
    return datetime.combine(day, clock, UTC).timestamp()


def _close(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    with context.db.read() as session:
        found = progress(session, study.id)
    st.subheader(texts("manage.close_title"), anchor=False)
    st.write(texts("manage.close_help", rule=texts.known("rule", study.rule)))
    open_items = found.items - found.complete
    if open_items:
        st.write(texts.count("manage.close_open", open_items))
    with st.form("close", border=False):
        sure = st.checkbox(texts("manage.close_sure"))
        sent = st.form_submit_button(texts("manage.close"))
    if sent and not sure:
        st.error(texts("manage.confirm_first"))
    elif sent:
        reports: list[CloseReport] = []
        if act(context, lambda session: reports.append(close(session, study.id, person.id)), texts):
            decided = ", ".join(
                f"{n} {texts.known('outcome', name)}" for name, n in reports[0].outcomes.items()
            )
            done(texts("manage.closed", decided=decided or texts("manage.nothing")))


def _checks(study: Study, report: ChecksReport, texts: Texts) -> None:
    if not (report.attention_items or report.repeats_wanted or report.training_items):
        return
    if not study.tells_codes:
        st.subheader(texts("manage.checks"), anchor=False)
    if report.first_try_share is not None:
        st.write(texts("manage.first_try", share=f"{report.first_try_share:.0%}"))
    if not study.tells_codes:
        st.write(texts("manage.checks_later"))
        return
    rows = []
    for expert in report.experts:
        same = sum(one.same for one in expert.stability.values())
        pairs = sum(one.pairs for one in expert.stability.values())
        row = [
            expert.code,
            f"{expert.passed} / {expert.attention}" if expert.attention else None,
            f"{same} / {pairs}" if pairs else None,
        ]
        if (training := expert.training) is not None:
            first = f"{training.first} / {training.tried}" if training.tried else None
            row += [first, str(training.tries) if training.tries else None]
        rows.append(row)
    names = ["code", "attention", "same"]
    if study.unblinded_at is not None:
        names += ["first", "tries"]
    table(texts("manage.checks"), [texts(f"manage.checks_{name}") for name in names], rows)
    if study.unblinded_at is None and report.training_items:
        st.caption(texts("manage.training_later"))


def _unblind(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    st.subheader(texts("manage.blind_title"), anchor=False)
    if study.unblinded_at is None:
        st.write(texts("manage.blind"))
        with st.form("unblind", border=False):
            reason = st.text_input(texts("manage.reason"), max_chars=1000)
            sure = st.checkbox(texts("manage.unblind_sure"))
            sent = st.form_submit_button(texts("manage.unblind"))
        if sent and not sure:
            st.error(texts("manage.confirm_first"))
        elif sent and act(
            context, lambda session: unblind(session, study.id, reason, person.id), texts
        ):
            done(texts("manage.unblinded"))
        return
    banner(texts("manage.unblinded_since", when=moment(study.unblinded_at)))
    with context.db.read() as session:
        found = who_said_what(session, study.id, person.id)
    rows = [
        [
            short(one.item_id),
            one.code,
            one.name,
            one.revision,
            "; ".join(f"{name}: {value}" for name, value in one.answers.items()),
        ]
        for one in found
    ]
    names = ("item", "code", "name", "revision", "answers")
    with st.expander(plain_text(texts("manage.who_said_what")), expanded=False):
        table(texts("manage.who_said_what"), [texts(f"manage.who_{name}") for name in names], rows)


def moment(at: float | None) -> str:
    """Return a time as date, hour and minute in UTC; a dash for none."""
    return "—" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
