"""A motion in, a GLB out: the body with its skin, the motion as one animation.

Three files come from here. ``write_glb`` makes one that stands alone, for Blender and any viewer;
its mesh has the clip's own proportions. For the player the same is split: ``mesh_glb`` holds the
body once, ``animation_glb`` holds what one clip adds. The animation of the second drives the mesh
of the first by node names. It carries bone lengths and one overall scale with it, so one mesh
serves every clip; flesh is not stretched along single bones there, which moves its surface by
3 to 4 mm on average and up to 3 cm at feet and shoulders (measured on five sources).

Nodes: ``person`` holds the 24 joints by their SMPL names, in the T-pose; ``surface`` is the
skinned mesh; ``front`` is the camera of the video, which an orbit may start from
(``extras.target`` is the point it looks at, metres). Units are metres and seconds, Y is up, the
floor is Y = 0. ``asset.extras`` holds ``frames``, ``fps`` and ``seconds``; key ``k`` of the
animation is frame ``k`` of the video of the same settings.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.spatial.transform import Rotation

from benchmarks.items import Frozen
from corpus.motion import Motion
from corpus.skeletons import SMPL24
from render.body import PART_COLOURS, PARTS, Body, load_body, reshaped
from render.clip import RenderSettings, Stage
from render.gltf import INDICES, VERTICES, Document
from render.pose import pose_from_motion
from render.scene import FIELD_OF_VIEW, Camera
from render.sheet import write_whole

Floats = NDArray[np.float64]

PERSON = 0
"""Number of the node that holds the joints; joint ``j`` is node ``j + 1``."""


class GlbInfo(Frozen):
    """What was written."""

    frames: int
    """Keys of the animation."""
    fps: float
    """Keys per second."""
    seconds: float
    """frames / fps, as for the video."""
    joints: int
    """Joints of the skin."""
    vertices: int
    """Vertices; those on a colour border count once per colour."""
    triangles: int
    """Triangles."""
    sha256: str
    """SHA-256 of the file, hex."""
    size_bytes: int
    """Size of the file."""
    fit_error_mm: dict[str, float] = Field(default_factory=dict)
    """Mean distance of each posed joint from the source's, millimetres."""


class _Take(NamedTuple):
    """A body and its motion, ready to be written."""

    body: Body
    turns: Floats
    """(T, 24, 4) local rotations, quaternions x, y, z, w, signs continuous over time."""
    root: Floats
    """(T, 3) pelvis in the world, metres."""
    camera: Camera
    fps: float
    fit_error_mm: dict[str, float]


def write_glb(
    motion: Motion, out: Path, settings: RenderSettings | None = None, body: Body | None = None
) -> GlbInfo:
    """Write a motion as a GLB that stands alone: skin, vertex colours, one animation, a camera.

    Args:
        motion: A motion that ``render_clip`` takes.
        out: File to write; its folder is made, it is written under a temporary name and moved.
        settings: ``fps`` gives the keys, ``refine`` the pose, ``size`` nothing; as for the video.
        body: The body; null for the embedded one. Note that the file holds its geometry.

    Raises:
        InputError: As ``render_clip``.
    """
    take = _take(motion, settings or RenderSettings(), body or load_body())
    document = Document()
    _add_body(document, take.body)
    _add_camera(document, take.camera, take.root)
    _add_animation(document, take, 1.0, None)
    vertices, triangles = _counts(document)
    data = document.to_bytes()
    write_whole(out, data)
    frames = len(take.turns)
    return GlbInfo(
        frames=frames,
        fps=take.fps,
        seconds=frames / take.fps,
        joints=len(SMPL24.joints),
        vertices=vertices,
        triangles=triangles,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        fit_error_mm=take.fit_error_mm,
    )


@lru_cache(maxsize=1)
def mesh_glb() -> bytes:
    """Return the embedded body in the T-pose as GLB, without animation: the player's mesh.

    ``asset.extras.look`` holds what the video is drawn with, so that the player draws it alike:
    colours (sRGB, 0 to 255) of ``backdrop``, ``floor`` and ``line``, ``grid`` in metres, ``lights``
    (direction in the camera's axes, strength), ``ambient``, ``shadow`` and ``shadow_height``.
    """
    document = Document()
    _add_body(document, load_body())
    document.json["asset"]["extras"] = {"look": _look()}
    return document.to_bytes()


def animation_glb(motion: Motion, settings: RenderSettings | None = None) -> bytes:
    """Return what moves ``mesh_glb`` through a motion, as a GLB of nodes and one animation.

    It drives the nodes of the mesh that have the same names: rotations of the joints (int16
    quaternions), the path of ``pelvis``, and at time 0 the place of each joint in its parent and
    the scale of ``person``.

    Args:
        motion: A motion that ``render_clip`` takes.
        settings: ``fps`` gives the keys, ``refine`` the pose; as for the video. Licensed bodies
            are not drawn.

    Raises:
        InputError: As ``render_clip``.
    """
    body = load_body()
    take = _take(motion, settings or RenderSettings(), body)
    new, old = (_offsets(centres, body.parents)[1:] for centres in (take.body.joints, body.joints))
    scale = float(np.median(np.linalg.norm(new, axis=1) / np.linalg.norm(old, axis=1)))
    document = Document()
    _add_nodes(document, body)
    _add_camera(document, take.camera, take.root)
    _add_animation(document, take, scale, new / scale)
    return document.to_bytes()


