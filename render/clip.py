"""A motion in, an MP4 out: the stimulus that people and models judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from benchmarks.items import Frozen
from corpus.motion import Motion, SourceBody
from corpus.problems import InputError

if TYPE_CHECKING:
    from render.actor import Actor

RENDERER_VERSION = 3
"""Raised when the same motion and settings give another picture; part of the stimulus key."""

MAX_SECONDS = 600.0
"""Longest clip that is rendered."""

LEGEND_SIZE = 384
"""Smallest picture on which the legend fits and can be read, pixels."""

View = Literal["mesh", "skeleton"]
Backend = Literal["auto", "raster", "pyrender"]


class RenderSettings(Frozen):
    """How a clip is drawn. Same motion and settings, same bytes on one machine."""

    size: int = Field(default=768, ge=64, le=4096)
    """Width and height in pixels; even, as yuv420p needs."""
    fps: float = Field(default=30.0, gt=0, le=240)
    """Frames per second of the video; the motion is resampled to it."""
    view: View = "mesh"
    """The embedded body, or the source's bare joints."""
    backend: Backend = "auto"
    """``raster`` draws on the processor and needs no graphics driver, ``pyrender`` by OpenGL on
    EGL; ``auto`` takes ``pyrender`` where EGL has a graphics processor, else ``raster``."""

    body: Literal["embedded", "smpl", "smplh", "smplx"] = "embedded"
    """The body that is drawn; all but the embedded one come from ``bodies``."""
    gender: Literal["neutral", "male", "female"] | None = None
    """Which file of a licensed body; null for the one the motion names, else neutral."""
    betas: tuple[float, ...] | None = None
    """Shape of a licensed body, which it then keeps; null for the one the motion names, else the
    mean shape with its bones stretched to the source's."""
    bodies: Path | None = Field(default=None, exclude=True)
    """Folder with licensed bodies, see ``render.licensed``; a path of this machine, not stored."""
    refine: bool = False
    """Improve poses found from positions by gradient descent, see ``render.refine``."""
    facing_arrow: bool = False
    """An arrow on the floor shows where the person faces."""
    legend: bool = False
    """Viewer's left and right, and the colours of the person's, along the upper edge."""
    frame_counter: bool = False
    """The frame's number, from 0, small in a corner."""
    frame_code: bool = False
    """The frame's number as blocks that a test can read, see ``render.marks.draw_code``."""

    @model_validator(mode="before")
    @classmethod
    def _one_gender(cls, data: dict[str, object]) -> dict[str, object]:
        if data.get("body", "embedded") == "embedded" and data.get("gender") is None:
            return {**data, "gender": "neutral"}
        return data

    @model_validator(mode="after")
    def _shaped(self) -> Self:
        if self.body == "embedded" and (self.betas is not None or self.gender != "neutral"):
            raise ValueError("body: expected smpl, smplh or smplx with a gender or betas")
        if self.body != "embedded" and self.bodies is None:
            raise ValueError(f"bodies: expected the folder with {self.body}, got none")
        if self.betas is not None and not np.isfinite(self.betas).all():
            raise ValueError(f"betas: expected finite numbers, got {list(self.betas)}")
        return self

    @model_validator(mode="after")
    def _legible(self) -> Self:
        if self.legend and self.size < LEGEND_SIZE:
            raise ValueError(
                f"legend: expected a size of at least {LEGEND_SIZE} to be read, got {self.size}"
            )
        return self

    @field_validator("size")
    @classmethod
    def _even(cls, size: int) -> int:
        if size % 2:
            raise ValueError(f"expected an even number of pixels, got {size}")
        return size


class ClipInfo(Frozen):
    """What was written."""

    frames: int
    """Number of frames in the video."""
    fps: float
    """Frames per second."""
    seconds: float
    """frames / fps."""
    sha256: str
    """SHA-256 of the file, hex."""
    backend: str
    """Backend that drew it."""
    size_bytes: int
    """Size of the file."""
    fit_error_mm: dict[str, float] = Field(default_factory=dict)
    """Mean distance of each posed joint from the source's, millimetres; empty where exact."""


