"""What is written over a clip when a study asks for it: legend, frame counter, facing arrow.

Also the frame code, by which a test reads a frame's number out of its pixels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from corpus.motion import Motion
from render.actor import Actor
from render.body import PART_COLOURS

Picture = NDArray[np.uint8]

INK = (38, 42, 50)
"""sRGB of text and of the facing arrow: dark on a pale ground, so that no hue is relied on."""
ARROW = (0.32, 0.78, 0.05, 0.13, 0.20)
"""Facing arrow on the floor, metres: from and to (before the pelvis), half width of the shaft and
of the head, length of the head (ours)."""
ARROW_HEIGHT = 0.004
"""Height of the arrow over the floor, metres."""
STEADY_SECONDS = 0.12
"""Standard deviation of the smoothing of the arrow's direction over time (ours)."""
CODE_COLUMNS, CODE_ROWS = 4, 5
"""Blocks of the frame code."""


class Marks(NamedTuple):
    """What is drawn over the frames of a clip."""

    legend: bool = False
    """Viewer's left and right, and whose colours are whose, along the upper edge."""
    counter: bool = False
    """Number of the frame, from 0, in the lower right corner."""
    code: bool = False
    """Number of the frame as black and white blocks, see ``draw_code``."""

    def under(self, background: Picture) -> Picture:
        """Return the background with what never changes on it."""
        return draw_legend(background) if self.legend else background

    def over(self, frame: Picture, number: int) -> list[NDArray[np.int64]]:
        """Draw a frame's own marks into it and return the boxes that changed, even edges."""
        boxes = []
        if self.counter:
            boxes.append(draw_counter(frame, number))
        if self.code:
            boxes.append(draw_code(frame, number))
        return boxes


@lru_cache(maxsize=32)
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return pillow's own font, so that every machine draws the same text; pixels."""
    return ImageFont.load_default(size)


def draw_legend(background: Picture) -> Picture:
    """Return a picture with the legend along its upper edge, where no body comes.

    Left and right of the viewer stand at the sides; the person's own left and right stand
    between them with the colours of the limbs.
    """
    size = background.shape[1]
    image = Image.fromarray(background)
    pen = ImageDraw.Draw(image)
    height = max(9, round(size * 0.0235))
    letters = font(height)
    middle, edge = size * 0.034, size * 0.02
    arrow = height * 0.42
    pen.polygon(
        [(edge, middle), (edge + arrow, middle - arrow), (edge + arrow, middle + arrow)], INK
    )
    pen.text((edge + arrow * 1.7, middle), "viewer's left", INK, letters, anchor="lm")
    far = size - edge
    pen.polygon([(far, middle), (far - arrow, middle - arrow), (far - arrow, middle + arrow)], INK)
    pen.text((far - arrow * 1.7, middle), "viewer's right", INK, letters, anchor="rm")
    words = {side: f"person's {side}" for side in ("right", "left")}
    box, gap = height * 0.8, height * 0.4
    widths = {side: box + gap + letters.getlength(word) for side, word in words.items()}
    at = (size - sum(widths.values()) - 2 * height) / 2
    # The person's right comes first: facing the viewer, it is on the viewer's left.
    for side, word in words.items():
        top = middle - box / 2
        pen.rectangle((at, top, at + box, top + box), PART_COLOURS[f"{side}_arm"])
        pen.text((at + box + gap, middle), word, INK, letters, anchor="lm")
        at += widths[side] + 2 * height
    return np.asarray(image)


