"""The body drawn by OpenGL through pyrender on EGL, without a display.

Camera, lights and colours are those of the rasteriser: brightness is worked out per vertex by
``raster.shade`` and handed over as vertex colours, which pyrender's flat shader interpolates.
The mesh is uploaded once; after that only the vertex buffer is overwritten.
"""

from __future__ import annotations

import glob
import os
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from render import pixels
from render.actor import Actor
from render.scene import Camera

SOFTWARE = (
    "llvmpipe", "softpipe", "swrast", "swiftshader", "software rasterizer", "basic render driver",
)  # fmt: skip
"""Renderers that draw on the processor, as OpenGL names them; the last is WSL's."""
DEVICES = ("/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg")
"""Device files of graphics processors on Linux and in WSL."""
NEAR, FAR = 0.05, 1e5
"""Nearest and furthest depth drawn, metres."""


class PyrenderLayer:
    """The actor's mesh in an OpenGL context; see ``render.paint.BodyLayer``."""

    def __init__(self, actor: Actor, camera: Camera) -> None:
        """Make the mesh.

        Args:
            actor: What is drawn.
            camera: From where it is seen.

        Raises:
            InputError: EGL gives no OpenGL context here.
        """
        pyrender = _pyrender()
        # A vertex on the border of two colours is needed once for each.
        pairs = np.stack(
            [actor.faces.ravel(), np.repeat(actor.face_parts.astype(np.int64), 3)], axis=1
        )
        unique, corner = np.unique(pairs, axis=0, return_inverse=True)
        self._vertex = unique[:, 0]
        self._colour = (actor.colours[unique[:, 1]] / 255.0).astype(np.float32)
        count = len(unique)
        self._data = np.ones((count, 7), dtype=np.float32)
        # The bounds that pyrender sorts by are taken from the first positions.
        self._data[:, :3] = actor.vertices[self._vertex]
        self._primitive = pyrender.Primitive(
            positions=self._data[:, :3].copy(),
            color_0=self._data[:, 3:].copy(),
            indices=corner.reshape(-1, 3).astype(np.uint32),
            material=pyrender.MetallicRoughnessMaterial(
                baseColorFactor=(1.0, 1.0, 1.0, 1.0), alphaMode="OPAQUE"
            ),
            mode=4,
        )
        size = camera.size
        self._scene = pyrender.Scene(bg_color=(0.0, 0.0, 0.0, 0.0), ambient_light=(1.0, 1.0, 1.0))
        self._scene.add(pyrender.Mesh([self._primitive]))
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = camera.axes.T, camera.eye
        self._scene.add(
            pyrender.IntrinsicsCamera(
                camera.focal, camera.focal, size / 2, size / 2, znear=NEAR, zfar=FAR
            ),
            pose=pose,
        )
        self._flags = pyrender.RenderFlags.FLAT | pyrender.RenderFlags.RGBA
        self._size = size
        self._renderer = _renderer()

    def draw(
        self,
        frame: NDArray[np.uint8],
        world: NDArray[np.float32],
        light: NDArray[np.float32],
        points: NDArray[np.float32],
        box: NDArray[np.int64],
        changed: NDArray[np.int32],
    ) -> None:
        """See ``render.paint.BodyLayer``."""
        self._data[:, :3] = world[self._vertex]
        shade = light[self._vertex][:, None]
        self._data[:, 3:6] = np.minimum(
            self._colour * np.minimum(shade, 1.0) + np.maximum(shade - 1.0, 0.0), 1.0
        )
        self._upload()
        left, top, right, bottom = (int(edge) for edge in box)
        if right <= left or bottom <= top:
            return
        pixels.mark(changed, box)
        renderer = self._renderer
        renderer.viewport_width = renderer.viewport_height = self._size
        # pyrender reads the depth of every pixel back; only the body's colours are wanted.
        renderer._renderer._read_main_framebuffer = lambda *_: self._read(left, top, right, bottom)
        drawn = renderer.render(self._scene, self._flags).astype(np.uint16)
        under = frame[top:bottom, left:right]
        # The background is transparent black, so the colours come multiplied by their coverage.
        rest = 255 - drawn[..., 3:]
        under[:] = np.minimum(drawn[..., :3] + (under * rest + 127) // 255, 255)

    def _read(self, left: int, top: int, right: int, bottom: int) -> NDArray[np.uint8]:
        """Resolve the samples within a box and read them: (h, w, 4), top row first."""
        from OpenGL import GL

        low, high = self._size - bottom, self._size - top
        renderer = self._renderer._renderer
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, renderer._main_fb_ms)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, renderer._main_fb)
        GL.glBlitFramebuffer(
            left, low, right, high, left, low, right, high, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST
        )
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, renderer._main_fb)
        pixels = np.empty((high - low, right - left, 4), dtype=np.uint8)
        GL.glReadPixels(
            left, low, right - left, high - low, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, pixels
        )
        return pixels[::-1]

    def _upload(self) -> None:
        from OpenGL import GL

        if not self._primitive._in_context():
            self._primitive.positions = self._data[:, :3].copy()
            self._primitive.color_0 = self._data[:, 3:].copy()
            return
        self._renderer._platform.make_current()
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._primitive._buffers[0])
        GL.glBufferSubData(GL.GL_ARRAY_BUFFER, 0, self._data.nbytes, self._data)


