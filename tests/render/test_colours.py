"""Left and right stay apart for people with a colour vision deficiency."""

import numpy as np
import pytest

from render.body import PART_COLOURS

# Machado, Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of Color
# Vision Deficiency", IEEE TVCG 15(6), severity 1.0; for linear RGB.
MACHADO = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "none": np.eye(3),
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
PARTS = ("arm", "hand", "leg", "foot")
APART = 50.0
"""Distance in CIELAB (CIE 1976); 2.3 is just noticeable (Mahy et al. 1994)."""


def _lab(colour, deficiency, shade=1.0):
    value = np.array(colour) / 255 * shade
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(MACHADO[deficiency]) @ linear, 0, 1)
    x, y, z = np.array(XYZ) @ seen / np.array([0.95047, 1.0, 1.08883])
    f = [np.cbrt(t) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_lab_of_known_colours():
    # sRGB white, and red as tabulated by Lindbloom for D65.
    assert _lab((255, 255, 255), "none") == pytest.approx([100, 0, 0], abs=0.02)
    assert _lab((255, 0, 0), "none") == pytest.approx([53.24, 80.09, 67.20], abs=0.02)


@pytest.mark.parametrize("deficiency", MACHADO)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("shade", [1.0, 0.7])
def test_a_left_limb_is_never_taken_for_the_right_one(deficiency, part, shade):
    left, right = (
        _lab(PART_COLOURS[f"{side}_{part}"], deficiency, shade) for side in ("left", "right")
    )
    assert np.linalg.norm(left - right) > APART


@pytest.mark.parametrize("deficiency", MACHADO)
def test_any_two_parts_of_opposite_sides_differ(deficiency):
    distances = {
        (a, b): np.linalg.norm(
            _lab(PART_COLOURS[f"left_{a}"], deficiency)
            - _lab(PART_COLOURS[f"right_{b}"], deficiency)
        )
        for a in PARTS
        for b in PARTS
    }
    assert min(distances.values()) > APART


def test_the_measure_would_find_a_confusable_pair():
    red, green = (200, 70, 60), (110, 120, 50)
    assert np.linalg.norm(_lab(red, "none") - _lab(green, "none")) > APART
    assert np.linalg.norm(_lab(red, "deuteranopia") - _lab(green, "deuteranopia")) < APART
