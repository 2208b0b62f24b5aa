"""The two passes of the pipeline, for many drafts at once (NextMotionQA 4.1).

Pass 1 sees labels and caption only; pass 2 sees them, the draft and the clip's frames. Appendix E
says the prompts supply the video from the start; section 4.1 says pass 1 withholds it, and that is
followed. The prompts are ours.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.nextmotionqa import SemanticAxis, Task
from construction.nextmotionqa.difficulty import Tier
from construction.nextmotionqa.drafts import (
    CaptionDraft,
    CaptionReview,
    ChoiceDraft,
    ChoiceReview,
    CorrectionDraft,
    CorrectionReview,
    Draft,
)
from construction.nextmotionqa.failures import AXIS_OF, Failure
from construction.nextmotionqa.sources import SourceClip
from construction.stages import Stages
from corpus.problems import InputError
from llm.ask import Event
from llm.media import Media
from llm.outcome import Reply
from llm.requests import Request

PASS_1, PASS_2 = "pass1", "pass2"
STAGES = (PASS_1, PASS_2)
"""Stages that may ask a language model, in order."""

AXIS_WORDS: dict[SemanticAxis, str] = {
    "body_part": "which parts of the body make the motion, at one level of detail",
    "direction": "which way the body as a whole travels or turns, or that it stays in place; "
    "not the direction of a limb",
    "action": "what the motion is: the actions, not the parts or the direction",
}
"""The axes as the prompts name them (NextMotionQA 4)."""

_DRAFTS: dict[Task, type[Draft]] = {"T1": ChoiceDraft, "T2": CaptionDraft, "T3": CorrectionDraft}
_REVIEWS: dict[Task, type[Draft]] = {
    "T1": ChoiceReview,
    "T2": CaptionReview,
    "T3": CorrectionReview,
}

Frames = Callable[[str], tuple[Media, ...]]
"""Frames of a clip, by its id; raises ``InputError`` where they cannot be drawn."""


class Job(NamedTuple):
    """One draft to be made."""

    clip: SourceClip
    """The clip."""
    tier: Tier
    """Its difficulty."""
    failures: tuple[Failure, ...]
    """What is wrong with its labels."""
    task: Task
    """Task."""
    axis: SemanticAxis
    """Axis."""
    repeat: int = 0
    """Number of the attempt at this very draft, from 0."""

    @property
    def id(self) -> str:
        """Name of the draft for messages."""
        return f"{self.clip.clip_id} {self.task} {self.axis}"

    @property
    def cell(self) -> dict[str, str]:
        """Task, axis and difficulty: the item's cell of the grid."""
        return {"task": self.task, "axis": self.axis, "difficulty": self.tier.difficulty}


def ask_drafts(jobs: Sequence[Job], stages: Stages) -> list[Reply[Draft]]:
    """Run pass 1: no picture goes along.

    Args:
        jobs: Drafts wanted.
        stages: The models; ``pass1`` has one.

    Returns:
        One reply for each job, in order.
    """
    requests = []
    for job in jobs:
        lines = [f.line for f in job.failures if job.axis in AXIS_OF[f.mode] or f.mode == "F3"]
        values = {**_seen(job), "failures": lines}
        text = stages.prompts.load(f"nextmotionqa.{job.task.lower()}").render(values)
        requests.append(Request(id=job.id, prompt=text, repeat=job.repeat))
    return _by_task(jobs, requests, stages, PASS_1, _DRAFTS)


def ask_reviews(
    jobs: Sequence[Job], drafts: Sequence[Draft], frames: Frames, stages: Stages
) -> list[Reply[Draft]]:
    """Run pass 2: the draft beside the clip's frames.

    Args:
        jobs: What the drafts are for.
        drafts: Drafts of pass 1, in the same order.
        frames: The clip's frames.
        stages: The models; ``pass2`` has one.

    Returns:
        One reply for each job, in order; where a clip cannot be drawn, outcome ``error`` with the
        reason, and nothing is asked.
    """
    found: dict[int, Reply[Draft]] = {}
    asked: list[int] = []
    requests: list[Request] = []
    for number, (job, draft) in enumerate(zip(jobs, drafts, strict=True)):
        stages.tell(f"{PASS_2} frames", Event("answered", job.id, number + 1, len(jobs), ""))
        try:
            media = frames(job.clip.clip_id)
        except InputError as error:
            reason = f"not drawn: {error}"
            found[number] = Reply(job.id, "error", None, reason)
            continue
        shown = draft.model_dump(exclude={"possible", "reason", "changed", "why"})
        text = json.dumps(shown, ensure_ascii=False, indent=1)
        prompt = stages.prompts.load(f"nextmotionqa.review_{job.task.lower()}")
        rendered = prompt.render({**_seen(job), "draft": text})
        asked.append(number)
        requests.append(Request(id=job.id, prompt=rendered, media=media, repeat=job.repeat))
    replies = _by_task([jobs[n] for n in asked], requests, stages, PASS_2, _REVIEWS)
    found |= dict(zip(asked, replies, strict=True))
    return [found[number] for number in range(len(jobs))]


def _seen(job: Job) -> dict[str, object]:
    return {
        "axis": AXIS_WORDS[job.axis],
        "labels": [label.line for label in job.clip.labels],
        "caption": job.clip.caption,
        "duration": f"{job.clip.duration:.2f}",
    }


def _by_task(
    jobs: Sequence[Job],
    requests: Sequence[Request],
    stages: Stages,
    stage: str,
    schemas: dict[Task, type[Draft]],
) -> list[Reply[Draft]]:
    """Ask the questions of one schema together."""
    places: dict[Task, list[int]] = defaultdict(list)
    for number, job in enumerate(jobs):
        places[job.task].append(number)
    found: dict[int, Reply[Draft]] = {}
    for task, numbers in sorted(places.items()):
        replies = stages.ask(stage, [requests[n] for n in numbers], schemas[task])
        found |= dict(zip(numbers, replies, strict=True))
    return [found[number] for number in range(len(jobs))]
