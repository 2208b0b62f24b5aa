"""Small bodies in exactly the files that ``smplx`` reads: a tetrahedron around every joint."""

import pickle
import sys
import types

import numpy as np
from scipy import sparse

from corpus.skeletons import REST_OFFSETS, SMPL24

JOINTS = {"smpl": 24, "smplh": 52, "smplx": 55}
SHAPES = {"smpl": 10, "smplh": 10, "smplx": 400}


def parents_of(kind):
    if kind == "smpl":
        return list(SMPL24.parents)
    first = 25 if kind == "smplx" else 22
    faces = [15, 15, 15] if kind == "smplx" else []
    fingers = []
    for wrist in (20, 21):
        for finger in range(5):
            start = first + (15 if wrist == 21 else 0) + 3 * finger
            fingers += [wrist, start, start + 1]
    return [*SMPL24.parents[:22], *faces, *fingers]


def arrays(kind, seed=0):
    """All arrays that ``smplx`` reads from a model file."""
    rng = np.random.default_rng(seed)
    count, parents = JOINTS[kind], parents_of(kind)
    joints = np.zeros((count, 3))
    for j in range(1, count):
        if kind == "smpl" or j < 22:
            bone = np.array(REST_OFFSETS[j])
        else:
            bone = np.array([np.sign(joints[parents[j], 0]) * 0.03, 0.0, 0.01 * (j % 3)])
        joints[j] = joints[parents[j]] + bone
    corners = np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]]) * 0.03
    vertices = (joints[:, None] + corners).reshape(-1, 3)
    sides = np.array([[0, 1, 3], [0, 2, 1], [0, 3, 2], [1, 2, 3]])
    faces = (np.arange(count)[:, None, None] * 4 + sides).reshape(-1, 3)
    weights = np.zeros((len(vertices), count))
    own = np.repeat(np.arange(count), 4)
    weights[np.arange(len(vertices)), own] = 0.75
    weights[np.arange(len(vertices)), np.maximum(np.array(parents), 0)[own]] += 0.25
    regressor = np.zeros((count, len(vertices)))
    regressor[own, np.arange(len(vertices))] = 0.25
    hands = {} if kind == "smpl" else {
        f"hands_{name}{side}": np.zeros(shape)
        for side in "lr" for name, shape in (("mean", 45), ("components", (45, 45)))
    }  # fmt: skip
    face = {} if kind != "smplx" else {
        "lmk_faces_idx": np.zeros(51, dtype=np.int64), "lmk_bary_coords": np.full((51, 3), 1 / 3),
    }  # fmt: skip
    return {
        "v_template": vertices,
        "f": faces.astype(np.uint32),
        "J_regressor": regressor,
        "weights": weights,
        "shapedirs": rng.normal(0, 0.004, (*vertices.shape, SHAPES[kind])),
        "posedirs": rng.normal(0, 0.004, (*vertices.shape, 9 * (count - 1))),
        "kintree_table": np.array([np.array(parents) % 2**32, np.arange(count)], dtype=np.uint32),
        **hands,
        **face,
    }


def write(folder, kind, gender="neutral", suffix=".npz", seed=0, change=None):
    """Write one model where ``smplx`` looks for it and return its path."""
    place = folder / kind
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{kind.upper()}_{gender.upper()}{suffix}"
    data = arrays(kind, seed) | (change or {})
    if suffix == ".npz":
        np.savez(path, **data)
    else:
        data["J_regressor"] = sparse.csc_matrix(data["J_regressor"])
        data |= {"bs_type": "lrotmin", "bs_style": "lbs"}
        path.write_bytes(pickle.dumps(data, protocol=2))
    return path


def write_chumpy(folder, kind="smpl", gender="neutral", protocol=2):
    """Write a model whose arrays are chumpy's, as the official files have them."""
    chumpy, ch, reordering = (
        types.ModuleType(name) for name in ("chumpy", "chumpy.ch", "chumpy.reordering")
    )

    class Ch:
        def __init__(self, **state):
            self.__dict__.update(state)

        def __getstate__(self):
            return self.__dict__

    class Select(Ch):
        pass

    for kind_of, module in ((Ch, ch), (Select, reordering)):
        kind_of.__module__, kind_of.__qualname__ = module.__name__, kind_of.__name__
        setattr(module, kind_of.__name__, kind_of)
    modules = {m.__name__: m for m in (chumpy, ch, reordering)}
    data = arrays(kind)
    for name in ("v_template", "posedirs", "weights"):
        data[name] = Ch(x=data[name], _dirty_vars=set(), _depends_on_deps=None)
    shapes = data["shapedirs"]
    whole = np.concatenate([shapes.ravel(), np.zeros(7)])
    data["shapedirs"] = Select(
        a=Ch(x=whole), idxs=np.arange(shapes.size), preferred_shape=shapes.shape
    )
    data["J_regressor"] = sparse.csc_matrix(data["J_regressor"])
    path = folder / kind / f"{kind.upper()}_{gender.upper()}.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.modules.update(modules)
    try:
        path.write_bytes(pickle.dumps(data, protocol=protocol))
    finally:
        for name in modules:
            sys.modules.pop(name)
    return path
