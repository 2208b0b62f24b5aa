import multiprocessing
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

import store.session
from audit.assignment import next_assignment
from audit.disputes import settle
from audit.labelling import submit
from corpus.problems import InputError
from store.events import list_events, log
from store.items import get_item
from store.migrations import HEAD
from store.session import Database, open_database
from store.tables import Base
from tests.audit.world import GOOD, START, fill
from tests.conftest import BOTH


def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jury.db'}"


@pytest.fixture(params=BOTH)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database that was never opened."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new()
    return url(tmp_path)


def set_revision(bare: str, found: str) -> None:
    with open_database(bare).write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :found"), {"found": found})


def test_migrations_and_tables_agree(bare: str) -> None:
    open_database(bare)
    with create_engine(bare).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_head_is_the_newest_revision() -> None:
    folder = Path(store.session.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == HEAD


def test_opening_again_keeps_what_is_there(bare: str) -> None:
    with open_database(bare).write() as session:
        log(session, "something_done")
    with open_database(bare).read() as session:
        assert [event.action for event in list_events(session)] == ["something_done"]


def test_sqlite_runs_in_wal_mode_with_foreign_keys(tmp_path: Path) -> None:
    with open_database(url(tmp_path)).read() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
        assert session.scalar(text("PRAGMA busy_timeout")) == 30000


def _open(url: str, start: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    open_database(url).check()


def test_several_processes_may_start_at_once(bare: str) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Event()
    processes = [context.Process(target=_open, args=(bare, start)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]


def test_threads_may_start_at_once(bare: str) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            open_database(bare).check()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_newer_database_is_refused_and_left_alone(bare: str) -> None:
    set_revision(bare, "9999")
    with pytest.raises(InputError, match="newer MotionJury.*9999.*upgrade"):
        open_database(bare)
    with create_engine(bare).connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9999"


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "jury.db").write_bytes(b"these are not the pages of a database" * 100)
    with pytest.raises(InputError, match=r"jury\.db.*not a database"):
        open_database(url(tmp_path))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        open_database(f"sqlite:///{tmp_path / 'nowhere' / 'jury.db'}")


@pytest.mark.parametrize(
    "bad", ["", "jury.db", "mysql://host/db", "sqlite://", "sqlite:///:memory:"]
)
def test_other_urls_are_refused(bad: str) -> None:
    with pytest.raises(InputError):
        open_database(bad)


def test_check_names_a_schema_that_is_not_ours(bare: str) -> None:
    db = open_database(bare)
    set_revision(bare, "0000")
    with pytest.raises(InputError, match=f"expected database schema {HEAD}, got 0000"):
        db.check()


def test_an_exception_takes_the_whole_write_back(db: Database) -> None:
    def fail() -> None:
        with db.write() as session:
            log(session, "half_done")
            session.flush()
            raise KeyError("half way")

    with pytest.raises(KeyError):
        fail()
    with db.read() as session:
        assert list_events(session) == []


def test_a_reading_session_cannot_write(db: Database) -> None:
    with db.read() as session:
        log(session, "sneaked_in")
        with pytest.raises(DBAPIError, match="readonly|read-only"):
            session.flush()
    with db.write() as session:
        log(session, "written")


def test_a_reading_session_sees_one_state(db: Database) -> None:
    with db.read() as session:
        assert list_events(session) == []
        with db.write() as other:
            log(other, "written")
        assert list_events(session) == []
    with db.read() as session:
        assert len(list_events(session)) == 1


def test_a_forked_child_leaves_the_parents_connections_alone(db: Database) -> None:
    with db.write() as session:
        log(session, "before")

    def write() -> None:
        with db.write() as session:
            log(session, "in the child")

    child = multiprocessing.get_context("fork").Process(target=write)
    child.start()
    child.join(30)
    with db.write() as session:
        log(session, "after")
    with db.read() as session:
        found = [event.action for event in list_events(session)]
    assert (child.exitcode, found) == (0, ["before", "in the child", "after"])


def test_numbers_and_texts_come_back_as_they_went_in(db: Database) -> None:
    at = 1_800_000_000.123_456
    details = {
        "share": 0.1 + 0.2,
        "small": 5e-324,
        "text": "\x00 \U0001f57a \u202e",
        "count": 2**53,
    }
    with db.write() as session:
        log(session, "written", details=details, at=at)
    with db.read() as session:
        (event,) = list_events(session)
    assert (event.at, event.details) == (at, details)


def test_a_nul_in_an_id_is_an_id_that_is_not_there(db: Database) -> None:
    with db.read() as session, pytest.raises(InputError, match="unknown item"):
        get_item(session, "a\x00b")
    with db.read() as session:
        assert list_events(session, study_id="a\x00b") == []


CHANGES = ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {}"]


@pytest.mark.parametrize("table", ["label", "decision", "event"])
@pytest.mark.parametrize("change", CHANGES)
def test_append_only_tables_refuse_changes(db: Database, table: str, change: str) -> None:
    engine = create_engine(db.url)
    sqlite = engine.dialect.name == "sqlite"
    if sqlite and "TRUNCATE" in change:
        pytest.skip("SQLite has no TRUNCATE")
    world = fill(db)
    with db.write() as session:
        held = next_assignment(session, world.study, world.experts[0], START)
        submit(session, held.id, world.experts[0], "s1", GOOD, {}, START)
        settle(session, world.study, held.item_id, "accepted", "clear", world.coordinator, START)
    with engine.begin() as connection:
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) > 0
    with (
        pytest.raises(DBAPIError, match=f"{table} is append-only"),
        engine.begin() as connection,
    ):
        connection.execute(text(change.format(table)))


def test_twenty_writers_lose_and_block_nothing(db: Database) -> None:
    # doccano 1236: "database is locked" during annotation, labels missing.
    databases = [db, open_database(db.url)]
    failures: list[BaseException] = []

    def write(db: Database, number: int) -> None:
        try:
            for step in range(25):
                with db.write() as session:
                    log(session, "written", subject=f"{number}-{step}")
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [
        threading.Thread(target=write, args=(databases[number % 2], number)) for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with databases[0].read() as session:
        subjects = [event.subject for event in list_events(session, actions=("written",))]
    assert failures == []
    assert sorted(subjects) == sorted(f"{n}-{s}" for n in range(20) for s in range(25))
