"""The checked-in word tables of the caption rules and their fingerprints."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import resources
from typing import Any

DATA = "construction.text.data"
"""Package of the tables that all benchmarks share."""


def _raw(name: str, package: str) -> bytes:
    return (resources.files(package) / f"{name}.toml").read_bytes()


@cache
def table(name: str, package: str = DATA) -> dict[str, Any]:
    """Read a word table.

    Args:
        name: File name without ``.toml``.
        package: Package that holds it.

    Returns:
        The parsed table; callers must not change it.
    """
    return tomllib.loads(_raw(name, package).decode())


@cache
def words(name: str, key: str) -> frozenset[str]:
    """Read one whitespace-separated word list of a table.

    Args:
        name: The table.
        key: Name of the list in it.

    Returns:
        The words, lower case.
    """
    return frozenset(str(table(name)[key]).split())


@cache
def table_hash(*names: str, package: str = DATA) -> str:
    """Return the SHA-256 (hex) of the named tables, in the order given."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(_raw(name, package))
    return digest.hexdigest()
