"""What a release holds, row by row. The records are the schema; ``schema.json`` is made of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from audit.protocol import Protocol
from benchmarks.items import Benchmark, Frozen, Item, Provenance, content_hash
from benchmarks.stride import StrideAxis, Triplet

RELEASE_SCHEMA_VERSION: Literal[1] = 1
"""Version of the files of a release; raised when a field changes its meaning."""
RELEASE_KIND: Literal["motionjury-release"] = "motionjury-release"
"""What ``manifest.json`` says it is."""

Outcome = Literal["accepted", "rejected", "revise", "undecided"]


class Record(Frozen):
    """Base of the records of a release; the text under a field becomes its schema description."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class StrideItem(Record):
    """One accepted STRIDE item (STRIDE 2.1). The motion itself is fetched from its corpus."""

    item_id: str
    """First 24 hex digits of the SHA-256 of benchmark, kind, stratum, payload and parent."""
    corpus: str
    """Corpus the motion is fetched from."""
    axis: StrideAxis
    """The property that was changed."""
    motion_id: str
    """Stable id of the motion clip, from its corpus."""
    caption_id: str
    """Stable id of the ground-truth caption."""
    caption: str
    """The ground-truth caption c."""
    perturbed: str
    """The perturbed caption c'."""
    edit: dict[str, str]
    """What was changed, axis-specific; JSON text in Parquet."""
    kind: str
    """Kind within the benchmark, ``triplet``."""
    stratum: dict[str, str]
    """What counts are broken down by; JSON text in Parquet."""
    parent: str | None
    """Id of the item version this one revises; null for a first version."""
    provenance: Provenance
    """How the item was made; JSON text in Parquet."""

    @classmethod
    def of(cls, item: Item) -> StrideItem:
        """Flatten a workspace item.

        Raises:
            ValueError: The item is no STRIDE item (pydantic names the field).
        """
        triplet = Triplet.model_validate(item.payload)
        return cls(
            item_id=item.id,
            corpus=triplet.corpus,
            axis=triplet.axis,
            motion_id=triplet.clip_id,
            caption_id=triplet.caption_id,
            caption=triplet.caption,
            perturbed=triplet.perturbed,
            edit=triplet.edit,
            kind=item.kind,
            stratum=item.stratum,
            parent=item.parent,
            provenance=item.provenance,
        )

    def triplet(self) -> Triplet:
        """Return the benchmark's own record."""
        return Triplet(
            axis=self.axis,
            corpus=self.corpus,
            clip_id=self.motion_id,
            caption_id=self.caption_id,
            caption=self.caption,
            perturbed=self.perturbed,
            edit=self.edit,
        )

    def conditions(self) -> dict[str, str]:
        """Return the strata that decide which questions are asked."""
        return {"corpus": self.corpus, "axis": str(self.axis)}

    def content_id(self) -> str:
        """Compute the id that the content of this row has; equals ``item_id`` when untouched."""
        payload = self.triplet().model_dump(mode="json")
        return content_hash(["stride", self.kind, self.stratum, payload, self.parent])


class ExcludedItem(Record):
    """An item that was judged, or was to be judged, and is not part of the benchmark."""

    item_id: str
    """Id of the item."""
    corpus: str
    """Corpus of its motion."""
    axis: str
    """The property that was changed."""
    motion_id: str
    """Stable id of its motion clip."""
    outcome: Outcome
    """What became of it; ``undecided`` when it did not get all its ratings."""
    reason: str
    """Why, in one line."""
    parent: str | None
    """Id of the item version this one revises; null for a first version."""

    def conditions(self) -> dict[str, str]:
        """Return the strata that decide which questions are asked."""
        return {"corpus": self.corpus, "axis": self.axis}


class ReleaseLabel(Record):
    """One expert's current judgement of one item. Names of people are never part of it."""

    study: str
    """Name of the study."""
    item_id: str
    """Item judged; in ``items`` or in ``excluded``."""
    rater: str
    """Anonymous code of the expert within the study: A1, A2 …"""
    simulated: bool
    """True when no person gave this label."""
    revision: int = Field(ge=1)
    """1 for the first submission; higher when the expert changed an answer later."""
    protocol_version: int
    """Version of the protocol in force."""
    seconds: float | None
    """Seconds the expert was active on the item; null where not measured."""
    plays: int | None
    """Times the clip was played; null where not measured."""
    seconds_3d: float | None = None
    """Seconds the 3D view was on; null where not measured, as in a study without it."""
    orbits: int | None = None
    """Times the camera of the 3D view was turned; null where not measured."""
    zooms: int | None = None
    """Times it was moved nearer or farther; null where not measured."""
    pans: int | None = None
    """Times it was shifted sideways; null where not measured."""
    first_caption: Literal["caption", "perturbed"] | None
    """Which of the two stood first, as A, for this expert; null where not recorded."""
    answers: dict[str, Any]
    """Answer by question; on disk each question is a column of its own."""


