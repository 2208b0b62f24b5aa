"""Text-only scorers: what a caption is worth to a model that sees no motion (STRIDE 2.2, A.1).

A scorer that cannot work here raises ``ScorerNotRun``; whoever asked reports it as not run, never
as a score.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from construction.text.ngram import ORDER, RULE, Grams, KneserNey
from corpus.problems import InputError

if TYPE_CHECKING:
    from llm.bodies import TokenScores

NATS = "nats/token"
"""Unit of likelihoods: mean natural logarithm of the probability of a token."""
PROBABILITY = "probability"
"""Unit of classifiers, 0 to 1."""
NOT_THE_PAPERS = "not the paper's scorer"
"""Said beside every likelihood that is not GPT-2's."""


class ScorerNotRun(Exception):
    """A scorer that cannot work here; the message says why."""


class TextScorer(Protocol):
    """Scores texts without a motion; higher is better."""

    @property
    def id(self) -> str:
        """What it is, as results name it."""

    @property
    def unit(self) -> str:
        """``nats/token`` or ``probability``, or what a file of scores says."""

    @property
    def definition(self) -> str:
        """How the score comes about, in one line."""

    @property
    def papers(self) -> bool:
        """Whether STRIDE's threshold on the likelihood gap was made for it (GPT-2)."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of model and data, so that equal fingerprints give equal scores."""

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return one score for each text, in order; None where a text has none.

        Raises:
            ScorerNotRun: It cannot work here.
        """


class NgramScorer:
    """The Kneser-Ney 4-gram as a scorer."""

    unit = NATS
    papers = False
    definition = (
        f"{ORDER}-gram, interpolated Kneser-Ney: mean ln p of lower-case words, marks and the end "
        "mark, the first word predicted from the start"
    )

    def __init__(self, grams: Grams, trained_on: str, fingerprint: str) -> None:
        """Fit the model.

        Args:
            grams: Counts of 4-grams.
            trained_on: What they come from, for the id.
            fingerprint: SHA-256 of the training captions.
        """
        self._model = KneserNey(grams)
        self._known: dict[str, float] = {}
        self.id = f"{RULE} on {trained_on}"
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return nats per token, at most 0; None for a text without a word."""
        return [self._score(text) if text.strip() else None for text in texts]

    def _score(self, text: str) -> float:
        # A caption is scored once for every axis it is edited on.
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._model.log_likelihood(text)
        return found


class FileScorer:
    """Scores worked out elsewhere: a CSV file with the columns ``text`` and ``score``."""

    papers = False

    def __init__(self, path: Path) -> None:
        """Read the file; ``scorer``, ``unit`` and ``paper`` may stand in further columns.

        Raises:
            InputError: No such file, not UTF-8, a column is missing, a score is no finite number,
                or one text has two scores.
        """
        self._scores: dict[str, float] = {}
        names: set[tuple[str, str]] = set()
        try:
            data = path.read_bytes()
            rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
            if rows.fieldnames is None or not {"text", "score"} <= set(rows.fieldnames):
                raise InputError("expected the columns text and score", file=str(path))
            for number, row in enumerate(rows, 2):
                self._add(row, str(path), number)
                names.add((row.get("scorer") or path.name, row.get("unit") or "as in the file"))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
        except UnicodeDecodeError as error:
            raise InputError(f"expected UTF-8, byte {error.start} is not", file=str(path)) from None
        except csv.Error as error:
            raise InputError(f"expected CSV, got: {error}", file=str(path)) from None
        if len(names) > 1:
            reason = f"expected one scorer and unit, got {sorted(names)}"
            raise InputError(reason, file=str(path))
        name, self.unit = next(iter(names), (path.name, "as in the file"))
        self.id = f"csv:{name}"
        self.definition = f"read from {path.name}"
        self.fingerprint = hashlib.sha256(data).hexdigest()

    def _add(self, row: Mapping[str, str | None], file: str, number: int) -> None:
        text, said = row["text"], row["score"]
        try:
            value = float(said or "")
        except ValueError:
            value = math.nan
        if text is None or not math.isfinite(value):
            reason = f"expected a text and a finite score, got {said!r}"
            raise InputError(reason, file=file, place=f"line {number}")
        if self._scores.setdefault(text, value) != value:
            raise InputError("this text has another score above", file=file, place=f"line {number}")

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return the score of each text; None for a text that is not in the file."""
        return [self._scores.get(text) for text in texts]


class EchoScorer:
    """Log-probabilities that an endpoint's ``/completions`` echoes for a text."""

    unit = NATS
    papers = False
    definition = (
        "mean ln p of the tokens the endpoint echoes with a probability; the first token has none "
        "unless the server adds a start mark, and there is no end mark"
    )

    def __init__(
        self, model: str, host: str, echo: Callable[[Sequence[str]], list[TokenScores | None]]
    ) -> None:
        """Keep how to ask.

        Args:
            model: Name of the model.
            host: Host and port of the endpoint.
            echo: Asks for the log-probabilities of texts (``llm.echo.EndpointEcho``).
        """
        self.id = f"completions:{model} at {host}"
        self.fingerprint = hashlib.sha256(self.id.encode()).hexdigest()
        self._echo = echo

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return nats per token; None where the endpoint gave no answer for a text.

        Raises:
            ScorerNotRun: The endpoint is down, refuses, or cannot echo.
        """
        try:
            found = self._echo(texts)
        except InputError as error:
            raise ScorerNotRun(error.problem.line()) from error
        return [None if came is None else came.mean for came in found]


SPECS = "ngram, hf-causal:FOLDER, hf-classifier:FOLDER[:LABEL], completions:MODEL, csv:FILE"
"""What a scorer can be; ``ngram`` is made by ``construction.text.held_out``."""


def open_scorer(
    spec: str, echo: Callable[[str], EchoScorer] | None = None, device: str = "cpu"
) -> TextScorer:
    """Return the scorer a specification names, except the n-gram, which needs captions.

    Args:
        spec: One of ``SPECS``.
        echo: Makes the scorer of ``completions:MODEL`` for a model; None where there is no
            endpoint.
        device: Device of local models, as torch names it.

    Returns:
        The scorer.

    Raises:
        InputError: An unknown specification, or a file that cannot be read.
        ScorerNotRun: It cannot work here: no such folder, no library, no endpoint.
    """
    kind, _, name = spec.partition(":")
    if kind == "csv" and name:
        return FileScorer(Path(name).expanduser())
    if kind == "completions" and name:
        if echo is None:
            raise ScorerNotRun("no endpoint is named; set base_url under [llm] in workspace.toml")
        return echo(name)
    if kind in ("hf-causal", "hf-classifier") and name:
        from construction.text.local_models import CausalScorer, open_classifier

        if kind == "hf-causal":
            return CausalScorer(Path(name).expanduser(), device)
        return open_classifier(name, device)
    raise InputError(f"--scorer: expected one of {SPECS}, got {spec!r}")
