"""Labels as people would give them, through the same functions the pages call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit.access import list_people
from audit.answers import is_asked
from audit.assignment import next_assignment
from audit.labelling import submit
from audit.protocols.registry import PROTOCOLS
from audit.records import conditions_of, get_study, item_record
from audit.training import acknowledge_guidelines
from motionjury.workspace import Workspace
from store.tables import MemberRow

Answer = Callable[[int, int, str], Any]
"""Answer of rater (from 0) to item (from 0) and question name."""


def label_everything(
    workspace: Workspace, study: str, answer: Answer
) -> dict[tuple[str, str], dict]:
    """Let every member of a study label all they are given; return answers by code and item."""
    given = {}
    with workspace.db.write() as session:
        found = get_study(session, study)
        protocol = PROTOCOLS[found.protocol]
        items = list(found.config.item_ids)
        members = [
            (person, member.code)
            for person in list_people(session)
            if (member := session.get(MemberRow, (found.id, person.id))) is not None
        ]
        for rater, (person, code) in enumerate(sorted(members, key=lambda pair: pair[1])):
            acknowledge_guidelines(session, found.id, person.id)
            while (held := next_assignment(session, found.id, person.id)) is not None:
                conditions = conditions_of(protocol, item_record(session, held.item_id))
                answers = {
                    question.name: answer(rater, items.index(held.item_id), question.name)
                    for question in protocol.questions
                    if question.required and is_asked(question, conditions, {})
                }
                submit(
                    session, held.id, person.id, f"{code}-{held.item_id}", answers, {"seconds": 9}
                )
                given[code, held.item_id] = answers
    return given
