"""A skinned body in SMPL's 24 joints, and the embedded one: Y up, facing +Z.

The embedded body is a neutral adult of no licensed model; those are read by ``render.licensed``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ASSET = Path(__file__).parent / "assets" / "body.npz"
"""Baked by ``render.bake_body``; its origin and licence stand in NOTICE."""

PARTS = (
    "chest", "back", "shorts", "face", "hair", "eyes", "left_arm", "left_hand", "left_leg",
    "left_foot", "right_arm", "right_hand", "right_leg", "right_foot",
)  # fmt: skip
"""Parts of the body, each of one colour; ``Body.face_parts`` indexes this tuple."""

PART_COLOURS: dict[str, tuple[int, int, int]] = {
    "chest": (214, 217, 222), "back": (134, 140, 150), "shorts": (88, 93, 102),
    "face": (238, 221, 205), "hair": (54, 50, 52), "eyes": (30, 30, 34),
    "left_arm": (66, 146, 230), "left_hand": (128, 190, 248),
    "left_leg": (28, 88, 180), "left_foot": (14, 48, 112),
    "right_arm": (255, 152, 46), "right_hand": (255, 196, 128),
    "right_leg": (220, 104, 12), "right_foot": (140, 62, 6),
}  # fmt: skip
"""sRGB colours. Left limbs are blue, right limbs orange: the pair that people with any of the
common colour vision deficiencies tell apart (Okabe and Ito 2008). Legs are darker than arms."""


class Body(NamedTuple):
    """A skinned body at rest."""

    vertices: NDArray[np.float32]
    """(V, 3) vertices as modelled (bind pose, arms half down), metres, feet on Y = 0."""
    faces: NDArray[np.int32]
    """(F, 3) triangles, counter-clockwise seen from outside."""
    face_parts: NDArray[np.uint8]
    """(F,) index into ``PARTS``."""
    weight_joints: NDArray[np.int32]
    """(V, 4) joints that move a vertex, strongest first."""
    weight_values: NDArray[np.float32]
    """(V, 4) their shares, summing to 1."""
    joints: NDArray[np.float32]
    """(24, 3) joint centres in the T-pose, where all rotations are zero; metres."""
    bind_joints: NDArray[np.float32]
    """(24, 3) joint centres in the bind pose."""
    bind_turns: NDArray[np.float32]
    """(24, 3, 3) rotation of each joint's flesh from the bind pose to the T-pose."""
    parents: tuple[int, ...]
    """Parent of each joint, -1 for the root."""
    correctives: NDArray[np.float32] | None = None
    """(9 P, V, 3) metres added to the rest vertices per entry of R - I of the local rotations of
    joints 1 to P (Loper et al. 2015, eq. 9); null for a body that has none."""
    own_shape: bool = False
    """The body's shape was asked for: its bones are not stretched to the source's."""


@lru_cache(maxsize=1)
def load_body() -> Body:
    """Load the embedded body.

    Returns:
        About 6,000 vertices and 12,000 triangles, exactly symmetric about X = 0.

    Raises:
        FileNotFoundError: The asset is missing from the installation.
    """
    with np.load(ASSET, allow_pickle=False) as data:
        values = data["weight_values"].astype(np.float32)
        return Body(
            vertices=data["v_template"].astype(np.float32),
            faces=data["faces"].astype(np.int32),
            face_parts=data["face_parts"].astype(np.uint8),
            weight_joints=data["weight_joints"].astype(np.int32),
            weight_values=values / values.sum(axis=1, keepdims=True),
            joints=data["joints"].astype(np.float32),
            bind_joints=data["bind_joints"].astype(np.float32),
            bind_turns=data["bind_turns"].astype(np.float32),
            parents=tuple(int(p) for p in data["parents"]),
        )


def reshaped(body: Body, joints: NDArray[np.float32]) -> Body:
    """Return the body with its bones stretched to other rest joint centres.

    Girth follows the median ratio of bone lengths, length follows each bone's own (the part of
    a body model's shape that joints reveal).

    Args:
        body: The body at rest.
        joints: (24, 3) wanted T-pose joint centres in metres; bones keep their direction.
    """
    old, new = (_bone_lengths(centres, body.parents) for centres in (body.joints, joints))
    scale = float(np.median(new[1:] / old[1:]))
    move = np.tile(np.eye(3) * scale, (len(joints), 1, 1))
    bind = joints[[0] * len(joints)].astype(np.float64)
    for child, parent in enumerate(body.parents):
        if parent < 0:
            continue
        bone = joints[child] - joints[parent]
        bind[child] = bind[parent] + body.bind_turns[parent].T @ bone
        if body.parents.count(parent) == 1:
            along = (body.bind_joints[child] - body.bind_joints[parent]) / old[child]
            move[parent] += (new[child] / old[child] - scale) * np.outer(along, along)
    chosen = body.weight_joints
    local = body.vertices[:, None] - body.bind_joints[chosen]
    carried = np.einsum("vkab,vkb->vka", move[chosen], local) + bind[chosen]
    vertices = (carried * body.weight_values[:, :, None]).sum(axis=1)
    correctives = body.correctives
    return body._replace(
        vertices=vertices.astype(np.float32),
        correctives=None if correctives is None else correctives * np.float32(scale),
        joints=joints.astype(np.float32),
        bind_joints=bind.astype(np.float32),
    )


def _bone_lengths(joints: NDArray[np.float32], parents: tuple[int, ...]) -> NDArray[np.float64]:
    start = joints[[max(parent, 0) for parent in parents]]
    return np.asarray(np.linalg.norm((joints - start).astype(np.float64), axis=1))
