import multiprocessing
import sqlite3
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

import store.session
from corpus.problems import InputError
from store.events import list_events, log
from store.migrations import HEAD
from store.session import Database, open_database
from store.tables import Base


def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jury.db'}"


def test_migrations_and_tables_agree(tmp_path: Path) -> None:
    open_database(url(tmp_path))
    with create_engine(url(tmp_path)).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_head_is_the_newest_revision() -> None:
    folder = Path(store.session.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == HEAD


def test_opening_again_keeps_what_is_there(tmp_path: Path) -> None:
    with open_database(url(tmp_path)).write() as session:
        log(session, "something_done")
    with open_database(url(tmp_path)).read() as session:
        assert [event.action for event in list_events(session)] == ["something_done"]


def test_sqlite_runs_in_wal_mode_with_foreign_keys(tmp_path: Path) -> None:
    with open_database(url(tmp_path)).read() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
        assert session.scalar(text("PRAGMA busy_timeout")) == 30000


def _open(url: str, start: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    open_database(url).check()


def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Event()
    processes = [context.Process(target=_open, args=(url(tmp_path), start)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]


def test_threads_may_start_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            open_database(url(tmp_path)).check()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    open_database(url(tmp_path))
    with sqlite3.connect(tmp_path / "jury.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="newer MotionJury.*9999.*upgrade"):
        open_database(url(tmp_path))
    with sqlite3.connect(tmp_path / "jury.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


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


def test_check_names_a_schema_that_is_not_ours(tmp_path: Path) -> None:
    db = open_database(url(tmp_path))
    with sqlite3.connect(tmp_path / "jury.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    with pytest.raises(InputError, match="expected database schema 0003, got 0000"):
        db.check()


def test_an_exception_takes_the_whole_write_back(tmp_path: Path) -> None:
    db = open_database(url(tmp_path))

    def fail() -> None:
        with db.write() as session:
            log(session, "half_done")
            session.flush()
            raise KeyError("half way")

    with pytest.raises(KeyError):
        fail()
    with db.read() as session:
        assert list_events(session) == []


def test_a_reading_session_cannot_write(tmp_path: Path) -> None:
    db = open_database(url(tmp_path))
    with db.read() as session:
        log(session, "sneaked_in")
        with pytest.raises(DBAPIError, match="readonly"):
            session.flush()


@pytest.mark.parametrize("table", ["label", "decision", "event"])
@pytest.mark.parametrize("change", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_append_only_tables_refuse_changes(tmp_path: Path, table: str, change: str) -> None:
    open_database(url(tmp_path))
    with sqlite3.connect(tmp_path / "jury.db") as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute(
            f"INSERT INTO {table} ({','.join(columns)}) VALUES ({','.join('1' for _ in columns)})"
        )
        with pytest.raises(sqlite3.IntegrityError, match=f"{table} is append-only"):
            connection.execute(change.format(table))


def test_twenty_writers_lose_and_block_nothing(tmp_path: Path) -> None:
    # doccano 1236: "database is locked" during annotation, labels missing.
    databases = [open_database(url(tmp_path)), open_database(url(tmp_path))]
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
