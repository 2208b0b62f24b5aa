"""Decisions, outcomes and agreement of a release, computed again from its labels."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from audit.adjudication import decide
from corpus.problems import Problem
from exports.layouts import Content, motions_of, rating_studies
from exports.records import (
    Outcome,
    ReleaseConfig,
    ReleaseDecision,
    ReleaseLabel,
    ReleaseStudy,
    StrideItem,
)
from exports.reliability import agreement_of
from exports.selection import joint_outcome
from exports.tables import Row

TOLERANCE = 1e-9
"""How far a recomputed coefficient may be from the stored one: the last digits of a sum."""


def recomputed_problems(
    content: Content, agreement: Row, config: ReleaseConfig, *, intervals: bool = True
) -> list[Problem]:
    """Hold what a release says against what its labels give.

    Args:
        content: Records of the release.
        agreement: What its ``agreement.json`` holds.
        config: Resamples and seed of the agreement.
        intervals: Whether the whole table must be the same; else only the values of those
            coefficients that both have, which do not depend on how a version resamples.

    Returns:
        A problem for each decision, item and table that differs.
    """
    return [
        *_decision_problems(content),
        *_outcome_problems(content),
        *_agreement_problems(content, agreement, config, intervals),
    ]


def _decision_problems(content: Content) -> list[Problem]:
    file = "decisions.jsonl"
    problems: list[Problem] = []
    studies = {study.name: study for study in content.studies}
    axes = _conditions(content)
    by_item: dict[tuple[str, str], list[ReleaseLabel]] = {}
    for label in content.labels:
        by_item.setdefault((label.study, label.item_id), []).append(label)
    for decision in content.decisions:
        where = f"decision on {decision.item_id}"
        study = studies.get(decision.study)
        labels = by_item.get((decision.study, decision.item_id), [])
        if study is None:
            problems.append(Problem(file=file, reason=f"{where}: no study {decision.study!r}"))
            continue
        if decision.simulated != any(label.simulated for label in labels):
            reason = f"{where}: simulated is {decision.simulated}, its labels say otherwise"
            problems.append(Problem(file=file, reason=reason))
        if decision.rule == "coordinator":
            continue
        if decision.rule != study.rule:
            reason = f"{where}: rule {decision.rule!r}, study {study.name!r} has {study.rule!r}"
            problems.append(Problem(file=file, reason=reason))
            continue
        wrong = _rule_problem(decision, study, labels, axes.get(decision.item_id, {}))
        if wrong:
            problems.append(Problem(file=file, reason=f"{where}: {wrong}"))
    return problems


def _conditions(content: Content) -> dict[str, dict[str, str]]:
    """Strata that decide which questions an item is asked, by item."""
    return {row.item_id: row.conditions() for row in (*content.items, *content.excluded)}


def _rule_problem(
    decision: ReleaseDecision,
    study: ReleaseStudy,
    labels: Sequence[ReleaseLabel],
    conditions: dict[str, str],
) -> str | None:
    if len(labels) < study.ratings_per_item:
        return f"{len(labels)} labels, the study asks for {study.ratings_per_item}"
    try:
        again = decide([label.answers for label in labels], study.protocol, study.rule, conditions)
    except ValueError as error:
        return f"the rule cannot be applied again: {error}"
    if again.outcome != decision.outcome:
        return f"{decision.outcome}; its {len(labels)} labels give {again.outcome}"
    if again.votes != decision.votes:
        return "its votes are not those of its labels"
    return None


def _outcome_problems(content: Content) -> list[Problem]:
    said: dict[str, dict[str, tuple[Outcome, str]]] = {}
    for decision in content.decisions:
        said.setdefault(decision.item_id, {})[decision.study] = (decision.outcome, "")
    joint = {item_id: joint_outcome(decisions)[0] for item_id, decisions in said.items()}
    rating = rating_studies(content.studies)
    fate_of = {label.item_id: "rated" for label in content.labels if label.study in rating}
    problems: list[Problem] = []
    for item in content.items:
        outcome = joint.get(item.item_id) or fate_of.get(item.item_id, "undecided")
        if outcome not in ("accepted", "rated"):
            reason = f"item {item.item_id} is kept; decisions.jsonl says {outcome}"
            problems.append(Problem(file="items.jsonl", reason=reason))
        elif not isinstance(item, StrideItem) and item.outcome != outcome:
            reason = (
                f"item {item.item_id} is {item.outcome}; its labels and decisions say {outcome}"
            )
            problems.append(Problem(file="items.jsonl", reason=reason))
    for row in content.excluded:
        outcome = joint.get(row.item_id) or fate_of.get(row.item_id, "undecided")
        if outcome != row.outcome:
            reason = f"item {row.item_id} is {row.outcome}; decisions.jsonl says {outcome}"
            problems.append(Problem(file="excluded.jsonl", reason=reason))
    known = motions_of(content)
    problems += [
        Problem(file="decisions.jsonl", reason=f"decision on {item_id}: no such item")
        for item_id in sorted(set(said) - set(known))
    ]
    return problems


def _agreement_problems(
    content: Content, stored: Row, config: ReleaseConfig, intervals: bool
) -> list[Problem]:
    file = "agreement.json"
    try:
        again = agreement_of(
            content.studies,
            content.labels,
            motions_of(content),
            options=content.options(),
            resamples=config.resamples if intervals else 0,
            seed=config.seed,
        )
    except ValueError as error:
        return [Problem(file=file, reason=f"cannot be computed again: {error}")]
    if intervals:
        place = first_difference(again, stored)
    else:
        place = first_difference(*_shared(values_of(again), values_of(stored)))
    if place is None:
        return []
    return [Problem(file=file, reason=f"{place}: computed again from labels.jsonl, it differs")]


def values_of(agreement: Any) -> dict[str, Any]:
    """Return the values of a table of agreement, without intervals, whatever its other fields.

    Args:
        agreement: What ``agreement.json`` holds.

    Returns:
        Value and number of items by study, question and coefficient with its parameters; what is
        not of that form is left out.
    """
    found: dict[str, Any] = {}
    for study, entry in _items(agreement, "studies"):
        for question, table in _items(entry, "questions"):
            key = f"{study}.{question}"
            found[key] = {}
            coefficients = table.get("coefficients") if isinstance(table, dict) else None
            for one in coefficients if isinstance(coefficients, list) else ():
                if isinstance(one, dict) and "value" in one:
                    params = json.dumps(one.get("params"), sort_keys=True)
                    name = f"{one.get('coefficient')} {params}"
                    found[key][name] = [one["value"], one.get("n")]
    return found


def _shared(left: dict[str, Any], right: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Leave only coefficients that both tables have, and every question of either."""

    def only(table: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        return {
            key: {name: value for name, value in entry.items() if name in other.get(key, entry)}
            for key, entry in table.items()
        }

    return only(left, right), only(right, left)


def _items(value: Any, name: str) -> list[tuple[str, Any]]:
    entries = value.get(name) if isinstance(value, dict) else None
    return list(entries.items()) if isinstance(entries, dict) else []


def first_difference(left: Any, right: Any, place: str = "") -> str | None:
    """Return where two JSON values differ, numbers by more than ``TOLERANCE``; None where equal.

    >>> first_difference({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]})
    'a.1'
    """
    here = place or "whole file"
    if isinstance(left, dict) and isinstance(right, dict):
        if set(left) != set(right):
            return here
        pairs: Iterable[tuple[Any, Any, Any]] = ((k, left[k], right[k]) for k in left)
    elif isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            return here
        pairs = ((i, a, b) for i, (a, b) in enumerate(zip(left, right, strict=True)))
    else:
        if _is_number(left) and _is_number(right):
            same = math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        else:
            same = type(left) is type(right) and left == right
        return None if same else here
    for key, a, b in pairs:
        found = first_difference(a, b, f"{place}.{key}" if place else str(key))
        if found:
            return found
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
