"""Released items of NextMotionQA, MRBench and T2MBench: one flat record a benchmark, gold included.

A benchmark has several kinds of items; columns that a kind does not have are null in its rows.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, model_validator

from audit.shown import KINDS
from benchmarks.items import Benchmark, Item, Provenance, content_hash
from benchmarks.nextmotionqa import Difficulty, ErrorSpan, QueryType, SemanticAxis, Task
from benchmarks.t2mbench import Length
from exports.records import Outcome, Record

KeptOutcome = Literal["accepted", "rated"]
"""``rated`` where the study decides nothing and its answers are the result."""

RENAMED: dict[str, dict[str, str]] = {
    "caption": {"caption": "reference"},
    "prompt": {"text": "prompt"},
    "target": {"text": "prompt"},
}
"""Column of a field of the payload, by kind, where it is not the field's own name."""


class FlatItem(Record):
    """What the rows of every benchmark here begin with."""

    benchmark: ClassVar[Benchmark]

    item_id: str
    """First 24 hex digits of the SHA-256 of benchmark, kind, stratum, payload and parent."""
    kind: str
    """Kind within the benchmark; it says which of the columns below are filled."""
    outcome: KeptOutcome
    """``accepted`` by a decision, or ``rated`` in a study that decides nothing."""
    parent: str | None
    """Id of the item version this one revises; null for a first version."""
    motion_id: str | None
    """Stable id of the motion clip, from its corpus; null for a prompt, which has none."""
    stratum: dict[str, str]
    """What counts are broken down by; JSON text in Parquet."""
    provenance: Provenance
    """How the item was made; JSON text in Parquet."""

    @classmethod
    def of(cls, item: Item, outcome: KeptOutcome) -> Self:
        """Flatten a workspace item.

        Raises:
            ValueError: The item is none of the benchmark, or its payload not of its kind.
        """
        names = _columns(cls.benchmark, item.kind)
        return cls.model_validate(
            {
                "item_id": item.id,
                "kind": item.kind,
                "outcome": outcome,
                "parent": item.parent,
                "motion_id": None,
                "stratum": item.stratum,
                "provenance": item.provenance,
                **cls.derived(item.kind),
                **{names[field]: value for field, value in item.payload.items()},
            }
        )

    @classmethod
    def derived(cls, kind: str) -> dict[str, Any]:
        """Return the columns that follow from the kind."""
        return {}

    def payload(self) -> BaseModel:
        """Return the benchmark's own record.

        Raises:
            ValueError: The columns are not those of the kind.
        """
        names = _columns(self.benchmark, self.kind)
        return KINDS[self.kind].payload.model_validate(
            {field: getattr(self, column) for field, column in names.items()}
        )

    def content_id(self) -> str:
        """Compute the id that the content of this row has; equals ``item_id`` when untouched."""
        plain = self.payload().model_dump(mode="json")
        return version_id(self.benchmark, self.kind, self.stratum, plain, self.parent)

    def conditions(self) -> dict[str, str]:
        """Return the strata that decide which questions are asked."""
        return self.stratum

    @model_validator(mode="after")
    def _holds_its_kind_and_nothing_else(self) -> Self:
        expected = self.derived(self.kind)
        used = {*_columns(self.benchmark, self.kind).values(), *FlatItem.model_fields, *expected}
        for name in type(self).model_fields:
            if name not in used and getattr(self, name) is not None:
                raise ValueError(f"{name} is no column of kind {self.kind!r}, expected null")
        for name, value in expected.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} of kind {self.kind!r} is {value!r}")
        self.payload()
        return self


