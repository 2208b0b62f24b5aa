"""What moves in a clip: a skinned mesh with one transform per joint and frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from render.body import PART_COLOURS, PARTS, Body, load_body, reshaped
from render.pose import pose_from_motion
from render.scene import person_scale

SUNK = 0.02
"""Share of frames that may go below the floor, so that one bad frame lifts no whole clip (ours)."""


class Actor(NamedTuple):
    """All that a backend needs to draw a clip, but for the camera."""

    vertices: NDArray[np.float32]
    """(V, 3) at rest, metres."""
    faces: NDArray[np.int32]
    """(F, 3) triangles, counter-clockwise from outside."""
    face_parts: NDArray[np.uint8]
    """(F,) row of ``colours``."""
    colours: NDArray[np.float32]
    """(P, 3) sRGB, 0 to 255."""
    weight_joints: NDArray[np.int32]
    """(V, K) transforms that move a vertex."""
    weight_values: NDArray[np.float32]
    """(V, K) their shares."""
    transforms: NDArray[np.float32]
    """(T, J, 3, 4) from rest to world."""
    fit_error_mm: dict[str, float]
    """Mean distance of each joint from the source's, millimetres; empty where exact."""
    lift: float = 0.0
    """Metres by which the actor was raised from the source to stand on the floor."""
    correctives: NDArray[np.float32] | None = None
    """(P, V * 3) metres added to the rest vertices per unit of ``bends``; null for none."""
    bends: NDArray[np.float32] | None = None
    """(T, P) entries of R - I of the joints' local rotations, frame by frame."""


def mesh_actor(motion: Motion, body: Body | None = None, *, refine: bool = False) -> Actor:
    """Put a body into a motion, standing on the floor Y = 0 at the clip's lowest point.

    The body takes the source's bone lengths, so that hands and feet reach where the source has
    them and travel needs no scaling; a body whose shape was asked for keeps its own.

    Args:
        motion: Any skeleton of ``corpus.skeletons``.
        body: The body; null for the embedded one.
        refine: Improve the pose by gradient descent, see ``render.refine``.
    """
    chosen = body or load_body()
    pose = pose_from_motion(motion, chosen, keep_shape=chosen.own_shape, refine=refine)
    shaped = chosen if chosen.own_shape else reshaped(chosen, pose.joints)
    turns = pose.rotations @ shaped.bind_turns
    offset = pose.positions - np.einsum("tjab,jb->tja", turns, shaped.bind_joints)
    transforms = np.concatenate([turns, offset[..., None]], axis=3).astype(np.float32)
    actor = Actor(
        shaped.vertices,
        shaped.faces,
        shaped.face_parts,
        np.array([PART_COLOURS[name] for name in PARTS], dtype=np.float32),
        shaped.weight_joints,
        shaped.weight_values,
        transforms,
        pose.fit_error_mm,
    )
    if shaped.correctives is not None:
        own = shaped.correctives
        count = len(own) // 9
        parents = np.array(shaped.parents[1 : count + 1])
        above = np.swapaxes(pose.rotations[:, parents], 2, 3)
        local = above @ pose.rotations[:, 1 : count + 1] - np.eye(3)
        actor = actor._replace(
            correctives=own.reshape(len(own), -1),
            bends=local.reshape(len(local), -1).astype(np.float32),
        )
    return grounded(actor)


def skeleton_actor(motion: Motion) -> Actor:
    """Draw the source's joints as they are: a tapered bar per bone, a ball per joint."""
    positions = motion.positions.astype(np.float64)
    names, parents = motion.layout.joints, motion.layout.parents
    bar, bar_faces = _bar()
    ball, ball_faces = _ball()
    thick = person_scale(motion)
    vertices, faces, parts, owners = [], [], [], []
    transforms: list[NDArray[np.float64]] = []
    count = 0
    for j, parent in enumerate(parents):
        part = _part(names[j])
        pieces = [(ball, ball_faces, _ball_transforms(positions[:, j], names[j], thick))]
        if parent >= 0:
            moves = _bar_transforms(positions[:, parent], positions[:, j], thick)
            pieces.append((bar, bar_faces, moves))
        for shape, triangles, moves in pieces:
            vertices.append(shape)
            faces.append(triangles + count)
            parts.append(np.full(len(triangles), PARTS.index(part)))
            owners.append(np.full(len(shape), len(transforms)))
            transforms.append(moves)
            count += len(shape)
    owner = np.concatenate(owners).astype(np.int32)[:, None]
    return grounded(
        Actor(
            np.concatenate(vertices).astype(np.float32),
            np.concatenate(faces).astype(np.int32),
            np.concatenate(parts).astype(np.uint8),
            np.array([PART_COLOURS[name] for name in PARTS], dtype=np.float32),
            owner,
            np.ones(owner.shape, dtype=np.float32),
            np.stack(transforms, axis=1).astype(np.float32),
            {},
        )
    )


