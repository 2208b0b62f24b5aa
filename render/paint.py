"""Draws the frames of one clip, touching only what changes; the body by one of two backends."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from render import pixels, raster, resolve, scene, shadow
from render.actor import Actor, skinned
from render.marks import Marks

SAMPLES = 2
"""Samples per pixel along each axis."""
LARGE = 70_000
"""Pixels in the box around the body from which on each is one sample, outlines softened (ours)."""
SHADOW_HEIGHT = 0.35
"""Height at which a part's shadow has faded to 1/e, metres."""
SHADOW = (0.10, 0.42)
"""Darkness of the shadow of what is high up, and of what touches the floor."""


class BodyLayer(Protocol):
    """Draws the actor's body over a frame; the one thing in which backends differ."""

    def draw(
        self,
        frame: NDArray[np.uint8],
        world: NDArray[np.float32],
        light: NDArray[np.float32],
        points: NDArray[np.float32],
        box: NDArray[np.int64],
        changed: NDArray[np.int32],
    ) -> None:
        """Draw one pose.

        Args:
            frame: (H, W, 3) uint8 RGB, changed within the box.
            world: (V, 3) vertices in the world.
            light: (V,) brightness of each vertex.
            points: (V, 3) their projections, see ``raster.project``.
            box: Left, top, right, bottom in pixels around the body.
            changed: Columns changed in each row, see ``pixels``; widened.
        """
        ...


class RasterLayer:
    """The rasteriser's layer: several samples a pixel, fewer where the body fills the image."""

    def __init__(self, actor: Actor, size: int, samples: int) -> None:
        """Set up the sample buffers."""
        self.samples = samples
        self._actor = actor
        side = size * samples
        self._depth = np.empty((side, side), dtype=np.float32)
        self._bright = np.empty((side, side), dtype=np.float32)
        self._part = np.empty((side, side), dtype=np.uint8)
        self._spans = np.empty((side, 2), dtype=np.int32)

    def draw(
        self,
        frame: NDArray[np.uint8],
        world: NDArray[np.float32],
        light: NDArray[np.float32],
        points: NDArray[np.float32],
        box: NDArray[np.int64],
        changed: NDArray[np.int32],
    ) -> None:
        """See ``BodyLayer``."""
        actor = self._actor
        raster.fill(
            points, actor.faces, actor.face_parts, light, box, self.samples,
            self._depth, self._bright, self._part, self._spans,
        )  # fmt: skip
        if self.samples == 1:
            resolve.resolve_one(
                frame, self._bright, self._part, self._spans, actor.colours, box, changed
            )
            return
        resolve.resolve_all(
            frame, self._bright, self._part, self._spans, actor.colours, box, self.samples,
            changed,
        )  # fmt: skip


