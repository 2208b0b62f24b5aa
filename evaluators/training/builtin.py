"""Training of the built-in evaluator: contrastive, after TMR, seeded, to be gone on with.

What is learned is what TMR's recipe asks for: a caption and its motion stand closer than the other
captions and motions of the batch, pairs of like captions left out (Petrovich et al. 2023, 3.3).
Likeness is a cosine of TF-IDF (ours; TMR takes a sentence encoder).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from benchmarks.items import Frozen, content_hash
from corpus.problems import InputError
from evaluators.builtin import (
    UNKNOWN,
    fingerprint_of,
    load_weights,
    number_words,
    parameters,
    read_frames,
    save_weights,
    stack_words,
    words_of,
)

if TYPE_CHECKING:
    import torch

    from evaluators.networks.dual import DualEncoder

Weights = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays and meta of a weights file."""
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and out of how many."""


class BuiltinConfig(Frozen):
    """Recipe of the built-in evaluator; all sizes ours, chosen so that two cores need minutes."""

    seed: int = Field(default=0, ge=0, lt=2**32)
    """Seed of weights, order and dropout."""
    performances: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    """Seeds of the demo corpora trained on; 0 is the one people see, and is left out."""
    epochs: int = Field(default=30, ge=1)
    """Passes over the motions."""
    batch: int = Field(default=32, ge=2)
    """Motions a step."""
    width: int = Field(default=96, ge=8)
    """Width of both encoders."""
    layers: int = Field(default=2, ge=1)
    """Layers of each."""
    heads: int = Field(default=4, ge=1)
    """Heads of attention."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """Share of values dropped."""
    learning_rate: float = Field(default=5e-4, gt=0)
    """Step size of AdamW, falling to 0 by a cosine."""
    temperature: float = Field(default=0.1, gt=0)
    """Temperature of the loss (TMR)."""
    like: float = 0.6
    """Captions with a higher cosine are no negatives of each other (TMR: 2 x 0.8 - 1)."""
    forgotten: float = Field(default=0.05, ge=0, lt=1)
    """Share of words replaced by the unknown word, so that it means something."""


class TrainingSet(NamedTuple):
    """Motions with their captions."""

    frames: list[NDArray[np.float32]]
    """(T, 263) features each, not normalised."""
    captions: list[tuple[str, ...]]
    """Captions of each."""


class Trained(Frozen):
    """What training ended with."""

    path: str
    """Weights file."""
    fingerprint: str
    """Hash of the weights."""
    epochs: int
    """Epochs trained in all."""
    resumed_from: int
    """Epochs that an earlier run had done."""
    loss: float
    """Mean loss of the last epoch; nats."""
    motions: int
    """Motions trained on."""


def demo_training_set(performances: tuple[int, ...], progress: Progress) -> TrainingSet:
    """Perform the demo corpus anew for each seed and take its features."""
    from corpus.synthetic import demo_corpus

    frames: list[NDArray[np.float32]] = []
    captions: list[tuple[str, ...]] = []
    for done, seed in enumerate(performances):
        progress("motions", done, len(performances))
        for made in demo_corpus(seed):
            frames.append(read_frames(made.motion))
            captions.append(tuple(caption.text for caption in made.captions))
    progress("motions", len(performances), len(performances))
    return TrainingSet(frames, captions)


def train_builtin(
    out: Path,
    config: BuiltinConfig,
    progress: Progress,
    *,
    data: TrainingSet | None = None,
    stop_after: int | None = None,
) -> Trained:
    """Train, or go on where an earlier run with the same recipe stopped.

    After each epoch ``OUT.partial`` holds weights and optimiser; it goes when training is done.
    The same recipe gives the same weights on one machine, stopped in between or not.

    Args:
        out: Weights file to write.
        config: Recipe.
        progress: Told how far it is.
        data: Motions to train on; the demo corpus when None.
        stop_after: Epochs after which to leave with ``OUT.partial`` only; None for all.

    Raises:
        InputError: ``out`` cannot be written, or ``OUT.partial`` is damaged.
    """
    import torch

    partial = out.with_name(f"{out.name}.partial")
    _refuse_unwritable(out)
    earlier = _earlier(partial)
    data = data or demo_training_set(config.performances, progress)
    mean, std = _statistics(data.frames)
    vocabulary = sorted({w for texts in data.captions for text in texts for w in words_of(text)})
    meta: dict[str, Any] = {
        "config": config.model_dump(mode="json"),
        "vocabulary": vocabulary,
        "data": content_hash([[list(t) for t in data.captions], [len(f) for f in data.frames]]),
    }
    trainer = _Trainer(config, data, vocabulary, mean, std)
    start, loss = trainer.resume(earlier, meta, partial), float("nan")
    threads = torch.get_num_threads()
    # Sums of several threads come in another order with another number of threads.
    torch.set_num_threads(1)
    try:
        for epoch in range(start, config.epochs):
            if epoch == stop_after:
                break
            progress("epochs", epoch, config.epochs)
            loss = trainer.epoch(epoch)
            save_weights(partial, trainer.state(), {**meta, "epoch": epoch + 1, "loss": loss})
    finally:
        torch.set_num_threads(threads)
    arrays = {"mean": mean, "std": std, **parameters(trainer.network)}
    done = config.epochs if stop_after is None else min(stop_after, config.epochs)
    if done == config.epochs:
        save_weights(out, arrays, meta)
        partial.unlink(missing_ok=True)
    progress("epochs", done, config.epochs)
    return Trained(
        path=str(out),
        fingerprint=fingerprint_of(arrays, meta),
        epochs=done,
        resumed_from=start,
        loss=loss if np.isfinite(loss) else trainer.last_loss,
        motions=len(data.frames),
    )


class _Trainer:
    """Network, optimiser and data of one run."""

    def __init__(
        self,
        config: BuiltinConfig,
        data: TrainingSet,
        vocabulary: list[str],
        mean: NDArray[Any],
        std: NDArray[Any],
    ) -> None:
        import torch

        from evaluators.networks.dual import DualEncoder

        torch.manual_seed(config.seed)
        self.config = config
        self.network: DualEncoder = DualEncoder(
            config.model_dump(), len(vocabulary) + 2, data.frames[0].shape[1]
        )
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=config.learning_rate)
        numbers = {word: k + 2 for k, word in enumerate(vocabulary)}
        self._frames = [((f - mean) / std).astype(np.float32) for f in data.frames]
        self._texts = [[number_words(t, numbers) for t in texts] for texts in data.captions]
        self._meaning = _tfidf(self._texts, len(vocabulary) + 2)
        self.last_loss = float("nan")

    def epoch(self, number: int) -> float:
        """Train one pass; what is random depends on seed and number alone."""
        import torch

        config = self.config
        rng = np.random.default_rng([config.seed, number])
        torch.manual_seed(int(rng.integers(2**31)))
        self.network.train()
        order = rng.permutation(len(self._frames))
        steps = max(1, len(order) // config.batch)
        losses = []
        for step, rows in enumerate(np.array_split(order[: steps * config.batch], steps)):
            self._set_rate((number + step / steps) / config.epochs)
            loss = self._loss(rows, rng)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
            losses.append(float(loss.detach()))
        self.last_loss = float(np.mean(losses))
        return self.last_loss

    def _set_rate(self, done: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.learning_rate * 0.5 * (1 + np.cos(np.pi * done))

    def _loss(self, rows: NDArray[Any], rng: np.random.Generator) -> torch.Tensor:
        import torch

        from evaluators.vectors import padded

        picked = [int(rng.integers(len(self._texts[row]))) for row in rows]
        words = [
            [UNKNOWN if rng.random() < self.config.forgotten else w for w in self._texts[row][k]]
            for row, k in zip(rows, picked, strict=True)
        ]
        text = self.network.encode_text(stack_words(words))
        motion = self.network.encode_motion(*padded([self._frames[row] for row in rows]))
        meaning = np.stack([self._meaning[row][k] for row, k in zip(rows, picked, strict=True)])
        like = meaning @ meaning.T > self.config.like
        np.fill_diagonal(like, False)
        logits = text @ motion.T / self.config.temperature
        logits = logits.masked_fill(torch.from_numpy(like), float("-inf"))
        own = torch.arange(len(rows))
        cross = torch.nn.functional.cross_entropy
        return (cross(logits, own) + cross(logits.T, own)) / 2

    def state(self) -> dict[str, NDArray[Any]]:
        """Return weights and optimiser as arrays."""
        arrays = parameters(self.network)
        for place, entry in self.optimiser.state_dict()["state"].items():
            for name, value in entry.items():
                arrays[f"optimiser/{place}/{name}"] = value.detach().cpu().numpy().copy()
        return arrays

    def resume(self, earlier: Weights | None, meta: dict[str, Any], partial: Path) -> int:
        """Take up an earlier run of the same recipe and data; returns its epochs, else 0."""
        import torch

        if earlier is None:
            return 0
        arrays, stored = earlier
        if any(stored.get(name) != value for name, value in meta.items()):
            return 0
        network = {
            name.partition("/")[2]: torch.from_numpy(value)
            for name, value in arrays.items()
            if name.startswith("parameter/")
        }
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in arrays.items():
            if name.startswith("optimiser/"):
                _, place, entry = name.split("/")
                state.setdefault(int(place), {})[entry] = torch.from_numpy(np.array(value))
        try:
            self.network.load_state_dict(network)
            groups = self.optimiser.state_dict()["param_groups"]
            self.optimiser.load_state_dict({"state": state, "param_groups": groups})
            self.last_loss = float(stored["loss"])
            return int(stored["epoch"])
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                "does not fit the recipe it names; delete it to start anew", file=str(partial)
            ) from error


def _refuse_unwritable(out: Path) -> None:
    """Find out before minutes are spent."""
    import tempfile

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from error


def _earlier(partial: Path) -> Weights | None:
    if not partial.exists():
        return None
    try:
        return load_weights(partial)
    except InputError as error:
        raise InputError(
            f"{error.problem.reason}; delete it to start anew", file=str(partial)
        ) from error


def _statistics(
    frames: list[NDArray[np.float32]],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and deviation of each feature; one that never changes gets deviation 1."""
    every = np.concatenate(frames).astype(np.float64)
    std = every.std(axis=0)
    return every.mean(axis=0).astype(np.float32), np.where(std > 1e-4, std, 1.0).astype(np.float32)


def _tfidf(texts: list[list[list[int]]], words: int) -> list[list[NDArray[np.float64]]]:
    """Return a unit TF-IDF vector for each caption of each motion."""
    every = [text for captions in texts for text in captions]
    holds = np.zeros(words)
    for text in every:
        holds[list(set(text))] += 1
    weight = np.log((1 + len(every)) / (1 + holds)) + 1

    def vector(text: list[int]) -> NDArray[np.float64]:
        counted = np.bincount(text, minlength=words) * weight
        unit: NDArray[np.float64] = counted / np.linalg.norm(counted)
        return unit

    return [[vector(text) for text in captions] for captions in texts]
