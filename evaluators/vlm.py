"""Vision-language models as judges that choose one of two captions (STRIDE D.2).

Six uniformly spaced skeleton frames with the root's path, left to right in one picture. Which
caption is called A is drawn from a hash, so that a resumed or parallel run asks the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen
from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.protocol import Choice
from llm.ask import Event, LanguageModel, Progress
from llm.media import Media, encode_frame, picture
from llm.outcome import Reply
from llm.prompts import load_prompt
from llm.requests import Request
from render.clip import RenderSettings
from render.keyframes import DEFAULTS, keyframes

FRAMES = 6
"""Frames shown (STRIDE D.2)."""
PROMPT = Path(__file__).parent / "prompts" / "forced_choice.md"
"""Our own words; the paper's are not printed."""


class CaptionChoice(Frozen):
    """Which caption fits the motion."""

    choice: Literal["A", "B"] = Field(description="A or B")


class Shown(NamedTuple):
    """One order a question was asked in, and what came back."""

    swapped: bool
    """Whether the second caption was called A."""
    reply: Reply[CaptionChoice]
    """The reply."""


class VlmJudge:
    """A language model that sees pictures, asked to choose."""

    native_metric = "choice of one of two captions"

    def __init__(
        self,
        model: LanguageModel,
        *,
        seed: int = 0,
        both_orders: bool = False,
        prompt: Path | None = None,
        settings: RenderSettings | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Keep the model and read the prompt.

        Args:
            model: The language model, with its cache and budget.
            seed: Seed of the order of the captions.
            both_orders: Ask in both orders; two answers that name different captions are a tie.
            prompt: A prompt file with the variables ``a`` and ``b``; null for ours.
            settings: How frames are drawn; null for a skeleton of 384 pixels.
            progress: Told of each event.

        Raises:
            InputError: The prompt cannot be read.
        """
        self._model = model
        self._seed = seed
        self._both = both_orders
        self._prompt = load_prompt(prompt or PROMPT, ("a", "b"))
        self._settings = settings or DEFAULTS
        self.progress = progress
        """Told of each event; may be set anew between runs."""
        self.name = model.settings.model
        self.replies: list[Reply[CaptionChoice]] = []
        """Every reply of the last ``choose``, with its exchange; for records and coverage."""
        self.shown: list[list[Shown]] = []
        """Each question of the last ``choose`` as it was asked; empty if it could not be drawn."""

    @property
    def fingerprint(self) -> str:
        """As in ``evaluators.protocol.Model``: endpoint, model, parameters, prompt, order, view."""
        words = "|".join(
            str(part)
            for part in (
                self._model.settings.base_url,
                self.name,
                sorted(self._model.settings.parameters().items()),
                self._prompt.sha256,
                self._seed,
                self._both,
                self._settings.model_dump_json(),
            )
        )
        return hashlib.sha256(words.encode()).hexdigest()

    def choose(
        self,
        motions: Sequence[Motion],
        first: Sequence[str],
        second: Sequence[str],
        items: Sequence[str] | None = None,
    ) -> list[Choice]:
        """Ask all questions; each motion is drawn once.

        Args:
            motions: Motion of each question.
            first: One caption of each.
            second: The other.
            items: Id of each question, for the order of the captions; by default the motion's
                content and the two captions.

        Returns:
            One choice each; ``invalid`` where no usable answer came, or the motion cannot be
            drawn.

        Raises:
            InputError: As ``LanguageModel.ask_many``, or the run stopped before all was answered:
                by its budget, or since the endpoint is down or refuses. A choice that was never
                asked for is no tie.
            ValueError: The sequences are not equally long.
        """
        stops: list[str] = []

        def told(event: Event) -> None:
            if event.kind == "stopped":
                stops.append(event.detail)
            if self.progress is not None:
                self.progress(event)

        pictures: dict[str, Media | None] = {}
        requests: list[Request] = []
        asked: list[list[bool]] = []
        named = items or [""] * len(motions)
        for motion, one, other, item in zip(motions, first, second, named, strict=True):
            mark = motion.content_hash()
            if mark not in pictures:
                pictures[mark] = self._picture(motion)
            shown = pictures[mark]
            swapped = self.swapped(item or f"{mark}|{one}|{other}")
            orders = [] if shown is None else [swapped, not swapped] if self._both else [swapped]
            asked.append(orders)
            for turn in orders:
                a, b = (other, one) if turn else (one, other)
                prompt = self._prompt.render({"a": a, "b": b})
                name = item or motion.source or mark[:12]
                requests.append(Request(id=name, prompt=prompt, media=(shown,) if shown else ()))
        self.replies = self._model.ask_many(requests, CaptionChoice, told)
        unanswered = sum(reply.outcome == "error" for reply in self.replies)
        if stops and unanswered:
            raise InputError(
                f"{self.name}: {unanswered} of {len(requests)} questions are without an answer: "
                f"{stops[0]}; answers are kept in the workspace's llm-cache, so the same command "
                "goes on there"
            )
        answers = iter(self.replies)
        self.shown = [[Shown(turn, next(answers)) for turn in orders] for orders in asked]
        return [_choice([_one_answer(*one) for one in orders]) for orders in self.shown]

    def swapped(self, item: str) -> bool:
        """Return whether the second caption of an item is called A."""
        words = f"{self._seed}|{item}|{self.name}"
        return bool(hashlib.sha256(words.encode()).digest()[0] & 1)

    def _picture(self, motion: Motion) -> Media | None:
        try:
            drawn = keyframes(motion, FRAMES, self._settings)
        except InputError:
            return None
        return picture(encode_frame(drawn.as_one(FRAMES)))


def _one_answer(swapped: bool, reply: Reply[CaptionChoice]) -> Choice:
    if reply.value is None:
        return "invalid"
    return "first" if (reply.value.choice == "A") != swapped else "second"


def _choice(answers: list[Choice]) -> Choice:
    if not answers or "invalid" in answers:
        return "invalid"
    return answers[0] if len(set(answers)) == 1 else "tie"
