"""A database of an earlier version keeps all it holds when it is opened by this one."""

from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

import store.session
from audit.labelling import my_labels
from audit.progress import progress
from audit.studies import get_study
from store.session import open_database

ROWS: dict[str, dict[str, Any]] = {
    "clip": {"id": "c", "corpus": "demo", "content_hash": "0", "record": "{}"},
    "item": {
        "id": "i", "benchmark": "stride", "state": "in_review",
        "record": '{"kind": "triplet", "stratum": {"axis": "mirror_reflection"}, "payload": {}}',
    },
    "person": {
        "id": "p", "name": "Ada", "role": "expert", "simulated": 0, "active": 1, "created_at": 1.0,
    },
    "study": {
        "id": "s", "name": "audit", "protocol": "stride_audit", "protocol_version": 1,
        "state": "open", "created_at": 1.0, "launched_at": 2.0,
        "config": '{"name": "audit", "protocol": "stride_audit", "item_ids": ["i"]}',
    },
    "study_item": {"study_id": "s", "item_id": "i", "purpose": "work", "position": 0},
    "member": {"study_id": "s", "person_id": "p", "code": "A1", "joined_at": 1.0},
    "assignment": {
        "id": "a", "study_id": "s", "item_id": "i", "person_id": "p", "state": "done",
        "created_at": 3.0, "lease_until": 4.0, "done_at": 5.0,
    },
    "draft": {"assignment_id": "a", "version": 2, "answers": "{}", "activity": "{}", "saved_at": 4},
    "label": {
        "id": "l", "assignment_id": "a", "submission_id": "x", "revision": 1, "study_id": "s",
        "item_id": "i", "person_id": "p", "protocol_version": 1, "answers": '{"fluent": "yes"}',
        "activity": "{}", "simulated": 0, "created_at": 5.0,
    },
}  # fmt: skip
"""One row of each table that others refer to."""


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_what_was_labelled_before_is_still_there(tmp_path: Path, revision: str) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    config = Config()
    folder = Path(store.session.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder))
    engine = create_engine(url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        for table, row in ROWS.items():
            names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), row)
    engine.dispose()
    db = open_database(url)
    with db.read() as session:
        for table, row in ROWS.items():
            found = session.execute(text(f"SELECT * FROM {table}")).mappings().one()
            assert {name: found[name] for name in row} == row
        assert session.scalar(text("SELECT purpose FROM assignment")) == "work"
        assert session.execute(text("PRAGMA foreign_key_check")).all() == []
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
        assert my_labels(session, "s", "p")[0].answers == {"fluent": "yes"}
        assert get_study(session, "s").paused_at is None
        assert progress(session, "s").ratings == 1
    for change in (
        "UPDATE assignment SET state = 'lost'",
        "UPDATE assignment SET purpose = 'play'",
        "UPDATE study_item SET purpose = 'play'",
        "UPDATE assignment SET item_id = 'gone'",
        "INSERT INTO assignment SELECT 'b', study_id, item_id, person_id, state, created_at, "
        "lease_until, done_at, purpose FROM assignment",
    ):
        with pytest.raises(IntegrityError), db.write() as session:
            session.execute(text(change))
    db.close()