def _look() -> dict[str, Any]:
    from render import paint, scene

    lights = np.array(scene.LIGHTS)
    lights[:, :3] /= np.linalg.norm(lights[:, :3], axis=1, keepdims=True)
    return {
        "backdrop": scene.BACKDROP.tolist(),
        "floor": scene.FLOOR.tolist(),
        "line": scene.LINE.tolist(),
        "grid": scene.GRID,
        "lights": lights.round(6).tolist(),
        "ambient": scene.AMBIENT,
        "shadow": paint.SHADOW,
        "shadow_height": paint.SHADOW_HEIGHT,
    }


def write_animation(motion: Motion, out: Path, settings: RenderSettings | None = None) -> None:
    """Write ``animation_glb`` to a file, under a temporary name first.

    Args:
        motion: As for ``animation_glb``.
        out: File to write; its folder is made.
        settings: As for ``animation_glb``.

    Raises:
        InputError: As ``render_clip``.
    """
    write_whole(out, animation_glb(motion, settings))


def _take(motion: Motion, settings: RenderSettings, body: Body) -> _Take:
    stage = Stage(
        motion,
        RenderSettings(
            size=64,
            fps=settings.fps,
            backend="raster",
            facing_arrow=settings.facing_arrow,
            refine=settings.refine,
        ),
    )
    pose = pose_from_motion(motion.resampled(settings.fps), body, refine=settings.refine)
    local = pose.rotations.copy()
    for j, parent in enumerate(body.parents):
        if parent >= 0:
            local[:, j] = np.swapaxes(pose.rotations[:, parent], 1, 2) @ pose.rotations[:, j]
    frames, joints = local.shape[:2]
    turns = Rotation.from_matrix(local.reshape(-1, 3, 3)).as_quat().reshape(frames, joints, 4)
    same = np.sign((turns[1:] * turns[:-1]).sum(axis=2))
    turns[1:] *= np.cumprod(np.where(same == 0, 1.0, same), axis=0)[:, :, None]
    root = pose.positions[:, 0] + [0.0, stage.actor.lift, 0.0]
    shaped = reshaped(body, pose.joints)
    return _Take(shaped, turns, root, stage.camera, settings.fps, pose.fit_error_mm)


def _offsets(joints: NDArray[np.float32], parents: tuple[int, ...]) -> NDArray[np.float32]:
    """Each joint in its parent; the root where it is."""
    start = np.where(np.array(parents)[:, None] < 0, 0.0, joints[np.maximum(parents, 0)])
    return np.asarray(joints - start, dtype=np.float32)


def _add_nodes(document: Document, body: Body) -> None:
    """Add the person with the joints in the T-pose, and a scene that holds it."""
    offsets = _offsets(body.joints, body.parents)
    nodes: list[dict[str, Any]] = [{"name": "person", "children": [1]}]
    for j, name in enumerate(SMPL24.joints):
        children = [child + 1 for child, parent in enumerate(body.parents) if parent == j]
        node: dict[str, Any] = {
            "name": name,
            "translation": [round(float(x), 6) for x in offsets[j]],
        }
        nodes.append(node | ({"children": children} if children else {}))
    document.json |= {"nodes": nodes, "scene": 0, "scenes": [{"nodes": [PERSON]}]}


