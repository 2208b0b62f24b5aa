import pytest

from store.session import Database
from tests.audit.world import World, fill


@pytest.fixture
def world(db: Database) -> World:
    return fill(db)
