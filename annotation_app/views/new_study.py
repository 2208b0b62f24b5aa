"""Making a study in the browser: protocol, items by filter, ratings, experts, seed, deadline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views.frame import act, distinct, done
from annotation_app.views.manage import deadline_fields
from audit.access import Person, list_people
from audit.adjudication import rules_for
from audit.gold import add_attention, add_training
from audit.known_answers import read_known
from audit.lifecycle import launch
from audit.members import add_member
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.studies import StudyConfig, StudyError, create_study, free_items
from benchmarks.items import content_hash

if TYPE_CHECKING:
    from sqlalchemy.orm import Session
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from benchmarks.items import Item

CHOSEN = "new-study-items"
"""Session key: ids of the only items to choose from, set by the page of drafts."""
PROTOCOL = "new-study-protocol"
"""Session key of the protocol that is chosen."""
_MOST_VALUES = 40
"""A stratum with more values than this is no filter."""


def draw(context: AppContext, person: Person, texts: Texts) -> None:
    """Draw the form of a new study.

    Args:
        context: The server's context.
        person: A coordinator.
        texts: Words of the page.
    """
    st.title(texts("new.title"), anchor=False)
    name = st.text_input(texts("new.name"), max_chars=120)
    key = st.selectbox(
        texts("new.protocol"),
        list(PROTOCOLS),
        format_func=lambda one: f"{PROTOCOLS[one].title} ({one})",
        key=PROTOCOL,
    )
    protocol = PROTOCOLS[key]
    st.caption(protocol.paper)
    with context.db.read() as session:
        free = free_items(session, protocol.benchmark, protocol.kinds)
        experts = distinct(
            {
                one.id: one.name + (f" ({texts('progress.simulated')})" if one.simulated else "")
                for one in list_people(session)
                if one.active and one.role == "expert"
            }
        )
    only = st.session_state.get(CHOSEN)
    if only is not None:
        free = [item for item in free if item.id in set(only)]
        told, every = st.columns([3, 1], vertical_alignment="center")
        told.info(texts.count("new.from_drafts", len(only), taken=len(free)))
        if every.button(texts("new.all_items"), width="stretch"):
            del st.session_state[CHOSEN]
            st.rerun()
    items = filtered(free, key, texts)
    if not free:
        st.warning(texts("new.no_items", benchmark=protocol.benchmark))
        return
    limit = st.number_input(
        texts("new.limit"),
        1,
        max(len(items), 1),
        max(len(items), 1),
        key=f"limit-{key}-{len(items)}",
    )
    st.write(texts.count("new.matching", len(items), taken=min(int(limit), len(items))))
    left, middle, right = st.columns(3)
    ratings = left.number_input(
        texts("new.ratings"), 1, 1000, protocol.ratings_per_item, key=f"ratings-{key}"
    )
    seed = middle.number_input(texts("new.seed"), 0, 2**31 - 1, 0, help=texts("new.seed_help"))
    lease = right.number_input(texts("new.lease"), 1, 10_000, 30, help=texts("new.lease_help"))
    rules = rules_for(protocol)
    rule = st.selectbox(
        texts("new.rule"),
        rules,
        index=rules.index(protocol.decision),
        format_func=lambda one: texts.known("rule", one),
        key=f"rule-{key}",
    )
    label = None
    if protocol.study_labels:
        label = st.selectbox(texts("new.label"), protocol.study_labels, index=None)
    allow_3d = protocol.allows_3d and st.checkbox(texts("new.allow_3d"))
    arrow, legend = False, False
    if protocol.shows_clip:
        arrow = st.checkbox(texts("new.facing_arrow"), key=f"arrow-{key}")
        legend = st.checkbox(texts("new.legend"), key=f"legend-{key}")
    deadline = deadline_fields(texts)
    chosen = st.multiselect(
        texts("new.experts"),
        list(experts),
        format_func=experts.__getitem__,
        placeholder=texts("console.choose" if experts else "new.no_experts"),
        disabled=not experts,
    )
    checks = _checks_on_experts(key, texts)
    keep, start = st.columns(2)
    # Where other items fit by now, the press does not count: the form shows them first.
    these = content_hash([one.id for one in items])
    draft = keep.button(texts("new.create"), width="stretch", key=f"create-{these}")
    begin = start.button(
        texts("new.launch"), type="primary", width="stretch", key=f"launch-{these}"
    )
    if not (draft or begin):
        return

    def change(session: Session) -> None:
        if not name.strip():
            raise StudyError("expected a study name of printable characters")
        picked = sorted(items, key=lambda one: content_hash([seed, one.id], digits=64))
        config = StudyConfig(
            name=name,
            protocol=key,
            item_ids=tuple(sorted(one.id for one in picked[: int(limit)])),
            ratings_per_item=int(ratings),
            seed=int(seed),
            lease_minutes=float(lease),
            decision=None if rule == protocol.decision else rule,
            label=label,
            deadline=deadline,
            allow_3d=bool(allow_3d),
            facing_arrow=arrow,
            legend=legend,
            repeats=checks.repeats,
            repeat_gap=checks.gap,
            training_tries=checks.tries if checks.training is not None else None,
        )
        study = create_study(session, config, person.id)
        for add, file in ((add_training, checks.training), (add_attention, checks.attention)):
            if file is not None:
                known = read_known(session, file.getvalue(), protocol, file.name)
                add(session, study.id, known, person.id)
        for expert in chosen:
            add_member(session, study.id, expert, person.id)
        if begin:
            launch(session, study.id, person.id)
        st.query_params.update({"study": study.id, "page": "people" if begin else "manage"})

    if act(context, change, texts):
        st.session_state.pop(CHOSEN, None)
        for widget in ("console-page", "console-study"):
            st.session_state.pop(widget, None)
        done(texts("new.launched" if begin else "new.created", name=name.strip()))


class _Checks(NamedTuple):
    """Items with known answers, and how often experts see their own again."""

    training: UploadedFile | None
    attention: UploadedFile | None
    repeats: int
    gap: int
    tries: int | None


def _checks_on_experts(key: str, texts: Texts) -> _Checks:
    with st.expander(texts("new.checks")):
        st.write(texts("new.practice"))
        st.code(_example(PROTOCOLS[key]), language="json", wrap_lines=True)
        left, right = st.columns(2)
        training = left.file_uploader(texts("new.training"), "json", key=f"training-{key}")
        attention = right.file_uploader(texts("new.attention"), "json", key=f"attention-{key}")
        tries = left.number_input(texts("new.tries"), 0, 100, 0, help=texts("new.tries_help"))
        left, right = st.columns(2)
        repeats = left.number_input(texts("new.repeats"), 0, 1000, 0, help=texts("new.repeat_help"))
        gap = right.number_input(texts("new.repeat_gap"), 1, 1000, 10)
    return _Checks(training, attention, int(repeats), int(gap), int(tries) or None)


def _example(protocol: Protocol) -> str:
    """Return how a file with one known item of a protocol looks."""
    known = {
        question.name: question.domain[0]
        for question in protocol.questions
        if question.required
        and question.domain
        and question.shown_when is None
        # Nobody knows how sure somebody should be.
        and question.name != "confidence"
    }
    entry = {"item_id": "…", "answers": known or {"answer": "…"}, "explanation": "…"}
    return json.dumps([entry], ensure_ascii=False)


def filtered(free: list[Item], key: str, texts: Texts) -> list[Item]:
    """Draw a choice of values for each stratum; return the items that have all those chosen.

    Args:
        free: Items to choose from.
        key: Tells the fields of one list of items from those of another.
        texts: Words of the page.
    """
    values: dict[str, dict[str, int]] = {}
    for item in free:
        for stratum, value in item.stratum.items():
            count = values.setdefault(stratum, {})
            count[value] = count.get(value, 0) + 1
    kept = free
    for stratum, count in sorted(values.items()):
        if not 1 < len(count) <= _MOST_VALUES:
            continue
        wanted = st.multiselect(
            texts("new.only", kind=texts.known("stratum", stratum)),
            sorted(count),
            format_func=_value,
            placeholder=texts("new.any"),
            key=f"only-{key}-{stratum}",
        )
        if wanted:
            kept = [item for item in kept if item.stratum.get(stratum) in wanted]
    return kept


def _value(value: str) -> str:
    # Without a count: a choice whose label changes is dropped, and everything would fit.
    return value.replace("_", " ")
