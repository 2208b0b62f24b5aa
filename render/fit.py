"""How far the drawn body is from the motion it shows."""

from __future__ import annotations

from collections.abc import Mapping

FAR_MM = 30.0
"""Mean distance of a joint from the source's from which on it is said (ours)."""


def far_joints(fit_error_mm: Mapping[str, float] | None) -> dict[str, float]:
    """Return the joints that the body misses by over ``FAR_MM``, farthest first.

    >>> far_joints({"head": 31.0, "left_wrist": 48.5, "neck": 30.0})
    {'left_wrist': 48.5, 'head': 31.0}
    """
    found = sorted((fit_error_mm or {}).items(), key=lambda joint: (-joint[1], joint[0]))
    return {name: mm for name, mm in found if mm > FAR_MM}
