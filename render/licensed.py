"""SMPL, SMPL-H and SMPL-X from a folder that the user names, by ``smplx``.

The files are the user's, under the licence they accepted; nothing of them is shipped or stored
beyond a converted copy beside the original (or in the user's cache).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corpus.formats.numpy_files import read_npz
from corpus.problems import InputError
from corpus.skeletons import SMPL24
from render.body import PARTS, Body
from render.unpickle import read_body_pickle

Kind = Literal["smpl", "smplh", "smplx"]
Gender = Literal["neutral", "male", "female"]

HAND_BASE = {"smpl": (22, 23), "smplh": (25, 40), "smplx": (28, 43)}
"""Joints that stand for the two hands: SMPL's own, else the base of the middle fingers."""
_WANTED = ("v_template", "f", "J_regressor", "weights", "shapedirs", "posedirs", "kintree_table")
_JOINTS = {"smpl": 24, "smplh": 52, "smplx": 55}
SHAPES = 300
"""Coefficients of a file with the whole shape space; what follows them moves the face."""


def model_file(folder: Path, kind: Kind, gender: Gender) -> Path:
    """Return the file of a body model in a folder laid out as ``smplx`` has it.

    Looked for are ``smpl/SMPL_NEUTRAL.npz`` or ``.pkl`` (and so on), the same without the
    subfolder, and AMASS's ``smplh/neutral/model.npz``; npz goes before pkl.

    Raises:
        InputError: It is not there; the message says what was looked for.
    """
    if not folder.is_dir():
        raise InputError("expected a folder with body models, got none", file=str(folder))
    if (file := _find(folder, kind, gender)) is not None:
        return file
    there = [one for one in get_args(Gender) if _find(folder, kind, one) is not None]
    other = f", or choose {' or '.join(there)} with --gender" if there else ""
    raise InputError(
        f"expected {kind}/{kind.upper()}_{gender.upper()}.npz or .pkl, got neither; "
        f"add that file{other}",
        file=str(folder),
    )


def _find(folder: Path, kind: Kind, gender: Gender) -> Path | None:
    name = f"{kind}_{gender}".lower()
    for suffix in (".npz", ".pkl"):
        for place in (folder / kind, folder):
            if place.is_dir():
                for file in sorted(place.iterdir()):
                    if file.name.lower() == name + suffix and file.is_file():
                        return file
        amass = folder / kind / gender / f"model{suffix}"
        if amass.is_file():
            return amass
    return None


def models_in(folder: Path) -> list[tuple[Kind, Gender, Path]]:
    """Return the body models that a folder holds."""
    return [
        (kind, gender, file)
        for kind in get_args(Kind)
        for gender in get_args(Gender)
        if (file := _find(folder, kind, gender)) is not None
    ]


