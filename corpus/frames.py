"""Into the one frame of reference: length unit, upward axis, and what was assumed for both."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.formats.source import Unit, Up
from corpus.problems import InputError
from corpus.skeletons import SKELETONS

METRES_PER_UNIT: dict[Unit, float] = {
    "m": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "inch": 0.0254,
    "cmu": 0.0254 / 0.45,
}
"""Length units; ``cmu`` is that of the CMU database, whose ASF files state ``length 0.45``."""

BODY_CHAIN_METRES = (0.75, 2.1)
"""Ankle-knee-hip plus pelvis-spine-head of a person, shortest and tallest (ours)."""

Z_UP_TO_Y_UP: NDArray[np.float64] = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
"""Turn by -90 degrees about X: (x, y, z) becomes (x, z, -y)."""

FURTHEST = 1e7
"""Largest coordinate read, in the file's unit (ours): 10 km in millimetres."""

_UPRIGHT_SHARE = 0.8
_EXCHANGED_SHARE = 0.8


class Framed(NamedTuple):
    """Positions in metres, Y up, and how they came to be so."""

    positions: NDArray[np.float32]
    scale: float
    """Metres per unit of the file."""
    up: Up
    """Upward axis of the file."""
    assumptions: tuple[str, ...]


def body_chain(positions: NDArray[Any], skeleton: str) -> float:
    """Return the length of ankle-knee-hip plus pelvis-spine-head, in the unit of the positions.

    The bones are summed along the joints, so the pose does not matter; the median over frames
    and the mean of both legs are taken.
    """
    layout = SKELETONS[skeleton]

    def bone(a: str, b: str) -> float:
        difference = positions[:, layout.index(a)] - positions[:, layout.index(b)]
        return float(np.median(np.linalg.norm(difference, axis=-1)))

    trunk = tuple(
        joint
        for joint in ("pelvis", "spine1", "spine2", "spine3", "neck", "head")
        if joint in layout.joints
    )
    legs = [
        bone(f"{side}_hip", f"{side}_knee") + bone(f"{side}_knee", f"{side}_ankle")
        for side in ("left", "right")
    ]
    return sum(legs) / 2 + sum(bone(a, b) for a, b in zip(trunk, trunk[1:], strict=False))


def into_frame(
    positions: NDArray[Any],
    skeleton: str,
    *,
    file: Path,
    up: Up | None = None,
    unit: Unit | None = None,
    guesses: tuple[Unit, ...] = ("m", "cm", "mm"),
    else_unit: Unit | None = "m",
) -> Framed:
    """Bring positions into metres with Y up.

    An option that is not given is measured on the body: the unit by the length of its bones, the
    upward axis by where the head is above the ankles on average. Either way the result says so.

    Args:
        positions: (T, J, 3), any unit, right-handed.
        skeleton: Key of ``SKELETONS``.
        file: Named in errors.
        up: Upward axis, if known.
        unit: Length unit, if known.
        guesses: Units to try when it is not.
        else_unit: Unit to assume for a body that fits none of them; null to refuse it.

    Raises:
        InputError: Fewer than two frames, not finite, a body of no known unit, or one that
            stands along x or downward.
    """
    if len(positions) < 2:
        raise InputError(f"expected at least 2 frames, got {len(positions)}", file=str(file))
    with np.errstate(invalid="ignore"):
        data = np.asarray(positions, dtype=np.float64)
    finite = np.asarray(np.isfinite(data).all(axis=2))
    if not finite.all():
        frame, joint = (int(i) for i in np.argwhere(~finite)[0])
        bad = int((~finite.all(axis=1)).sum())
        raise InputError(
            f"expected finite positions, got NaN or infinity ({bad} of {len(data)} frames)",
            file=str(file),
            place=f"frame {frame}, joint {SKELETONS[skeleton].joints[joint]}",
        )
    furthest = float(np.abs(data).max())
    if furthest > FURTHEST:
        raise InputError(
            f"expected positions within {FURTHEST:g} units of the origin, got {furthest:g}",
            file=str(file),
            place=f"frame {int(np.abs(data).max(axis=(1, 2)).argmax())}",
        )
    chosen, said_unit = _unit(data, skeleton, unit, guesses, else_unit, file)
    axis, said_up = _up(data, skeleton, up, file)
    scale = METRES_PER_UNIT[chosen]
    data = data * scale
    if axis == "z":
        data = data @ Z_UP_TO_Y_UP.T
    said = (said_unit, said_up, *_handedness(data, skeleton))
    return Framed(data.astype(np.float32), scale, axis, said)


