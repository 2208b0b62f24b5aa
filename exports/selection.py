"""Which items a release keeps, and what of labels and decisions goes with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from audit.protocol import Protocol
from benchmarks.items import Benchmark, Frozen, Item
from corpus.problems import InputError
from exports.layouts import LAYOUTS, Content, is_rating
from exports.records import LabelledStudy, Outcome, ReleaseDecision, ReleaseLabel, ReleaseStudy
from exports.stimuli import Stimulus
from exports.versions import Fate, OtherVersion, lineage_rows, without_edit_words


class StudySource(Frozen):
    """What a release takes from one study. Nothing in it names a person."""

    name: str
    """Name of the study."""
    protocol: Protocol
    """Protocol in force."""
    rule: str
    """Decision rule in force."""
    ratings_per_item: int
    """Ratings asked for per item."""
    seed: int
    """Seed of order and assignment."""
    items: tuple[Item, ...]
    """Items put to the experts, without training items."""
    labels: tuple[ReleaseLabel, ...]
    """Current labels of those items, surplus left out."""
    decisions: tuple[ReleaseDecision, ...]
    """Decisions on those items."""
    surplus_labels: int = 0
    """Late labels left out."""
    label: str | None = None
    """One of the protocol's ``study_labels``."""
    others: tuple[OtherVersion, ...] = ()
    """Versions of its items that it did not judge."""
    stimuli: tuple[Stimulus, ...] | None = None
    """What its experts looked at; null where that is not known."""


class ReleaseSpec(Frozen):
    """What the coordinator chose for a release."""

    name: str
    """Name of the release."""
    version: str
    """Version of the release."""
    benchmark: Benchmark = "stride"
    """Benchmark of the items."""
    licence: str | None = None
    """Licence of captions, labels and decisions."""
    include_comments: bool = False
    """Whether free text that people wrote is included."""
    allow_simulated: bool = False
    """Whether simulated labels may be part of it."""
    motion_licences: dict[str, tuple[str, ...]] = {}
    """Per corpus the licences its motions are under."""
    tool_version: str
    """Version of the program that writes it."""


def refuse_simulated(studies: Sequence[StudySource]) -> None:
    """Refuse studies that hold simulated labels.

    Raises:
        InputError: Names each such study, with how many of its labels are simulated.
    """
    counts = {study.name: sum(label.simulated for label in study.labels) for study in studies}
    found = [
        f"{name!r} holds {count} simulated labels"
        for name, count in sorted(counts.items())
        if count
    ]
    if found:
        raise InputError(
            f"study {'; study '.join(found)}; a release is made of people's labels "
            "(--allow-simulated writes one that says so on every page)"
        )


def release_content(studies: Sequence[StudySource], spec: ReleaseSpec) -> Content:
    """Sort what the studies found into kept and excluded items, labels and decisions.

    An item is kept when a study accepted it and none decided otherwise, and when it was rated in a
    study that decides nothing.

    Args:
        studies: Studies of one benchmark.
        spec: What the coordinator chose.

    Returns:
        The records of the release.

    Raises:
        InputError: No study; simulated labels that were not let in; items of another benchmark.
    """
    if not studies:
        raise InputError("expected at least one closed study, got none")
    if not spec.allow_simulated:
        refuse_simulated(studies)
    items: dict[str, Item] = {}
    for study in studies:
        for item in study.items:
            if item.benchmark != spec.benchmark:
                raise InputError(
                    f"study {study.name!r} holds {item.benchmark} items, expected {spec.benchmark}"
                )
            items[item.id] = item
    verdicts = _verdicts(studies, spec)
    if not spec.include_comments:
        items = {
            item_id: item.model_copy(update={"provenance": without_edit_words(item.provenance)})
            for item_id, item in items.items()
        }
    layout = LAYOUTS[spec.benchmark]
    return Content(
        items=tuple(
            layout.keep(items[i], outcome)
            for i, (outcome, _) in verdicts.items()
            if outcome == "accepted" or outcome == "rated"
        ),
        excluded=tuple(
            layout.drop(items[i], outcome, reason)
            for i, (outcome, reason) in verdicts.items()
            if outcome != "accepted" and outcome != "rated"
        ),
        labels=tuple(
            sorted(
                (_without_text(label, s.protocol, spec) for s in studies for label in s.labels),
                key=lambda label: (label.study, label.item_id, label.rater),
            )
        ),
        decisions=tuple(
            sorted(
                (_without_words(d, spec) for s in studies for d in s.decisions),
                key=lambda decision: (decision.study, decision.item_id),
            )
        ),
        studies=tuple(
            _study(study, layout.study) for study in sorted(studies, key=lambda study: study.name)
        ),
        versions=lineage_rows(
            items,
            {item_id: outcome for item_id, (outcome, _) in verdicts.items()},
            [one for study in studies for one in study.others],
            include_comments=spec.include_comments,
        )
        if layout.lineage
        else (),
        stimuli=_stimuli(studies),
    )


