"""The files of a study's agreement report, for coordinators and analysts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from annotation_app.identity import person_id_of
from annotation_app.reports import clips_of_items, disputed_items, thumbnails_of
from audit.access import AccessError
from audit.people import require
from audit.records import get_study
from corpus.problems import InputError

if TYPE_CHECKING:
    from starlette.requests import Request

    from annotation_app.context import AppContext
    from audit.records import Study

FILES: dict[str, str] = {
    "report.html": "text/html",
    "report.json": "application/json",
    "coefficients.csv": "text/csv",
    "table.tex": "application/x-tex",
}
"""Files of a report by name, with their media types; the command line writes the same."""


_BY_CODE = frozenset({"report.html", "report.json"})
"""Files that show what each expert answered, by code."""


def offered(study: Study, name: str) -> bool:
    """Return whether a file of a study's report is given out already."""
    return name in FILES and (study.tells_codes or name not in _BY_CODE)


def serve_report(context: AppContext, request: Request) -> Response:
    """Answer ``/report/<study>/<file>``; coordinators and analysts only.

    The numbers are those of the page. In the HTML a coordinator finds disputed items linked to
    their preview; clips are not reachable from it otherwise.

    Args:
        context: The server's context.
        request: Request with ``study`` and ``file`` in its path.

    Returns:
        The file, or one plain line with 403 or 404.
    """
    from agreement.export import to_csv, to_latex
    from agreement.report import render_html, with_links

    name = str(request.path_params["file"])
    try:
        with context.db.read() as session:
            asker = person_id_of(context, request.cookies)
            person = require(session, asker or "", "coordinator", "analyst")
            study = get_study(session, str(request.path_params["study"]))
    except AccessError:
        return _refused(403, "This report is not available to you.")
    except InputError:
        return _refused(404, "No such report.")
    if name in FILES and not offered(study, name):
        return _refused(403, "This file is there once the study is closed.")
    report = context.figures.report(context.db, study) if name in FILES else None
    if report is None:
        return _refused(404, "No such report.")
    if name == "report.html":
        items = disputed_items(report)
        with context.db.read() as session:
            pictures = thumbnails_of(clips_of_items(session, context.media_dir, items))
        if person.role == "coordinator":
            place = {item: n for n, item in enumerate(study.config.item_ids, start=1)}
            address = f"/?study={study.id}&preview="
            report = with_links(report, {i: f"{address}{place[i]}" for i in items if i in place})
        text = render_html(report, thumbnails=pictures)
    elif name == "report.json":
        text = report.model_dump_json(indent=2) + "\n"
    else:
        text = to_csv(report) if name == "coefficients.csv" else to_latex(report)
    headers = {"Cache-Control": "no-store"}
    if name != "report.html":
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(text, media_type=FILES[name], headers=headers)


def _refused(status: int, text: str) -> Response:
    return PlainTextResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
