"""How far a study is, by code and by kind of item, and how far the experts agree."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.downloads import FILES, offered
from annotation_app.figures import RESAMPLES
from annotation_app.texts import Texts
from annotation_app.views.frame import Markup, banner, bar, plain_text, small, table, tag
from audit.people import Person, require
from audit.protocols.registry import PROTOCOLS
from audit.pulse import pulse
from audit.studies import Progress, Study, progress
from audit.told import ToldProgress, told_progress
from corpus.problems import InputError

if TYPE_CHECKING:
    from agreement.coefficient import Coefficient
    from agreement.report import CheckReport, Report

_SECONDS = 10.0
"""Seconds between two looks at the counts of an open study."""
_PLAIN = {
    "cluster": "clip",
    "are resampled": "are behind it",
    "is resampled": "is behind it",
    "a label other": "an answer other",
    "undefined in": "it cannot be computed in",
    "of the resamples": "of the random draws",
    "every resample gives": "every random draw gives",
}
"""What the analysis calls things, in plain words; a cluster is a clip here."""
_HEADLINE = ("percent_agreement", "fleiss_kappa", "krippendorff_alpha")


def draw(context: AppContext, person: Person, study: Study, texts: Texts) -> None:
    """Draw the progress page of a study; its counts are drawn anew every few seconds.

    Args:
        context: The server's context.
        person: A coordinator or analyst.
        study: The study.
        texts: Words of the page.
    """
    live = study.state == "open"

    @st.fragment(run_every=_SECONDS if live else None)
    def counts() -> None:
        try:
            with context.db.read() as session:
                require(session, person.id, "coordinator", "analyst")
            _counts(context, study, texts)
        except InputError as error:
            st.error(plain_text(texts.message(str(error))))

    counts()
    _agreement_of(context, study, texts)


def _counts(context: AppContext, study: Study, texts: Texts) -> None:
    with context.db.read() as session:
        found = progress(session, study.id)
    if found.simulated_share:
        share = f"{found.simulated_share:.0%}"
        banner(texts.count("progress.simulated", found.ratings, share=share))
    _totals(found, texts)
    _experts(told_progress(study, found), study.tells_codes, texts)
    _kinds(found, texts)


def _agreement_of(context: AppContext, study: Study, texts: Texts) -> None:
    st.subheader(texts("progress.agreement"), anchor=False)
    place = st.empty()
    with context.db.read() as session:
        known = context.figures.known(pulse(session, study.id))
    if not known:
        # One element takes the place of the tables of whatever study stood here before.
        line = escape(texts("progress.computing"))
        place.html(f'<p class="mj-computing" role="status">{line}</p>')
    report = context.figures.report(context.db, study)
    with place.container():
        _agreement(study, report, texts)


def _totals(found: Progress, texts: Texts) -> None:
    cells = st.columns(4)
    cells[0].metric(texts("progress.complete"), f"{found.complete} / {found.items}")
    cells[1].metric(texts("progress.ratings"), f"{found.ratings} / {found.ratings_wanted}")
    cells[2].metric(texts("progress.held"), found.held)
    outcomes = ", ".join(
        f"{n} {texts.known('outcome', name)}" for name, n in sorted(found.outcomes.items())
    )
    label = texts("progress.decided")
    cells[3].metric(f"{label}: {outcomes}" if outcomes else label, sum(found.outcomes.values()))


def _experts(told: list[ToldProgress], exact: bool, texts: Texts) -> None:
    if not told:
        st.write(texts("progress.no_experts"))
        return
    rows: list[list[object]] = []
    for one in told:
        code, stage = _code(one, texts), texts.known("stage", one.stage)
        if exact:
            total = (one.done or 0) + (one.held or 0) + (one.remaining or 0)
            counts = (one.done, one.held, one.remaining, one.surplus)
            rows.append([code, bar((one.done or 0) / max(total, 1)), *counts, stage])
        else:
            share = texts(f"progress.band_{one.quarters}")
            rows.append([code, bar(one.quarters / 4), share, stage])
    counted = ("done", "holds", "more", "extra") if exact else ("share",)
    names = ("expert", "", *counted, "stage")
    table(texts("progress.experts"), _heads(texts, names), rows)
    if not exact:
        st.caption(texts("progress.blind_note"))


def _code(expert: ToldProgress, texts: Texts) -> str | Markup:
    if not expert.simulated:
        return expert.code
    return Markup(f"{tag(texts('progress.simulated'))} {expert.code}")


def _kinds(found: Progress, texts: Texts) -> None:
    wanted = found.ratings_wanted / max(found.items, 1)
    rows = [
        [
            texts.known("stratum", entry.stratum),
            entry.value.replace("_", " "),
            bar(entry.ratings / max(entry.items * wanted, 1)),
            entry.complete,
            entry.items,
            entry.ratings,
        ]
        for entry in found.strata
    ]
    names = ("kind", "value", "", "complete", "items", "ratings")
    table(texts("progress.kinds"), _heads(texts, names), rows)


def _heads(texts: Texts, names: tuple[str, ...]) -> list[str]:
    return [texts(f"progress.{name}") if name else "" for name in names]


def _agreement(study: Study, report: Report | None, texts: Texts) -> None:
    if report is None:
        st.write(texts("progress.no_answers"))
        return
    rows: list[list[object]] = []
    cautions: dict[str, list[str]] = {}
    for check in report.checks:
        analysis = check.analysis
        found = {entry.coefficient: entry for entry in check.headline}
        chance_free = found.get("gwet_ac2") or found.get("gwet_ac1")
        cells = [*(found.get(name) for name in _HEADLINE), chance_free]
        marks = [_shaky(check, cell) for cell in cells]
        question = _question(study, check)
        used = texts("progress.used", n=analysis.n_pairable, total=analysis.n_items)
        shown = [_cell(cell, mark, texts) for cell, mark in zip(cells, marks, strict=True)]
        rows.append([question, *shown, used])
        if any(marks):
            told = [*analysis.warnings, *(w for cell in cells if cell for w in cell.warnings)]
            for line in dict.fromkeys(told):
                for word, plain in _PLAIN.items():
                    line = line.replace(word, plain)
                cautions.setdefault(line, []).append(question)
    columns = [
        texts("progress.question"),
        texts("progress.percent"),
        "Fleiss’ κ",
        "Krippendorff’s α",
        "Gwet’s AC",
        texts("progress.items_used"),
    ]
    table(texts("progress.table"), columns, rows)
    if any("†" in str(cell) for row in rows for cell in row[1:]):
        entries = "".join(
            f"<li>{escape(_caution(line, questions, len(rows), texts))}</li>"
            for line, questions in cautions.items()
        )
        text = escape(texts("progress.dagger"))
        st.html(f'<div class="mj-caution" role="note"><p>{text}</p><ul>{entries}</ul></div>')
    if report.simulated_raters:
        banner(texts("progress.simulated_in", raters=", ".join(report.simulated_raters)))
    st.caption(texts("progress.note", resamples=RESAMPLES))
    links = "".join(
        f'<a href="/report/{escape(study.id)}/{name}">{escape(name)}</a> '
        for name in FILES
        if offered(study, name)
    )
    lead = texts("progress.full_report" if study.tells_codes else "progress.files")
    st.html(f'<p class="mj-files">{escape(lead)} {links}</p>')
    if not study.tells_codes:
        st.caption(texts("progress.report_later"))


def _caution(line: str, questions: list[str], asked: int, texts: Texts) -> str:
    about = " ".join(questions) if len(questions) < asked else texts("progress.all_questions")
    return texts("progress.caution", question=about, reason=texts.message(line))


def _question(study: Study, check: CheckReport) -> str:
    # The question itself, with a blank where it names the item's property.
    text = PROTOCOLS[study.protocol].question(check.analysis.axis.name).text
    return text.replace("{target}", "…")


def _shaky(check: CheckReport, found: Coefficient | None) -> bool:
    """Return whether the report marks this interval as one that is not to be relied on."""
    return found is not None and found.ci is not None and bool(check.shaky or found.warnings)


def _cell(found: Coefficient | None, shaky: bool, texts: Texts) -> Markup | None:
    if found is None:
        return None
    if found.value is None:
        return Markup(f"—{small(texts.known('reason', found.reason or 'other'))}")
    shown = _percent if found.coefficient == "percent_agreement" else _number
    if found.ci is None:
        return Markup(f"{shown(found.value)}{small(texts('progress.no_interval'))}")
    low, high = found.ci
    mark = " †" if shaky else ""
    interval = texts("progress.interval", low=shown(low), high=shown(high))
    return Markup(f"{shown(found.value)}{small(f'{interval}{mark}')}")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")
