"""The agreement report of several axes: one record that the page, the JSON and the CSV share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TypedDict

import numpy as np

from agreement.analysis import Analysis, analyse, small_sample_warnings
from agreement.coefficient import Array, Coefficient
from agreement.kernel import DEFAULT_RESAMPLES, make_design, with_intervals
from agreement.page import render_html
from agreement.percent import item_agreement
from agreement.ratings import Ratings
from agreement.registry import MAX_PAIRED_RATERS, compute
from agreement.report_records import (
    CheckReport,
    DisputedItem,
    Group,
    LeftOut,
    PairTable,
    Report,
)
from agreement.timing import time_per_item
from agreement.weights import agreement_weights

__all__ = [
    "CheckReport",
    "DisputedItem",
    "Group",
    "LeftOut",
    "PairTable",
    "Report",
    "build_report",
    "headline",
    "render_html",
    "with_links",
]

MOST_DISPUTED = 15
"""Items listed as most disputed."""
MOST_LABELS_OF_PAIRS, MOST_RATERS_OF_PAIRS = 10, 6
"""Labels of each pair of raters are crossed up to this many."""
CROSSED = ("axis", "difficulty")
"""Strata that are crossed where items have more than two."""
PARADOX_AGREEMENT = 0.8
PARADOX_KAPPA = 0.4
"""High percent agreement with a kappa this low gets a note (Feinstein and Cicchetti 1990)."""


class Shown(TypedDict):
    """What stands beside an item, by item id."""

    link: dict[str, str]
    text: dict[str, tuple[str, ...]]


def build_report(
    tables: Sequence[Ratings],
    *,
    title: str,
    tool_version: str,
    meta: Mapping[str, str] | None = None,
    simulated_raters: Sequence[str] = (),
    links: Mapping[str, str] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
    seconds: Mapping[tuple[str, str], float] | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Report:
    """Compute everything a report shows.

    Args:
        tables: Ratings of each axis.
        title: What was judged.
        tool_version: Version of MotionJury.
        meta: Configuration to print, by name.
        simulated_raters: Raters that are simulated.
        links: By item id: where a coordinator can see it.
        texts: By item id: what raters read.
        seconds: By item id and rater: how long the rater took.
        resamples: Resamples behind each interval.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        The report.
    """
    shown = Shown(
        link=dict(links or {}), text={item: tuple(t) for item, t in (texts or {}).items()}
    )
    checks = tuple(
        _check(ratings, shown, resamples=resamples, seed=seed, level=level) for ratings in tables
    )
    return Report(
        title=title,
        tool_version=tool_version,
        meta=dict(meta or {}),
        seed=seed,
        simulated_raters=tuple(simulated_raters),
        checks=checks,
        times=time_per_item(seconds or {}),
        methods=methods_paragraph(checks, tool_version, tuple(simulated_raters)),
    )


def with_links(report: Report, links: Mapping[str, str]) -> Report:
    """Link disputed items to where they can be seen.

    Args:
        report: The report.
        links: Address by item; items that are not there have no link.

    Returns:
        The report with these links and no others.
    """
    checks = tuple(
        check.model_copy(
            update={
                "disputed": tuple(
                    one.model_copy(update={"link": links.get(one.item)}) for one in check.disputed
                )
            }
        )
        for check in report.checks
    )
    return report.model_copy(update={"checks": checks})


def headline(ratings: Ratings) -> list[tuple[str, dict[str, str]]]:
    """Name the coefficients that a reader looks at first.

    Args:
        ratings: The table.

    Returns:
        Names and parameters: percent agreement, Fleiss' kappa, Krippendorff's alpha at the axis's
        level, AC1 (AC2 with quadratic weights on ordered axes); alpha alone on axes with more
        than 300 labels.
    """
    alpha = ("krippendorff_alpha", {"level": str(ratings.axis.level)})
    if ratings.q > 300:
        return [alpha]
    last: tuple[str, dict[str, str]] = ("gwet_ac1", {})
    if ratings.axis.level != "nominal":
        last = ("gwet_ac2", {"weights": "quadratic"})
    return [("percent_agreement", {}), ("fleiss_kappa", {}), alpha, last]


def methods_paragraph(
    checks: Sequence[CheckReport], tool_version: str, simulated_raters: Sequence[str]
) -> str:
    """Write the paragraph on how the numbers were made.

    Args:
        checks: The checks of the report.
        tool_version: Version of MotionJury.
        simulated_raters: Raters that are simulated.

    Returns:
        Plain text.
    """
    if not checks:
        return "No ratings."
    how = checks[0].analysis.resampling
    unit = "items" if how.unit == "item" else "clusters of items that share a clip or prompt"
    method = (
        f"{how.level:.0%} intervals are bias-corrected and accelerated bootstrap intervals "
        f"({how.resamples} resamples of {unit}, seed {how.seed}), percentile intervals where bias "
        "or acceleration is undefined; raters are fixed, so intervals are conditional on them. "
        if how.resamples
        else "No intervals were computed. "
    )
    simulated = (
        f"SIMULATED raters are among them ({', '.join(simulated_raters)}): "
        "these numbers say nothing about people. "
        if simulated_raters
        else ""
    )
    return simulated + (
        "Agreement was computed over items with at least two ratings. Percent agreement is the "
        "mean over items of the share of agreeing pairs of ratings. Fleiss' kappa, Gwet's AC1/AC2 "
        "and Brennan-Prediger follow Gwet's generalisation to missing ratings; Krippendorff's "
        "alpha is taken at the declared level of measurement; Cohen's kappa is pairwise complete; "
        "intraclass correlations use items rated by all. Domains and their order were declared, "
        "not inferred, unless a note says otherwise. Undefined coefficients are left blank with "
        f"their reason; negative values are kept. {method}MotionJury {tool_version}."
    )


def _check(
    ratings: Ratings, shown: Shown, *, resamples: int, seed: int, level: float
) -> CheckReport:
    analysis = analyse(ratings, resamples=resamples, seed=seed, level=level)
    first = tuple(
        found
        for name, params in headline(ratings)
        if (found := analysis.find(name, **params)) is not None
    )
    left_out: tuple[LeftOut, ...] = ()
    if 3 <= ratings.n_raters <= MAX_PAIRED_RATERS:
        left_out = tuple(
            LeftOut(rater=rater, coefficients=_few(ratings.without_rater(i), 0, seed, level))
            for i, rater in enumerate(ratings.raters)
        )
    share, unanimous = _item_shares(ratings)
    return CheckReport(
        analysis=analysis,
        headline=first,
        groups=tuple(_groups(ratings, resamples, seed, level)),
        left_out=left_out,
        pairs_of_labels=_pairs_of_labels(ratings),
        pair_tables=tuple(_pair_tables(ratings)),
        n_unanimous=unanimous,
        disputed=tuple(_disputed(ratings, share, shown)),
        notes=tuple(_notes(analysis)),
        shaky=bool(
            small_sample_warnings(ratings, analysis.resampling.n_units, analysis.resampling.unit)
        ),
    )


def _few(ratings: Ratings, resamples: int, seed: int, level: float) -> tuple[Coefficient, ...]:
    statistics = [compute(ratings, name, params) for name, params in headline(ratings)]
    return with_intervals(statistics, ratings, resamples=resamples, seed=seed, level=level)


def _groups(ratings: Ratings, resamples: int, seed: int, level: float) -> Iterator[Group]:
    names = [name for name, column in ratings.strata.items() if len(set(column)) > 1]
    wanted: list[tuple[str, ...]] = [(name,) for name in names]
    crossed = names if len(names) == 2 else [n for n in CROSSED if n in names]
    wanted += [tuple(crossed)] if len(crossed) == 2 else []
    for chosen in wanted:
        columns = [np.array(ratings.strata[name]) for name in chosen]
        values = [list(dict.fromkeys(ratings.strata[name])) for name in chosen]
        for cell in product(*values):
            keep = np.logical_and.reduce([c == v for c, v in zip(columns, cell, strict=True)])
            if not keep.any():
                continue
            part = ratings.select(keep)
            design = make_design(part)
            yield Group(
                stratum=dict(zip(chosen, cell, strict=True)),
                n_items=len(part.items),
                n_pairable=part.n_pairable,
                coefficients=_few(part, resamples, seed, level),
                warnings=tuple(small_sample_warnings(part, design.n_units, design.unit)),
            )


def _pairs_of_labels(ratings: Ratings) -> tuple[tuple[int, ...], ...]:
    if ratings.q > 20:
        return ()
    counts = ratings.pattern_counts
    shown = np.bincount(ratings.pattern_of, minlength=len(counts))
    table = (counts * shown[:, None]).T @ counts
    table -= np.diag((counts * shown[:, None]).sum(axis=0))
    return tuple(tuple(int(v) for v in row) for row in table)


def _item_shares(ratings: Ratings) -> tuple[Array, int]:
    """Agreement of each item (NaN where it has one rating) and how many are unanimous."""
    ordered = ratings.axis.level != "nominal"
    if ratings.q > 300:
        return np.full(len(ratings.items), np.nan), 0
    weights = agreement_weights(ratings.axis, "linear" if ordered else None)
    share = item_agreement(ratings.pattern_counts, weights)
    share[ratings.pattern_counts.sum(axis=1) < 2] = np.nan
    by_item: Array = share[ratings.pattern_of]
    return by_item, int((by_item > 1 - 1e-9).sum())


def _pair_tables(ratings: Ratings) -> Iterator[PairTable]:
    q = ratings.q
    if q > MOST_LABELS_OF_PAIRS or len(ratings.raters) > MOST_RATERS_OF_PAIRS:
        return
    for i, j in combinations(range(len(ratings.raters)), 2):
        both = (ratings.codes[:, [i, j]] >= 0).all(axis=1)
        cell = ratings.codes[both, i].astype(np.int64) * q + ratings.codes[both, j]
        table = np.bincount(cell, minlength=q * q).reshape(q, q)
        yield PairTable(
            raters=(ratings.raters[i], ratings.raters[j]),
            counts=tuple(tuple(int(v) for v in row) for row in table),
        )


def _disputed(ratings: Ratings, share: Array, shown: Shown) -> Iterator[DisputedItem]:
    order = np.argsort(np.where(np.isnan(share), 2.0, share), kind="stable")[:MOST_DISPUTED]
    for index in order:
        if not share[index] < 1 - 1e-9:
            return
        yield DisputedItem(
            item=ratings.items[index],
            agreement=float(share[index]),
            labels={
                rater: ratings.axis.domain[code] if code >= 0 else None
                for rater, code in zip(ratings.raters, ratings.codes[index], strict=True)
            },
            link=shown["link"].get(ratings.items[index]),
            text=shown["text"].get(ratings.items[index], ()),
        )


def _notes(analysis: Analysis) -> Iterator[str]:
    constant = [rater.rater for rater in analysis.raters if rater.constant]
    if constant and sum(count > 0 for count in analysis.labels.values()) != 1:
        yield f"{', '.join(constant)} gave one label throughout: κ with them is 0 or undefined."
    percent = analysis.find("percent_agreement")
    kappa = analysis.find("fleiss_kappa")
    ac1 = analysis.find("gwet_ac1")
    if percent is None or kappa is None or percent.value is None:
        return
    label, count = max(analysis.labels.items(), key=lambda pair: pair[1], default=("", 0))
    prevalence = count / max(analysis.n_ratings, 1)
    beside = f"AC1 is {ac1.value:.2f}" if ac1 is not None and ac1.value is not None else ""
    if kappa.reason == "no_variation":
        yield (
            f"All comparable ratings bear one label, so κ and α are 0/0 and stay blank; percent "
            f"agreement is {percent.value:.0%}{', ' + beside if beside else ''}."
        )
    elif (
        kappa.value is not None
        and percent.value >= PARADOX_AGREEMENT
        and kappa.value <= PARADOX_KAPPA
    ):
        yield (
            f"Agreement is high ({percent.value:.0%}) while κ is low ({kappa.value:.2f}): "
            f"{prevalence:.0%} of the ratings are “{label}”, and κ falls when one label prevails. "
            f"{beside + '; read' if beside else 'Read'} them side by side."
        )
    elif kappa.value is not None and kappa.value < 0:
        yield f"κ is negative ({kappa.value:.2f}): raters agree less often than by chance."
