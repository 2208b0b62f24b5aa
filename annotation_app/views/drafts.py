"""Drafted items before anybody judges them: how many of which kind, one in full, and on to a study.

For coordinators only: answers, sources and flags stand here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import Texts
from annotation_app.views import rendering
from annotation_app.views.frame import plain_text, table
from annotation_app.views.held import short
from annotation_app.views.new_study import CHOSEN, PROTOCOL, filtered
from audit.people import require
from audit.protocols.registry import PROTOCOLS
from audit.shown import KINDS
from audit.stimuli import clip_video
from audit.studies import free_items
from benchmarks.items import Benchmark, Item
from construction.report import flags
from render.fit import FAR_MM, far_joints
from store.clips import get_media

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from audit.access import Person

_MOST_ROWS = 60
"""So many cells of the table are drawn, those with most items first."""
_MOST_LISTED = 500
"""So many items can be looked at; filters lead to the others."""
_WORDS = 70
"""Characters of an item's text in the list."""


def draw(context: AppContext, person: Person, texts: Texts) -> bool:
    """Draw the drafted items.

    Args:
        context: The server's context.
        person: A coordinator.
        texts: Words of the page.

    Returns:
        Whether a study is to be made of what was filtered; it is kept for the form.

    Raises:
        AccessError: The person is no coordinator.
    """
    st.title(texts("drafts.title"), anchor=False)
    with context.db.read() as session:
        found = _drafted(session, person)
    if not found:
        st.write(texts("drafts.none"))
        return False
    benchmark = st.selectbox(
        texts("drafts.benchmark"),
        list(found),
        key="drafts-benchmark",
    )
    items = _of_kinds(found[benchmark], benchmark, texts)
    items = filtered(items, f"drafts-{benchmark}", texts)
    flagged = [item for item in items if flags(item)]
    if flagged and st.checkbox(texts("drafts.flagged", n=len(flagged)), key="drafts-flagged"):
        items = flagged
    if not items:
        st.write(texts("drafts.nothing_fits"))
        return False
    _counts(items, texts)
    wanted = _study(benchmark, items, texts)
    _one(context, items, texts)
    return wanted


def _drafted(session: Session, person: Person) -> dict[Benchmark, list[Item]]:
    require(session, person.id, "coordinator")
    found: dict[Benchmark, list[Item]] = {}
    for benchmark in get_args(Benchmark):
        items = [one for one in free_items(session, benchmark) if one.state == "drafted"]
        if items:
            found[benchmark] = items
    return found


def _of_kinds(items: list[Item], benchmark: str, texts: Texts) -> list[Item]:
    count = Counter(item.kind for item in items)
    if len(count) < 2:
        return items
    wanted = st.multiselect(
        texts("new.only", kind=texts("drafts.kind")),
        sorted(count),
        format_func=_name,
        placeholder=texts("new.any"),
        key=f"drafts-kind-{benchmark}",
    )
    return [item for item in items if not wanted or item.kind in wanted]


def _counts(items: Sequence[Item], texts: Texts) -> None:
    names = sorted({name for item in items for name in item.stratum})
    # A stratum that hardly repeats, such as a clip's name, tells items apart and sums up nothing.
    names = [
        name
        for name in names
        if len({item.stratum.get(name) for item in items}) <= max(12, len(items) // 4)
    ]
    cells = Counter((item.kind, *(item.stratum.get(name, "—") for name in names)) for item in items)
    marked = Counter(
        (item.kind, *(item.stratum.get(name, "—") for name in names))
        for item in items
        if flags(item)
    )
    rows = [
        [*(value.replace("_", " ") for value in cell), count, marked[cell]]
        for cell, count in sorted(cells.most_common(_MOST_ROWS))
    ]
    heads = [
        texts("drafts.kind"),
        *(texts.known("stratum", name) for name in names),
        texts("progress.items"),
        texts("drafts.flagged_column"),
    ]
    table(texts.count("drafts.table", len(items)), heads, rows)


def _study(benchmark: Benchmark, items: Sequence[Item], texts: Texts) -> bool:
    kinds = Counter(item.kind for item in items)
    fitting = {
        name: sum(kinds[kind] for kind in protocol.kinds or tuple(kinds))
        for name, protocol in PROTOCOLS.items()
        if protocol.benchmark == benchmark
    }
    if not any(fitting.values()):
        st.write(texts("drafts.no_protocol"))
        return False
    if not st.button(texts.count("drafts.study", len(items)), type="primary"):
        return False
    st.session_state[CHOSEN] = tuple(item.id for item in items)
    st.session_state[PROTOCOL] = max(fitting, key=fitting.__getitem__)
    return True


def _one(context: AppContext, items: Sequence[Item], texts: Texts) -> None:
    st.subheader(texts("drafts.one"), anchor=False)
    listed = {item.id: item for item in items[:_MOST_LISTED]}
    if len(items) > len(listed):
        st.caption(texts("drafts.first", n=len(listed)))
    chosen = st.selectbox(
        texts("drafts.item"), list(listed), format_func=lambda one: _line(listed[one])
    )
    item = listed[chosen]
    left, right = st.columns([2, 3], gap="large")
    with left:
        _clip(context, item, texts)
    with right:
        for line in flags(item):
            st.warning(plain_text(line))
        rows = [[_name(name), _words(value)] for name, value in item.payload.items()]
        table(texts("drafts.payload"), [texts("drafts.part"), texts("drafts.content")], rows)
    made = item.provenance.model_dump(exclude={"parameters"})
    kept = {**made, **item.provenance.parameters}
    with st.expander(texts("drafts.provenance")):
        rows = [[_name(name), _words(value)] for name, value in kept.items() if value]
        table(texts("drafts.provenance"), [texts("drafts.part"), texts("drafts.content")], rows)
        st.caption(f"{item.id} · {item.kind}")


def _clip(context: AppContext, item: Item, texts: Texts) -> None:
    clip_id = KINDS[item.kind].shown(item.payload).clip_id if item.kind in KINDS else None
    if clip_id is None:
        st.write(texts("drafts.no_clip"))
        return
    with context.db.read() as session:
        key = clip_video(session, clip_id)
        media = None if key is None else get_media(session, key)
    path: Path | None = None if media is None else context.media_dir / media.file
    if media is None or path is None or not path.is_file():
        st.write(texts("drafts.not_rendered", clip=plain_text(clip_id)))
        return
    st.video(path, loop=True, muted=True, autoplay=True)
    st.caption(plain_text(clip_id))
    if far := far_joints(media.fit_error_mm):
        named = rendering.joints(far, texts)
        st.warning(texts("render.far_here", mm=f"{FAR_MM:g}", joints=named))


def _line(item: Item) -> str:
    """Return an item's place in the list: its id and the first words of it."""
    shown = KINDS[item.kind].shown(item.payload) if item.kind in KINDS else None
    text = "" if shown is None else shown.prompt or " / ".join(text for _, text in shown.captions)
    mark = "⚑ " if flags(item) else ""
    return f"{mark}{short(item.id)} · {text[:_WORDS]}"


def _name(name: str) -> str:
    return name.replace("_", " ")


def _words(value: Any) -> str:
    """Return a value of a record as a person reads it.

    >>> _words({"start": 3, "parts": ["left arm", "head"]})
    'start: 3; parts: left arm · head'
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{_name(str(key))}: {_words(one)}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return " · ".join(_words(one) for one in value)
    if value is None:
        return "—"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
