"""Opening the workspace database, and short sessions that read or write it.

Each operation takes a connection out of the pool and gives it back, so no two threads ever use one
at the same time. SQLite runs in WAL mode, and every writer begins with ``BEGIN IMMEDIATE``: it
waits its turn instead of failing half way. PostgreSQL relies on row locks. On both, a session
that reads sees one state of the database from its first statement to its last.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session

from corpus.problems import InputError
from store.migrations import HEAD

if TYPE_CHECKING:
    import psycopg

BUSY_SECONDS = 30.0
"""How long a writer waits for others before it gives up."""
_LOCK_MS = int(1000 * BUSY_SECONDS)
_WRITE = "motionjury_write"
_SNAPSHOT: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_MIGRATION_LOCK = 7243117
"""Key of the PostgreSQL advisory lock held while migrating; any constant of our own."""


class Database:
    """An open, migrated workspace database; safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        """Wrap an engine made by :func:`open_database`."""
        self._sqlite = engine.dialect.name == "sqlite"
        self._reader = engine.execution_options(**({} if self._sqlite else _SNAPSHOT))
        self._writer = engine.execution_options(**{_WRITE: True})
        # SQLite's own waiting is by polling and can starve one of many threads.
        self._turn: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if self._sqlite else contextlib.nullcontext()
        )

    @contextlib.contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session that only reads; a write in it is refused by the database."""
        with Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """Yield a session that writes; commits at the end, rolls back on any exception."""
        with (
            self._turn,
            Session(self._writer, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def check(self) -> None:
        """Check that the database answers and has this version's schema.

        Raises:
            InputError: It cannot be read, or its schema is another one.
        """
        try:
            with self._reader.connect() as connection:
                found = _revision(connection)
        except DBAPIError as error:
            raise _unusable(self._reader, error) from error
        if found != HEAD:
            raise InputError(f"expected database schema {HEAD}, got {found}", file=self.place)

    @property
    def place(self) -> str:
        """File or server of the database, without any password."""
        return _place(self._reader)

    @property
    def url(self) -> str:
        """SQLAlchemy URL with any password, to open it in another process; not to be shown."""
        return self._reader.url.render_as_string(hide_password=False)

    def close(self) -> None:
        """Close pooled connections."""
        self._reader.dispose()


def open_database(url: str) -> Database:
    """Open the database at a URL, making or migrating its schema where needed.

    Several processes may do this at once: one migrates, the others wait.

    Args:
        url: SQLAlchemy URL, ``sqlite:///FILE`` or ``postgresql://…``.

    Returns:
        The database at the newest schema.

    Raises:
        InputError: The URL is not understood, the file or server cannot be used, or a newer
            MotionJury made the database.
    """
    engine = _engine(url)
    try:
        if engine.dialect.name == "sqlite":
            _use_wal(engine)
        with engine.connect() as connection:
            current = _revision(connection)
        if current != HEAD:
            _migrate(engine)
    except (DBAPIError, sqlite3.Error) as error:
        raise _unusable(engine, error) from error
    return Database(engine)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        kind = parsed.get_backend_name()
        if kind == "postgresql":
            return _postgresql(parsed)
        if kind != "sqlite":
            raise InputError(f"expected a sqlite or postgresql database_url, got {kind!r}")
        if not parsed.database or parsed.database == ":memory:":
            raise InputError("expected sqlite:///FILE, got a SQLite URL without a file")
        engine = create_engine(parsed, pool_size=8, connect_args={"timeout": BUSY_SECONDS})
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise InputError(f"database_url is not understood: {error}") from error
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    _forget_in_children(engine)
    return engine


def _postgresql(url: URL) -> Engine:
    given = url.query.get("options", "")
    options = f"{given if isinstance(given, str) else ' '.join(given)} -c lock_timeout={_LOCK_MS}"
    engine = create_engine(url, pool_pre_ping=True, connect_args={"options": options.strip()})
    event.listen(engine, "connect", _prepare_postgresql)
    _forget_in_children(engine)
    return engine


def _forget_in_children(engine: Engine) -> None:
    # Connections do not survive a fork; a child process opens its own.
    kept = weakref.ref(engine)

    def forget() -> None:
        found = kept()
        if found is not None:
            found.dispose(close=False)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # None: Python must not begin transactions by itself; _begin_sqlite does.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")


def _prepare_postgresql(connection: psycopg.Connection[Any], _record: object) -> None:
    from psycopg.types.string import StrDumperUnknown

    class WithoutNul(StrDumperUnknown):
        """Texts of PostgreSQL have no NUL: one in an id asked for is an id that is not there."""

        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\x00", "\ufffd"))

    connection.adapters.register_dumper(str, WithoutNul)


def _begin_sqlite(connection: Connection) -> None:
    writes = bool(connection.get_execution_options().get(_WRITE))
    connection.exec_driver_sql(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(engine: Engine) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            with contextlib.closing(engine.raw_connection()) as connection:
                # The switch takes an exclusive lock for which SQLite does not wait by itself.
                connection.cursor().execute("PRAGMA journal_mode=WAL")
                return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with _migrating(engine) as connection:
        if engine.dialect.name == "postgresql":
            # Another process may be migrating, however long that takes.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        current = _revision(connection)
        if current is not None and current not in known:
            raise InputError(
                f"a newer MotionJury made this database (schema {current}; this version knows "
                f"up to {HEAD}); upgrade MotionJury",
                file=_place(engine),
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextlib.contextmanager
def _migrating(engine: Engine) -> Iterator[Connection]:
    """Yield a writing connection; on SQLite it may make tables anew that others refer to."""
    writer = engine.execution_options(**{_WRITE: True})
    if engine.dialect.name != "sqlite":
        with writer.begin() as connection:
            yield connection
        return
    with writer.connect() as connection:
        raw = connection.connection.cursor()
        # Not possible within a transaction, so it must come before the first statement.
        raw.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                yield connection
                if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
                    raise InputError("the database refers to rows it lacks", file=_place(engine))
        finally:
            raw.execute("PRAGMA foreign_keys=ON")
            raw.close()


def _place(engine: Engine) -> str:
    if engine.dialect.name == "sqlite":
        return str(engine.url.database)
    return engine.url.render_as_string(hide_password=True)


def _unusable(engine: Engine, error: DBAPIError | sqlite3.Error) -> InputError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return InputError(f"the database cannot be used: {cause}", file=_place(engine))
