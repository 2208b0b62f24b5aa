"""What a release of each benchmark looks like: its records, its files, what its card says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.items import Benchmark, Item
from exports.flat import CaptionSetItem, DroppedItem, KeptOutcome, NextMotionItem, PromptItem
from exports.folder import FILES, LINEAGE
from exports.records import (
    ExcludedItem,
    LabelledStudy,
    Outcome,
    Record,
    ReleaseDecision,
    ReleaseLabel,
    ReleaseStudy,
    StrideItem,
)
from exports.stimuli import STIMULI, Stimulus
from exports.versions import VersionRow

AnyItem = StrideItem | NextMotionItem | CaptionSetItem | PromptItem
AnyDropped = ExcludedItem | DroppedItem


class Layout(NamedTuple):
    """The release of one benchmark."""

    item: type[AnyItem]
    """Rows of ``items``."""
    excluded: type[AnyDropped]
    """Rows of ``excluded``."""
    study: type[ReleaseStudy]
    """Entries of ``studies.json``."""
    keep: Callable[[Item, KeptOutcome], AnyItem]
    """Flattens an item that is kept."""
    drop: Callable[[Item, Outcome, str], AnyDropped]
    """Keeps what is told of another one, with its outcome and the reason."""
    lineage: bool
    """Whether there is a file of all versions of the items that were edited jointly."""
    about: str
    """What an item is, for the card."""


def _keep_triplet(item: Item, _outcome: KeptOutcome) -> StrideItem:
    return StrideItem.of(item)


def _drop_triplet(item: Item, outcome: Outcome, reason: str) -> ExcludedItem:
    flat = StrideItem.of(item)
    return ExcludedItem(
        item_id=flat.item_id,
        corpus=flat.corpus,
        axis=flat.axis,
        motion_id=flat.motion_id,
        outcome=outcome,
        reason=reason,
        parent=flat.parent,
    )


LAYOUTS: dict[Benchmark, Layout] = {
    "stride": Layout(
        item=StrideItem,
        excluded=ExcludedItem,
        study=ReleaseStudy,
        keep=_keep_triplet,
        drop=_drop_triplet,
        # Here ``excluded`` names the versions that a later one took the place of.
        lineage=False,
        about=(
            "A motion, a caption that describes it, and a perturbed caption in which one "
            "structural property was\nchanged. A model that understands the motion prefers the "
            "caption to its perturbation."
        ),
    ),
    "nextmotionqa": Layout(
        item=NextMotionItem,
        excluded=DroppedItem,
        study=LabelledStudy,
        keep=NextMotionItem.of,
        drop=DroppedItem.of,
        lineage=True,
        about=(
            "A motion with a task: options of which any number is right (T1), a reference caption "
            "(T2), or a\ncaption with a mistake, its place and its rewrite (T3), each with the "
            "gold answer. Pilot questions and\nclips of the judge study are told apart by `kind`."
        ),
    ),
    "mrbench": Layout(
        item=CaptionSetItem,
        excluded=DroppedItem,
        study=LabelledStudy,
        keep=CaptionSetItem.of,
        drop=DroppedItem.of,
        lineage=True,
        about=(
            "A motion with three captions of growing detail (concise, standard, fine) and its "
            "place in a taxonomy."
        ),
    ),
    "t2mbench": Layout(
        item=PromptItem,
        excluded=DroppedItem,
        study=LabelledStudy,
        keep=PromptItem.of,
        drop=DroppedItem.of,
        lineage=True,
        about=(
            "A prompt from which models make motions, a target in numbers that a prompt asks for, "
            "or a motion that\na method made from a prompt (`kind` says which)."
        ),
    ),
}
"""The layout of each benchmark; a new one is one record and one entry here."""

ALL_FILES = tuple(sorted((*FILES, LINEAGE, STIMULI)))
"""Every name that any release has, the manifest's aside."""


class Content(Record):
    """The records of a release, before they are encoded or after they were read."""

    items: tuple[AnyItem, ...]
    """Kept items, sorted by id."""
    excluded: tuple[AnyDropped, ...]
    """The other items of the studies, sorted by id."""
    labels: tuple[ReleaseLabel, ...]
    """Labels, sorted by study, item and rater."""
    decisions: tuple[ReleaseDecision, ...]
    """Decisions, sorted by study and item."""
    studies: tuple[ReleaseStudy, ...]
    """Studies, sorted by name."""
    versions: tuple[VersionRow, ...] = ()
    """Lineage, in benchmarks that have the file."""
    stimuli: tuple[Stimulus, ...] | None = None
    """What was shown, sorted by study, motion and key; null in releases without the file."""

    def options(self) -> dict[str, tuple[str, ...]]:
        """Return the options of the kept items that have their own."""
        found = {one.item_id: one.options for one in self.items if isinstance(one, NextMotionItem)}
        return {item_id: options for item_id, options in found.items() if options is not None}


def files_of(benchmark: Benchmark, *, stimuli: bool) -> tuple[str, ...]:
    """Return the names of the files of a release, sorted, the manifest left out.

    Args:
        benchmark: Its benchmark.
        stimuli: Whether it tells what was shown, as all do but old ones.
    """
    more = [LINEAGE] if LAYOUTS[benchmark].lineage else []
    return tuple(sorted((*FILES, *more, *([STIMULI] if stimuli else []))))


def motions_of(content: Content) -> dict[str, str]:
    """Return the motion of every item, kept or not; an empty text where it has none."""
    rows: Sequence[Any] = (*content.items, *content.excluded)
    return {row.item_id: row.motion_id or "" for row in rows}


def rating_studies(studies: Sequence[ReleaseStudy]) -> set[str]:
    """Return the names of the studies whose answers are the result: nothing is decided there."""
    return {one.name for one in studies if is_rating(one.protocol.decision, one.rule)}


def is_rating(decision: str, rule: str) -> bool:
    """Return whether a protocol decides nothing, and the study neither.

    A study of another protocol that was run without a rule leaves its items undecided.
    """
    return decision == rule == "none"