def draw_counter(frame: Picture, number: int) -> NDArray[np.int64]:
    """Write a frame's number small into the lower right corner; return the box that changed."""
    size = frame.shape[1]
    height = max(9, round(size * 0.022))
    width, tall = 2 * round(height * 2.4), 2 * round(height * 0.8)
    left, top = size - width - 2 * (size // 100), frame.shape[0] - tall - 2 * (size // 100)
    image = Image.fromarray(frame[top : top + tall, left : left + width])
    ImageDraw.Draw(image).text((width - 1, tall / 2), str(number), INK, font(height), anchor="rm")
    frame[top : top + tall, left : left + width] = np.asarray(image)
    return np.array([left, top, left + width, top + tall])


def code_block(size: int) -> int:
    """Return the side of a block of the frame code in a picture of ``size`` pixels."""
    return max(4, size // 32 // 2 * 2)


def draw_code(frame: Picture, number: int) -> NDArray[np.int64]:
    """Draw a frame's number as blocks into the upper left corner; return the box that changed.

    Five rows of four square blocks, each ``code_block`` pixels wide. The first row is white,
    black, white, black; the others are the number's 16 bits, white for 1, highest bit first, row
    by row. Read the middle of each block.

    Args:
        frame: (H, W, 3) uint8, changed in place.
        number: 0 to 65535.

    Raises:
        ValueError: The number does not fit.
    """
    if not 0 <= number < 1 << 16:
        raise ValueError(f"number: expected 0 to 65535, got {number}")
    side = code_block(frame.shape[1])
    bits = [1, 0, 1, 0] + [number >> place & 1 for place in range(15, -1, -1)]
    blocks = np.array(bits, dtype=np.uint8).reshape(CODE_ROWS, CODE_COLUMNS) * 255
    drawn = np.kron(blocks, np.ones((side, side), dtype=np.uint8))
    frame[: drawn.shape[0], : drawn.shape[1]] = drawn[..., None]
    return np.array([0, 0, drawn.shape[1], drawn.shape[0]])


def read_code(picture: Picture) -> int | None:
    """Return the number that ``draw_code`` drew, also after encoding; null where there is none."""
    side = code_block(picture.shape[1])
    rows = (np.arange(CODE_ROWS) * side + side // 2)[:, None]
    columns = np.arange(CODE_COLUMNS) * side + side // 2
    grey = picture[rows, columns].astype(float).mean(axis=2).ravel()
    if not ((grey < 80) | (grey > 175)).all():
        return None
    bits = (grey > 127).astype(int).tolist()
    if bits[:4] != [1, 0, 1, 0]:
        return None
    return int("".join(map(str, bits[4:])), 2)


def facing(motion: Motion) -> NDArray[np.float64]:
    """Return where the person faces on the floor in each frame: (T, 2) unit X and Z.

    Across hips and shoulders, turned by a right angle and smoothed over time. A frame in which
    that vanishes, as when lying on one side, keeps the direction of the frame before; without
    one, +Z.
    """
    from scipy.ndimage import gaussian_filter1d

    across = np.zeros((motion.frames, 3))
    for part in ("hip", "shoulder"):
        across += motion.joint(f"left_{part}").astype(np.float64) - motion.joint(f"right_{part}")
    ahead = np.stack([-across[:, 2], across[:, 0]], axis=1)
    length = np.linalg.norm(ahead, axis=1)
    seen = np.where(length > 0.05, np.arange(len(ahead)), -1)
    last = np.maximum.accumulate(seen)
    first = int(seen[seen >= 0][0]) if (seen >= 0).any() else -1
    last = np.where(last < 0, first, last)
    unit = np.where(
        last[:, None] < 0, [0.0, 1.0], ahead[last] / np.maximum(length[last], 1e-9)[:, None]
    )
    smooth = gaussian_filter1d(unit, STEADY_SECONDS * motion.fps, axis=0, mode="nearest")
    size = np.linalg.norm(smooth, axis=1, keepdims=True)
    return np.asarray(np.where(size > 1e-3, smooth / np.maximum(size, 1e-9), unit))


def with_arrow(actor: Actor, motion: Motion) -> Actor:
    """Return an actor with an arrow on the floor that shows where the person faces.

    Args:
        actor: The actor of ``motion``, frame by frame.
        motion: Any skeleton with hips and shoulders.
    """
    start, end, shaft, head, tip = ARROW
    neck = end - tip
    outline = np.array(
        [
            (-shaft, start),
            (shaft, start),
            (shaft, neck),
            (-shaft, neck),
            (-head, neck),
            (head, neck),
            (0, end),
        ]
    )
    vertices = np.stack([outline[:, 0], np.full(7, ARROW_HEIGHT), outline[:, 1]], axis=1)
    # Counter-clockwise seen from above, where X is right and Z is down.
    faces = np.array([(0, 3, 2), (0, 2, 1), (4, 6, 5)])
    count, joints = len(actor.vertices), actor.transforms.shape[1]
    ahead = facing(motion)
    turn = np.zeros((len(ahead), 1, 3, 4))
    turn[:, 0, 0, 0] = turn[:, 0, 2, 2] = ahead[:, 1]
    turn[:, 0, 0, 2], turn[:, 0, 2, 0] = ahead[:, 0], -ahead[:, 0]
    turn[:, 0, 1, 1] = 1.0
    turn[:, 0, [0, 2], 3] = motion.joint("pelvis")[:, [0, 2]]
    owners = np.zeros((7, actor.weight_joints.shape[1]), dtype=np.int32)
    owners[:, 0] = joints
    shares = np.zeros(owners.shape, dtype=np.float32)
    shares[:, 0] = 1.0
    ink = np.array([INK], dtype=np.float32)
    return actor._replace(
        vertices=np.concatenate([actor.vertices, vertices.astype(np.float32)]),
        faces=np.concatenate([actor.faces, (faces + count).astype(np.int32)]),
        face_parts=np.concatenate(
            [actor.face_parts, np.full(3, len(actor.colours), dtype=np.uint8)]
        ),
        colours=np.concatenate([actor.colours, ink]),
        weight_joints=np.concatenate([actor.weight_joints, owners]),
        weight_values=np.concatenate([actor.weight_values, shares]),
        transforms=np.concatenate([actor.transforms, turn.astype(np.float32)], axis=1),
    )