class NextMotionItem(FlatItem):
    """An item of NextMotionQA (4.1), a question of the pilot (3) or a clip of its study (4.3)."""

    benchmark: ClassVar[Benchmark] = "nextmotionqa"

    task: Task | None = None
    """``T1``, ``T2`` or ``T3``; null for a pilot question and a rated clip."""
    axis: SemanticAxis | None = None
    """Primary semantic axis; T1 to T3."""
    difficulty: Difficulty | None = None
    """Tier of the clip; T1 to T3."""
    question: str | None = None
    """The question; T1 and pilot."""
    options: tuple[str, ...] | None = None
    """The options; T1 and pilot. JSON text in Parquet."""
    gold: tuple[str, ...] | None = None
    """The options that are right; T1. JSON text in Parquet."""
    reference: str | None = None
    """The reference caption; T2."""
    corrupted: str | None = None
    """The caption with its mistakes; T3."""
    errors: tuple[ErrorSpan, ...] | None = None
    """Each mistake: first character, one past the last, rewrite, axis; T3. JSON text in Parquet."""
    corrected: str | None = None
    """The right caption; T3."""
    source_id: str | None = None
    """Id of the question in its source; pilot."""
    answer: str | None = None
    """Gold answer of the source, one of ``options``; pilot."""
    query_type: QueryType | None = None
    """What is asked for; pilot."""
    program: str | None = None
    """The source's functional form of the question; pilot."""
    prompt_id: str | None = None
    """Id of the prompt the clip was made from; rated clip."""
    prompt: str | None = None
    """The text the motion was made from; rated clip."""
    method: str | None = None
    """The generator, or ``ground-truth``; rated clip. No expert saw it."""

    @classmethod
    def derived(cls, kind: str) -> dict[str, Any]:
        """Return the task of the kind."""
        return {"task": {"choice": "T1", "caption": "T2", "correction": "T3"}.get(kind)}


class CaptionSetItem(FlatItem):
    """A motion of MRBench with its three captions and its category."""

    benchmark: ClassVar[Benchmark] = "mrbench"

    category: tuple[str, ...]
    """Path in the taxonomy: coarse, middle, fine. JSON text in Parquet."""
    concise: str
    """The principal motion."""
    standard: str
    """The usual amount of detail."""
    fine: str
    """Body parts and their course in time."""
    source: str
    """Where the motion comes from; empty where not stated."""


class PromptItem(FlatItem):
    """A prompt of T2MBench (3.1), its target (3.3.3), or a scored motion made of it (4.2.1)."""

    benchmark: ClassVar[Benchmark] = "t2mbench"

    prompt_id: str | None = None
    """Stable id of the prompt."""
    prompt: str | None = None
    """The text."""
    category: str | None = None
    """Category of the prompt; null for a scored motion."""
    length: Length | None = None
    """Length of the sequence asked for; null where not stated, for targets and scored motions."""
    target: str | None = None
    """What the prompt asks for in numbers, as one line; null for prompts and scored motions."""
    method: str | None = None
    """The generator; null for a prompt and a target. No expert saw it."""


class DroppedItem(Record):
    """An item that was judged, or was to be judged, and is not part of the release."""

    item_id: str
    """Id of the item."""
    kind: str
    """Kind within the benchmark."""
    motion_id: str | None
    """Stable id of its motion clip; null for a prompt, which has none."""
    outcome: Outcome
    """What became of it; ``undecided`` when it did not get all its ratings."""
    reason: str
    """Why, in one line."""
    parent: str | None
    """Id of the item version this one revises; null for a first version."""
    stratum: dict[str, str]
    """What counts are broken down by."""

    @classmethod
    def of(cls, item: Item, outcome: Outcome, reason: str) -> Self:
        """Keep of an item what the list of excluded ones tells."""
        return cls(
            item_id=item.id,
            kind=item.kind,
            motion_id=item.payload.get("clip_id"),
            outcome=outcome,
            reason=reason,
            parent=item.parent,
            stratum=item.stratum,
        )

    def conditions(self) -> dict[str, str]:
        """Return the strata that decide which questions are asked."""
        return self.stratum


def version_id(
    benchmark: str, kind: str, stratum: dict[str, str], payload: dict[str, Any], parent: str | None
) -> str:
    """Return the id of an item with this content."""
    return content_hash([benchmark, kind, stratum, payload, parent])


def _columns(benchmark: Benchmark, kind: str) -> dict[str, str]:
    """Return the column of each field of a kind's payload."""
    found = KINDS.get(kind)
    if found is None or benchmark not in found.benchmarks:
        raise ValueError(f"{benchmark} has no items of kind {kind!r}")
    renamed = {"clip_id": "motion_id", **RENAMED.get(kind, {})}
    return {field: renamed.get(field, field) for field in found.payload.model_fields}
