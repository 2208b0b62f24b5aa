"""The batch files of a draft: questions out to a batch service, its answers in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.problems import InputError, Problem
from llm.ask import LanguageModel
from llm.batch import NO_LINE, export_batch, import_batch
from llm.outcome import Reply, T
from llm.requests import Request


class Batches:
    """Writes what the first unanswered stage asks, and reads answers into the models' caches."""

    def __init__(self, out: Path | None = None, answers: Sequence[Path] = ()) -> None:
        """Keep the places; nothing is read or written yet.

        Args:
            out: Folder for the questions; None writes none.
            answers: Result and error files of the batch service.

        Raises:
            InputError: ``out`` holds batch files already.
        """
        if out is not None and any(out.rglob("batch-*.jsonl")):
            raise InputError("expected a folder without batch-*.jsonl files", file=str(out))
        self.out = out
        self.files: list[Path] = []
        """The files written."""
        self.lines = 0
        """Questions written."""
        self._answers = answers
        self._told: dict[str, dict[tuple[str, int], bool]] = {}
        self._stage: str | None = None
        self._asks = 0
        self._unused: dict[tuple[str, str], Problem] | None = None

    @property
    def read(self) -> dict[str, tuple[int, int]]:
        """By stage: questions the files answer, questions it asked."""
        return {stage: (sum(told.values()), len(told)) for stage, told in self._told.items()}

    @property
    def unused(self) -> list[Problem]:
        """Lines that no stage reached so far could use."""
        return list((self._unused or {}).values())

    def take(
        self, stage: str, model: LanguageModel, requests: Sequence[Request], schema: type[T]
    ) -> None:
        """Read the answers to the questions of a stage, and count them.

        Args:
            stage: Name of the stage.
            model: Its model; without a cache nothing is read.
            requests: The questions.
            schema: Record of the answers.

        Raises:
            InputError: A file that cannot be read, or a cache that cannot be written.
        """
        if not self._answers or model.cache is None:
            return
        told = self._told.setdefault(stage, {})
        for request, reply in zip(requests, self.replies(model, requests, schema), strict=True):
            told[request.id, request.repeat] = reply is not None and reply.usable

    def replies(
        self, model: LanguageModel, requests: Sequence[Request], schema: type[T]
    ) -> list[Reply[T] | None]:
        """Return what the files hold on each question, None for nothing; answers are cached.

        Args:
            model: The model; without a cache nothing is read.
            requests: The questions.
            schema: Record of the answers.

        Raises:
            InputError: As ``take``.
        """
        if not self._answers or model.cache is None:
            return [None] * len(requests)
        came = import_batch(requests, schema, model.settings, self._answers, model.cache)
        left = {(problem.file, problem.place): problem for problem in came.problems}
        if self._unused is not None:
            left = {place: told for place, told in left.items() if place in self._unused}
        self._unused = left
        return [None if reply.reason == NO_LINE else reply for reply in came.replies]

    def give(
        self, stage: str, model: LanguageModel, requests: Sequence[Request], schema: type[T]
    ) -> None:
        """Write the unanswered questions of a stage, unless an earlier stage has some.

        Later stages build on the answers of that one: what they will ask is not known yet.

        Args:
            stage: Name of the stage.
            model: Its model.
            requests: The questions.
            schema: Record of the answers.

        Raises:
            InputError: As ``llm.batch.export_batch``, or the folder cannot be written.
        """
        if self.out is None or self._stage not in (None, stage):
            return
        folder = self.out / (f"{stage}-{self._asks + 1}" if self._asks else stage)
        try:
            made = export_batch(requests, schema, model.settings, folder, model.cache)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
        if made.lines:
            self._stage = stage
            self._asks += 1
            self.files += made.files
            self.lines += made.lines
