"""How far a study is, counted from the event log alone, and compared with the tables."""

from __future__ import annotations

import json

from sqlalchemy.orm import Session

from audit.progress import Member, Part, Progress, Tally, build, progress
from audit.records import clock, get_study
from store.events import list_events


def progress_from_log(session: Session, study_id: str, now: float | None = None) -> Progress:
    """Count from the event log alone; items and people are looked up by id.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        now: UTC seconds at which leases are looked at; the clock by default.

    Returns:
        What :func:`progress` returns, if the log is whole.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    tally = Tally({}, [], {}, set())
    members, parts = tally.members, dict[str, Part]()
    revoked = list_events(session, actions=("person_revoked",))
    events = list_events(session, study_id=study.id) + revoked
    for event in sorted(events, key=lambda event: event.id):
        subject, person, details = event.subject or "", event.person_id or "", event.details
        match event.action:
            case "study_launched":
                tally.state = "open"
            case "study_closed":
                tally.state = "closed"
            case "study_paused" | "study_resumed":
                tally.paused = event.action == "study_paused"
            case "member_added":
                known = members.get(subject, Member(details["code"], False, False))
                members[subject] = known._replace(retired=False)
            case "member_retired":
                members[subject] = members[subject]._replace(retired=True)
                _let_go(parts, subject)
                for key in details["replaced"]:
                    parts[key] = parts[key]._replace(state="retired")
            case "codes_dealt":
                for one, code in details["codes"].items():
                    members[one] = members[one]._replace(code=code)
            case "guidelines_read":
                members[person] = members[person]._replace(guidelines_read=True)
            case "training_passed":
                members[person] = members[person]._replace(trained=True)
            case "assignment_claimed":
                purpose = details.get("purpose", "work")
                parts[subject] = Part(
                    person, details["item"], "held", details["lease_until"], purpose
                )
            case "assignment_opened" | "draft_saved" | "lease_expired" | "lease_reclaimed":
                parts[subject] = parts[subject]._replace(lease_until=details["lease_until"])
            case "label_submitted":
                parts[subject] = parts[subject]._replace(state=details["state"])
            case "person_revoked":
                _let_go(parts, subject)
            case "item_withdrawn":
                tally.withdrawn.add(subject)
            case "item_decided":
                tally.decided[subject] = details["outcome"]
    tally.parts = list(parts.values())
    return build(session, study, tally, clock(now))


def log_differences(session: Session, study_id: str, now: float | None = None) -> list[str]:
    """Compare the counts of the tables with those of the event log.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        now: UTC seconds at which leases are looked at; the clock by default.

    Returns:
        One line for each count that differs, ``ratings: 12 in the tables, 11 in the log``; none
        when the log is whole.

    Raises:
        StudyError: There is no such study.
    """
    at = clock(now)
    try:
        logged = progress_from_log(session, study_id, at).model_dump(mode="json")
    except KeyError as error:
        return [f"the log does not tell where {error} comes from"]
    live = progress(session, study_id, at).model_dump(mode="json")
    return [
        f"{name}: {json.dumps(live[name])} in the tables, {json.dumps(logged[name])} in the log"
        for name in live
        if live[name] != logged[name]
    ]


def _let_go(parts: dict[str, Part], person_id: str) -> None:
    for key, part in parts.items():
        if part.person_id == person_id and part.state == "held":
            parts[key] = part._replace(lease_until=0.0)
