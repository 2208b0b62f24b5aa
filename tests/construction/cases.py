import json
from pathlib import Path
from typing import Any

OWN = json.loads((Path(__file__).parent / "captions.json").read_text(encoding="utf-8"))
"""Captions written for these tests, with the outcome a careful reader expects, by axis."""


def own(axis: str) -> list[dict[str, Any]]:
    return OWN[axis]
