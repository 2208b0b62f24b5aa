"""The glTF 2.0 binary container: arrays become accessors of one buffer.

Skins and animations are what we need and what the kept libraries do not write: see
``docs/decisions/016-own-gltf-container.md``. Source: Khronos, glTF 2.0 specification, 3.6 and 4.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COMPONENTS = {
    "int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126,
}  # fmt: skip
_TYPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
VERTICES, INDICES = 34962, 34963
"""Buffer view targets."""


class Document:
    """A glTF document under construction: ``json`` for its objects, ``add`` for its arrays."""

    def __init__(self) -> None:
        """Start with an empty document."""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "MotionJury"},
            "accessors": [],
            "bufferViews": [],
        }
        self._bytes = bytearray()

    def add(
        self,
        values: NDArray[Any],
        target: int | None = None,
        normalized: bool = False,
        bounds: bool = False,
    ) -> int:
        """Append an array and return the number of its accessor.

        Args:
            values: (N,), (N, 3), (N, 4) or (N, 4, 4), the last in row-major order as numpy has
                it; int8 to uint32 or float32. Elements must fill multiples of four
                bytes, except for indices.
            target: ``VERTICES``, ``INDICES`` or null.
            normalized: Integers stand for -1 to 1, or 0 to 1.
            bounds: Store the least and largest value, as positions and times need.

        Raises:
            ValueError: A type or shape that glTF has no accessor for.
        """
        kind, shape = values.dtype.name, values.shape[1:]
        if kind not in _COMPONENTS or shape not in _TYPES:
            raise ValueError(f"values: no glTF accessor for {kind} of shape {values.shape}")
        ordered = np.swapaxes(values, 1, 2) if shape == (4, 4) else values
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        view: dict[str, Any] = {
            "buffer": 0,
            "byteOffset": len(self._bytes),
            "byteLength": values.nbytes,
        }
        if target is not None:
            view["target"] = target
        accessor: dict[str, Any] = {
            "bufferView": len(self.json["bufferViews"]),
            "componentType": _COMPONENTS[kind],
            "count": len(values),
            "type": _TYPES[shape],
        }
        if normalized:
            accessor["normalized"] = True
        if bounds:
            flat = values.reshape(len(values), -1)
            accessor["min"] = flat.min(axis=0).tolist()
            accessor["max"] = flat.max(axis=0).tolist()
        little = values.dtype.newbyteorder("<")
        self._bytes += np.ascontiguousarray(ordered, dtype=little).tobytes()
        self.json["bufferViews"].append(view)
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def to_bytes(self) -> bytes:
        """Return the document as GLB; the same content gives the same bytes."""
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        whole = {**self.json, "buffers": [{"byteLength": len(self._bytes)}]}
        text = json.dumps(whole, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + len(self._bytes)
        return b"".join(
            (
                struct.pack("<4sII", b"glTF", 2, total),
                struct.pack("<I4s", len(text), b"JSON"),
                text,
                struct.pack("<I4s", len(self._bytes), b"BIN\0"),
                bytes(self._bytes),
            )
        )
