"""What surrounds the person: a fixed camera in front of them, two lights, the floor's grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.frames import body_chain
from corpus.motion import Motion

Floats = NDArray[np.float64]

FIELD_OF_VIEW = np.radians(32.0)
"""Vertical angle of view (ours)."""
LOOK_DOWN = np.radians(11.0)
"""How far the camera looks down, so that the floor is seen (ours)."""
MARGIN = 0.055
"""Share of the image left free on every side of the trajectory; the legend fits in it (ours)."""
ROOM = ((-0.88, 0.88), (0.0, 2.02))
"""At least this much around the first position is in view: sideways, upwards, metres for a person
of ``USUAL_CHAIN`` (ours)."""
USUAL_CHAIN = 1.42
"""Ankle to head along the bones of HumanML3D's person, metres, see ``corpus.frames.body_chain``."""
GRID = 0.5
"""Distance between grid lines, metres; every second one is stronger."""

BACKDROP = np.array([206.0, 211.0, 218.0])
FLOOR = np.array([176.0, 182.0, 191.0])
LINE = np.array([222.0, 226.0, 232.0])

LIGHTS = ((-0.62, 0.52, 0.60, 0.40), (0.62, 0.52, 0.60, 0.40))
"""Towards each light in the camera's axes (right, up, towards the viewer), and its strength.
They stand symmetrically, so that a mirrored motion gives the mirrored picture."""
AMBIENT = (0.30, 0.58)
"""Brightness of what faces down and up."""


class Camera(NamedTuple):
    """A pinhole camera."""

    axes: Floats
    """(3, 3): rows are right, up, backward; unit length."""
    eye: Floats
    """(3,) position, metres."""
    focal: float
    """Focal length, pixels."""
    size: int
    """Width and height of the image, pixels."""

    def packed(self) -> NDArray[np.float64]:
        """Return the (5, 3) array that ``render.raster.project`` reads."""
        last = [self.focal, self.size / 2, self.size / 2]
        return np.vstack([self.axes, self.eye, last])


def heading(motion: Motion) -> float:
    """Return the yaw of the first frame in radians: 0 faces +Z, positive turns to the left.

    The person's left is the mean of hips and shoulders, flattened on the floor; a lying or
    degenerate first frame, where that vanishes, counts as facing +Z.
    """
    across = np.zeros(3)
    for part in ("hip", "shoulder"):
        across += motion.joint(f"left_{part}")[0] - motion.joint(f"right_{part}")[0]
    if np.hypot(across[0], across[2]) < 1e-3:
        return 0.0
    return float(np.arctan2(-across[2], across[0]))


def person_scale(motion: Motion) -> float:
    """Return the person's size over the usual one, 0.1 to 10."""
    return float(np.clip(body_chain(motion.positions, motion.skeleton) / USUAL_CHAIN, 0.1, 10.0))


def edge_directions(yaw: float) -> Floats:
    """Return (5, 3) directions in which what lies furthest decides where the camera stands.

    Upright on the planes through the four edges of the free image, and towards the viewer: the
    points of a body that lie furthest along these frame it as all its points do.

    Args:
        yaw: Heading of the person, see ``heading``.
    """
    axes, slope = _axes(yaw), _slope()
    edges = [sign * axes[axis] + slope * axes[2] for axis in (0, 1) for sign in (-1, 1)]
    return np.array([*edges, axes[2]])


def _axes(yaw: float) -> Floats:
    backward = np.array([np.sin(yaw), 0.0, np.cos(yaw)]) * np.cos(LOOK_DOWN)
    backward[1] = np.sin(LOOK_DOWN)
    right = np.array([np.cos(yaw), 0.0, -np.sin(yaw)])
    return np.stack([right, np.cross(backward, right), backward])


def _slope() -> float:
    return float(np.tan(FIELD_OF_VIEW / 2) * (1 - 2 * MARGIN))


def front_camera(points: Floats, yaw: float, size: int, scale: float = 1.0) -> Camera:
    """Place a camera that looks at the person's front and sees all points.

    Args:
        points: (N, 3) everything to be seen over the whole clip; the first is where the person
            stands at the start.
        yaw: Heading of the person, see ``heading``.
        size: Width and height of the image in pixels.
        scale: Size of the person over the usual one, see ``person_scale``.
    """
    axes, slope = _axes(yaw), _slope()
    right = axes[0]
    room = [
        [points[0, 0] + scale * x * right[0], scale * y, points[0, 2] + scale * x * right[2]]
        for x in ROOM[0]
        for y in ROOM[1]
    ]
    seen = np.concatenate([points, np.array(room)]) @ axes.T
    centre, distance = np.zeros(3), -np.inf
    for axis in (0, 1):
        low = (seen[:, axis] + slope * -seen[:, 2]).min()
        high = (seen[:, axis] - slope * -seen[:, 2]).max()
        distance = max(distance, (high - low) / (2 * slope))
    for axis in (0, 1):
        low = (seen[:, axis] + slope * (distance - seen[:, 2])).min()
        high = (seen[:, axis] - slope * (distance - seen[:, 2])).max()
        centre[axis] = (low + high) / 2
    centre[2] = max(distance, seen[:, 2].max() + 0.5)
    return Camera(axes, centre @ axes, size / 2 / np.tan(FIELD_OF_VIEW / 2), size)


def lights(camera: Camera) -> NDArray[np.float32]:
    """Return the (L, 4) lights in world axes; they go with the camera."""
    own = np.array(LIGHTS)
    toward = own[:, :3] / np.linalg.norm(own[:, :3], axis=1, keepdims=True)
    packed = np.concatenate([toward @ camera.axes, own[:, 3:]], axis=1)
    return np.asarray(packed, dtype=np.float32)


def background(camera: Camera) -> NDArray[np.uint8]:
    """Draw the floor and its grid, fading towards the horizon: (H, W, 3) uint8 RGB."""
    from render import ground

    image = np.empty((camera.size, camera.size, 3), dtype=np.uint8)
    ground.draw(image, camera.packed(), GRID, np.stack([BACKDROP, FLOOR, LINE]))
    return image
