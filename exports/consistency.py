"""Whether the files of a release agree with each other, with the rule and with the arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from audit.adjudication import decide
from audit.protocol import Question
from audit.protocols.registry import PROTOCOLS
from corpus.problems import Problem
from exports.folder import MANIFEST
from exports.records import (
    Content,
    ExcludedItem,
    Manifest,
    Outcome,
    Record,
    ReleaseDecision,
    ReleaseLabel,
    ReleaseStudy,
    StrideItem,
    item_set_hash,
)
from exports.release import counts_of, joint_outcome, motions_of, shown_questions
from exports.reliability import agreement_of
from exports.tables import (
    Row,
    columns_of,
    from_jsonl,
    from_parquet,
    label_columns,
    label_of,
    parse_array,
    parse_object,
)

TOLERANCE = 1e-9
"""How far a recomputed coefficient may be from the stored one: the last digits of a sum."""

R = TypeVar("R", bound=Record)


class Parsed(NamedTuple):
    """A release whose files are those of its manifest."""

    manifest: Manifest
    """The manifest."""
    data: dict[str, bytes]
    """Content by file name."""


class _Unreadable(Exception):
    """A file that cannot be turned into records."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(reason)
        self.problem = Problem(file=file, reason=" ".join(reason.split()))


def content_problems(parsed: Parsed) -> list[Problem]:
    """Check what the files of a release say.

    Args:
        parsed: Manifest and files, already held against each other.

    Returns:
        One problem for each thing that is wrong.
    """
    try:
        content, questions, stored = _read(parsed)
    except _Unreadable as error:
        return [error.problem]
    return [
        *_parquet_problems(parsed.data, questions),
        *_manifest_problems(parsed, content),
        *_item_problems(content),
        *_label_problems(content, questions),
        *_decision_problems(content),
        *_outcome_problems(content),
        *_agreement_problems(content, stored, parsed.manifest),
    ]


def _read(parsed: Parsed) -> tuple[Content, list[Question], Row]:
    data = parsed.data
    studies = tuple(
        _record("studies.json", f"study {number}", ReleaseStudy.model_validate, value)
        for number, value in enumerate(
            _parse("studies.json", data, lambda text: parse_array(text, "whole file")), start=1
        )
    )
    try:
        comments = parsed.manifest.configuration.include_comments
        questions = shown_questions(studies, comments)
        label_columns(questions)
    except ValueError as error:
        raise _Unreadable("studies.json", str(error)) from error
    content = Content(
        items=_rows("items.jsonl", data, StrideItem.model_validate),
        excluded=_rows("excluded.jsonl", data, ExcludedItem.model_validate),
        labels=_rows("labels.jsonl", data, lambda row: label_of(row, questions)),
        decisions=_rows("decisions.jsonl", data, ReleaseDecision.model_validate),
        studies=studies,
    )
    stored = _parse("agreement.json", data, lambda text: parse_object(text, "whole file"))
    _parse("schema.json", data, lambda text: parse_object(text, "whole file"))
    return content, questions, stored


def _parse(file: str, data: dict[str, bytes], parser: Callable[[str], Any]) -> Any:
    try:
        return parser(data[file].decode("utf-8"))
    except ValueError as error:
        raise _Unreadable(file, str(error)) from error


def _rows(file: str, data: dict[str, bytes], build: Callable[[Row], R]) -> tuple[R, ...]:
    try:
        rows = from_jsonl(data[file])
    except ValueError as error:
        raise _Unreadable(file, str(error)) from error
    return tuple(_record(file, f"line {i}", build, row) for i, row in enumerate(rows, start=1))


