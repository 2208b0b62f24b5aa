"""Items of a STRIDE release scored by a model: unrelated motions drawn, pairs asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen, content_hash
from benchmarks.stride import Triplet
from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.protocol import Choice, ForcedChoiceModel
from evaluators.source import MotionLibrary, ScoreSource, Text
from metrics.results import Dropped
from metrics.stride import Credits, StrideKey, StrideScores, Ties, credits_of_choices

CONTROLS = 8
"""Unrelated motions an item is held against (ours; the paper does not say)."""


class StrideTask(Frozen):
    """An item to be scored: its id and its triplet."""

    item_id: str
    """Id of the item; its perturbed caption goes by this id in score files."""
    triplet: Triplet
    """Motion and both captions."""
    drafter: str | None = None
    """Language model that drafted the item; None where none did or nobody says."""

    @property
    def key(self) -> StrideKey:
        """What the item is counted under."""
        return StrideKey(
            item_id=self.item_id,
            corpus=self.triplet.corpus,
            axis=self.triplet.axis,
            motion_id=self.triplet.clip_id,
        )

    @property
    def texts(self) -> tuple[Text, Text]:
        """Original and perturbed caption with the ids they have in score files."""
        return (
            Text(self.triplet.caption_id, self.triplet.caption),
            Text(self.item_id, self.triplet.perturbed),
        )


class Control(NamedTuple):
    """One unrelated motion of an item."""

    item: int
    """Position of the item."""
    draw: int
    """0, 1, … within the item."""
    motion_id: str
    """The unrelated motion u."""


class Asked(NamedTuple):
    """One question of a forced choice."""

    item_id: str
    """The item."""
    motion_id: str
    """The motion that was shown."""
    draw: int | None
    """Number of the unrelated motion; None for the item's own."""
    swapped: bool
    """Whether the perturbed caption was given first."""


class Scored(NamedTuple):
    """What a model earned, and what was left out."""

    given: Credits
    invisible: NDArray[np.bool_] | None
    """(N,) items whose captions are one to the model; None where it cannot tell."""
    scores: StrideScores | None
    """The scores themselves; None for forced choices."""
    controls: tuple[Control, ...]
    """Control rows, in the order of the scores."""
    dropped: tuple[Dropped, ...]
    """What was not scored."""
    asked: tuple[Asked, ...] = ()
    """Questions of a forced choice, in the order they were put; empty for scores."""


def draw_controls(
    tasks: Sequence[StrideTask],
    *,
    count: int = CONTROLS,
    seed: int = 0,
) -> list[Control]:
    """Draw unrelated motions: other motions of the same corpus and axis (STRIDE D.2).

    The draw of an item depends on seed, its id and the motions of its cell, not on other items.

    Args:
        tasks: All items.
        count: Motions an item, fewer where the cell has no more.
        seed: Seed of the draw.

    Returns:
        Controls item by item; an item alone in its cell has none.
    """
    cells: dict[tuple[str, str], list[str]] = {}
    for task in tasks:
        cells.setdefault((task.key.corpus, task.key.axis), []).append(task.key.motion_id)
    motions = {cell: sorted(set(members)) for cell, members in cells.items()}
    places = {cell: {m: k for k, m in enumerate(found)} for cell, found in motions.items()}
    drawn = []
    for item, task in enumerate(tasks):
        cell = (task.key.corpus, task.key.axis)
        own = places[cell][task.key.motion_id]
        others = len(motions[cell]) - 1
        rng = np.random.default_rng(int(content_hash([seed, task.item_id], 16), 16))
        for draw, at in enumerate(rng.permutation(others)[:count]):
            place = int(at) + int(at >= own)
            drawn.append(Control(item, draw, motions[cell][place]))
    return drawn


def score_items(
    tasks: Sequence[StrideTask],
    source: ScoreSource,
    *,
    count: int = CONTROLS,
    seed: int = 0,
    ties: Ties = "half",
) -> Scored:
    """Score items by a source that gives numbers.

    Args:
        tasks: Items, ids unique.
        source: Model or file.
        count: Unrelated motions an item.
        seed: Seed of their draw.
        ties: What a tie earns.

    Returns:
        Credits and scores of the items that could be scored, and what could not.

    Raises:
        InputError: No item is left, or a score that is asked for is not there.
    """
    from metrics.stride import credits_of

    refused = source.refused(task.key.motion_id for task in tasks)
    kept = [task for task in tasks if task.key.motion_id not in refused]
    controls = draw_controls(kept, count=count, seed=seed)
    matched = _both(source, kept, [task.key.motion_id for task in kept])
    unrelated = _both(source, [kept[c.item] for c in controls], [c.motion_id for c in controls])
    # A pair scorer finds out only now which motions it cannot take.
    good = np.asarray(np.isfinite(matched).all(axis=1))
    own = good[np.array([c.item for c in controls], dtype=np.int64)]
    fine = np.asarray(own & np.isfinite(unrelated).all(axis=1))
    new_place = np.cumsum(good) - 1
    usable = [task for task, is_good in zip(kept, good, strict=True) if is_good]
    if not usable:
        why = next(iter(refused.values()), "the release holds no item")
        raise InputError(f"{source.name}: no item can be scored: {why}")
    left = [
        Control(int(new_place[c.item]), c.draw, c.motion_id)
        for c, is_fine in zip(controls, fine, strict=True)
        if is_fine
    ]
    scores = StrideScores(
        keys=tuple(task.key for task in usable),
        matched=matched[good],
        item=np.array([c.item for c in left], dtype=np.int64),
        control=unrelated[fine],
    )
    largest = float(np.abs(scores.matched).max())
    lost = len(tasks) - len(usable)
    return Scored(
        given=credits_of(scores, ties, tolerance=source.resolution * largest),
        invisible=_invisible(source, usable),
        scores=scores,
        controls=tuple(left),
        dropped=_dropped(lost, refused, len(controls) - len(left)),
    )


