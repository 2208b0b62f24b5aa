"""Joint names of common BVH skeletons onto SMPL's 22 joints."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from corpus.skeletons import REST_OFFSETS, SMPL22

LIMB_NAMES: dict[str, tuple[str, ...]] = {
    "hip": ("upleg", "upperleg", "thigh", "hip"),
    "knee": ("knee", "lowerleg", "lowleg", "shin", "calf", "leg"),
    "ankle": ("ankle", "foot"),
    "foot": ("toebase", "toe", "toes", "toe0", "ball", "toeend", "foot"),
    "shoulder": ("upperarm", "uparm", "shldr", "arm", "shoulder"),
    "collar": ("collar", "clavicle", "shoulder"),
    "elbow": ("elbow", "forearm", "lowerarm", "lowarm", "forarm"),
    "wrist": ("wrist", "hand"),
}
"""For each limb joint the names it goes by, side and punctuation taken off, best first.

They cover Bandai-Namco, CMU, Mixamo and HumanIK, LaFAN1, Xsens and 100STYLE, SMPL, Unreal,
Blender Rigify, 3ds Max Biped and Poser. A joint serves once, so ``shoulder`` is the collar where
an ``arm`` is there and the shoulder where it is not.
"""

PELVIS_NAMES = ("hips", "pelvis", "hip")
"""Names of the pelvis."""

REQUIRED_LIMBS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
"""Limb joints without which a body cannot be judged; the others are placed by proportion."""

_PREFIXES = re.compile(r"^(bip\d*|mixamorig\d*|character\d*|joint|def|org)[\W_]*(?=\w)", re.I)
_SIDES = (
    re.compile(r"^(left|right)[\W_]*(.+)$", re.I),
    re.compile(r"^(l|r)[\W_]+(.+)$", re.I),
    re.compile(r"^([lrLR])(?=[A-Z][a-z])(.+)$"),
    re.compile(r"^(.+?)[\W_]*(left|right)$", re.I),
    re.compile(r"^(.+?)[\W_]+(l|r)$", re.I),
)


class NamedPart(NamedTuple):
    """A joint name taken apart."""

    side: str
    """``left``, ``right`` or empty."""
    core: str
    """The rest, lower case, letters and digits only."""


def take_apart(name: str) -> NamedPart:
    """Split a joint name into side and core.

    >>> take_apart("mixamorig:LeftUpLeg"), take_apart("UpperArm_R"), take_apart("Bip01 L Calf")
    (NamedPart(side='left', core='upleg'), NamedPart(side='right', core='upperarm'), \
NamedPart(side='left', core='calf'))
    """
    bare = name.rpartition(":")[2].strip()
    bare = _PREFIXES.sub("", bare)
    for pattern in _SIDES:
        match = pattern.match(bare)
        if match:
            first, second = match.groups()
            side, core = (first, second) if len(first) <= 5 and _is_side(first) else (second, first)
            return NamedPart("left" if side.lower().startswith("l") else "right", _plain(core))
    return NamedPart("", _plain(bare))


def as_smpl22(
    names: tuple[str, ...], parents: tuple[int, ...], positions: NDArray[Any]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Map the joints of a hierarchy onto ``SMPL22`` by name.

    The spine is placed along the chain from pelvis to neck: its own three joints where it has
    three, else at the shares of the chain that the rest skeleton has. Collars and toes that the
    file has no joint for are placed by proportion as well, and said.

    Args:
        names: Joint names.
        parents: Parent of each joint, -1 for the root.
        positions: (T, J, 3) world positions.

    Returns:
        (T, 22, 3) positions in the same unit and axes, and what was assumed.

    Raises:
        InputError: No joint for one that is needed; the message names it and those in the file.
    """
    parts = [take_apart(name) for name in names]
    lengths = _bone_lengths(parents, positions)
    found = _limbs(parts, names)
    pelvis = _first(parts, "", PELVIS_NAMES)
    said = []
    if pelvis is None:
        pelvis = 0
        said.append(f"pelvis: root joint {names[0]!r}")
    head = _first(parts, "", ("head",))
    if head is None:
        raise _missing("head", ("Head",), names)
    found |= {"pelvis": pelvis, "head": head}
    chain = _chain(head, pelvis, parents)
    if chain is None:
        raise InputError(f"expected the head below the pelvis {names[pelvis]!r} in the hierarchy")
    neck = _neck(chain, parts, lengths)
    body = np.empty((len(positions), 22, 3))
    for joint, index in found.items():
        body[:, SMPL22.index(joint)] = positions[:, index]
    body[:, SMPL22.index("neck")] = positions[:, neck]
    said.append(_spine(body, chain[: chain.index(neck) + 1], lengths, names, positions))
    for side in ("left", "right"):
        placed = _place_missing(body, side, found)
        if placed:
            said.append(f"{placed} placed by proportion, the file has no joint for it")
    mapped = ", ".join(f"{names[i]}={j}" for j, i in sorted(found.items(), key=lambda x: x[1]))
    return body, (f"joints by name: {mapped}, {names[neck]}=neck", *said)


