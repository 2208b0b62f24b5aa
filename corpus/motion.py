"""The one Motion type: joint positions over time in one frame of reference."""

from __future__ import annotations

import hashlib
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from corpus.kinematics import slerp
from corpus.skeletons import SKELETONS, Skeleton

FloatArray = NDArray[np.float32]


class SourceBody(BaseModel):
    """The body that a file's poses were fitted with, where the file names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Literal["smpl", "smplh", "smplx"] | None = None
    """Body model; its shape space gives ``betas`` their meaning. Null where unknown."""
    gender: Literal["neutral", "male", "female"] | None = None
    """Which file of the model; null where the source names none."""
    betas: tuple[float, ...] = ()
    """Shape coefficients, standard deviations, finite; empty where the source has none."""


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
    """World position of joint 0 that belongs to ``local_rotations``, (T, 3), metres."""
    source: str = ""
    """Id or file the motion came from."""
    body: SourceBody | None = None
    """Body of the source, which positions, rotations and ``content_hash`` do not depend on."""
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
            raise ValueError(
                f"skeleton: expected one of {sorted(SKELETONS)}, got {self.skeleton!r}"
            )
        joints = len(SKELETONS[self.skeleton].joints)
        if len(shape) != 3 or shape[1:] != (joints, 3) or shape[0] < 1:
            raise ValueError(f"positions: expected shape (T, {joints}, 3) with T >= 1, got {shape}")
        if not np.isfinite(self.positions).all():
            frame = int(np.argwhere(~np.isfinite(self.positions))[0][0])
            raise ValueError(
                f"positions: expected finite numbers, frame {frame} has NaN or infinity"
            )
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
        path: FloatArray = self.positions[:, self.layout.index(name)]
        return path

    def content_hash(self) -> str:
        """Return the SHA-256 (hex) of positions, fps and skeleton; file names do not enter."""
        digest = hashlib.sha256(f"{self.skeleton}|{self.fps:.6f}|{self.positions.shape}".encode())
        digest.update(np.ascontiguousarray(self.positions).tobytes())
        if self.local_rotations is not None:
            digest.update(np.ascontiguousarray(self.local_rotations).tobytes())
        return digest.hexdigest()

    def resampled(self, fps: float) -> Motion:
        """Return the motion at another frame rate: positions linear, rotations on the arc.

        The first frame stays; the last new frame is not after the last old one, so nothing is
        extrapolated.

        Args:
            fps: New frames per second.

        Raises:
            ValueError: ``fps`` is not above 0.
        """
        if not (np.isfinite(fps) and fps > 0):
            raise ValueError(f"fps: expected a number above 0, got {fps}")
        if fps == self.fps:
            return self
        # The tolerance keeps a frame that falls on the last old one but for rounding.
        count = int(np.floor((self.frames - 1) * fps / self.fps + 1e-6)) + 1
        at = np.minimum(np.arange(count) * self.fps / fps, self.frames - 1)
        first = np.floor(at + 1e-9).astype(int)
        second = np.minimum(first + 1, self.frames - 1)
        share = np.clip(at - first, 0.0, 1.0)

        def blend(array: FloatArray) -> FloatArray:
            weight = share.reshape(-1, *[1] * (array.ndim - 1))
            mixed: FloatArray = np.asarray(
                (1 - weight) * array[first] + weight * array[second], dtype=np.float32
            )
            return mixed

        rotations = self.local_rotations
        if rotations is not None:
            rotations = slerp(rotations[first], rotations[second], share).astype(np.float32)
        root = self.root_translation
        return self._with(
            positions=blend(self.positions),
            fps=fps,
            local_rotations=rotations,
            root_translation=None if root is None else blend(root),
        )

    def cropped(self, start: float, end: float) -> Motion:
        """Return the frames from ``start`` up to, but without, ``end``; both in seconds.

        Seconds are rounded to the nearest frame.

        Raises:
            ValueError: The span holds no frame or leaves the motion by more than half a frame.
        """
        low, high = round(start * self.fps), round(end * self.fps)
        if not 0 <= low < high <= self.frames:
            raise ValueError(
                f"span: expected 0 <= start < end <= {self.duration:.3f} s with a frame between, "
                f"got {start} to {end}"
            )
        return self._frames(slice(low, high))

    def mirrored(self) -> Motion:
        """Return the mirror image: X negated, left and right joints exchanged.

        Rotations are conjugated by the reflection, so forward kinematics on a symmetric rest
        skeleton gives the mirrored positions.
        """
        swap = self.layout.mirror_index()
        flip = np.array([-1.0, 1.0, 1.0], dtype=np.float32)
        rotations, root = self.local_rotations, self.root_translation
        return self._with(
            positions=self.positions[:, swap] * flip,
            local_rotations=None
            if rotations is None
            else rotations[:, swap] * flip[:, None] * flip[None, :],
            root_translation=None if root is None else root * flip,
        )

    def time_reversed(self) -> Motion:
        """Return the motion played backwards."""
        return self._frames(slice(None, None, -1))

    def grounded(self) -> Motion:
        """Return the motion lowered or raised so that its lowest joint ever is at height 0."""
        shift = np.array([0.0, self.positions[..., 1].min(), 0.0], dtype=np.float32)
        root = self.root_translation
        return self._with(
            positions=self.positions - shift,
            root_translation=None if root is None else root - shift,
        )

    def _frames(self, which: slice) -> Motion:
        rotations, root = self.local_rotations, self.root_translation
        return self._with(
            positions=self.positions[which],
            local_rotations=None if rotations is None else rotations[which],
            root_translation=None if root is None else root[which],
        )

    def _with(self, **changed: object) -> Motion:
        """Return a checked motion with some fields replaced."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Motion(**(fields | changed))
