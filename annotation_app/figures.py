"""The agreement of a study as the console shows it: the report's own numbers, check by check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.ratings import study_ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from agreement.ratings import Ratings
    from agreement.report import Report
    from audit.ratings import RatingRow

RESAMPLES = 1000
"""Resamples behind each interval on the page; the written report takes more."""


def study_agreement(session: Session, study_id: str, title: str) -> Report | None:
    """Compute the agreement on every check of a study.

    Args:
        session: Any session.
        study_id: The study.
        title: Its name.

    Returns:
        The report, raters under their codes; None while there is no label.
    """
    from importlib.metadata import PackageNotFoundError, version

    from agreement.ratings import natural_key
    from agreement.report import build_report

    rows = study_ratings(session, study_id)
    if not rows:
        return None
    try:
        tool_version = version("motionjury")
    except PackageNotFoundError:
        tool_version = "source"
    return build_report(
        _tables(rows),
        title=title,
        tool_version=tool_version,
        simulated_raters=sorted({row.rater for row in rows if row.simulated}, key=natural_key),
        resamples=RESAMPLES,
    )


def _tables(rows: Sequence[RatingRow]) -> list[Ratings]:
    from agreement.ratings import RatingRecord, from_records
    from agreement.tables import build_axis

    by_axis: dict[str, list[RatingRow]] = {}
    for row in rows:
        by_axis.setdefault(row.axis, []).append(row)
    return [
        from_records(
            build_axis(name, group[0].level, group[0].domain),
            [
                RatingRecord(row.item_id, row.rater, row.label, row.clip_id or None, row.stratum)
                for row in group
            ],
        )
        for name, group in by_axis.items()
    ]