def stimulus_key(motion: Motion, settings: RenderSettings) -> str:
    """Return 32 hex digits that name a clip by content; they tell nothing about it.

    The hash covers motion, settings (``auto`` as the backend it stands for, gender and betas as
    they are drawn) and renderer version.
    """
    drawn = with_own_shape(settings, motion)
    fields = drawn.model_dump() | {"backend": chosen_backend(settings)}
    if settings.body != "embedded" and settings.bodies is not None:
        from render.licensed import model_file, model_hash

        file = model_file(settings.bodies, settings.body, drawn.gender or "neutral")
        fields["body"] = f"{settings.body} {model_hash(file)}"
    text = json.dumps([RENDERER_VERSION, motion.content_hash(), fields], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def render_clip(
    motion: Motion,
    out: Path,
    settings: RenderSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ClipInfo:
    """Render a motion to an MP4: H.264, yuv420p, constant frame rate, index at the front.

    Args:
        motion: Any skeleton of ``corpus.skeletons``.
        out: File to write; written under a temporary name and moved.
        settings: How to draw; defaults as in ``RenderSettings``.
        progress: Called with frames done and frames in all.

    Raises:
        InputError: Clip too long, or coordinates beyond 10 km.
        render.video.EncodingError: ffmpeg failed; no file is left.
    """
    from render.video import file_sha256, video_writer

    chosen = settings or RenderSettings()
    stage = Stage(motion, chosen)
    with video_writer(out, chosen.size, chosen.fps) as pipe:
        for number, planes in enumerate(stage.planes()):
            pipe.write(planes)
            if progress is not None:
                progress(number + 1, stage.frames)
    return ClipInfo(
        frames=stage.frames,
        fps=chosen.fps,
        seconds=stage.frames / chosen.fps,
        sha256=file_sha256(out),
        backend=chosen_backend(chosen),
        size_bytes=out.stat().st_size,
        fit_error_mm=stage.actor.fit_error_mm,
    )


def known_clip(motion: Motion, out: Path, settings: RenderSettings) -> ClipInfo:
    """Return the facts of a clip that ``render_clip`` wrote earlier, without drawing it again.

    The fit error is not kept in the file and comes back empty; ``fit_error`` finds it anew.
    """
    from render.video import file_sha256

    frames = motion.resampled(settings.fps).frames
    return ClipInfo(
        frames=frames,
        fps=settings.fps,
        seconds=frames / settings.fps,
        sha256=file_sha256(out),
        backend=chosen_backend(settings),
        size_bytes=out.stat().st_size,
    )


def fit_error(motion: Motion, settings: RenderSettings) -> dict[str, float]:
    """Return ``ClipInfo.fit_error_mm`` of a clip without drawing it.

    Raises:
        InputError: As ``render_clip``.
    """
    if settings.view == "skeleton":
        return {}
    _check(motion)
    return _posed(motion.resampled(settings.fps), settings).fit_error_mm


def render_poster(
    motion: Motion, out: Path, time: float | None = None, settings: RenderSettings | None = None
) -> None:
    """Write one frame as PNG or JPEG, by the suffix of ``out``.

    Args:
        motion: Any skeleton of ``corpus.skeletons``.
        out: Picture to write.
        time: Seconds from the start, held within the clip; null for the middle.
        settings: As for the clip.

    Raises:
        InputError: As ``render_clip``.
    """
    from PIL import Image

    stage = Stage(motion, settings or RenderSettings())
    at = stage.frames / 2 if time is None else time * stage.fps
    frame = stage.picture(int(np.clip(round(at), 0, stage.frames - 1)))
    out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(frame).save(out)


def with_own_shape(settings: RenderSettings, motion: Motion) -> RenderSettings:
    """Return settings in which gender and betas are those that a motion is drawn with.

    A licensed body takes what the settings name, else what the motion's source names. Betas of
    the source hold for its own gender and shape space only, which SMPL and SMPL-H share.
    """
    if settings.body == "embedded":
        return settings
    source = motion.body or SourceBody()
    gender = settings.gender or source.gender or "neutral"
    spaces = {"smplx" if model == "smplx" else "smpl" for model in (source.model, settings.body)}
    fits = gender == (source.gender or "neutral") and (source.model is None or len(spaces) == 1)
    betas = settings.betas
    if betas is None and source.betas and fits:
        betas = source.betas
    return settings.model_copy(update={"gender": gender, "betas": betas})


def _posed(resampled: Motion, settings: RenderSettings) -> Actor:
    """Return the body that settings ask for in a motion at their frame rate.

    Raises:
        InputError: A licensed body that is not in its folder, or not readable.
    """
    from render.actor import mesh_actor
    from render.body import load_body

    if settings.body == "embedded" or settings.bodies is None:
        return mesh_actor(resampled, load_body(), refine=settings.refine)
    from render.licensed import load_licensed

    drawn = with_own_shape(settings, resampled)
    own = drawn.betas is not None and settings.betas is None
    body = load_licensed(
        settings.bodies, settings.body, drawn.gender or "neutral", drawn.betas, cut=own
    )
    found = mesh_actor(resampled, body, refine=settings.refine)
    # The joints of such a source stand on our rest skeleton; what it says of itself is exact.
    return found._replace(fit_error_mm={}) if own else found


def chosen_backend(settings: RenderSettings) -> str:
    """Return the backend that settings stand for on this machine: ``raster`` or ``pyrender``."""
    if settings.backend != "auto":
        return settings.backend
    from render.pyrender_backend import has_gpu

    return "pyrender" if has_gpu() else "raster"


class Stage:
    """A motion ready to be drawn: actor, camera and the buffers that frames are drawn in."""

    def __init__(self, motion: Motion, settings: RenderSettings) -> None:
        """Pose the actor and place the camera.

        Args:
            motion: The motion; resampled to the settings' frame rate.
            settings: Size, frame rate, view.

        Raises:
            InputError: The motion cannot be drawn.
        """
        from render import actor, scene
        from render.marks import Marks, with_arrow
        from render.paint import Painter

        _check(motion)
        resampled = motion.resampled(settings.fps)
        if settings.view == "skeleton":
            self.actor = actor.skeleton_actor(resampled)
        else:
            self.actor = _posed(resampled, settings)
        self.fps = settings.fps
        self.frames = len(self.actor.transforms)
        if settings.facing_arrow:
            self.actor = with_arrow(self.actor, resampled)
        yaw = scene.heading(motion)
        edges, flat = scene.edge_directions(yaw), np.array([1.0, 0.0, 1.0])
        start = resampled.joint("pelvis")[:1] * flat
        # What lies furthest with height left out of account bounds the shadow on the floor.
        outer = actor.outermost(self.actor, np.concatenate([edges, edges * flat]))
        outer[:, len(edges) :] *= flat
        seen = np.concatenate([start, outer.reshape(-1, 3)])
        self.camera = scene.front_camera(seen, yaw, settings.size, scene.person_scale(motion))
        marks = Marks(settings.legend, settings.frame_counter, settings.frame_code)
        self._painter = Painter(self.actor, self.camera, chosen_backend(settings), marks)

    @property
    def ground(self) -> NDArray[np.uint8]:
        """What is seen where nobody stands, (H, W, 3) uint8 RGB."""
        return self._painter.background

    def under(self, ground: NDArray[np.uint8]) -> None:
        """Draw the following frames over another ground of the same size."""
        self._painter.replace_background(ground)

    def picture(self, frame: int) -> NDArray[np.uint8]:
        """Return one frame, (H, W, 3) uint8 RGB."""
        self._painter.draw(frame)
        return self._painter.frame.copy()

    def planes(self) -> Iterator[memoryview]:
        """Yield every frame as I420 bytes; the memory is used again for the next."""
        for frame in range(self.frames):
            self._painter.draw(frame)
            yield self._painter.i420()


def _check(motion: Motion) -> None:
    if motion.duration > MAX_SECONDS:
        raise InputError(
            f"expected at most {MAX_SECONDS:g} s, got {motion.duration:.1f} s; crop it first",
            file=motion.source,
        )
    largest = float(np.abs(motion.positions).max())
    if largest > 1e4:
        raise InputError(
            f"expected metres, got a coordinate of {largest:.3g}; is the unit right?",
            file=motion.source,
        )