class Painter:
    """Buffers and constants of one clip."""

    def __init__(
        self,
        actor: Actor,
        camera: scene.Camera,
        backend: str = "raster",
        marks: Marks | None = None,
    ) -> None:
        """Draw the background and set up the buffers.

        Args:
            actor: What moves.
            camera: From where it is seen.
            backend: ``raster`` or ``pyrender``.
            marks: What is written over the frames; null for nothing.

        Raises:
            InputError: pyrender cannot draw on this machine.
        """
        size = camera.size
        self.actor, self.size, self.camera, self.backend = actor, size, camera, backend
        self._camera = camera.packed()
        self._half_camera = camera.packed()
        self._half_camera[4] /= 2
        self._lights = scene.lights(camera)
        self._ambient = np.array(scene.AMBIENT, dtype=np.float32)
        self._marks = marks or Marks()
        self.background = self._marks.under(scene.background(camera))
        self.frame = self.background.copy()
        count = len(actor.vertices)
        self._world = np.empty((count, 3), dtype=np.float32)
        self._normals = np.empty((count, 3), dtype=np.float32)
        self._points = np.empty((count, 3), dtype=np.float32)
        self._floor = np.empty((count, 3), dtype=np.float32)
        self._light = np.empty(count, dtype=np.float32)
        self._strength = np.empty(count, dtype=np.float32)
        self._shadow = np.zeros((size // 2, size // 2), dtype=np.float32)
        self._spare = np.zeros((size // 2, size // 2), dtype=np.float32)
        self.samples = self._sampling(camera)
        self._layer = self._make_layer(backend)
        self._bytes = np.empty(size * size * 3 // 2, dtype=np.uint8)
        # Drawn in this frame, and what of the bytes is older than the frame.
        self._changed = np.zeros((size, 2), dtype=np.int32)
        self._stale = np.zeros((size, 2), dtype=np.int32)
        self.replace_background(self.background)

    def replace_background(self, background: NDArray[np.uint8]) -> None:
        """Draw the following frames over another picture, (H, W, 3) uint8."""
        # The first background stays as it was for whoever took it.
        self.background = background.copy()
        self.frame[:] = self.background
        pixels.unmark(self._changed, self.size)
        pixels.mark(self._stale, np.array([0, 0, self.size, self.size]))

    def draw(self, frame: int) -> None:
        """Draw a frame into ``frame`` (H, W, 3) uint8 RGB over the static background."""
        changed, actor = self._changed, self.actor
        rows = (self.size, self.size * 3)
        pixels.restore(self.frame.reshape(rows), self.background.reshape(rows), changed)
        np.minimum(self._stale[:, 0], changed[:, 0], out=self._stale[:, 0])
        np.maximum(self._stale[:, 1], changed[:, 1], out=self._stale[:, 1])
        pixels.unmark(changed, self.size)
        world, points = self._world, self._points
        skinned(actor, frame, world)
        raster.shade(world, actor.faces, self._lights, self._ambient, self._normals, self._light)
        raster.project(world, self._camera, points)
        box = np.array(raster.bounds(points, 1, self.size, self.size))
        self._draw_shadow()
        self._layer.draw(self.frame, world, self._light, points, box, changed)
        for marked in self._marks.over(self.frame, frame):
            pixels.mark(changed, marked)

    def i420(self) -> memoryview:
        """Return the frame last drawn as I420 bytes, limited-range BT.709."""
        area, quarter = self.size**2, self.size**2 // 4
        half = self.size // 2
        luma = self._bytes[:area].reshape(self.size, self.size)
        blue = self._bytes[area : area + quarter].reshape(half, half)
        red = self._bytes[area + quarter :].reshape(half, half)
        pixels.to_i420(self.frame, luma, blue, red, self._changed, self._stale)
        pixels.unmark(self._stale, self.size)
        return self._bytes.data

    def _draw_shadow(self) -> None:
        """Darken the floor under the body; at half the resolution, as it is soft."""
        shadow.drop(
            self._world, self._half_camera, SHADOW[0], SHADOW[1], SHADOW_HEIGHT, self._floor,
            self._strength,
        )  # fmt: skip
        radius = max(1, round(self.size / 400))
        half = self.size // 2
        box = np.array(raster.bounds(self._floor, 2 * radius + 2, half, half))
        # An odd half has a column that ``bounds``, which gives even edges, would lie beyond.
        left, top, right, bottom = box = np.minimum(box, half)
        if right > left and bottom > top:
            shadow.fill_shadow(self._floor, self.actor.faces, self._strength, box, self._shadow)
            pixels.blur(self._shadow, self._spare, bottom - top, right - left, radius)
            pixels.darken(self.frame, self._shadow, box, self._changed)

    def _make_layer(self, backend: str) -> BodyLayer:
        if backend == "pyrender":
            from render.pyrender_backend import PyrenderLayer

            return PyrenderLayer(self.actor, self.camera)
        return RasterLayer(self.actor, self.size, self.samples)

    def _sampling(self, camera: scene.Camera) -> int:
        """One choice for the whole clip, so that the outline's look does not change within it."""
        largest = 0
        for frame in np.unique(np.linspace(0, len(self.actor.transforms) - 1, 12).astype(int)):
            skinned(self.actor, int(frame), self._world)
            raster.project(self._world, camera.packed(), self._points)
            left, top, right, bottom = raster.bounds(self._points, 1, self.size, self.size)
            largest = max(largest, (right - left) * (bottom - top))
        return 1 if largest > LARGE else SAMPLES
