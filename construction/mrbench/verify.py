"""Structured Semantic Alignment Evaluation: is the caption seen in the frames, point by point?

MRBench takes it from HY-Motion to keep pairs whose primary motion can be observed in frames at 5
per second. Neither paper prints the prompt; the wording is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from benchmarks.items import Frozen
from construction.mrbench.classify import Filed
from construction.mrbench.frames import FrameSource, frame_rate
from construction.stages import Stages
from corpus.problems import InputError
from llm.media import Media
from llm.outcome import Reply
from llm.requests import Request

STAGE = "verify"
"""Name of the stage."""

Seen = Literal["yes", "no", "unclear"]
"""Whether the frames show it; ``unclear`` where they do not settle it."""


class KeyPoint(Frozen):
    """One statement of the caption."""

    point: str
    """The statement."""
    verdict: Seen
    """Whether the frames show it."""
    rationale: str
    """What is seen, one sentence."""


class Alignment(Frozen):
    """What the model answers on one pair."""

    primary_motion: str
    """The deed the caption is about."""
    primary_verdict: Seen
    """Whether it can be observed; the pair passes on ``yes``."""
    rationale: str
    """What is seen, and when."""
    key_points: tuple[KeyPoint, ...]
    """The caption's statements."""


class AlignmentScores(NamedTuple):
    """The two accuracies of the structured evaluation over verified pairs."""

    asked: int
    """Pairs a model was asked about."""
    answered: int
    """Pairs with an answer; the accuracies are over these alone."""
    pairs: int
    """Pairs with an answer that lists at least one key point."""
    points: int
    """Key points of these pairs."""
    mean_accuracy: float | None
    """Mean over pairs of the share of key points seen, 0 to 1; None without a pair."""
    global_accuracy: float | None
    """Share of all key points that are seen, 0 to 1; None without a point."""
    unclear_share: float | None
    """Share of all key points that are unclear; they count as not seen in both accuracies."""


class Checked(NamedTuple):
    """What came of one pair."""

    filed: Filed
    """The pair."""
    media: tuple[Media, ...]
    """Frames shown; empty where they could not be drawn."""
    reply: Reply[Alignment] | None
    """The answer; None where nothing was asked."""
    code: str
    """Why it does not pass: ``frames``, ``not_observable``, ``unclear``, or ``verify_`` and the
    outcome; empty where it passes."""
    reason: str
    """The same in words."""


def verify(pairs: Sequence[Filed], frames: FrameSource, stages: Stages) -> list[Checked]:
    """Show the model each pair and keep those whose primary motion it can see.

    Args:
        pairs: Captions with their motions.
        frames: Draws the frames of a clip.
        stages: Models, one for ``verify`` among them.

    Returns:
        One outcome for each pair, in order.

    Raises:
        InputError: As ``LanguageModel.ask_many``.
    """
    asked = stages.prompts.load("mrbench.verify")
    found: list[Checked] = []
    requests: list[Request] = []
    places: list[int] = []
    for pair in pairs:
        shown = draw(pair, frames)
        found.append(shown)
        if not shown.code:
            values = {"caption": pair.candidate.caption.text, **said_of(shown)}
            places.append(len(found) - 1)
            requests.append(
                Request(
                    id=pair.candidate.caption.id, prompt=asked.render(values), media=shown.media
                )
            )
    if requests:
        for place, reply in zip(places, stages.ask(STAGE, requests, Alignment), strict=True):
            code, reason = _verdict(reply)
            found[place] = found[place]._replace(reply=reply, code=code, reason=reason)
    return found


def draw(pair: Filed, frames: FrameSource) -> Checked:
    """Draw the frames of a pair; one whose motion cannot be drawn does not pass."""
    try:
        return Checked(pair, frames(pair.candidate.clip), None, "", "")
    except InputError as error:
        return Checked(pair, (), None, "frames", str(error))


def said_of(shown: Checked) -> dict[str, str]:
    """Return what a prompt says of the frames: how many, and how many a second."""
    rate = frame_rate(shown.filed.candidate.clip.duration)
    return {"frames": str(len(shown.media)), "fps": f"{rate:.3g}"}


def alignment_scores(replies: Sequence[Reply[Alignment]]) -> AlignmentScores:
    """Return both accuracies (HunyuanImage's SSAE: per item then mean; over all points).

    Args:
        replies: What came back on each pair, of those that did not pass too.

    Returns:
        The accuracies and how many pairs they are over; pairs without an answer or a key point
        are left out.
    """
    answers = [reply.value for reply in replies if reply.value is not None]
    verdicts = [[point.verdict for point in answer.key_points] for answer in answers]
    listed = [found for found in verdicts if found]
    points = [verdict for found in listed for verdict in found]
    if not points:
        return AlignmentScores(len(replies), len(answers), 0, 0, None, None, None)
    shares = [found.count("yes") / len(found) for found in listed]
    return AlignmentScores(
        asked=len(replies),
        answered=len(answers),
        pairs=len(listed),
        points=len(points),
        mean_accuracy=sum(shares) / len(shares),
        global_accuracy=points.count("yes") / len(points),
        unclear_share=points.count("unclear") / len(points),
    )


def _verdict(reply: Reply[Alignment]) -> tuple[str, str]:
    answer = reply.value
    if answer is None:
        return f"verify_{reply.outcome}", reply.reason
    if answer.primary_verdict == "yes":
        return "", ""
    code = "not_observable" if answer.primary_verdict == "no" else "unclear"
    return code, f"{answer.primary_motion}: {answer.rationale}"
