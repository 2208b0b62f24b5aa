"""The record every benchmark item is kept in, its states, and where it came from."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1
"""Version of the records written to disk; raised when a field changes its meaning."""

Benchmark = Literal["stride", "t2mbench", "nextmotionqa", "mrbench"]
ItemState = Literal["drafted", "in_review", "accepted", "rejected", "revise"]

ITEM_TRANSITIONS: dict[ItemState, frozenset[ItemState]] = {
    "drafted": frozenset({"in_review"}),
    "in_review": frozenset({"accepted", "rejected", "revise"}),
    "accepted": frozenset(),
    "rejected": frozenset(),
    "revise": frozenset(),
}
"""Allowed moves of one item version; a revised item goes on as a new version with a parent."""


class Frozen(BaseModel):
    """Base of the records: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Frozen):
    """How an item was made, enough to make it again."""

    rule: str
    """Name and version of the rule, or id of the prompt, e.g. ``stride.mirror/1``."""
    rule_hash: str | None = None
    """SHA-256 of the prompt or data table the rule used, hex."""
    model_asked: str | None = None
    """Language model that was requested; null where no model was used."""
    model_answered: str | None = None
    """Language model that the endpoint says answered."""
    seed: int | None = None
    """Seed of every random choice in the draft."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Options in force, by name."""
    tool_version: str = ""
    """Version of MotionJury that made the item."""
    media: dict[str, str] = Field(default_factory=dict)
    """Content hashes of motions or media used, by clip id."""


class Item(Frozen):
    """One version of one benchmark item. Its id is the hash of its content."""

    id: str
    """First 24 hex digits of the SHA-256 of benchmark, kind, stratum, payload and parent."""
    benchmark: Benchmark
    """Which benchmark the item belongs to."""
    kind: str
    """Kind within the benchmark, e.g. ``triplet``."""
    stratum: dict[str, str]
    """Axis, difficulty, task, corpus …: what counts are broken down by."""
    payload: dict[str, Any]
    """The benchmark's own type, as plain JSON (e.g. ``benchmarks.stride.Triplet``)."""
    state: ItemState = "drafted"
    """Where the item stands; only the moves of ``ITEM_TRANSITIONS`` are allowed."""
    parent: str | None = None
    """Id of the version this one revises."""
    provenance: Provenance
    """How the item was made."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""


def content_hash(value: Any, digits: int = 24) -> str:
    """Hash a JSON-able value canonically (sorted keys, no spaces, UTF-8).

    Args:
        value: Anything ``json.dumps`` takes.
        digits: Hex digits kept, 8 to 64.

    Returns:
        The first ``digits`` hex digits of the SHA-256.

    >>> content_hash({"b": 1, "a": 2}) == content_hash({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def make_item(
    benchmark: Benchmark,
    kind: str,
    stratum: dict[str, str],
    payload: BaseModel,
    provenance: Provenance,
    parent: str | None = None,
) -> Item:
    """Build a drafted item and derive its id from its content.

    Args:
        benchmark: Benchmark the item belongs to.
        kind: Kind within the benchmark.
        stratum: What counts are broken down by.
        payload: The benchmark's own record.
        provenance: How the item was made; it is not part of the id.
        parent: Id of the version this one revises.

    Returns:
        The item, in state ``drafted``.
    """
    plain = payload.model_dump(mode="json")
    identity = [benchmark, kind, stratum, plain, parent]
    return Item(
        id=content_hash(identity),
        benchmark=benchmark,
        kind=kind,
        stratum=stratum,
        payload=plain,
        parent=parent,
        provenance=provenance,
    )
