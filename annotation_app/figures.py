"""The agreement of a study as the console shows it: the report's own numbers, check by check."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from audit.pulse import Pulse
from audit.pulse import pulse as pulse_of
from audit.ratings import study_ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from agreement.ratings import Ratings
    from agreement.report import Report
    from audit.ratings import RatingRow
    from audit.records import Study
    from store.session import Database

RESAMPLES = 1000
"""Resamples behind each interval on the page; the written report takes more."""
_KEPT = 32
"""Reports that are kept."""


class Figures:
    """Keeps the reports of a server's studies until an answer changes; safe between threads."""

    def __init__(self) -> None:
        """Start with none."""
        self._reports: OrderedDict[Pulse, Report | None] = OrderedDict()
        self._lock = Lock()

    def known(self, pulse: Pulse) -> bool:
        """Return whether the report is there already."""
        return pulse in self._reports

    def report(self, database: Database, study: Study) -> Report | None:
        """Return the agreement on every check of a study, computed anew only after a change.

        Args:
            database: Where the study is.
            study: The study.

        Returns:
            As :func:`study_agreement`.
        """
        # One at a time: a second coordinator waits for the same numbers instead of making them.
        with self._lock:
            with database.read() as session:
                now = pulse_of(session, study.id)
                if now in self._reports:
                    self._reports.move_to_end(now)
                    return self._reports[now]
                report = study_agreement(session, study.id, study.name)
            self._reports[now] = report
            if len(self._reports) > _KEPT:
                self._reports.popitem(last=False)
            return report


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
