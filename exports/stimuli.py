"""What experts looked at: one row per study and clip, without anything of the motion itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from corpus.problems import Problem
from exports.records import Record, ReleaseLabel, ReleaseStudy
from store.clips import Media

STIMULI = "stimuli.jsonl"
"""File of the stimuli; releases written before there was one do not have it."""
SETTINGS = (
    "size", "fps", "view", "body", "gender", "betas", "refine", "facing_arrow", "legend",
    "frame_counter",
)  # fmt: skip
"""Render settings that decide what is seen, whichever backend draws; no folder of a machine."""


class Stimulus(Record):
    """The rendering of a clip that a study showed."""

    study: str
    """Name of the study."""
    motion_id: str
    """Stable id of the motion clip."""
    key: str = Field(pattern="^[0-9a-f]{32,64}$")
    """Hash of motion content, render settings and renderer version: the same key, the same clip."""
    renderer_version: int | None
    """Version of the drawing, raised when it changes; null where it was not recorded."""
    settings: dict[str, Any]
    """Render settings as asked for, the backend left out; null gender and betas stand for those
    that the motion's own file names."""
    frames: int = Field(ge=1)
    """Frames of the video."""
    fit_error_mm: dict[str, float] | None
    """Mean distance of each joint of the drawn body from the motion's, millimetres; empty where
    exact, null where it was not measured."""


def stimuli_of(study: str, shown: Iterable[Media]) -> tuple[Stimulus, ...]:
    """Return the rows of one study.

    Args:
        study: Its name.
        shown: The renderings that its work items were shown with.
    """
    return tuple(
        Stimulus(
            study=study,
            motion_id=media.clip_id,
            key=media.key,
            renderer_version=media.settings.get("renderer_version"),
            settings={name: media.settings[name] for name in SETTINGS if name in media.settings},
            frames=media.frames,
            fit_error_mm=media.fit_error_mm,
        )
        for media in shown
    )


def stimulus_problems(
    stimuli: Sequence[Stimulus] | None,
    studies: Sequence[ReleaseStudy],
    labels: Sequence[ReleaseLabel],
    motions: Mapping[str, str],
) -> list[Problem]:
    """Check the stimuli of a release against its studies, items and labels.

    Args:
        stimuli: The rows; null in a release without the file.
        studies: All studies of the release.
        labels: All labels.
        motions: Motion of each item; an empty text for none.
    """
    if stimuli is None:
        return []
    reasons: list[str] = []
    shows = {study.name for study in studies if study.protocol.shows_clip}
    seen = Counter((one.study, one.motion_id, one.key) for one in stimuli)
    reasons += [f"{' '.join(row)} comes {n} times" for row, n in seen.items() if n > 1]
    for one in stimuli:
        reasons += [f"{one.study} {one.motion_id}: {what}" for what in _wrong(one, shows, motions)]
    had = {(one.study, one.motion_id) for one in stimuli}
    wanted = {
        (label.study, motion)
        for label in labels
        if label.study in shows and (motion := motions.get(label.item_id))
    }
    reasons += [f"{study} {motion}: labelled, and not here" for study, motion in wanted - had]
    return [Problem(file=STIMULI, reason=reason) for reason in sorted(reasons)]


def _wrong(one: Stimulus, shows: Collection[str], motions: Mapping[str, str]) -> list[str]:
    found = []
    if one.study not in shows:
        found.append("no such study that shows clips")
    if one.motion_id not in motions.values():
        found.append("no item has this motion")
    if foreign := sorted(set(one.settings) - set(SETTINGS)):
        found.append(f"settings hold {', '.join(foreign)}")
    if any(not mm >= 0 for mm in (one.fit_error_mm or {}).values()):
        found.append("a fit error is below 0")
    return found