class ReleaseDecision(Record):
    """What a study decided about an item, and by which rule."""

    study: str
    """Name of the study."""
    item_id: str
    """Item decided."""
    outcome: Outcome
    """``accepted``, ``rejected`` or ``revise``."""
    rule: str
    """Rule of the protocol that was applied, or ``coordinator``."""
    reason: str
    """Why; a coordinator's own words are left out unless comments are included."""
    votes: dict[str, Any]
    """Votes the rule counted, as the study kept them; JSON text in Parquet."""
    simulated: bool
    """True when simulated labels entered the decision."""


class ReleaseStudy(Record):
    """A study as it was run: enough to read its labels and to apply its rule again."""

    name: str
    """Name of the study."""
    protocol: Protocol
    """The form, guidelines and rule that the experts worked with."""
    rule: str
    """Decision rule in force: the protocol's, or the one the study chose instead."""
    ratings_per_item: int
    """Ratings asked for per item."""
    seed: int
    """Seed of order and assignment."""
    items: int
    """Items put to the experts, training items left out."""
    raters: int
    """Experts with at least one label here."""
    simulated_raters: int
    """How many of them are simulated."""
    surplus_labels: int
    """Late labels beyond ``ratings_per_item``; kept in the workspace, in no count here."""


class LabelledStudy(ReleaseStudy):
    """A study that may bear a label of its protocol."""

    label: str | None
    """One of the protocol's ``study_labels``, e.g. ``V1``; null for none."""


class ReleaseFile(Record):
    """One file of the release."""

    file: str
    """Name within the folder."""
    sha256: str
    """SHA-256 of its bytes, 64 hex digits."""
    size: int
    """Bytes."""
    rows: int | None
    """Rows of a table; null for other files."""


class Tool(Record):
    """The program that wrote the release."""

    name: str = "motionjury"
    """Name of the tool."""
    version: str
    """Its version."""


class ReleaseConfig(Record):
    """Choices that decide what is in the release."""

    studies: tuple[str, ...]
    """Names of the studies, sorted."""
    include_comments: bool
    """Whether free-text answers are included."""
    allow_simulated: bool
    """Whether simulated labels were let in."""
    resamples: int = Field(ge=0, le=100_000)
    """Bootstrap resamples of the agreement intervals."""
    seed: int
    """Seed of the resampling."""


class ReleaseCounts(Record):
    """Totals that anybody can count again."""

    kept: int
    """Rows of ``items``."""
    dropped: dict[str, int]
    """Rows of ``excluded`` by outcome."""
    labels: int
    """Rows of ``labels``."""
    simulated_labels: int
    """Rows of ``labels`` that no person gave."""
    decisions: int
    """Rows of ``decisions``."""


class Manifest(Record):
    """``manifest.json``: what is in the folder, and how to know that it is still the same."""

    kind: Literal["motionjury-release"] = RELEASE_KIND
    """Fixed."""
    schema_version: Literal[1] = RELEASE_SCHEMA_VERSION
    """Version of this layout."""
    name: str
    """Name of the release."""
    version: str
    """Version of the release, chosen by the coordinator."""
    benchmark: Benchmark
    """Benchmark of the items."""
    licence: str | None
    """Licence of captions, labels and decisions; null when the coordinator stated none."""
    motion_licences: dict[str, tuple[str, ...]]
    """Per corpus the licences its motions are under, as the source states them."""
    tool: Tool
    """What wrote it."""
    configuration: ReleaseConfig
    """Choices in force."""
    item_set_hash: str
    """SHA-256 of the sorted ids of the kept items as a JSON list, 64 hex digits."""
    counts: ReleaseCounts
    """Totals."""
    files: tuple[ReleaseFile, ...]
    """Every file but this one, sorted by name."""


def item_set_hash(ids: list[str]) -> str:
    """Hash a set of items, independent of order.

    >>> item_set_hash(["b", "a"]) == item_set_hash(["a", "b"])
    True
    """
    return content_hash(sorted(ids), digits=64)
