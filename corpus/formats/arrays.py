"""Plain numpy joints: .npy or .npz of (T, J, 3), and the workspace's own .npz motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.features import FEATURES, recover_joints
from corpus.formats.numpy_files import npz_names, read_npy, read_npz
from corpus.formats.source import ReadOptions, Scan, Source, chosen_rate
from corpus.frames import FURTHEST, into_frame
from corpus.motion import Motion
from corpus.problems import InputError
from corpus.skeletons import KIMODO30_AS_SMPL22, SKELETONS

POSITION_KEYS = ("positions", "joints", "posed_joints")
"""Names under which an .npz may hold joint positions, in this order of preference."""

HUMANML3D_FPS = 20.0
"""Frame rate of all HumanML3D motions (Guo et al. 2022)."""

_FLAT = {22 * 3: 22, 24 * 3: 24, 30 * 3: 30, 52 * 3: 52, 55 * 3: 55}


def scan(path: Path) -> Scan:
    """Return the one clip of a file; a folder is walked by the registry."""
    return Scan([Source(path, path.stem, "arrays")], [])


def load(path: Path, options: ReadOptions) -> Motion:
    """Read joints (T, J, 3) of 22, 24, 30 (Kimodo), 52 (SMPL-H) or 55 (SMPL-X) joints.

    A leading batch axis of 1 is dropped; (T, J * 3) is unfolded; (T, 263) is taken as HumanML3D
    features. The frame rate is stored in the file or given. A file that ``save`` wrote (it names
    its skeleton) is in our frame already, and nothing is assumed.

    Raises:
        InputError: Not numbers of such a shape, or no frame rate.
    """
    stored: dict[str, NDArray[Any]] = {}
    if path.suffix.lower() == ".npz":
        names = npz_names(path)
        key = next((k for k in POSITION_KEYS if k in names), None)
        if key is None:
            raise InputError(
                f"expected an array named {', '.join(POSITION_KEYS)}, got {', '.join(names)}",
                file=str(path),
            )
        extra = ("fps", "skeleton", "local_rotations", "root_translation")
        stored = read_npz(path, {key, *extra})
        array = stored.pop(key)
    else:
        array = read_npy(path)
    return from_array(array, stored, options, path)


def from_array(
    array: NDArray[Any], stored: dict[str, NDArray[Any]], options: ReadOptions, path: Path
) -> Motion:
    """Turn an array of joints and what was stored beside it into a motion."""
    assumptions: list[str] = []
    array = _numbers(array, path)
    flat = array.ndim == 3 and array.shape[2] in (*_FLAT, FEATURES)
    if (array.ndim == 4 or flat) and array.shape[0] == 1:
        array = array[0]
        assumptions.append("leading batch axis of 1 dropped")
    features = array.ndim == 2 and array.shape[1] == FEATURES
    fps = _fps(stored, options, path, default=HUMANML3D_FPS if features else None)
    assumptions.append(fps[1])
    if features:
        usable = np.isfinite(array) & (np.abs(array) <= FURTHEST)
        if not usable.all():
            frame, column = (int(i) for i in np.argwhere(~usable)[0])
            raise InputError(
                f"expected finite features up to {FURTHEST:g}, got {array[frame, column]:g}",
                file=str(path),
                place=f"frame {frame}, feature {column}",
            )
        array = recover_joints(array)
        assumptions.append("joints recovered from 263-dimensional features")
    array, skeleton, said = _named_joints(array, path)
    assumptions += said
    if "skeleton" in stored:
        options = ReadOptions(fps=options.fps, up="y", unit="m")
    framed = into_frame(array, skeleton, file=path, up=options.up, unit=options.unit)
    rotations, root = _rotations(stored, framed.up, framed.scale, framed.positions.shape, path)
    return Motion(
        positions=framed.positions,
        fps=fps[0],
        skeleton=skeleton,
        local_rotations=rotations,
        root_translation=root,
        source=path.name,
        assumptions=() if "skeleton" in stored else (*assumptions, *framed.assumptions),
    )


def save(motion: Motion, path: Path) -> None:
    """Write a motion as the .npz that ``load`` reads back unchanged.

    Args:
        motion: What to write.
        path: File ending in .npz; overwritten.
    """
    arrays: dict[str, Any] = {
        "positions": motion.positions,
        "fps": np.float64(motion.fps),
        "skeleton": np.array(motion.skeleton),
    }
    if motion.local_rotations is not None:
        arrays["local_rotations"] = motion.local_rotations
    if motion.root_translation is not None:
        arrays["root_translation"] = motion.root_translation
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _numbers(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.dtype.kind not in "fiu":
        raise InputError(f"expected numbers, got dtype {array.dtype}", file=str(path))
    return array


def _fps(
    stored: dict[str, NDArray[Any]], options: ReadOptions, path: Path, default: float | None
) -> tuple[float, str]:
    if "fps" in stored:
        value = stored["fps"]
        if value.size != 1 or value.dtype.kind not in "fiu" or not 0 < float(value.flat[0]) <= 1000:
            raise InputError(
                f"expected one number in (0, 1000], got {value.dtype} of shape {value.shape}",
                file=str(path),
                place="fps",
            )
        return chosen_rate(options.fps, float(value.flat[0]), "stored in the file")
    if options.fps is not None:
        return options.fps, f"fps {options.fps:g}: as given"
    if default is not None:
        return default, f"fps {default:g}: that of HumanML3D"
    raise InputError(
        "expected a frame rate, the file stores none; say it with --fps", file=str(path)
    )


def _named_joints(array: NDArray[Any], path: Path) -> tuple[NDArray[Any], str, list[str]]:
    if array.ndim == 2 and array.shape[1] in _FLAT:
        array = array.reshape(len(array), _FLAT[array.shape[1]], 3)
    if array.ndim == 3 and array.shape[2] == 3:
        joints = array.shape[1]
        if joints in (22, 24):
            return array, f"smpl{joints}", []
        if joints in (52, 55):
            name = "SMPL-H" if joints == 52 else "SMPL-X"
            return array[:, :22], "smpl22", [f"{joints} joints taken as {name}, body joints kept"]
        if joints == 30:
            said = "30 joints taken as Kimodo's, mapped by position onto 22"
            return array[:, list(KIMODO30_AS_SMPL22)], "smpl22", [said]
    raise InputError(
        "expected joints of shape (T, J, 3) with J 22, 24, 30, 52 or 55, or (T, J * 3), or "
        f"(T, {FEATURES}) features, each with at most one leading axis of 1, got {array.shape}",
        file=str(path),
    )


def _rotations(
    stored: dict[str, NDArray[Any]], up: str, scale: float, shape: tuple[int, ...], path: Path
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return the stored rotations where the file is in our frame already, else none."""
    rotations, root = stored.get("local_rotations"), stored.get("root_translation")
    if up != "y" or scale != 1.0 or rotations is None:
        return None, None
    for name, array, wanted in (
        ("local_rotations", rotations, (*shape[:2], 3, 3)),
        ("root_translation", root, (shape[0], 3)),
    ):
        if array is None:
            continue
        if array.shape != wanted or not np.isfinite(_numbers(array, path)).all():
            raise InputError(
                f"expected finite numbers of shape {wanted}, got {array.shape}",
                file=str(path),
                place=name,
            )
    if "skeleton" in stored and str(stored["skeleton"]) not in SKELETONS:
        raise InputError(
            f"expected one of {', '.join(SKELETONS)}, got {stored['skeleton']}",
            file=str(path),
            place="skeleton",
        )
    return rotations, root
