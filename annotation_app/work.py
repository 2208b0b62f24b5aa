"""Saves from the labelling page: drafts, submissions, changes, training; each has its answer.

They are plain requests rather than Streamlit events, so that a save has an answer, can be sent
again after a lost connection, and outlives the tab that sent it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from annotation_app.context import AppContext
from annotation_app.desk import desk_state, feedback_data, previous_state, training_item_of
from annotation_app.identity import person_id_of
from annotation_app.texts import Texts, choose
from audit.access import AccessError
from audit.labelling import AnswerError, Label, revise, save_draft, submit
from audit.records import StudyError, get_study
from audit.training import check_training
from corpus.problems import InputError

BODY_LIMIT = 400_000
"""Largest request accepted, bytes."""
MARK = "x-motionjury"
"""Header that only our own page sends: other sites cannot, so they cannot save in one's name."""


class _Caller(NamedTuple):
    context: AppContext
    person_id: str
    texts: Texts


async def answer_post(context: AppContext, request: Request) -> Response:
    """Answer ``POST /work/<action>``; actions are the keys of ``_ACTIONS``.

    Returns:
        200 with what the action returns; 4xx with ``error``, one line for the person, and for
        422 ``questions``, the problem of each question.
    """
    texts = choose(None, request.headers.get("Accept-Language"))
    person_id = person_id_of(context, request.cookies)
    if person_id is None:
        return _problem(401, texts("work.signed_out"))
    if MARK not in request.headers:
        return _problem(403, texts("work.foreign"))
    action = _ACTIONS.get(str(request.path_params["action"]))
    if action is None:
        return _problem(404, texts("work.no_action"))
    body = await _body(request)
    if body is None:
        return _problem(400, texts("work.unreadable"))
    try:
        result = await run_in_threadpool(action, _Caller(context, person_id, texts), body)
    except AnswerError as error:
        return _problem(422, texts.message(str(error)), questions=error.problems)
    except AccessError as error:
        return _problem(403, texts.message(str(error)))
    except StudyError as error:
        return _problem(409, texts.message(str(error)))
    except InputError as error:
        return _problem(400, texts.message(str(error)))
    return JSONResponse(result, headers={"Cache-Control": "no-store"})


def _draft(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    version = body.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise InputError("expected the version of the draft, a whole number")
    with caller.context.db.write() as session:
        saved = save_draft(
            session,
            _text(body, "task"),
            caller.person_id,
            _map(body, "answers"),
            _activity(body),
            version,
        )
    return {"version": saved}


def _submit(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    return _answer(submit, caller, body)


def _revise(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    return _answer(revise, caller, body)


def _answer(
    store: Callable[..., Label], caller: _Caller, body: Mapping[str, Any]
) -> dict[str, Any]:
    with caller.context.db.write() as session:
        store(
            session,
            _text(body, "task"),
            caller.person_id,
            _text(body, "submission"),
            _map(body, "answers"),
            _activity(body),
        )
    # The label is safe; what comes next is a matter of its own.
    return {"state": _next(caller, _text(body, "study"))}


def _training(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    study_id = _text(body, "study")
    with caller.context.db.write() as session:
        item_id = training_item_of(session, study_id, caller.person_id, _text(body, "task"))
        feedback = check_training(
            session, study_id, caller.person_id, item_id, _map(body, "answers")
        )
        data = feedback_data(get_study(session, study_id), feedback, caller.texts)
    if data["passed"] or feedback.stopped:
        data["state"] = _next(caller, study_id)
    return data


def _recall(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    with caller.context.db.write() as session:
        return {
            "state": previous_state(session, _text(body, "study"), caller.person_id, caller.texts)
        }


def _go_on(caller: _Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": _next(caller, _text(body, "study"))}


def _next(caller: _Caller, study_id: str) -> dict[str, Any]:
    try:
        with caller.context.db.write() as session:
            return desk_state(session, study_id, caller.person_id, caller.texts)
    except StudyError:
        # Closed meanwhile: the page is drawn anew and says so.
        return {"task": None}


_ACTIONS: dict[str, Callable[[_Caller, Mapping[str, Any]], dict[str, Any]]] = {
    "draft": _draft,
    "submit": _submit,
    "training": _training,
    "recall": _recall,
    "revise": _revise,
    "next": _go_on,
}


async def read_body(request: Request, limit: int) -> bytes | None:
    """Return the body of a request; None where it is longer than that or never came in full."""
    raw = b""
    try:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > limit:
                return None
    except ClientDisconnect:
        return None
    return raw


async def _body(request: Request) -> dict[str, Any] | None:
    raw = await read_body(request, BODY_LIMIT)
    if raw is None:
        return None
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.isprintable():
        raise InputError(f"expected {name}, a text of printable characters")
    return value


def _map(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict):
        raise InputError(f"expected {name}, values by name")
    return value


def _activity(body: Mapping[str, Any]) -> dict[str, Any]:
    value = body.get("activity")
    return value if isinstance(value, dict) else {}


def _problem(status: int, error: str, **more: Any) -> Response:
    return JSONResponse(
        {"error": error, **more}, status_code=status, headers={"Cache-Control": "no-store"}
    )