def _add_body(document: Document, body: Body) -> None:
    """Add nodes, mesh and skin."""
    _add_nodes(document, body)
    # A vertex between two colours becomes two, with one normal.
    corners = np.stack([body.faces.ravel(), np.repeat(body.face_parts, 3)], axis=1)
    pairs, numbers = np.unique(corners, axis=0, return_inverse=True)
    chosen, parts = pairs[:, 0], pairs[:, 1]
    shares = np.round(body.weight_values[chosen] * 255).astype(np.int64)
    shares[:, 0] += 255 - shares.sum(axis=1)
    joints = np.where(shares > 0, body.weight_joints[chosen], 0)
    colours = np.array([PART_COLOURS[name] for name in PARTS])[parts] / 255
    opaque = np.concatenate([_linear(colours), np.ones((len(colours), 1))], axis=1)
    attributes = {
        "POSITION": document.add(body.vertices[chosen], VERTICES, bounds=True),
        "NORMAL": document.add(_normals(body)[chosen], VERTICES),
        "COLOR_0": document.add(np.round(opaque * 255).astype(np.uint8), VERTICES, normalized=True),
        "JOINTS_0": document.add(joints.astype(np.uint8), VERTICES),
        "WEIGHTS_0": document.add(shares.astype(np.uint8), VERTICES, normalized=True),
    }
    wide = np.uint16 if len(pairs) < 65535 else np.uint32
    indices = document.add(numbers.reshape(-1).astype(wide), INDICES)
    # From the bind pose to each joint: the flesh turned into the T-pose, about the joint.
    binds = np.tile(np.eye(4), (len(SMPL24.joints), 1, 1))
    binds[:, :3, :3] = body.bind_turns
    binds[:, :3, 3] = -np.einsum("jab,jb->ja", body.bind_turns, body.bind_joints)
    inverse = document.add(binds.astype(np.float32))
    numbers_of_joints = [j + 1 for j in range(len(SMPL24.joints))]
    matte = {"metallicFactor": 0.0, "roughnessFactor": 0.85}
    document.json["nodes"].append({"name": "surface", "mesh": 0, "skin": 0})
    document.json["scenes"][0]["nodes"].append(len(document.json["nodes"]) - 1)
    document.json |= {
        "meshes": [
            {
                "name": "body",
                "primitives": [{"attributes": attributes, "indices": indices, "material": 0}],
            }
        ],
        "materials": [{"name": "parts", "pbrMetallicRoughness": matte}],
        "skins": [
            {"joints": numbers_of_joints, "inverseBindMatrices": inverse, "skeleton": PERSON}
        ],
    }


def _linear(colours: Floats) -> Floats:
    """SRGB to linear light, as glTF wants vertex colours (IEC 61966-2-1)."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def _normals(body: Body) -> NDArray[np.float32]:
    """Vertex normals (V, 3), triangles weighted by area."""
    a, b, c = (body.vertices[body.faces[:, k]].astype(np.float64) for k in range(3))
    normals = np.zeros((len(body.vertices), 3))
    for k in range(3):
        np.add.at(normals, body.faces[:, k], np.cross(b - a, c - a))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    upward = np.where(length > 0, normals, [0.0, 1.0, 0.0])
    return np.asarray(upward / np.where(length > 0, length, 1.0), dtype=np.float32)


def _add_camera(document: Document, camera: Camera, root: Floats) -> None:
    """Add the video's camera; it looks at the middle of the path."""
    middle = (root.min(axis=0) + root.max(axis=0)) / 2
    distance = float((camera.eye - middle) @ camera.axes[2])
    target = camera.eye - distance * camera.axes[2]
    turn = Rotation.from_matrix(camera.axes.T).as_quat()
    document.json["cameras"] = [
        {
            "type": "perspective",
            "perspective": {
                "aspectRatio": 1.0,
                "yfov": round(float(FIELD_OF_VIEW), 6),
                "znear": 0.05,
                "zfar": round(distance * 4 + 20, 3),
            },
        }
    ]
    node = {
        "name": "front",
        "camera": 0,
        "translation": [round(float(x), 5) for x in camera.eye],
        "rotation": [float(x) for x in turn],
        "extras": {"target": [round(float(x), 5) for x in target]},
    }
    document.json["nodes"].append(node)
    document.json["scenes"][0]["nodes"].append(len(document.json["nodes"]) - 1)


def _add_animation(
    document: Document, take: _Take, scale: float, bones: NDArray[np.float32] | None
) -> None:
    """Add the animation; with ``bones`` (23, 3), proportions for the player's mesh as well."""
    frames = len(take.turns)
    times = document.add((np.arange(frames) / take.fps).astype(np.float32), bounds=True)
    start = times
    if frames > 1:
        start = document.add(np.zeros(1, dtype=np.float32), bounds=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def drive(node: int, path: str, keys: int, values: NDArray[Any]) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        output = document.add(values, normalized=values.dtype == np.int16)
        samplers.append({"input": keys, "output": output})

    turns = np.round(take.turns * 32767).astype(np.int16)
    for j in range(turns.shape[1]):
        still = (np.abs(turns[:, j].astype(int) - turns[0, j]) <= 1).all()
        track = turns[:1, j] if still else turns[:, j]
        drive(j + 1, "rotation", start if still else times, track)
    drive(1, "translation", times, (take.root / scale).astype(np.float32))
    if bones is not None:
        drive(PERSON, "scale", start, np.full((1, 3), scale, dtype=np.float32))
        for j, bone in enumerate(bones, start=1):
            drive(j + 1, "translation", start, bone[None].astype(np.float32))
    document.json["animations"] = [{"name": "motion", "samplers": samplers, "channels": channels}]
    document.json["asset"]["extras"] = {
        "frames": frames,
        "fps": take.fps,
        "seconds": round(frames / take.fps, 6),
    }


def _counts(document: Document) -> tuple[int, int]:
    primitive = document.json["meshes"][0]["primitives"][0]
    accessors = document.json["accessors"]
    vertices = accessors[primitive["attributes"]["POSITION"]]["count"]
    return vertices, accessors[primitive["indices"]]["count"] // 3
