"""The one Motion type: joint positions over time in one frame of reference."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from corpus.skeletons import SKELETONS, Skeleton

FloatArray = NDArray[np.float32]


class Motion(BaseModel):
    """A motion of one person in HumanML3D's frame: metres, Y up, right-handed.

    The person's left is toward +X when they face +Z (Guo et al. 2022).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    positions: FloatArray
    """Joint positions, (T, J, 3) float32, metres, finite, T at least 1; read-only."""
    fps: float
    """Frames per second, above 0."""
    skeleton: str = "smpl22"
    """Key of ``corpus.skeletons.SKELETONS``."""
    local_rotations: FloatArray | None = None
    """Rotation of each joint in its parent's frame, (T, J, 3, 3), where the source has them."""
    root_translation: FloatArray | None = None
    """Translation of the root that belongs to ``local_rotations``, (T, 3), metres."""
    source: str = ""
    """Id or file the motion came from."""
    assumptions: tuple[str, ...] = ()
    """What the reader assumed about unit, up-axis, fps and joint names."""

    @model_validator(mode="before")
    @classmethod
    def _own_arrays(cls, data: dict[str, object]) -> dict[str, object]:
        data = dict(data)
        for name in ("positions", "local_rotations", "root_translation"):
            if data.get(name) is not None:
                array = np.array(data[name], dtype=np.float32)
                array.flags.writeable = False
                data[name] = array
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        shape = self.positions.shape
        if self.skeleton not in SKELETONS:
            raise ValueError(f"skeleton: expected one of {sorted(SKELETONS)}, got {self.skeleton!r}")
        joints = len(SKELETONS[self.skeleton].joints)
        if len(shape) != 3 or shape[1:] != (joints, 3) or shape[0] < 1:
            raise ValueError(f"positions: expected shape (T, {joints}, 3) with T >= 1, got {shape}")
        if not np.isfinite(self.positions).all():
            frame = int(np.argwhere(~np.isfinite(self.positions))[0][0])
            raise ValueError(f"positions: expected finite numbers, frame {frame} has NaN or infinity")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise ValueError(f"fps: expected a number above 0, got {self.fps}")
        if self.local_rotations is not None and self.local_rotations.shape != (*shape[:2], 3, 3):
            raise ValueError(
                f"local_rotations: expected shape {(*shape[:2], 3, 3)}, "
                f"got {self.local_rotations.shape}"
            )
        return self

    @property
    def frames(self) -> int:
        """Number of frames T."""
        return int(self.positions.shape[0])

    @property
    def duration(self) -> float:
        """Seconds: frames / fps."""
        return self.frames / self.fps

    @property
    def layout(self) -> Skeleton:
        """The named joints."""
        return SKELETONS[self.skeleton]

    def joint(self, name: str) -> FloatArray:
        """Return the (T, 3) path of a named joint in metres."""
        return self.positions[:, self.layout.index(name)]

    def content_hash(self) -> str:
        """Return the SHA-256 (hex) of positions, fps and skeleton; file names do not enter."""
        digest = hashlib.sha256(f"{self.skeleton}|{self.fps:.6f}|{self.positions.shape}".encode())
        digest.update(np.ascontiguousarray(self.positions).tobytes())
        if self.local_rotations is not None:
            digest.update(np.ascontiguousarray(self.local_rotations).tobytes())
        return digest.hexdigest()
