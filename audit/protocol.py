"""What a protocol is: the form, the training, the decision rule, as data (design, Protocols)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from benchmarks.items import Benchmark, Frozen

QuestionKind = Literal["choice", "multi", "likert", "verdict", "text"]
Part = Literal["video", "captions", "question", "options", "prompt", "facts"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]


class Option(Frozen):
    """One answer of a choice."""

    value: str
    """Stored value, e.g. ``yes``."""
    text: str
    """What the expert reads."""
    help: str = ""
    """Definition shown on hover."""


class Condition(Frozen):
    """When a question is shown or required."""

    stratum: str | None = None
    """Name of a stratum of the item; with ``question`` null the condition is on the item."""
    question: str | None = None
    """Name of another question of the form."""
    values: tuple[str, ...]
    """The condition holds when the stratum or the answer is (or contains) one of these."""


class Question(Frozen):
    """One field of the form."""

    name: str
    """Key of the answer, e.g. ``fluent``."""
    text: str
    """The question; may contain ``{target}``, the property the item's axis changes."""
    help: str = ""
    """One or two sentences shown below or on hover."""
    kind: QuestionKind
    """How it is drawn and checked."""
    options: tuple[Option, ...] = ()
    """Answers, in declared order; for likert the levels, lowest first."""
    options_from: Literal["item"] | None = None
    """``item``: the answers are the item's own options, each person's in an order of their own."""
    required: bool = True
    """Whether a submission without it is refused (where it is shown)."""
    shown_when: Condition | None = None
    """Shown always, or only under this condition."""
    level: Level = "nominal"
    """Level of measurement used for agreement."""
    agreement: bool = True
    """Whether agreement is reported on this answer."""

    @property
    def domain(self) -> tuple[str, ...]:
        """Declared, ordered values; empty for text."""
        return tuple(option.value for option in self.options)


class Forced(Frozen):
    """An answer that leaves no choice in another question."""

    question: str
    """The question whose answer forces."""
    values: tuple[str, ...]
    """Any of these, alone or among others, forces."""
    then: str
    """The question that is forced."""
    must_be: str
    """Its only answer then."""
    message: str
    """What the expert is told, one sentence."""


class WorkedExample(Frozen):
    """An example in the guidelines."""

    title: str
    """What it shows."""
    body: str
    """The captions and the reasoning, Markdown."""


class Protocol(Frozen):
    """Everything a view, the store and the statistics need to know about one kind of study."""

    name: str
    """Key in ``audit.protocols.registry.PROTOCOLS``."""
    version: int
    """Raised whenever questions, options or the rule change."""
    title: str
    """Shown at the top of the page."""
    paper: str
    """Source, paper and section."""
    benchmark: Benchmark
    """Benchmark whose items it takes."""
    kinds: tuple[str, ...] = ()
    """Kinds of items it takes, keys of ``audit.shown.KINDS``; none named: any of the benchmark."""
    shows: tuple[Part, ...]
    """What of the item is drawn; without ``video`` no clip is needed."""
    allows_3d: bool = False
    """Whether the study may offer the 3D view."""
    guidelines: str
    """One page for experts, Markdown."""
    examples: tuple[WorkedExample, ...] = ()
    """Worked examples below the guidelines."""
    questions: tuple[Question, ...]
    """The form, in order."""
    forced: tuple[Forced, ...] = ()
    """Answers that leave no choice in another question; held in the form and in the store."""
    group_by: str | None = None
    """Field of the payload: items that share it are compared, and each rater gets them in another
    order (``prompt_id`` where methods are compared on a prompt)."""
    study_labels: tuple[str, ...] = ()
    """Labels a study may bear, e.g. ``V1``; none named: a study has no label."""
    checks: tuple[str, ...] = ()
    """Names of yes/no questions the decision rule counts; others do not enter it."""
    decision: Literal["checks_majority", "checks_unanimous", "verdict", "verdict_majority", "none"]
    """Default rule from labels to item state."""
    ratings_per_item: int = Field(default=3, ge=1)
    """Default number of ratings."""
    training_pass_share: float = 1.0
    """Share of training answers that must match, 0 to 1."""

    @property
    def shows_clip(self) -> bool:
        """Whether each item needs a rendered clip."""
        return "video" in self.shows

    @property
    def verdict(self) -> Question | None:
        """The question whose answer is the verdict, where there is one."""
        return next((one for one in self.questions if one.kind == "verdict"), None)

    def question(self, name: str) -> Question:
        """Return a question by name.

        Raises:
            ValueError: No such question; the message lists those there are.
        """
        for question in self.questions:
            if question.name == name:
                return question
        raise ValueError(
            f"unknown question {name!r}; {self.name} has {[q.name for q in self.questions]}"
        )
