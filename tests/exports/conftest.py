"""A study of seven items on three motions, judged by three experts, as a release takes it."""

from __future__ import annotations

import pytest

from audit.adjudication import decide
from audit.protocols.stride_audit import STRIDE_AUDIT
from benchmarks.items import Item, Provenance, make_item
from benchmarks.stride import StrideAxis, Triplet
from exports.records import ReleaseDecision, ReleaseLabel
from exports.selection import ReleaseSpec, StudySource

RATERS = ("A1", "A2", "A3")
AXES: tuple[StrideAxis, ...] = ("mirror_reflection", "temporal_order", "action_identity")
ODD_CAPTIONS = (
    "a\u00a0person walks",  # no-break space
    "人が歩く 👋🏽 \u200fשלום",  # CJK, emoji with modifier, right-to-left
    "first line\nsecond line",
    "next\u0085line\u2028separator",
    "e\u0301 is not \u00e9",  # NFD beside NFC
    '=HYPERLINK("x")',
    "<script>alert(1)</script>",
)


def item(number: int, parent: str | None = None) -> Item:
    axis = AXES[number % 3]
    clip = f"synthetic:clip-{number % 3}"
    return make_item(
        "stride",
        "triplet",
        {"axis": axis, "corpus": "synthetic"},
        Triplet(
            axis=axis,
            corpus="synthetic",
            clip_id=clip,
            caption_id=f"{clip}#{number}",
            caption=ODD_CAPTIONS[number],
            perturbed=f"{ODD_CAPTIONS[number]} ({number})",
            edit={"source": "left", "target": "右"},
        ),
        Provenance(rule="test/1", seed=number, parameters={"b": 1, "a": [1, 2]}, tool_version="0"),
        parent=parent,
    )


def answers(verdict: str, axis: str, confidence: str) -> dict[str, str]:
    found = {
        "fluent": "yes",
        "single_change": "yes",
        "distinguishable": verdict,
        "confidence": confidence,
        "comment": "Zebedee thinks so",
    }
    return found | ({"exclusive": "yes"} if axis == "action_identity" else {})


def study(name: str = "pilot", simulated: bool = False) -> StudySource:
    """Items 0-4 accepted (item 0 by two of three), item 5 rejected, item 6 undecided."""
    items = sorted((item(n) for n in range(6)), key=lambda one: one.id)
    rejected = item(5).id
    disputed = item(0).id
    open_item = item(6, parent=rejected)
    labels = []
    for one in (*items, open_item):
        for position, rater in enumerate(RATERS):
            if one.id == open_item.id and rater != "A1":
                continue
            against = one.id == rejected or (one.id == disputed and rater == "A2")
            labels.append(
                ReleaseLabel(
                    study=name,
                    item_id=one.id,
                    rater=rater,
                    simulated=simulated,
                    revision=2 if rater == "A3" else 1,
                    protocol_version=STRIDE_AUDIT.version,
                    seconds=12.5 + position,
                    plays=3,
                    first_caption="caption" if position % 2 else "perturbed",
                    answers=answers(
                        "no" if against else "yes", one.stratum["axis"], str(position + 3)
                    ),
                )
            )
    verdicts = {
        one.id: decide(
            [label.answers for label in labels if label.item_id == one.id],
            STRIDE_AUDIT,
            conditions={"axis": one.stratum["axis"]},
        )
        for one in items
    }
    return StudySource(
        name=name,
        protocol=STRIDE_AUDIT,
        rule=STRIDE_AUDIT.decision,
        ratings_per_item=3,
        seed=7,
        items=(*items, open_item),
        labels=tuple(labels),
        decisions=tuple(
            ReleaseDecision(
                study=name, item_id=item_id, simulated=simulated, **verdict.model_dump()
            )
            for item_id, verdict in verdicts.items()
        ),
        surplus_labels=1,
    )


@pytest.fixture
def source() -> StudySource:
    return study()


@pytest.fixture
def spec() -> ReleaseSpec:
    return ReleaseSpec(
        name="My STRIDE",
        version="1.0",
        licence="CC-BY-4.0",
        motion_licences={"synthetic": ("Apache-2.0",)},
        tool_version="0.1.0",
    )