def _stimuli(studies: Sequence[StudySource]) -> tuple[Stimulus, ...] | None:
    known = [study.stimuli for study in studies if study.stimuli is not None]
    if not known:
        return None
    rows = [one for stimuli in known for one in stimuli]
    return tuple(sorted(rows, key=lambda one: (one.study, one.motion_id, one.key)))


def joint_outcome(decisions: Mapping[str, tuple[Outcome, str]]) -> tuple[Outcome, str]:
    """Join what studies decided about one item; one that left it open has no say.

    Args:
        decisions: Outcome and reason by study, at least one.

    Returns:
        The outcome and why: theirs where all decided the same, else ``undecided``.

    >>> joint_outcome({"first": ("rejected", "failed: fluent has 1 yes of 3")})
    ('rejected', 'failed: fluent has 1 yes of 3')
    """
    outcomes = {outcome for outcome, _ in decisions.values()}
    if len(outcomes) > 1:
        said = ", ".join(f"{name}: {outcome}" for name, (outcome, _) in sorted(decisions.items()))
        return "undecided", f"the studies differ ({said})"
    reasons = dict.fromkeys(reason for _, (_, reason) in sorted(decisions.items()))
    return outcomes.pop(), "; ".join(reasons)


def _verdicts(studies: Sequence[StudySource], spec: ReleaseSpec) -> dict[str, tuple[Fate, str]]:
    decided: dict[str, dict[str, tuple[Outcome, str]]] = {}
    left_open: dict[str, list[str]] = {}
    rated: set[str] = set()
    for study in studies:
        for decision in study.decisions:
            verdict = (decision.outcome, _without_words(decision, spec).reason)
            decided.setdefault(decision.item_id, {})[study.name] = verdict
        ratings = Counter(label.item_id for label in study.labels)
        for item in study.items:
            text = f"{ratings[item.id]} of {study.ratings_per_item} ratings in {study.name}"
            left_open.setdefault(item.id, []).append(text)
            if ratings[item.id] and is_rating(study.protocol.decision, study.rule):
                rated.add(item.id)
    return {
        item_id: joint_outcome(decided[item_id])
        if item_id in decided
        else ("rated" if item_id in rated else "undecided", "; ".join(left_open[item_id]))
        for item_id in sorted(left_open)
    }


def _without_text(label: ReleaseLabel, protocol: Protocol, spec: ReleaseSpec) -> ReleaseLabel:
    if spec.include_comments:
        return label
    texts = {question.name for question in protocol.questions if question.kind == "text"}
    answers = {name: value for name, value in label.answers.items() if name not in texts}
    return label.model_copy(update={"answers": answers})


def _without_words(decision: ReleaseDecision, spec: ReleaseSpec) -> ReleaseDecision:
    if spec.include_comments or decision.rule != "coordinator":
        return decision
    return decision.model_copy(update={"reason": "decided by a coordinator"})


def _study(source: StudySource, record: type[ReleaseStudy]) -> ReleaseStudy:
    raters = {label.rater: label.simulated for label in source.labels}
    values = {
        "name": source.name,
        "protocol": source.protocol,
        "rule": source.rule,
        "ratings_per_item": source.ratings_per_item,
        "seed": source.seed,
        "items": len(source.items),
        "raters": len(raters),
        "simulated_raters": sum(raters.values()),
        "surplus_labels": source.surplus_labels,
    }
    if issubclass(record, LabelledStudy):
        values["label"] = source.label
    return record.model_validate(values)
