"""A small STRIDE release on clips of the demo corpus, judged unanimously by three experts."""

from __future__ import annotations

from pathlib import Path

from audit.adjudication import decide
from audit.protocols.stride_audit import STRIDE_AUDIT
from benchmarks.items import Item, Provenance, make_item
from benchmarks.stride import AXES, StrideAxis, Triplet
from exports.folder import write_release
from exports.records import ReleaseDecision, ReleaseLabel
from exports.release import release_files
from exports.selection import ReleaseSpec, StudySource, release_content
from tests.exports.conftest import RATERS, answers

CLIPS = (
    ("synthetic:0027_kick_left", "a person kicks with their left leg.", "right leg"),
    ("synthetic:0028_kick_right", "a person kicks with their right leg.", "left leg"),
    ("synthetic:0033_raise_left_arm", "a person raises their left arm.", "right arm"),
    ("synthetic:0034_raise_right_arm", "a person raises their right arm.", "left arm"),
)
"""Motion, caption, and what stands in place of the last two words in the mirrored caption."""


def items() -> list[Item]:
    """Four items on each axis."""
    found = []
    for axis in AXES:
        for number, (clip, caption, other) in enumerate(CLIPS):
            mirrored = caption.rsplit(" ", 2)[0] + f" {other}."
            away = CLIPS[(number + 2) % len(CLIPS)][1]
            found.append(_item(axis, clip, number, caption, away if "random" in axis else mirrored))
    return found


def _item(axis: StrideAxis, clip: str, number: int, caption: str, perturbed: str) -> Item:
    return make_item(
        "stride",
        "triplet",
        {"axis": axis, "corpus": "synthetic"},
        Triplet(
            axis=axis,
            corpus="synthetic",
            clip_id=clip,
            caption_id=f"{clip}#0",
            caption=caption,
            perturbed=perturbed,
            edit={},
        ),
        Provenance(rule="test/1", seed=number, tool_version="0"),
    )


def write(folder: Path) -> Path:
    """Write the release."""
    made = sorted(items(), key=lambda one: one.id)
    labels = tuple(
        ReleaseLabel(
            study="pilot",
            item_id=one.id,
            rater=rater,
            simulated=False,
            revision=1,
            protocol_version=STRIDE_AUDIT.version,
            seconds=10.0,
            plays=1,
            first_caption="caption",
            answers=answers("yes", one.stratum["axis"], "4"),
        )
        for one in made
        for rater in RATERS
    )
    decisions = tuple(
        ReleaseDecision(
            study="pilot",
            item_id=one.id,
            simulated=False,
            **decide(
                [label.answers for label in labels if label.item_id == one.id],
                STRIDE_AUDIT,
                conditions={"axis": one.stratum["axis"]},
            ).model_dump(),
        )
        for one in made
    )
    source = StudySource(
        name="pilot",
        protocol=STRIDE_AUDIT,
        rule=STRIDE_AUDIT.decision,
        ratings_per_item=3,
        seed=1,
        items=tuple(made),
        labels=labels,
        decisions=decisions,
    )
    spec = ReleaseSpec(
        name="small",
        version="1.0",
        licence="CC-BY-4.0",
        motion_licences={"synthetic": ("Apache-2.0",)},
        tool_version="0.1.0",
    )
    write_release(folder, release_files(release_content([source], spec), spec))
    return folder