def _is_side(word: str) -> bool:
    return word.lower() in ("left", "right", "l", "r")


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _first(parts: list[NamedPart], side: str, cores: tuple[str, ...]) -> int | None:
    for core in cores:
        for index, part in enumerate(parts):
            if part == (side, core):
                return index
    return None


def _limbs(parts: list[NamedPart], names: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for side in ("left", "right"):
        free = list(parts)
        for limb, cores in LIMB_NAMES.items():
            index = _first(free, side, cores)
            if index is None:
                if limb in REQUIRED_LIMBS:
                    raise _missing(f"{side}_{limb}", cores, names)
                continue
            found[f"{side}_{limb}"] = index
            free[index] = NamedPart("", "")
    return found


def _missing(joint: str, cores: tuple[str, ...], names: tuple[str, ...]) -> InputError:
    listed = ", ".join(names[:60]) + (" …" if len(names) > 60 else "")
    return InputError(
        f"expected a joint for {joint} (named like {', '.join(cores)}), got {listed}",
        place=f"joint {joint}",
    )


def _bone_lengths(parents: tuple[int, ...], positions: NDArray[Any]) -> NDArray[np.float64]:
    parent = np.array([max(p, 0) for p in parents])
    lengths: NDArray[np.float64] = np.linalg.norm(positions[0] - positions[0, parent], axis=-1)
    return lengths


def _chain(joint: int, top: int, parents: tuple[int, ...]) -> list[int] | None:
    """Return the joints from ``top`` down to ``joint``, or None if it is not below it."""
    chain = [joint]
    while chain[-1] != top:
        if parents[chain[-1]] < 0:
            return None
        chain.append(parents[chain[-1]])
    return chain[::-1]


def _neck(chain: list[int], parts: list[NamedPart], lengths: NDArray[np.float64]) -> int:
    """Return the neck: the first joint so named that is not on top of its parent, else the last.

    CMU's ``Neck`` lies on the chest joint with no offset; its ``Neck1`` is the base of the neck.
    """
    named = [i for i in chain[1:-1] if parts[i].core.startswith("neck")]
    apart = [i for i in named if lengths[i] > 1e-6]
    inner = chain[1:-1] or chain
    return (apart or named or inner[-1:])[0]


def _spine(
    body: NDArray[np.float64],
    chain: list[int],
    lengths: NDArray[np.float64],
    names: tuple[str, ...],
    positions: NDArray[Any],
) -> str:
    """Fill spine1 to spine3 from the chain pelvis … neck; return what was done."""
    inner = [i for i in chain[1:-1] if lengths[i] > 1e-6]
    targets = [SMPL22.index(f"spine{n}") for n in (1, 2, 3)]
    if len(inner) == 3:
        body[:, targets] = positions[:, inner]
        return f"spine: {', '.join(names[i] for i in inner)}"
    points = positions[:, [chain[0], *inner, chain[-1]]]
    steps = np.linalg.norm(np.diff(points, axis=1), axis=-1).mean(axis=0)
    along = np.concatenate(([0.0], np.cumsum(steps)))
    rest = np.linalg.norm(REST_OFFSETS, axis=1)[[*targets, SMPL22.index("neck")]]
    for target, share in zip(targets, np.cumsum(rest)[:3] / rest.sum(), strict=True):
        at = share * along[-1]
        k = int(np.clip(np.searchsorted(along, at, side="right") - 1, 0, len(steps) - 1))
        part = (at - along[k]) / steps[k] if steps[k] > 0 else 0.0
        body[:, target] = (1 - part) * points[:, k] + part * points[:, k + 1]
    return f"spine1 to spine3 placed along {', '.join(names[i] for i in chain)}"


def _place_missing(body: NDArray[np.float64], side: str, found: dict[str, int]) -> str:
    """Place a collar on the line chest to shoulder, a toe in front of the ankle; say which."""
    placed = []
    if f"{side}_collar" not in found:
        chest, shoulder = SMPL22.index("neck"), SMPL22.index(f"{side}_shoulder")
        body[:, SMPL22.index(f"{side}_collar")] = 0.6 * body[:, chest] + 0.4 * body[:, shoulder]
        placed.append(f"{side}_collar")
    if f"{side}_foot" not in found:
        knee, ankle = SMPL22.index(f"{side}_knee"), SMPL22.index(f"{side}_ankle")
        left, right = SMPL22.index("left_hip"), SMPL22.index("right_hip")
        shin = body[:, ankle] - body[:, knee]
        ahead = np.cross(body[:, left] - body[:, right], -shin)
        ahead /= np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-9)
        size = np.linalg.norm(shin, axis=-1, keepdims=True)
        body[:, SMPL22.index(f"{side}_foot")] = body[:, ankle] + 0.3 * size * ahead + 0.15 * shin
        placed.append(f"{side}_foot")
    return " and ".join(placed)
