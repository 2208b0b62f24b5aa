"""The coordinator's page: how far each study is, by code and stratum, and how experts agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.figures import RESAMPLES, study_agreement
from annotation_app.views.frame import (
    Markup,
    banner,
    bar,
    plain_text,
    small,
    style,
    table,
    tag,
    top,
)
from audit.access import Person
from audit.protocols.registry import PROTOCOLS
from audit.studies import ExpertProgress, Progress, Study, progress, studies_of

if TYPE_CHECKING:
    from agreement.coefficient import Coefficient
    from agreement.report import Report

_HEADLINE = ("percent_agreement", "fleiss_kappa", "krippendorff_alpha")
_REASONS = {
    "no_variation": "all answers are the same",
    "no_pairable_items": "no item has two answers yet",
    "single_rater": "one expert only",
    "constant_input": "one side never varies",
    "too_few": "too few items",
}


def draw(context: AppContext, person: Person) -> None:
    """Draw the progress page.

    Args:
        context: The server's context.
        person: A coordinator or analyst.

    Raises:
        AccessError: The person was revoked.
    """
    style("wide")
    top(context.name, f"{person.name} · {person.role}")
    with context.db.read() as session:
        studies = studies_of(session, person.id)
    if not studies:
        st.title("No study yet", anchor=False)
        st.write("Make one with `motionjury study create`, then reload this page.")
        return
    chosen, refresh = st.columns([5, 1], vertical_alignment="bottom")
    with chosen:
        study = st.selectbox("Study", studies, format_func=_title, key="console-study")
    with refresh:
        st.button("Refresh", width="stretch")
    with context.db.read() as session:
        counts = progress(session, study.id)
        report = study_agreement(session, study.id, study.name)
    st.title(plain_text(study.name), anchor=False)
    if counts.simulated_share:
        banner(
            f"Simulated raters: {counts.simulated_share:.0%} of these ratings were given by "
            "programs, not by people."
        )
    _totals(counts)
    _experts(counts)
    _strata(counts)
    _agreement(study, report)


def _title(study: Study) -> str:
    return f"{study.name} · {PROTOCOLS[study.protocol].title} · {study.state}"


def _totals(counts: Progress) -> None:
    cells = st.columns(4)
    cells[0].metric("Items complete", f"{counts.complete} / {counts.items}")
    cells[1].metric("Ratings", f"{counts.ratings} / {counts.ratings_wanted}")
    cells[2].metric("Being answered now", counts.held)
    decided = ", ".join(f"{n} {name}" for name, n in sorted(counts.outcomes.items()))
    label = f"Decided: {decided}" if decided else "Decided"
    cells[3].metric(label, sum(counts.outcomes.values()))


def _experts(counts: Progress) -> None:
    rows = [
        [
            _code(expert),
            bar(expert.done / max(expert.done + expert.held + expert.remaining, 1)),
            expert.done,
            expert.held,
            expert.remaining,
            expert.surplus,
            expert.stage,
        ]
        for expert in counts.experts
    ]
    columns = ["Expert", "", "Done", "Held", "Could still get", "Surplus", "Stage"]
    table("Experts, by code", columns, rows)


def _code(expert: ExpertProgress) -> str | Markup:
    return Markup(f"{tag('simulated')} {expert.code}") if expert.simulated else expert.code


def _strata(counts: Progress) -> None:
    wanted = counts.ratings_wanted / max(counts.items, 1)
    rows = [
        [
            entry.stratum.replace("_", " "),
            entry.value.replace("_", " "),
            bar(entry.ratings / max(entry.items * wanted, 1)),
            entry.complete,
            entry.items,
            entry.ratings,
        ]
        for entry in counts.strata
    ]
    columns = ["Stratum", "Value", "", "Complete", "Items", "Ratings"]
    table("Items, by stratum", columns, rows)


def _agreement(study: Study, report: Report | None) -> None:
    st.subheader("Agreement", anchor=False)
    if report is None:
        st.write("No answers yet.")
        return
    protocol = PROTOCOLS[study.protocol]
    rows: list[list[object]] = []
    for check in report.checks:
        analysis = check.analysis
        # The question itself, with a blank where it names the item's property.
        words = protocol.question(analysis.axis.name).text.replace("{target}", "…")
        found = {entry.coefficient: entry for entry in check.headline}
        chance_free = found.get("gwet_ac2") or found.get("gwet_ac1")
        cells = [found.get(name) for name in _HEADLINE] + [chance_free]
        used = f"{analysis.n_pairable} of {analysis.n_items}"
        rows.append([words, *(_coefficient(cell) for cell in cells), used])
    columns = [
        "Question",
        "Percent agreement",
        "Fleiss’ κ",
        "Krippendorff’s α",
        "Gwet’s AC",
        "Items used",
    ]
    table("Agreement between experts, with 95 % intervals", columns, rows)
    simulated = ", ".join(report.simulated_raters)
    note = (
        "α at the question’s level of measurement; AC1, or AC2 with quadratic weights on ordered "
        f"answers. Intervals from {RESAMPLES} resamples of clips, rough while items are few."
    )
    if simulated:
        banner(f"Simulated raters are in these numbers: {simulated}.")
    st.caption(f"{note} The full report: `motionjury agreement report`.")


def _coefficient(found: Coefficient | None) -> Markup | None:
    if found is None:
        return None
    if found.value is None:
        return Markup(f"—{small(_REASONS.get(found.reason or '', 'undefined'))}")
    shown = _percent if found.coefficient == "percent_agreement" else _number
    if found.ci is None:
        return Markup(f"{shown(found.value)}{small('no interval')}")
    low, high = found.ci
    return Markup(f"{shown(found.value)}{small(f'{shown(low)} to {shown(high)}')}")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
