"""The protocol that the guide shows works as the guide says."""

import re
from pathlib import Path

import pytest

from audit.answers import AnswerError, check_answers
from audit.assignment import next_assignment
from audit.blind import blind_item
from audit.labelling import submit
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.studies import StudyConfig, add_member, close, create_study, launch
from store.session import Database
from tests.audit.kinds import study_of
from tests.audit.world import START
from tests.shared_data import ROOT


def shown_protocol() -> Protocol:
    page = Path(ROOT / "docs/guides/new-protocol.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    names: dict[str, object] = {}
    exec(compile(block, "new-protocol.md", "exec"), names)  # noqa: S102
    (found,) = [value for value in names.values() if isinstance(value, Protocol)]
    return found


def test_the_guides_protocol_runs_a_study(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = shown_protocol()
    monkeypatch.setitem(PROTOCOLS, protocol.name, protocol)
    world = study_of(db, "mrbench_validation", items=1, experts=1, opened=False)
    person = world.experts[0]
    with db.write() as session:
        config = StudyConfig(
            name="own", protocol=protocol.name, item_ids=tuple(world.items), ratings_per_item=1
        )
        study = create_study(session, config)
        add_member(session, study.id, person)
        launch(session, study.id, now=START)
        held = next_assignment(session, study.id, person, START)
        assert held is not None
        view = blind_item(session, held.id, person)
        assert [one.letter for one in view.captions] == ["A", "B", "C"]
        answers = {"grounded": "no", "excess": ["mood"], "where": "sadly"}
        assert submit(session, held.id, person, "s", answers, {}, START).answers == answers
        assert close(session, study.id, now=START).outcomes == {"rejected": 1}


def test_what_the_guides_protocol_forces_is_forced() -> None:
    with pytest.raises(AnswerError, match="goes too far is not grounded"):
        check_answers(shown_protocol(), {}, {"grounded": "yes", "excess": ["object"]})
