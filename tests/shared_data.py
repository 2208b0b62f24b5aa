"""Where tests find the real files that are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def shared_root() -> Path:
    """Return the folder named by MOTIONJURY_SHARED, else ``../shared`` beside the repository."""
    named = os.environ.get("MOTIONJURY_SHARED")
    return Path(named) if named else ROOT.parent / "shared"


def shared(path: str) -> Path:
    """Return a file or folder of the shared test data; skip the test where it is absent."""
    found = shared_root() / path
    if not found.exists():
        pytest.skip(f"shared test data absent: {found} (set MOTIONJURY_SHARED)")
    return found
