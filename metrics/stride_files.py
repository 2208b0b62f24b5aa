"""STRIDE scores that users bring: held against the items, and the list of pairs to score."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.stride import AXES, StrideAxis
from corpus.cells import no_formula
from corpus.problems import InputError
from evaluators.score_tables import ScoreTable, direction, read_score_table
from evaluators.scores_stride import FileChoices, FileItems, FileScores, read_stride_file
from metrics.results import Dropped
from metrics.stride import (
    Credits,
    StrideKey,
    StrideScores,
    Ties,
    credits_of,
    credits_of_choices,
)
from metrics.stride_grid import GRID, Grids
from metrics.stride_scoring import Control, StrideTask

PAIR_COLUMNS = (
    "item_id",
    "corpus",
    "axis",
    "motion_id",
    "draw",
    "unrelated_motion_id",
    "caption_id",
    "caption",
    "perturbed",
    "s_mc",
    "s_mcp",
    "s_uc",
    "s_ucp",
)
"""Columns of the list of pairs; with its last four filled in it is a score file."""


class StrideFile:
    """What a file of scores or choices earns."""

    def __init__(
        self,
        given: Credits,
        grids: Grids | None,
        dropped: tuple[Dropped, ...],
        notes: tuple[str, ...],
        choices: bool,
    ) -> None:
        """Keep what was read."""
        self.given, self.grids, self.dropped = given, grids, dropped
        self.notes, self.choices = notes, choices


def read_stride_scores(
    path: Path,
    *,
    higher_is_better: bool | None = None,
    ties: Ties = "half",
    tasks: Sequence[StrideTask] | None = None,
) -> StrideFile:
    """Read a file of scores or forced choices.

    A wide file whose direction nobody states is taken as higher = better, for so its columns are
    defined, and a note says so. With ``s_mpc`` and ``s_mpcp`` (the mirror image m' with c and c')
    it has mirror grids as well.

    Args:
        path: As ``evaluators.scores_stride`` reads it.
        higher_is_better: What the user said; None where nothing.
        ties: What a tie earns.
        tasks: Items of a release; the file must have all of them, and only they count. Without
            them the file itself says corpus, axis and motion.

    Raises:
        InputError: What cannot be read, an axis that is none, or items without scores.
    """
    table = read_score_table(path)
    wide = "choice" not in table.columns and "score" not in table.columns
    notes = []
    if wide and higher_is_better is None and "higher_is_better" not in table.columns:
        higher_is_better = True
        notes.append("scores taken as higher = better; say --lower-is-better for distances")
    found = read_stride_file(path, higher_is_better)
    keys = _keys_of_file(found.items, table) if tasks is None else _keys(found.items, tasks, path)
    kept = [place for place, key in enumerate(keys) if key is not None]
    new_place = {place: k for k, place in enumerate(kept)}
    rows = np.array([k for k, item in enumerate(found.item) if int(item) in new_place], dtype=int)
    item = np.array([new_place[int(found.item[k])] for k in rows], dtype=np.int64)
    used = tuple(key for key in keys if key is not None)
    extra = len(keys) - len(kept)
    dropped = (Dropped(what="items", n=extra, reason="not in the release"),) if extra else ()
    if isinstance(found, FileChoices):
        given = credits_of_choices(
            used, [found.matched[k] for k in kept], item, [found.control[k] for k in rows], ties
        )
        return StrideFile(given, None, dropped, tuple(notes), choices=True)
    scores = StrideScores(used, found.matched[kept], item, found.control[rows])
    return StrideFile(
        credits_of(scores, ties),
        _grids(found, table, higher_is_better, keys),
        dropped,
        tuple(notes),
        choices=False,
    )


def pairs_csv(tasks: Sequence[StrideTask], controls: Sequence[Control]) -> str:
    """List what a user's own model has to score, one item and control a line, scores left empty.

    Args:
        tasks: Items.
        controls: Their unrelated motions.

    Returns:
        CSV text with ``PAIR_COLUMNS``.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PAIR_COLUMNS)
    for control in controls:
        task = tasks[control.item]
        triplet = task.triplet
        writer.writerow(
            [task.item_id, triplet.corpus, triplet.axis, triplet.clip_id, control.draw]
            + [control.motion_id, triplet.caption_id]
            + [no_formula(triplet.caption), no_formula(triplet.perturbed)]
            + [""] * 4
        )
    return out.getvalue()


def _axis(text: str, item: str, file: str) -> StrideAxis:
    plain = text.strip().lower().replace(" ", "_").replace("-", "_")
    for axis in AXES:
        if axis == plain:
            return axis
    raise InputError(
        f"axis of item {item!r}: expected one of {', '.join(AXES)}, got {text[:40]!r}", file=file
    )


def _keys_of_file(items: FileItems, table: ScoreTable) -> list[StrideKey | None]:
    columns = {"corpus": items.corpus, "axis": items.axis, "motion_id": items.motion_id}
    lacking = [name for name, column in columns.items() if column is None]
    if lacking:
        raise InputError(
            f"no column {lacking[0]!r}; expected corpus, axis and motion_id, or name the release "
            "that has the items",
            file=table.file,
        )
    return [
        StrideKey(
            item_id=item,
            corpus=(items.corpus or ())[k],
            axis=_axis((items.axis or ())[k], item, table.file),
            motion_id=(items.motion_id or ())[k],
        )
        for k, item in enumerate(items.ids)
    ]


def _keys(items: FileItems, tasks: Sequence[StrideTask], path: Path) -> list[StrideKey | None]:
    known = {task.item_id: task.key for task in tasks}
    missing = sorted(known.keys() - set(items.ids))
    if missing:
        raise InputError(
            f"{len(missing)} of {len(known)} items of the release have no scores, the first is "
            f"{missing[0]!r}",
            file=str(path),
        )
    for name, column in (("axis", items.axis), ("motion_id", items.motion_id)):
        for item, said in zip(items.ids, column or (), strict=False):
            key = known.get(item)
            if key is None:
                continue
            value = _axis(said, item, str(path)) if name == "axis" else said
            if value != getattr(key, name):
                raise InputError(
                    f"{name} of item {item!r}: the release says {getattr(key, name)!r}, the file "
                    f"{said!r}",
                    file=str(path),
                )
    return [known.get(item) for item in items.ids]


def _grids(
    found: FileScores,
    table: ScoreTable,
    said: bool | None,
    keys: Sequence[StrideKey | None],
) -> Grids | None:
    mirror = [k for k, key in enumerate(keys) if key and key.axis == "mirror_reflection"]
    extra = [name for name in GRID[2:] if name in table.columns]
    if not extra or not mirror:
        return None
    if len(extra) == 1:
        absent = next(name for name in GRID[2:] if name not in table.columns)
        raise InputError(f"no column {absent!r} beside {extra[0]!r}", file=table.file)
    stated = table.optional("higher_is_better")
    stored = None if not stated else stated[0].lower() in ("true", "1", "yes")
    sign = direction(said, stored, table.file)
    order = {item: k for k, item in enumerate(found.items.ids)}
    rows: dict[int, int] = {}
    for row, item in enumerate(table.text("item_id")):
        rows.setdefault(order[item], row)
    picked = [rows[k] for k in mirror]
    columns = [sign * table.numbers(name, picked) for name in GRID[2:]]
    used = [key for k in mirror if (key := keys[k]) is not None]
    return Grids(
        item_ids=tuple(key.item_id for key in used),
        corpora=tuple(key.corpus for key in used),
        motion_ids=tuple(key.motion_id for key in used),
        scores=np.column_stack((found.matched[mirror], *columns)),
    )