def _record(file: str, place: str, build: Callable[[Any], R], value: Any) -> R:
    try:
        return build(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _Unreadable(file, f"{place}, {field}: {first['msg']}") from error
    except ValueError as error:
        raise _Unreadable(file, f"{place}: {error}") from error


def _parquet_problems(data: dict[str, bytes], questions: Sequence[Question]) -> list[Problem]:
    problems: list[Problem] = []
    tables = {"items": columns_of(StrideItem), "labels": label_columns(questions)}
    for table, columns in tables.items():
        file = f"{table}.parquet"
        expected = from_jsonl(data[f"{table}.jsonl"])
        try:
            found = from_parquet(data[file], columns)
        except ValueError as error:
            problems.append(Problem(file=file, reason=" ".join(str(error).split())))
            continue
        if len(found) != len(expected):
            reason = f"{len(found)} rows, {len(expected)} in {table}.jsonl"
            problems.append(Problem(file=file, reason=reason))
            continue
        for number, (left, right) in enumerate(zip(found, expected, strict=True), start=1):
            if left != right:
                names = sorted(n for n in {*left, *right} if left.get(n) != right.get(n))
                reason = f"row {number} differs from {table}.jsonl in {', '.join(names)}"
                problems.append(Problem(file=file, reason=reason))
                break
    return problems


def _manifest_problems(parsed: Parsed, content: Content) -> list[Problem]:
    manifest = parsed.manifest
    reasons: list[str] = []
    counts = counts_of(content)
    for name in type(counts).model_fields:
        said, found = getattr(manifest.counts, name), getattr(counts, name)
        if said != found:
            reasons.append(f"counts.{name} is {said}, counted {found}")
    if manifest.item_set_hash != item_set_hash([item.item_id for item in content.items]):
        reasons.append("item_set_hash is not that of the items")
    rows = {
        "items.jsonl": len(content.items),
        "items.parquet": len(content.items),
        "labels.jsonl": len(content.labels),
        "labels.parquet": len(content.labels),
        "excluded.jsonl": len(content.excluded),
        "decisions.jsonl": len(content.decisions),
    }
    for entry in manifest.files:
        if entry.rows != rows.get(entry.file):
            reasons.append(f"{entry.file} has {rows.get(entry.file)} rows, not {entry.rows}")
    if manifest.configuration.studies != tuple(study.name for study in content.studies):
        reasons.append("configuration.studies are not the studies of studies.json")
    if counts.simulated_labels and not manifest.configuration.allow_simulated:
        reasons.append("simulated labels are inside, and the configuration does not allow them")
    problems = [Problem(file=MANIFEST, reason=reason) for reason in reasons]
    if counts.simulated_labels and b"SIMULATED" not in parsed.data["README.md"]:
        reason = "does not say that simulated labels are inside"
        problems.append(Problem(file="README.md", reason=reason))
    return problems


def _item_problems(content: Content) -> list[Problem]:
    problems = [
        *_twice("items.jsonl", "item", (item.item_id for item in content.items)),
        *_twice("excluded.jsonl", "item", (row.item_id for row in content.excluded)),
    ]
    kept = {item.item_id for item in content.items}
    problems += [
        Problem(file="excluded.jsonl", reason=f"item {row.item_id} is also in items.jsonl")
        for row in content.excluded
        if row.item_id in kept
    ]
    for item in content.items:
        if item.content_id() != item.item_id:
            reason = f"item {item.item_id} does not hold what its id is the hash of"
            problems.append(Problem(file="items.jsonl", reason=reason))
    return problems


def _label_problems(content: Content, questions: Sequence[Question]) -> list[Problem]:
    file = "labels.jsonl"
    keys = [(label.study, label.item_id, label.rater) for label in content.labels]
    problems = _twice(file, "label", (" ".join(key) for key in keys))
    items = motions_of(content)
    studies = {study.name: study for study in content.studies}
    for label in content.labels:
        where = f"label of {label.rater} on {label.item_id}"
        if label.item_id not in items:
            problems.append(Problem(file=file, reason=f"{where}: no such item in the release"))
        if label.study not in studies:
            problems.append(Problem(file=file, reason=f"{where}: no study {label.study!r}"))
        problems += [
            Problem(file=file, reason=f"{where}: {question.name} is {answer!r}")
            for question in questions
            if (answer := label.answers.get(question.name)) is not None
            and not _in_domain(answer, question)
        ]
    for study in content.studies:
        problems += _protocol_problems(study)
        raters = {row.rater: row.simulated for row in content.labels if row.study == study.name}
        found = (len(raters), sum(raters.values()))
        if found != (study.raters, study.simulated_raters):
            reason = (
                f"study {study.name!r}: {study.raters} experts, {study.simulated_raters} simulated;"
                f" labels.jsonl has {found[0]}, {found[1]} simulated"
            )
            problems.append(Problem(file="studies.json", reason=reason))
    return problems


def _protocol_problems(study: ReleaseStudy) -> list[Problem]:
    """Hold the form against this program's, where it has that version of the protocol."""
    own = PROTOCOLS.get(study.protocol.name)
    if own is None or own.version != study.protocol.version:
        return []
    same = (own.questions, own.checks) == (study.protocol.questions, study.protocol.checks)
    if same:
        return []
    reason = f"study {study.name!r}: not the form of {own.name} version {own.version}"
    return [Problem(file="studies.json", reason=reason)]


def _decision_problems(content: Content) -> list[Problem]:
    file = "decisions.jsonl"
    keys = [f"{decision.study} {decision.item_id}" for decision in content.decisions]
    problems = _twice(file, "decision", keys)
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
    kept = {i.item_id: {"corpus": i.corpus, "axis": str(i.axis)} for i in content.items}
    return kept | {r.item_id: {"corpus": r.corpus, "axis": r.axis} for r in content.excluded}


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
    problems: list[Problem] = []
    for item in content.items:
        outcome = joint.get(item.item_id, "undecided")
        if outcome != "accepted":
            reason = f"item {item.item_id} is kept; decisions.jsonl says {outcome}"
            problems.append(Problem(file="items.jsonl", reason=reason))
    for row in content.excluded:
        outcome = joint.get(row.item_id, "undecided")
        if outcome != row.outcome:
            reason = f"item {row.item_id} is {row.outcome}; decisions.jsonl says {outcome}"
            problems.append(Problem(file="excluded.jsonl", reason=reason))
    known = motions_of(content)
    problems += [
        Problem(file="decisions.jsonl", reason=f"decision on {item_id}: no such item")
        for item_id in sorted(set(said) - set(known))
    ]
    return problems


def _agreement_problems(content: Content, stored: Row, manifest: Manifest) -> list[Problem]:
    file = "agreement.json"
    config = manifest.configuration
    try:
        again = agreement_of(
            content.studies,
            content.labels,
            motions_of(content),
            resamples=config.resamples,
            seed=config.seed,
        )
    except ValueError as error:
        return [Problem(file=file, reason=f"cannot be computed again: {error}")]
    place = first_difference(again, stored)
    if place is None:
        return []
    return [Problem(file=file, reason=f"{place}: computed again from labels.jsonl, it differs")]


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


def _in_domain(answer: Any, question: Question) -> bool:
    if question.kind == "multi":
        return isinstance(answer, list) and set(map(str, answer)) <= set(question.domain)
    return isinstance(answer, str) and (not question.domain or answer in question.domain)


def _twice(file: str, what: str, keys: Iterable[str]) -> list[Problem]:
    return [
        Problem(file=file, reason=f"{what} {key} comes {count} times")
        for key, count in Counter(keys).items()
        if count > 1
    ]
