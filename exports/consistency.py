"""Whether the files of a release agree with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from audit.protocol import Question
from audit.protocols.registry import PROTOCOLS
from benchmarks.items import Benchmark
from corpus.problems import Problem
from exports.folder import LINEAGE, MANIFEST
from exports.layouts import LAYOUTS, Content, motions_of
from exports.load import Loaded, UnreadableError, load_release
from exports.recompute import recomputed_problems
from exports.records import Manifest, ReleaseDecision, ReleaseStudy, StrideItem, item_set_hash
from exports.release import counts_of
from exports.stimuli import STIMULI, Stimulus, stimulus_problems
from exports.tables import canonical_json, columns_of, from_jsonl, from_parquet, label_columns
from exports.versions import VersionRow, lineage_problems


def content_problems(
    manifest: Manifest, data: dict[str, bytes], *, intervals: bool = True
) -> list[Problem]:
    """Check what the files of a release say.

    Args:
        manifest: Its manifest.
        data: Content by file name, already held against the manifest.
        intervals: Whether intervals of the agreement must be the same as computed here.

    Returns:
        One problem for each thing that is wrong.
    """
    try:
        loaded = load_release(manifest, data)
    except UnreadableError as error:
        return [error.problem]
    content, questions = loaded.content, loaded.questions
    return [
        *_parquet_problems(data, questions, manifest.benchmark),
        *_manifest_problems(manifest, content),
        *_card_problems(manifest, content, data["README.md"]),
        *_schema_problems(loaded, manifest.benchmark),
        *_item_problems(content),
        *_label_problems(content, questions),
        *_lineage_problems(manifest, content),
        *stimulus_problems(content.stimuli, content.studies, content.labels, motions_of(content)),
        *recomputed_problems(
            content, loaded.agreement, manifest.configuration, intervals=intervals
        ),
    ]


def _parquet_problems(
    data: dict[str, bytes], questions: Sequence[Question], benchmark: Benchmark
) -> list[Problem]:
    problems: list[Problem] = []
    item = LAYOUTS[benchmark].item
    tables = {"items": columns_of(item), "labels": label_columns(questions)}
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


def _manifest_problems(manifest: Manifest, content: Content) -> list[Problem]:
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
        LINEAGE: len(content.versions),
        STIMULI: len(content.stimuli or ()),
    }
    for entry in manifest.files:
        if entry.rows != rows.get(entry.file):
            reasons.append(f"{entry.file} has {rows.get(entry.file)} rows, not {entry.rows}")
    if manifest.configuration.studies != tuple(study.name for study in content.studies):
        reasons.append("configuration.studies are not the studies of studies.json")
    if counts.simulated_labels and not manifest.configuration.allow_simulated:
        reasons.append("simulated labels are inside, and the configuration does not allow them")
    return [Problem(file=MANIFEST, reason=reason) for reason in reasons]


def _card_problems(manifest: Manifest, content: Content, data: bytes) -> list[Problem]:
    try:
        card = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return [Problem(file="README.md", reason=f"expected UTF-8, got: {error}")]
    front = {"pretty_name": manifest.name, "license": manifest.licence or "unknown"}
    reasons = [
        f"{key} is not that of the manifest"
        for key, value in front.items()
        if f"\n{key}: {canonical_json(value)}\n" not in card
    ]
    if any(label.simulated for label in content.labels) and "SIMULATED" not in card:
        reasons.append("does not say that simulated labels are inside")
    return [Problem(file="README.md", reason=reason) for reason in reasons]


def _schema_problems(loaded: Loaded, benchmark: Benchmark) -> list[Problem]:
    layout = LAYOUTS[benchmark]
    expected = {
        "items": columns_of(layout.item),
        "excluded": columns_of(layout.excluded),
        "labels": label_columns(loaded.questions),
        "decisions": columns_of(ReleaseDecision),
        **({"lineage": columns_of(VersionRow)} if layout.lineage else {}),
        **({} if loaded.content.stimuli is None else {"stimuli": columns_of(Stimulus)}),
    }
    problems: list[Problem] = []
    if loaded.content.stimuli is None and "stimuli" in loaded.schema:
        reason = "is not there, and schema.json has its columns"
        problems.append(Problem(file=STIMULI, reason=reason))
    for table, columns in expected.items():
        found = loaded.schema.get(table)
        properties = found.get("properties") if isinstance(found, dict) else None
        if not isinstance(properties, dict) or list(properties) != list(columns):
            reason = f"{table}: not the columns of {table}"
            problems.append(Problem(file="schema.json", reason=reason))
    return problems


def _item_problems(content: Content) -> list[Problem]:
    problems = [
        *_twice("items.jsonl", "item", (item.item_id for item in content.items)),
        *_twice("excluded.jsonl", "item", (row.item_id for row in content.excluded)),
        *_twice(
            "decisions.jsonl", "decision", (f"{d.study} {d.item_id}" for d in content.decisions)
        ),
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
    items, options = motions_of(content), content.options()
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
            and not _in_domain(answer, question, options.get(label.item_id))
        ]
        if study := studies.get(label.study):
            problems += [
                Problem(file=file, reason=f"{where}: {rule.then} is not {rule.must_be!r}")
                for rule in study.protocol.forced
                if set(rule.values) & _values(label.answers.get(rule.question))
                and label.answers.get(rule.then) != rule.must_be
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
    mine, theirs = ((p.questions, p.checks, p.forced) for p in (own, study.protocol))
    if mine == theirs:
        return []
    reason = f"study {study.name!r}: not the form of {own.name} version {own.version}"
    return [Problem(file="studies.json", reason=reason)]


def _lineage_problems(manifest: Manifest, content: Content) -> list[Problem]:
    if not LAYOUTS[manifest.benchmark].lineage:
        return []
    judged: dict[str, tuple[str | None, str]] = {
        row.item_id: (row.parent, str(row.outcome))
        for row in (*content.items, *content.excluded)
        if not isinstance(row, StrideItem)
    }
    return lineage_problems(manifest.benchmark, content.versions, judged)


def _values(answer: Any) -> set[str]:
    return set(map(str, answer)) if isinstance(answer, list) else {str(answer)}


def _in_domain(answer: Any, question: Question, own: Sequence[str] | None) -> bool:
    if question.options_from is not None and own is not None:
        return answer in own
    if question.kind == "multi":
        return isinstance(answer, list) and set(map(str, answer)) <= set(question.domain)
    return isinstance(answer, str) and (not question.domain or answer in question.domain)


def _twice(file: str, what: str, keys: Iterable[str]) -> list[Problem]:
    return [
        Problem(file=file, reason=f"{what} {key} comes {count} times")
        for key, count in Counter(keys).items()
        if count > 1
    ]