def choose_items(
    tasks: Sequence[StrideTask],
    model: ForcedChoiceModel,
    motions: MotionLibrary,
    *,
    count: int = CONTROLS,
    seed: int = 0,
    ties: Ties = "half",
) -> Scored:
    """Let a model choose between the captions of items (STRIDE D.2).

    Which caption stands first comes from hash(seed, item, model, motion) (ours).

    Args:
        tasks: Items, ids unique.
        model: The model.
        motions: Where motions come from.
        count: Unrelated motions an item.
        seed: Seed of draw and order.
        ties: What a tie earns.

    Returns:
        Credits of the items whose motion could be read, and what could not.

    Raises:
        InputError: No motion can be read, or what ``model.choose`` raises.
    """
    read, refused = _read(motions, {task.key.motion_id for task in tasks})
    kept = [task for task in tasks if task.key.motion_id in read]
    if not kept:
        why = next(iter(refused.values()), "the release holds no item")
        raise InputError(f"{model.name}: no item can be scored: {why}")
    controls = draw_controls(kept, count=count, seed=seed)
    rows: list[tuple[StrideTask, str, int | None]]
    rows = [(task, task.key.motion_id, None) for task in kept]
    rows += [(kept[c.item], c.motion_id, c.draw) for c in controls]
    asked = [
        Asked(task.item_id, motion, draw, _swapped(seed, task, model, motion))
        for task, motion, draw in rows
    ]
    pairs = [(task.triplet.caption, task.triplet.perturbed) for task, _, _ in rows]
    answers = model.choose(
        [read[one.motion_id] for one in asked],
        [pair[one.swapped] for pair, one in zip(pairs, asked, strict=True)],
        [pair[not one.swapped] for pair, one in zip(pairs, asked, strict=True)],
    )
    _refuse_answers(model.name, answers, len(asked))
    named = [_named(answer, one.swapped) for answer, one in zip(answers, asked, strict=True)]
    item = np.array([c.item for c in controls], dtype=np.int64)
    return Scored(
        given=credits_of_choices(
            [task.key for task in kept], named[: len(kept)], item, named[len(kept) :], ties
        ),
        invisible=None,
        scores=None,
        controls=tuple(controls),
        dropped=_dropped(len(tasks) - len(kept), refused, 0),
        asked=tuple(asked),
    )


def _refuse_answers(name: str, answers: Sequence[object], asked: int) -> None:
    """Refuse what a model must not answer; models may be the user's own."""
    allowed = get_args(Choice)
    if len(answers) != asked:
        raise InputError(f"{name}: choose returned {len(answers)} answers to {asked} questions")
    wrong = next((answer for answer in answers if answer not in allowed), None)
    if wrong is not None:
        raise InputError(
            f"{name}: choose returned {wrong!r:.60}, expected one of {', '.join(allowed)}"
        )


def _read(motions: MotionLibrary, names: set[str]) -> tuple[dict[str, Motion], dict[str, str]]:
    """Read motions; those that cannot be read come with the reason."""
    read, refused = {}, {}
    for name in sorted(names):
        try:
            read[name] = motions.load(name)
        except InputError as error:
            refused[name] = error.problem.reason
    return read, refused


def _swapped(seed: int, task: StrideTask, model: ForcedChoiceModel, motion: str) -> bool:
    return int(content_hash([seed, task.item_id, model.name, motion], 8), 16) % 2 == 1


def _named(answer: Choice, swapped: bool) -> str:
    if answer == "first":
        return "perturbed" if swapped else "original"
    if answer == "second":
        return "original" if swapped else "perturbed"
    return answer


def _both(
    source: ScoreSource, tasks: Sequence[StrideTask], motions: Sequence[str]
) -> NDArray[np.float64]:
    texts = [task.texts for task in tasks]
    both = source.pairs([t[0] for t in texts] + [t[1] for t in texts], [*motions, *motions])
    return both.reshape(2, len(tasks)).T


def _invisible(source: ScoreSource, tasks: Sequence[StrideTask]) -> NDArray[np.bool_] | None:
    seen = [
        (source.visible(task.triplet.caption), source.visible(task.triplet.perturbed))
        for task in tasks
    ]
    if any(first is None for first, _ in seen):
        return None
    return np.array([first == second for first, second in seen], dtype=bool)


def _dropped(items: int, refused: dict[str, str], controls: int) -> tuple[Dropped, ...]:
    found = []
    if items:
        reasons = sorted(set(refused.values()))
        more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
        found.append(
            Dropped(
                what="items",
                n=items,
                reason=f"{reasons[0]}{more}" if reasons else "the model refused the motion",
            )
        )
    if controls:
        found.append(
            Dropped(what="control pairs", n=controls, reason="the model refused the motion")
        )
    return tuple(found)
