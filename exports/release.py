"""Accepted items, anonymised labels, decisions and agreement as the files of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from audit.protocol import Question
from benchmarks.items import Benchmark
from corpus.problems import InputError
from exports.card import write_card
from exports.folder import LINEAGE, MANIFEST, sha256
from exports.layouts import LAYOUTS, Content, files_of, motions_of
from exports.records import (
    Manifest,
    ReleaseConfig,
    ReleaseCounts,
    ReleaseDecision,
    ReleaseFile,
    ReleaseLabel,
    ReleaseStudy,
    Tool,
    item_set_hash,
)
from exports.reliability import RESAMPLES, SEED, agreement_of
from exports.selection import ReleaseSpec
from exports.stimuli import STIMULI, Stimulus
from exports.tables import (
    canonical_json,
    columns_of,
    label_columns,
    label_row,
    plain_row,
    to_jsonl,
    to_parquet,
)
from exports.versions import VersionRow


def release_files(content: Content, spec: ReleaseSpec) -> dict[str, bytes]:
    """Encode a release. The same content gives the same bytes.

    Args:
        content: The records.
        spec: What the coordinator chose.

    Returns:
        Content of every file by name, the manifest last.
    """
    layout = LAYOUTS[spec.benchmark]
    questions = shown_questions(content.studies, spec.include_comments)
    item_rows = [plain_row(item) for item in content.items]
    label_rows = [label_row(label, questions) for label in content.labels]
    excluded_rows = [plain_row(row) for row in content.excluded]
    decision_rows = [plain_row(row) for row in content.decisions]
    version_rows = [plain_row(row) for row in content.versions]
    stimulus_rows = [plain_row(row) for row in content.stimuli or ()]
    agreement = agreement_of(
        content.studies, content.labels, motions_of(content), options=content.options()
    )
    manifest = Manifest(
        name=spec.name,
        version=spec.version,
        benchmark=spec.benchmark,
        licence=spec.licence,
        motion_licences=dict(sorted(spec.motion_licences.items())),
        tool=Tool(version=spec.tool_version),
        configuration=ReleaseConfig(
            studies=tuple(study.name for study in content.studies),
            include_comments=spec.include_comments,
            allow_simulated=spec.allow_simulated,
            resamples=RESAMPLES,
            seed=SEED,
        ),
        item_set_hash=item_set_hash([item.item_id for item in content.items]),
        counts=counts_of(content),
        files=(),
    )
    files = {
        "README.md": write_card(manifest, content, agreement, questions).encode(),
        "agreement.json": _pretty(agreement),
        "decisions.jsonl": to_jsonl(decision_rows),
        "excluded.jsonl": to_jsonl(excluded_rows),
        "items.jsonl": to_jsonl(item_rows),
        "items.parquet": to_parquet(item_rows, columns_of(layout.item)),
        "labels.jsonl": to_jsonl(label_rows),
        "labels.parquet": to_parquet(label_rows, label_columns(questions)),
        "schema.json": _pretty(
            release_schema(questions, spec.benchmark, stimuli=content.stimuli is not None)
        ),
        "studies.json": _pretty([plain_row(study) for study in content.studies]),
    }
    if layout.lineage:
        files[LINEAGE] = to_jsonl(version_rows)
    if content.stimuli is not None:
        files[STIMULI] = to_jsonl(stimulus_rows)
    names = files_of(spec.benchmark, stimuli=content.stimuli is not None)
    rows = {
        "decisions.jsonl": len(decision_rows),
        "excluded.jsonl": len(excluded_rows),
        **{f"items.{kind}": len(item_rows) for kind in ("jsonl", "parquet")},
        **{f"labels.{kind}": len(label_rows) for kind in ("jsonl", "parquet")},
        LINEAGE: len(version_rows),
        STIMULI: len(stimulus_rows),
    }
    listed = tuple(
        ReleaseFile(
            file=name, sha256=sha256(files[name]), size=len(files[name]), rows=rows.get(name)
        )
        for name in names
    )
    files = {name: files[name] for name in names}
    files[MANIFEST] = _pretty(plain_row(manifest.model_copy(update={"files": listed})))
    return files


def shown_questions(studies: Sequence[ReleaseStudy], include_comments: bool) -> list[Question]:
    """Return the questions that are columns of ``labels``, in the order of the forms.

    Raises:
        InputError: Two studies ask one name in two ways, so that one column cannot hold both.
    """
    found: dict[str, Question] = {}
    for study in studies:
        for question in study.protocol.questions:
            if question.kind == "text" and not include_comments:
                continue
            earlier = found.setdefault(question.name, question)
            if (earlier.kind, earlier.domain) != (question.kind, question.domain):
                raise InputError(
                    f"study {study.name!r} asks {question.name!r} otherwise than the studies "
                    "before it; release them apart (--study)"
                )
    return list(found.values())


def counts_of(content: Content) -> ReleaseCounts:
    """Count what a release holds."""
    return ReleaseCounts(
        kept=len(content.items),
        dropped=dict(sorted(Counter(row.outcome for row in content.excluded).items())),
        labels=len(content.labels),
        simulated_labels=sum(label.simulated for label in content.labels),
        decisions=len(content.decisions),
    )


def release_schema(
    questions: Sequence[Question], benchmark: Benchmark, *, stimuli: bool
) -> dict[str, Any]:
    """Return JSON Schemas of the rows of each table and of the manifest."""
    layout = LAYOUTS[benchmark]
    labels = ReleaseLabel.model_json_schema()
    del labels["properties"]["answers"]
    labels["required"].remove("answers")
    for question in questions:
        labels["properties"][question.name] = _question_schema(question)
        labels["required"].append(question.name)
    return {
        "items": layout.item.model_json_schema(),
        "excluded": layout.excluded.model_json_schema(),
        "labels": labels,
        "decisions": ReleaseDecision.model_json_schema(),
        "studies": layout.study.model_json_schema(),
        **({"stimuli": Stimulus.model_json_schema()} if stimuli else {}),
        **({"lineage": VersionRow.model_json_schema()} if layout.lineage else {}),
        "manifest": Manifest.model_json_schema(),
    }


def _question_schema(question: Question) -> dict[str, Any]:
    values: list[Any] = list(question.domain)
    if question.kind == "likert":
        values = [int(value) for value in values]
    if question.kind == "multi":
        kind: dict[str, Any] = {"type": ["array", "null"], "items": {"enum": values}}
    elif values:
        kind = {"enum": [*values, None]}
    else:
        kind = {"type": ["string", "null"]}
    return {"description": question.text, **kind}


def _pretty(value: Any) -> bytes:
    return (canonical_json(value, indent=2) + "\n").encode()