def skinned(actor: Actor, frame: int, out: NDArray[np.float32]) -> None:
    """Fill (V, 3) world vertices of one frame."""
    from render import raster

    rest = actor.vertices
    if actor.correctives is not None and actor.bends is not None:
        # What is not the body's skin, say an arrow on the floor, comes after its vertices.
        change = (actor.bends[frame] @ actor.correctives).reshape(-1, 3)
        rest = rest.copy()
        rest[: len(change)] += change
    raster.skin(rest, actor.weight_joints, actor.weight_values, actor.transforms[frame], out)


def outermost(actor: Actor, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (T, D, 3): the vertex furthest along each (D, 3) direction in every frame."""
    from render import raster

    frames = len(actor.transforms)
    out = np.empty_like(actor.vertices)
    found = np.empty((frames, len(directions), 3), dtype=np.float64)
    for frame in range(frames):
        skinned(actor, frame, out)
        raster.furthest(out, directions, found[frame])
    return found


def grounded(actor: Actor) -> Actor:
    """Move the actor up or down so that the clip's lowest vertices are on the floor."""
    out = np.empty_like(actor.vertices)
    soles = np.empty(len(actor.transforms))
    for frame in range(len(soles)):
        skinned(actor, frame, out)
        soles[frame] = out[:, 1].min()
    lowest = float(np.quantile(soles, SUNK, method="lower"))
    transforms = actor.transforms.copy()
    transforms[:, :, 1, 3] -= lowest
    return actor._replace(transforms=transforms, lift=-lowest)


def _part(joint: str) -> str:
    side, _, rest = joint.partition("_")
    if side not in ("left", "right"):
        return "face" if joint == "head" else "shorts"
    if rest in ("collar",):
        return "shorts"
    limb = {"shoulder": "arm", "elbow": "arm", "wrist": "hand", "hand": "hand", "foot": "foot"}
    return f"{side}_{limb.get(rest, 'leg')}"


def _bar() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A hexagonal bar from Y = 0 to 1, of radius 1, tapered to 0.6."""
    turn = np.arange(6) * np.pi / 3
    ring = np.stack([np.sin(turn), np.zeros(6), np.cos(turn)], axis=1)
    vertices = np.concatenate([ring, ring * 0.6 + [0, 1, 0], [[0, 0, 0], [0, 1, 0]]])
    faces = []
    for k in range(6):
        n = (k + 1) % 6
        faces += [[k, n, 6 + n], [k, 6 + n, 6 + k], [12, n, k], [13, 6 + k, 6 + n]]
    return vertices, np.array(faces)


def _ball() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A unit sphere of 8 by 6 faces."""
    rows, columns = 6, 8
    up = np.linspace(0, np.pi, rows + 1)
    turn = np.arange(columns) * 2 * np.pi / columns
    vertices = np.array(
        [[np.sin(a) * np.sin(t), np.cos(a), np.sin(a) * np.cos(t)] for a in up for t in turn]
    )
    faces = []
    for r in range(rows):
        for c in range(columns):
            n = (c + 1) % columns
            a, b = r * columns + c, r * columns + n
            faces += [[a, a + columns, b + columns], [a, b + columns, b]]
    return vertices, np.array(faces)


def _ball_transforms(centre: NDArray[np.float64], joint: str, thick: float) -> NDArray[np.float64]:
    radius = thick * (0.1 if joint == "head" else 0.035)
    scale = np.tile(np.eye(3) * radius, (len(centre), 1, 1))
    return np.concatenate([scale, centre[:, :, None]], axis=2)


def _bar_transforms(
    start: NDArray[np.float64], end: NDArray[np.float64], thick: float
) -> NDArray[np.float64]:
    along = end - start
    unit = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    spare = np.where(np.abs(unit[:, [2]]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    x = np.cross(unit, spare)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    z = np.cross(x, unit)
    radius = 0.028 * thick
    return np.stack([x * radius, along, z * radius, start], axis=2)
