"""Captions from a table of one's own, for motions whose files hold none."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corpus.formats.source import Source, SourceCaption, clean_caption
from corpus.problems import InputError, Problem

CLIP_COLUMNS = ("clip", "clip_id", "motion_id", "file", "name", "id")
"""Columns that may name the clip; the first one that a row has counts."""
TEXT_COLUMNS = ("caption", "text")
"""Columns that may hold the caption; the first one that a row has counts."""


class CaptionTable(NamedTuple):
    """Rows of a table of captions."""

    file: str
    """File they were read from."""
    rows: Sequence[tuple[str, Mapping[str, Any]]]
    """Where each row stands, and its value by column."""


def with_captions(
    sources: Iterable[Source], table: CaptionTable, corpus: str | None = None
) -> tuple[list[Source], list[Problem]]:
    """Give clips the captions that a table has for them.

    A row names its clip by the file's path below the imported folder, with or without suffix, or by
    the id the clip will have. ``start`` and ``end`` (seconds) say which part a caption describes;
    without them it is the whole clip. Captions are numbered in the table's order, after those of
    the source, so that a table that only grew adds nothing twice.

    Args:
        sources: The clips of an import.
        table: The captions.
        corpus: Name of the corpus; by default each clip's format.

    Returns:
        The clips, in their order, and one problem for each row that cannot be used.
    """
    clips = list(sources)
    known = {source.name: source.name for source in clips}
    known |= {f"{corpus or source.format}:{source.name}": source.name for source in clips}
    texts: dict[str, list[tuple[str, tuple[float, float] | None]]] = defaultdict(list)
    problems = []
    for place, values in table.rows:
        try:
            named = _first(values, CLIP_COLUMNS)
            clip = known.get(named) or known.get(named.rpartition(".")[0])
            if clip is None:
                raise InputError(f"expected the name of a clip of this import, got {named[:80]!r}")
            texts[clip].append((clean_caption(_first(values, TEXT_COLUMNS)), _span(values)))
        except InputError as error:
            reason = error.problem.reason
            problems.append(Problem(file=table.file, place=place, reason=reason))
    joined = [source._replace(captions=_joined(source, texts[source.name])) for source in clips]
    return joined, problems


def _first(values: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    for column in columns:
        value = values.get(column)
        if value is not None and str(value).strip():
            return str(value).strip()
    raise InputError(f"expected a value for {' or '.join(columns)}, got none")


def _span(values: Mapping[str, Any]) -> tuple[float, float] | None:
    given = [values.get("start"), values.get("end")]
    if all(value is None or not str(value).strip() for value in given):
        return None
    try:
        start, end = (float(str(value)) for value in given)
    except ValueError:
        start = end = math.nan
    if not 0 <= start < end < math.inf:
        raise InputError(f"expected start and end in seconds, start first, got {given}")
    return start, end


def _joined(
    source: Source, texts: Iterable[tuple[str, tuple[float, float] | None]]
) -> tuple[SourceCaption, ...]:
    first = max((caption.number for caption in source.captions), default=-1) + 1
    more = (SourceCaption(number, *one) for number, one in enumerate(texts, start=first))
    return (*source.captions, *more)