def _unit(
    data: NDArray[np.float64],
    skeleton: str,
    unit: Unit | None,
    guesses: tuple[Unit, ...],
    else_unit: Unit | None,
    file: Path,
) -> tuple[Unit, str]:
    if unit is not None:
        return unit, f"unit {unit}: as given"
    chain = body_chain(data, skeleton)
    low, high = BODY_CHAIN_METRES
    for candidate in guesses:
        metres = chain * METRES_PER_UNIT[candidate]
        if low <= metres <= high:
            return candidate, (
                f"unit {candidate}: recognised from the body, ankle to head {chain:.4g} units "
                f"= {metres:.2f} m"
            )
    if else_unit is not None:
        return else_unit, (
            f"unit {else_unit}: assumed, ankle to head is {chain:.4g} units, no person's size"
        )
    raise InputError(
        f"expected a body of {low:g} to {high:g} m from ankle to head, got {chain:.4g} units, "
        f"which fits none of {', '.join(guesses)}; say which with --unit",
        file=str(file),
    )


def _up(data: NDArray[np.float64], skeleton: str, up: Up | None, file: Path) -> tuple[Up, str]:
    along = upright_along(data, skeleton)
    if up is not None:
        return up, f"up-axis {up}: as given{up_doubt(along, up)}"
    if along is None:
        return "y", "up-axis y: assumed, the body is not upright on average"
    if along not in ("y", "z"):
        raise InputError(
            f"expected a body upright along y or z, got one along {along}; "
            "if it is meant so, say which axis is up with --up",
            file=str(file),
        )
    found: Up = "y" if along == "y" else "z"
    return found, f"up-axis {found}: measured, the head is above the ankles along it"


def upright_along(positions: NDArray[Any], skeleton: str) -> str | None:
    """Return the axis along which the head is above the ankles on average.

    Args:
        positions: (T, J, 3), any unit.
        skeleton: Key of ``SKELETONS``.

    Returns:
        ``x``, ``y`` or ``z``, with a minus where the head is below; null where the body is along
        none of them, as when it turns over or lies askew.
    """
    layout = SKELETONS[skeleton]
    ankles = positions[:, layout.index("left_ankle")] + positions[:, layout.index("right_ankle")]
    body = (positions[:, layout.index("head")] - ankles / 2).mean(axis=0, dtype=np.float64)
    body /= np.linalg.norm(body) or 1.0
    axis = int(np.argmax(np.abs(body)))
    if abs(body[axis]) < _UPRIGHT_SHARE:
        return None
    return f"{'-' if body[axis] < 0 else ''}{'xyz'[axis]}"


def up_doubt(along: str | None, up: str) -> str:
    """Return what to add where the upward axis contradicts the body, else nothing.

    >>> up_doubt("y", "z")
    ', but the head is above the ankles along y: is that right?'
    """
    if along in (None, up):
        return ""
    return f", but the head is above the ankles along {along}: is that right?"


def doubts(assumptions: tuple[str, ...]) -> list[str]:
    """Return the assumptions that the data speak against; readers end these in a question."""
    return [said for said in assumptions if said.endswith("?")]


def _handedness(data: NDArray[np.float64], skeleton: str) -> tuple[str, ...]:
    """Say so if left and right look exchanged: up x toes points to the right hip, not the left.

    A left-handed file, or one with its sides swapped, shows so; feet do not point backward.
    """
    layout = SKELETONS[skeleton]

    def path(name: str) -> NDArray[np.float64]:
        return data[:, layout.index(name)]

    toes = path("left_foot") - path("left_ankle") + path("right_foot") - path("right_ankle")
    left = np.cross(path("head") - path("pelvis"), toes)
    side = (left * (path("left_hip") - path("right_hip"))).sum(axis=1)
    if float((side < 0).mean()) < _EXCHANGED_SHARE:
        return ()
    return ("left and right look exchanged (the toes point backward): is the file left-handed?",)
