"""The checked-in word tables of the caption rules and their fingerprints."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import resources
from typing import Any


def _raw(name: str) -> bytes:
    return (resources.files("construction.text.data") / f"{name}.toml").read_bytes()


@cache
def table(name: str) -> dict[str, Any]:
    """Read a word table.

    Args:
        name: File name below ``construction/text/data`` without ``.toml``.

    Returns:
        The parsed table; callers must not change it.
    """
    return tomllib.loads(_raw(name).decode())


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
def table_hash(*names: str) -> str:
    """Return the SHA-256 (hex) of the named tables, in the order given."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(_raw(name))
    return digest.hexdigest()
