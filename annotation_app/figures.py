"""The agreement of a study as the console shows it: the report's own numbers, check by check."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from annotation_app.reports import study_report
from audit.pulse import Pulse
from audit.pulse import pulse as pulse_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from agreement.report import Report
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
                report = study_agreement(session, study.id)
            self._reports[now] = report
            if len(self._reports) > _KEPT:
                self._reports.popitem(last=False)
            return report


def study_agreement(session: Session, study_id: str) -> Report | None:
    """Compute the agreement on every check of a study, with the resamples of a page.

    Args:
        session: Any session.
        study_id: The study.

    Returns:
        The report, raters under their codes; None while there is no label.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        tool_version = version("motionjury")
    except PackageNotFoundError:
        tool_version = "source"
    return study_report(session, study_id, tool_version=tool_version, resamples=RESAMPLES)
