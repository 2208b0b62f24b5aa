"""AMASS .npz (Mahmood et al. 2019): SMPL, SMPL-H or SMPL-X poses, Z up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corpus.formats.numpy_files import npz_names, read_npz
from corpus.formats.source import ReadOptions, Scan, Source, chosen_rate
from corpus.frames import (
    FURTHEST,
    METRES_PER_UNIT,
    Z_UP_TO_Y_UP,
    up_doubt,
    upright_along,
)
from corpus.kinematics import axis_angle_to_matrix, forward
from corpus.motion import Motion, SourceBody
from corpus.problems import InputError
from corpus.skeletons import REST_OFFSETS, SMPL22, SMPL24

POSES = "poses"
"""Array that marks a file as AMASS: (T, 3 * joints) axis-angle."""

_RATES = ("mocap_framerate", "mocap_frame_rate", "fps")
_BODIES = {24: "SMPL", 52: "SMPL-H", 55: "SMPL-X", 22: "SMPL body joints"}
_MODELS: dict[int, Literal["smpl", "smplh", "smplx"]] = {24: "smpl", 52: "smplh", 55: "smplx"}
_GENDERS: tuple[Literal["neutral", "male", "female"], ...] = ("neutral", "male", "female")
_MOST_BETAS = 300
"""Coefficients of the largest shape space of the SMPL family."""


def scan(path: Path) -> Scan:
    """Return the one clip of a file; AMASS file names end in ``_poses`` or ``_stageii``."""
    name = path.stem
    for ending in ("_poses", "_stageii"):
        name = name.removesuffix(ending)
    return Scan([Source(path, name, "amass")], [])


def load(path: Path, options: ReadOptions) -> Motion:
    """Read poses, pose our rest skeleton with them, and put its lowest joint on the ground.

    The rotations are the file's own, turned to Y up at the root; positions come from the rest
    skeleton of ``corpus.skeletons.REST_OFFSETS`` because no body model is needed to read a file.

    Raises:
        InputError: Missing, misshapen or non-finite arrays, or no frame rate.
    """
    names = npz_names(path)
    if POSES not in names:
        raise InputError(f"expected an array named poses, got {', '.join(names)}", file=str(path))
    stored = read_npz(path, {POSES, "trans", *_RATES})
    poses = _numbers(stored[POSES], POSES, path)
    joints = poses.shape[1] // 3 if poses.ndim == 2 else 0
    if joints not in _BODIES or poses.shape[1] % 3:
        raise InputError(
            f"expected (T, 156) SMPL-H, (T, 165) SMPL-X, (T, 72) SMPL or (T, 66), got "
            f"{poses.shape}",
            file=str(path),
            place=POSES,
        )
    frames = len(poses)
    if frames < 2:
        raise InputError(f"expected at least 2 frames, got {frames}", file=str(path), place=POSES)
    trans = _numbers(stored.get("trans", np.zeros((0, 3))), "trans", path)
    if trans.shape != (frames, 3):
        raise InputError(
            f"expected shape {(frames, 3)}, got {trans.shape if 'trans' in stored else 'none'}",
            file=str(path),
            place="trans",
        )
    fps, said_fps = _rate(stored, options, path)
    body, said_body = _body(path, joints)
    layout = SMPL24 if joints == 24 else SMPL22
    count = len(layout.joints)
    rotations = axis_angle_to_matrix(poses.reshape(frames, joints, 3)[:, :count])
    root = trans.astype(np.float64) * METRES_PER_UNIT[options.unit or "m"]
    up = options.up or "z"
    if up == "z":
        rotations[:, 0] = Z_UP_TO_Y_UP @ rotations[:, 0]
        root = root @ Z_UP_TO_Y_UP.T
    positions = forward(rotations, np.array(REST_OFFSETS[:count]), root, layout.parents)
    in_file = positions @ Z_UP_TO_Y_UP if up == "z" else positions
    along = upright_along(in_file, layout.name)
    floor = float(positions[..., 1].min())
    positions[..., 1] -= floor
    return Motion(
        positions=positions.astype(np.float32),
        fps=fps,
        skeleton=layout.name,
        local_rotations=rotations.astype(np.float32),
        root_translation=positions[:, 0].astype(np.float32),
        source=path.name,
        body=body,
        assumptions=(
            said_fps,
            f"up-axis {up}: {'as given' if options.up else 'AMASS'}{up_doubt(along, up)}",
            f"{_BODIES[joints]} poses, {count} joints kept",
            f"rest skeleton is ours; {said_body}",
            f"lowest joint put at height 0 (moved by {-floor:.3f} m)",
        ),
    )


def _body(path: Path, joints: int) -> tuple[SourceBody, str]:
    """Return the body of the file, and what was found; a shape that is none costs no motion."""
    found: dict[str, NDArray[Any]] = {}
    for name in ("gender", "betas"):
        try:
            found |= read_npz(path, {name})
        except InputError:
            continue
    word = found.get("gender", np.zeros(0)).ravel()
    # Some files hold the word as bytes, some in an array of one.
    gender = next((one for one in _GENDERS if word.tolist() in ([one], [one.encode()])), None)
    betas = found.get("betas", np.zeros(0))
    flat = betas.ravel() if betas.shape in ((betas.size,), (1, betas.size)) else np.zeros(0)
    if flat.dtype.kind not in "fiu" or flat.size > _MOST_BETAS or not np.isfinite(flat).all():
        flat = np.zeros(0)
    body = SourceBody(model=_MODELS.get(joints), gender=gender, betas=tuple(map(float, flat)))
    shape = f"{flat.size} betas" if flat.size else "no betas"
    return body, f"{gender or 'no gender'} and {shape} are kept for licensed bodies"


def _numbers(array: NDArray[Any], name: str, path: Path) -> NDArray[Any]:
    if array.dtype.kind not in "fiu":
        raise InputError(f"expected numbers, got dtype {array.dtype}", file=str(path), place=name)
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        raise InputError(
            "expected finite numbers, got NaN or infinity",
            file=str(path),
            place=f"{name}, frame {where[0]}" if len(where) else name,
        )
    largest = float(np.abs(array).max(initial=0))
    if largest > FURTHEST:
        raise InputError(
            f"expected numbers up to {FURTHEST:g}, got {largest:g}", file=str(path), place=name
        )
    return array


def _rate(stored: dict[str, NDArray[Any]], options: ReadOptions, path: Path) -> tuple[float, str]:
    for name in _RATES:
        if name not in stored:
            continue
        value = _numbers(stored[name], name, path)
        if value.size != 1 or not 0 < float(value.flat[0]) <= 1000:
            raise InputError(
                f"expected one number in (0, 1000], got {value.tolist()!r:.40}",
                file=str(path),
                place=name,
            )
        return chosen_rate(options.fps, float(value.flat[0]), name)
    if options.fps is not None:
        return options.fps, f"fps {options.fps:g}: as given"
    raise InputError(
        f"expected {' or '.join(_RATES[:2])}, the file stores neither; say it with --fps",
        file=str(path),
    )
