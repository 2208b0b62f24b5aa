import shutil
from pathlib import Path

import pytest

from store.session import Database, open_database
from tests.audit.world import World, fill


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("database") / "empty.db"
    open_database(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def db(empty_database: Path, tmp_path: Path) -> Database:
    file = tmp_path / "jury.db"
    shutil.copy(empty_database, file)
    return open_database(f"sqlite:///{file}")


@pytest.fixture
def world(db: Database) -> World:
    return fill(db)