@lru_cache(maxsize=1)
def _renderer() -> Any:
    """Return the one context of this process: EGL ends all contexts of a display with the first.

    Raises:
        InputError: EGL gives no OpenGL context here.
    """
    pyrender = _pyrender()
    try:
        return pyrender.OffscreenRenderer(64, 64)
    except _errors() as error:
        raise InputError(_no_egl(error)) from error


@lru_cache(maxsize=1)
def renderer_name() -> str:
    """Return what OpenGL on EGL calls its renderer; empty where there is no context to be had."""
    try:
        _renderer()._platform.make_current()
    except InputError:
        return ""
    from OpenGL import GL

    name = GL.glGetString(GL.GL_RENDERER)
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "")


def is_hardware(renderer: str) -> bool:
    """Return whether a renderer's name is that of a graphics processor.

    >>> is_hardware("NVIDIA A10G/PCIe/SSE2"), is_hardware("llvmpipe (LLVM 15.0.6, 256 bits)")
    (True, False)
    """
    return bool(renderer) and not any(word in renderer.lower() for word in SOFTWARE)


@lru_cache(maxsize=1)
def has_gpu() -> bool:
    """Return whether EGL draws on a graphics processor; asks it only where a device is there."""
    return any(glob.glob(pattern) for pattern in DEVICES) and is_hardware(renderer_name())


def _pyrender() -> Any:
    """Import pyrender on EGL.

    Raises:
        InputError: It is not installed or finds no EGL.
    """
    # Read by PyOpenGL when it is imported, and by pyrender.
    os.environ["PYOPENGL_PLATFORM"] = "egl"
    if not hasattr(np, "infty"):
        # pyrender 0.1.45 still says np.infty, which numpy 2 took out.
        np.infty = np.inf  # type: ignore[attr-defined]
    try:
        import pyrender
    except _errors() as error:
        raise InputError(_no_egl(error)) from error
    return pyrender


def _errors() -> tuple[type[Exception], ...]:
    """What pyrender and PyOpenGL raise where EGL is missing or gives no context."""
    found: tuple[type[Exception], ...] = (
        ImportError, AttributeError, RuntimeError, ValueError, OSError, IndexError, TypeError,
        AssertionError,
    )  # fmt: skip
    try:
        from OpenGL.error import Error
    except ImportError:
        return found
    return (*found, Error)


def _no_egl(error: Exception) -> str:
    why = " ".join(str(error).split()) or type(error).__name__
    return (
        f"--backend pyrender: expected EGL with OpenGL 4.1, got {why[:160]}; install libegl1, "
        "libgl1 and a driver, or use --backend raster"
    )
