"""NextMotionQA: its grid of tasks, axes and difficulties, its failure modes, its items.

Paper sections: 3 and A (the pilot on HumanMotionQA), 4 (the benchmark), 4.3 (the judge study).
"""

from __future__ import annotations

from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from benchmarks.items import Frozen

Task = Literal["T1", "T2", "T3"]
TASKS: dict[Task, str] = {
    "T1": "Multiple choice: any number of four options is right",
    "T2": "A caption of the motion",
    "T3": "A caption with a mistake, to be found and put right",
}
"""The task formats, in words (NextMotionQA 4)."""

SemanticAxis = Literal["body_part", "direction", "action"]
SEMANTIC_AXES: dict[SemanticAxis, str] = {
    "body_part": "Which parts of the body make the motion",
    "direction": "Which way the body moves",
    "action": "What the motion is",
}
"""A1, A2 and A3, in words (NextMotionQA 4)."""

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""Tiers of a clip, the same for all tasks (NextMotionQA 4, equation 2)."""

FailureMode = Literal["F1", "F2", "F3", "F4"]
FAILURE_MODES: dict[FailureMode, tuple[str, str]] = {
    "F1": (
        "Body parts of different size collide",
        "Two answers name a part and the part that contains it (hand and arm, foot and leg), and "
        "the motion fits both.",
    ),
    "F2": (
        "Direction without a point of view",
        "Left, right, forward or back is asked for, and it is not said whose: the person's own, "
        "the viewer's or the room's.",
    ),
    "F3": (
        "Before and after without a border",
        "The question needs a moment at which one action ends and the next begins, and in the "
        "clip they overlap or run into each other.",
    ),
    "F4": (
        "Several actions at once",
        "One action is asked for while the person does more than one at the same time, and none "
        "of them is plainly the main one.",
    ),
}
"""Name and definition of each failure mode (NextMotionQA A.3), in our own words."""

QueryType = Literal["direction", "action", "body_part"]
QUERY_TYPES: tuple[QueryType, ...] = get_args(QueryType)
"""What a question of HumanMotionQA asks for (NextMotionQA A.1)."""

STUDY_VERSIONS: dict[str, str] = {
    "V1": "single actions, small-scale clips",
    "V2": "composite, chained actions, larger clips",
    "V3": "fine-grained motions in timed segments",
}
"""The versions of the judge study (NextMotionQA 4.3); label a ``likert`` study with one."""


class PilotQuestion(Frozen):
    """A question of another benchmark, as the pilot asks it (NextMotionQA 3; HumanMotionQA)."""

    source_id: str = Field(min_length=1)
    """Id of the question in its source."""
    clip_id: str = Field(min_length=1)
    """Clip of the motion."""
    question: str = Field(min_length=1)
    """The question."""
    options: tuple[str, ...] = Field(min_length=2)
    """Possible answers, each once."""
    answer: str
    """Gold answer of the source, one of ``options``; never shown."""
    query_type: QueryType
    """What is asked for."""
    program: str = ""
    """The source's own functional form of the question; never shown."""

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if len(set(self.options)) != len(self.options):
            raise ValueError("an option stands twice")
        if self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


class _Cell(Frozen):
    clip_id: str = Field(min_length=1)
    """Clip of the motion."""
    axis: SemanticAxis
    """Primary semantic axis."""
    difficulty: Difficulty
    """Tier of the clip."""


class ChoiceItem(_Cell):
    """T1: a question with four options, any number of which is right."""

    question: str = Field(min_length=1)
    """The question."""
    options: tuple[str, ...] = Field(min_length=2)
    """Options, each once; four in the paper."""
    gold: tuple[str, ...] = Field(min_length=1)
    """The options that are right; never shown."""

    @model_validator(mode="after")
    def _gold_is_among_options(self) -> Self:
        if len(set(self.options)) != len(self.options):
            raise ValueError("an option stands twice")
        if not set(self.gold) <= set(self.options) or len(set(self.gold)) != len(self.gold):
            raise ValueError("the gold answers are not options, or one stands twice")
        return self


class CaptionItem(_Cell):
    """T2: a reference caption of the motion."""

    caption: str = Field(min_length=1)
    """The reference caption; it is what the experts judge."""


class ErrorSpan(Frozen):
    """One mistake in a T3 caption."""

    start: int = Field(ge=0)
    """First character in the corrupted caption, from 0."""
    end: int
    """One past the last character."""
    rewrite: str
    """What should stand there; never shown."""
    axis: SemanticAxis
    """Axis of the mistake."""


class CorrectionItem(_Cell):
    """T3: a caption with mistakes, and what is wrong in it."""

    corrupted: str = Field(min_length=1)
    """The caption with its mistakes."""
    errors: tuple[ErrorSpan, ...] = Field(min_length=1)
    """The mistakes, by place; never shown."""
    corrected: str = Field(min_length=1)
    """The right caption; never shown."""

    @model_validator(mode="after")
    def _spans_lie_inside(self) -> Self:
        for span in self.errors:
            if not span.start < span.end <= len(self.corrupted):
                raise ValueError(f"span {span.start}–{span.end} does not lie in the caption")
        return self
