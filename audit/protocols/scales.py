"""Scales that several protocols use."""

from __future__ import annotations

from audit.protocol import Option, Question

YES_NO = (Option(value="yes", text="Yes"), Option(value="no", text="No"))
"""Answers of a check."""

CONFIDENCE = (
    Option(value="1", text="A guess"),
    Option(value="2", text="Unsure"),
    Option(value="3", text="Fairly sure"),
    Option(value="4", text="Sure"),
    Option(value="5", text="Certain"),
)
"""Confidence on five points, 1 guessing to 5 certain (NextMotionQA A.1)."""

VERDICTS = (
    Option(value="accept", text="Accept", help="Good as it stands."),
    Option(value="revise", text="Revise", help="Worth keeping once a small thing is put right."),
    Option(value="reject", text="Reject", help="Cannot be put right with a small change."),
)
"""Accept, revise or reject (NextMotionQA 4.2)."""

COMMENT = Question(
    name="comment",
    text="Anything the form does not say?",
    kind="text",
    required=False,
    agreement=False,
)
"""Free text at the end of a form."""


def points(top: int, ends: dict[int, str]) -> tuple[Option, ...]:
    """Return a scale of whole points from 0 to ``top``.

    Args:
        top: Highest score.
        ends: Words for some of the points, shown on hover.
    """
    return tuple(
        Option(value=str(score), text=str(score), help=ends.get(score, ""))
        for score in range(top + 1)
    )
