"""Chronologically accurate retrieval: a caption against its own events in another order.

CAR is the share of motions that score higher with their text than with its events shuffled
(ChronRet, Fujiwara et al. 2024); equal scores are wrong, texts of one event do not count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from metrics.results import (
    Cell,
    Column,
    Dropped,
    Result,
    ResultTable,
    Row,
    Source,
    cell,
    hash_ids,
)

OwnText = Literal["caption", "events"]
"""What stands against the shuffled events: the caption as it is, or its events in order."""
OWN_TEXTS: tuple[OwnText, ...] = ("caption", "events")
NO_TEXTS = "no motion has two different events"


class OrderPair(NamedTuple):
    """A motion with two texts that differ in the order of the events."""

    motion_id: str
    """The motion."""
    text: str
    """Its text."""
    shuffled: str
    """Its events in another order."""


class Chronology(NamedTuple):
    """What a model knows of the order of events."""

    car: Cell
    """Proportion of motions whose text scores strictly higher, 0..1; null without motions."""
    ties: Cell
    """Proportion of motions that score both texts alike, which CAR counts as wrong."""


def read_events(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the events that captions were split into.

    Args:
        path: JSON with the list of events of each motion, ``{"ID": ["walks", "sits down"]}``; or
            ChronRet's folder of ``ID_0.json`` with ``{"events": [...]}``, one file a caption, of
            which the first caption counts.

    Returns:
        Events by motion id, in the order of the file, of the names in a folder.

    Raises:
        InputError: Anything else; the file and the motion are named.
    """
    if not path.is_dir():
        found = _json(path)
        if not found:
            raise InputError("expected events of one motion or more, got none", file=str(path))
        return {name: _events(value, path, name) for name, value in found.items()}
    files = sorted(path.glob("*_0.json"))
    if not files:
        raise InputError("expected files ID_0.json with events, found none", file=str(path))
    return {
        file.stem.removesuffix("_0"): _events(_json(file).get("events"), file, "events")
        for file in files
    }


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error.reason}", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {str(error)[:100]}", file=str(path)) from error
    if not isinstance(found, dict):
        raise InputError(f"expected a JSON object, got {type(found).__name__}", file=str(path))
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"{twice!r} stands twice")
    return found


def _events(value: Any, path: Path, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(e, str) and e.strip() for e in value):
        raise InputError(
            f"expected a list of texts, got {value!r:.60}", file=str(path), place=place
        )
    return tuple(value)


def shuffle_events(events: Sequence[str], draw: Random) -> tuple[str, ...] | None:
    """Put events into another order: sorted by drawn keys, drawn anew until the list differs.

    Args:
        events: In order.
        draw: Source of the keys; ChronRet's own draws come from one source for all captions.

    Returns:
        The events in another order; None where there is none, for all are the same or there is
        one.
    """
    # Texts of one order draw once as well, so that those behind them get ChronRet's own keys.
    found = _drawn(events, draw)
    if len(set(events)) < 2:
        return None
    while found == tuple(events):
        found = _drawn(events, draw)
    return found


def _drawn(events: Sequence[str], draw: Random) -> tuple[str, ...]:
    return tuple(sorted(events, key=lambda _: draw.random()))


def joined(events: Sequence[str]) -> str:
    """Write events as one text as ChronRet does, with a space after each."""
    return "".join(f"{event} " for event in events)


def order_pairs(
    events: Mapping[str, Sequence[str]],
    captions: Mapping[str, str],
    *,
    own: OwnText = "caption",
    seed: int = 0,
) -> tuple[list[OrderPair], tuple[Dropped, ...]]:
    """Set each text against its events shuffled.

    Args:
        events: Events by motion id; the draw goes through them in this order.
        captions: Caption by motion id; needed for ``caption`` only.
        own: What stands against the shuffled events.
        seed: Seed of the draw.

    Returns:
        The pairs, and how many motions make none.

    Raises:
        InputError: A motion without a caption; the first is named and all are counted.
    """
    lacking = [name for name in events if name not in captions] if own == "caption" else []
    if lacking:
        raise InputError(
            f"{len(lacking)} of {len(events)} motions have no caption, the first is {lacking[0]!r}"
        )
    draw = Random(seed)
    pairs = []
    for name, listed in events.items():
        other = shuffle_events(listed, draw)
        if other is not None:
            text = captions[name] if own == "caption" else joined(listed)
            pairs.append(OrderPair(name, text, joined(other)))
    left = len(events) - len(pairs)
    reason = "one event, or the same one again and again"
    return pairs, (Dropped(what="motions", n=left, reason=reason),) if left else ()


def chronology(text: NDArray[np.float64], shuffled: NDArray[np.float64]) -> Chronology:
    """Count how often the right order wins.

    Args:
        text: (N,) scores of motions with their texts, higher = better, finite.
        shuffled: (N,) scores of the same motions with the shuffled events.

    Returns:
        Both proportions.
    """
    if not len(text):
        return Chronology(cell(None, NO_TEXTS), cell(None, NO_TEXTS))
    n = len(text)
    return Chronology(
        cell(float((text > shuffled).mean()), n=n), cell(float((text == shuffled).mean()), n=n)
    )


class ScoredOrder(NamedTuple):
    """What one model or file gave."""

    name: str
    """Name in the table."""
    found: Chronology
    """Its numbers."""
    source: Source
    """What they come from."""
    dropped: tuple[Dropped, ...]
    """What entered no number."""


def chronology_result(
    scored: Sequence[ScoredOrder],
    pairs: Sequence[OrderPair],
    alone: tuple[Dropped, ...],
    *,
    own: OwnText,
    seed: int,
    events: Source | None,
    tool_version: str,
) -> Result:
    """Make the record of a run.

    Args:
        scored: Models and files.
        pairs: The pairs that were asked for.
        alone: Motions that make no pair.
        own: What stood against the shuffled events.
        seed: Seed of the draw.
        events: The file of events; None for a folder.
        tool_version: Version of MotionJury.

    Raises:
        InputError: Two are called the same.
    """
    names = [entry.name for entry in scored]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two models or files are called {twice!r}")
    many = len(scored) > 1
    table = ResultTable(
        name="chronology",
        title="Chronologically accurate retrieval",
        columns=(
            Column(name="CAR", better="higher", decimals=4),
            Column(name="ties", title="Ties", decimals=4),
        ),
        rows=tuple(
            Row(labels={"Model": e.name}, cells={"CAR": e.found.car, "ties": e.found.ties})
            for e in scored
        ),
        note="Proportion of motions that score higher with their text than with its events "
        "shuffled; ties count as wrong.",
    )
    lost = [
        row.model_copy(update={"what": f"{row.what} of {entry.name}"}) if many else row
        for entry in scored
        for row in entry.dropped
    ]
    return Result(
        suite="score chronology",
        title="Chronology",
        tables=(table,),
        configuration={
            "text": own,
            "other order": "sorted by drawn keys until it differs, one draw for all (ChronRet)",
            "ties": "strict: equal scores are wrong (ChronRet)",
        },
        sources=(*((events,) if events else ()), *(entry.source for entry in scored)),
        item_set=hash_ids(pair.motion_id for pair in pairs),
        n_kept=len(pairs),
        n_unit="motions",
        dropped=(*alone, *lost),
        seed=seed,
        tool_version=tool_version,
    )