@lru_cache(maxsize=8)
def model_hash(file: Path) -> str:
    """Return the SHA-256 of a model file, hex; part of what names a clip."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=2)
def load_licensed(
    folder: Path,
    kind: Kind,
    gender: Gender = "neutral",
    betas: tuple[float, ...] | None = None,
    *,
    cut: bool = False,
) -> Body:
    """Load a licensed body in its T-pose.

    Args:
        folder: See ``model_file``.
        kind: Which model.
        gender: Which of its files.
        betas: Shape coefficients, standard deviations; the body then keeps this shape in every
            clip. Null takes the mean shape and stretches its bones to each source's.
        cut: Leave out the betas that the file has no shape for, instead of refusing them.

    Returns:
        A body in SMPL's 24 joints. Fingers move with the hand, jaw and eyes with the head.

    Raises:
        InputError: No such file, more betas than it has, or not a body model.
    """
    file = model_file(folder, kind, gender)
    data = _arrays(file)
    _check(data, kind, file)
    shapes = data["shapedirs"].shape[2]
    # In SMPL-X's first release ten coefficients of the face follow ten of the shape.
    count = min(shapes, 10 if kind == "smplx" and shapes < SHAPES else SHAPES)
    if betas is not None and len(betas) > count and not cut:
        raise InputError(f"betas: expected at most {count}, got {len(betas)}", file=str(file))
    vertices, joints, model = _shaped(data, (betas or ())[:count])
    floor = np.array([0.0, vertices[:, 1].min(), 0.0])
    vertices, joints = vertices - floor, joints - floor
    own = np.concatenate([joints[:22], joints[list(HAND_BASE[kind])]]).astype(np.float32)
    dense = np.zeros((len(vertices), 24), dtype=np.float32)
    np.add.at(dense.T, _owners(kind), model.lbs_weights.numpy().T)
    slots = max(1, int((dense > 0).sum(axis=1).max()))
    order = np.argsort(-dense, axis=1, kind="stable")[:, :slots]
    values = np.take_along_axis(dense, order, axis=1)
    faces = data["f"].astype(np.int32)
    bends = 23 if kind == "smpl" else 21
    return Body(
        vertices=vertices.astype(np.float32),
        faces=faces,
        face_parts=_parts(vertices, faces, dense),
        weight_joints=order.astype(np.int32),
        weight_values=values / values.sum(axis=1, keepdims=True),
        joints=own,
        bind_joints=own,
        bind_turns=np.tile(np.eye(3, dtype=np.float32), (24, 1, 1)),
        parents=SMPL24.parents,
        correctives=model.posedirs.numpy()[: 9 * bends].reshape(9 * bends, -1, 3),
        own_shape=betas is not None,
    )


@lru_cache(maxsize=1)
def _arrays(file: Path) -> dict[str, NDArray[Any]]:
    if file.suffix.lower() == ".npz":
        return read_npz(file, _WANTED)
    copy = f"{file.stem}.{model_hash(file)[:12]}.npz"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "motionjury/bodies"
    for converted in (file.parent / copy, cache / copy):
        if converted.is_file():
            return read_npz(converted, _WANTED)
    found = {
        name: value
        for name, value in read_body_pickle(file).items()
        if name in _WANTED and isinstance(value, np.ndarray)
    }
    for converted in (file.parent / copy, cache / copy):
        part = converted.with_name(f".part-{os.getpid()}-{copy}")
        try:
            converted.parent.mkdir(parents=True, exist_ok=True)
            np.savez(part, **found)  # type: ignore[arg-type]
            part.replace(converted)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            continue
        break
    return found


def _check(data: dict[str, NDArray[Any]], kind: Kind, file: Path) -> None:
    """Refuse what is no body model of this kind, naming the array and its shape."""

    def refuse(name: str, expected: str, came: object) -> InputError:
        return InputError(f"expected {expected}, got {came}", file=str(file), place=name)

    for name in _WANTED:
        if name not in data:
            raise InputError(f"expected an array {name}, got {', '.join(data)}", file=str(file))
        if data[name].dtype.kind not in "fiu" or not np.isfinite(data[name]).all():
            raise refuse(name, "finite numbers", data[name].dtype)
    joints, points = _JOINTS[kind], data["v_template"].shape[0]
    wanted = {
        "v_template": (points, 3), "J_regressor": (joints, points), "weights": (points, joints),
        "posedirs": (points, 3, 9 * (joints - 1)), "kintree_table": (2, joints),
    }  # fmt: skip
    for name, shape in wanted.items():
        if data[name].shape != shape:
            raise refuse(name, f"shape {shape} of {kind}", data[name].shape)
    shapes, faces = data["shapedirs"].shape, data["f"]
    if len(shapes) != 3 or shapes[:2] != (points, 3) or shapes[2] < 1:
        raise refuse("shapedirs", f"shape ({points}, 3, n)", shapes)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.max() >= points or faces.min() < 0:
        raise refuse("f", f"triangles of {points} vertices", f"shape {faces.shape}")
    parents = data["kintree_table"][0, 1:22].astype(np.int64)
    if tuple(parents) != SMPL24.parents[1:22]:
        raise refuse("kintree_table", "SMPL's joints", parents.tolist())


def _shaped(
    data: dict[str, NDArray[Any]], betas: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
    """Return vertices and joint centres of a shape at rest, and the ``smplx`` model."""
    import torch
    from smplx import SMPL
    from smplx.lbs import blend_shapes, vertices2joints
    from smplx.utils import Struct

    # SMPL-H and SMPL-X add hands and faces to this class, which a body's skin does not need. It
    # prints a warning about the number of coefficients, which is checked above.
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        model = SMPL(
            "", data_struct=Struct(**data), create_betas=False,
            create_body_pose=False, create_global_orient=False, create_transl=False,
        )  # fmt: skip
        # The class keeps ten directions of a file with fewer than 300; AMASS's files have 16.
        directions = torch.from_numpy(data["shapedirs"][..., : len(betas)]).float()
        rest = model.v_template[None] + blend_shapes(torch.tensor([betas]), directions)
        centres = vertices2joints(model.J_regressor, rest)
    return rest[0].double().numpy(), centres[0].double().numpy(), model


def _owners(kind: Kind) -> list[int]:
    """For each joint of a model the joint of SMPL's 24 that carries its skin."""
    if kind == "smpl":
        return list(range(24))
    head = [15] * 3 if kind == "smplx" else []
    return [*range(22), *head, *[22] * 15, *[23] * 15]


def _parts(
    vertices: NDArray[np.float64], faces: NDArray[np.int32], weights: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Part of each triangle: by the joint that moves it most, front and back by its normal."""
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    ahead = normal[:, 2] > 0
    strongest = weights[faces].sum(axis=1).argmax(axis=1)
    limb = {"shoulder": "arm", "elbow": "arm", "wrist": "hand", "hand": "hand", "hip": "leg",
            "knee": "leg", "ankle": "foot", "foot": "foot"}  # fmt: skip
    result = np.empty(len(faces), dtype=np.uint8)
    for joint, name in enumerate(SMPL24.joints):
        side, _, rest = name.partition("_")
        mine = strongest == joint
        if rest in limb:
            result[mine] = PARTS.index(f"{side}_{limb[rest]}")
        elif name == "pelvis":
            result[mine] = PARTS.index("shorts")
        else:
            front, behind = ("face", "hair") if name == "head" else ("chest", "back")
            if name == "neck":
                front = behind = "face"
            result[mine] = np.where(ahead, PARTS.index(front), PARTS.index(behind))[mine]
    return result
