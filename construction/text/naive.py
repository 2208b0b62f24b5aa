"""What a script of an afternoon would do: the baseline of the text-only audit (ours).

STRIDE compares its pairs with "rule-based perturbations" that it does not describe. These are the
plainest ones: words exchanged where they stand, no inflection, no reading of the caption.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks.stride import StrideAxis
from construction.sampling import seeded_order
from construction.text.actions import action_pairs

RULE = "naive/1"
"""Name and version of the baseline."""

_SIDES = {"left": "right", "right": "left", "clockwise": "counterclockwise"}
_SIDE = re.compile(r"\b(left|right|clockwise)\b")
_ORDER = re.compile(r"(,? and then |,? then |, | and )")


def naive_edit(caption: str, axis: StrideAxis, seed: int = 0) -> str | None:
    """Edit a caption without reading it.

    Temporal Order exchanges what stands before and after the first word for order; Mirror
    Reflection replaces "left" and "right" wherever they stand; Action Identity puts the base form
    of some other action for the first verb of the pair table.

    Args:
        caption: The caption.
        axis: A structural axis.
        seed: Decides which action is put in.

    Returns:
        The edited caption; None where there is nothing to edit or the axis has no naive edit.

    >>> naive_edit("a person runs then jumps.", "temporal_order")
    'jumps then a person runs.'
    """
    edit = _EDITS.get(axis)
    text = None if edit is None else edit(caption, seed)
    return None if text == caption else text


def _temporal(caption: str, seed: int) -> str | None:
    stop = "." if caption.endswith(".") else ""
    parts = _ORDER.split(caption.removesuffix("."), maxsplit=1)
    return f"{parts[2]}{parts[1]}{parts[0]}{stop}" if len(parts) == 3 else None


def _mirror(caption: str, seed: int) -> str | None:
    return _SIDE.sub(lambda found: _SIDES[found.group()], caption)


def _action(caption: str, seed: int) -> str | None:
    verbs = sorted({verb for pair in action_pairs() for verb in pair.verbs})
    for word in re.findall(r"[a-z]+", caption):
        stem = next((v for v in verbs if word in (v, f"{v}s", f"{v}es", f"{v}ing")), None)
        if stem is not None:
            others = [v for v in verbs if v != stem]
            new = others[int(seeded_order(seed, "naive", caption), 16) % len(others)]
            return re.sub(rf"\b{word}\b", new, caption, count=1)
    return None


_EDITS: dict[StrideAxis, Callable[[str, int], str | None]] = {
    "temporal_order": _temporal,
    "mirror_reflection": _mirror,
    "action_identity": _action,
}
