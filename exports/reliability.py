"""Agreement of a release's labels, study by study and question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from audit.protocol import Option, Question
from exports.records import ReleaseLabel, ReleaseStudy

RESAMPLES = 2_000
"""Bootstrap resamples behind each interval."""
SEED = 0
"""Seed of the resampling."""
DECIMALS = 12
"""Digits kept: beyond them the order in which a machine adds up shows."""


def agreement_of(
    studies: Sequence[ReleaseStudy],
    labels: Sequence[ReleaseLabel],
    motions: Mapping[str, str],
    *,
    options: Mapping[str, Sequence[str]] = MappingProxyType({}),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Compute what ``agreement.json`` holds, from the labels alone.

    Args:
        studies: Studies of the release; their protocols name level and domain of each question.
        labels: Labels of the release.
        motions: Motion by item: several items share one motion, so motions are resampled.
        options: Options by item, where items have their own: a question that takes its answers
            from them has all of those of the items judged, sorted, as its domain.
        resamples: Bootstrap resamples.
        seed: Seed of the resampling.

    Returns:
        ``{"studies": {name: {"labels", "simulated_labels", "questions": {name: analysis}}}}`` with
        ``agreement.analysis.Analysis`` as plain JSON; a question without labels is left out.

    Raises:
        InputError: A label outside its question's domain, or two of one expert for one item.
    """
    found: dict[str, Any] = {}
    for study in studies:
        mine = [label for label in labels if label.study == study.name]
        found[study.name] = {
            "labels": len(mine),
            "simulated_labels": sum(label.simulated for label in mine),
            "questions": {
                question.name: _analysis(
                    _with_options(question, mine, options), mine, motions, resamples, seed
                )
                for question in study.protocol.questions
                if question.agreement
                and question.kind in ("choice", "likert", "verdict")
                and any(label.answers.get(question.name) is not None for label in mine)
            },
        }
    return {"studies": found}


def _analysis(
    question: Question,
    labels: Sequence[ReleaseLabel],
    motions: Mapping[str, str],
    resamples: int,
    seed: int,
) -> Any:
    from agreement.analysis import analyse
    from agreement.axis import Axis
    from agreement.ratings import from_columns

    answered = [label for label in labels if label.answers.get(question.name) is not None]
    ratings = from_columns(
        Axis(name=question.name, level=question.level, domain=question.domain),
        [label.item_id for label in answered],
        [label.rater for label in answered],
        [label.answers[question.name] for label in answered],
        # An unknown item stands alone here; verification names it.
        clusters=[motions.get(label.item_id, "") for label in answered],
    )
    analysis = analyse(ratings, resamples=resamples, seed=seed)
    return _rounded(analysis.model_dump(mode="json"))


def _with_options(
    question: Question, labels: Sequence[ReleaseLabel], options: Mapping[str, Sequence[str]]
) -> Question:
    if question.options_from is None:
        return question
    offered = {text for label in labels for text in options.get(label.item_id, ())}
    # Options of an item that is not kept are not in the release; its answers are.
    given = {
        str(label.answers[question.name])
        for label in labels
        if label.item_id not in options and label.answers.get(question.name) is not None
    }
    domain = tuple(Option(value=text, text=text) for text in sorted(offered | given))
    return question.model_copy(update={"options": domain})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return value
