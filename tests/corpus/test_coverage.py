"""Statistics of a clip that can be worked out by hand, and the measures of the grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.coverage import STATISTICS, grid_coverage, kinematic_statistics, standardized
from corpus.frames import body_chain
from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL22


def standing(frames: int = 41) -> np.ndarray:
    """Return a body at rest, (T, 22, 3) metres."""
    places = np.zeros((22, 3))
    for joint, parent in enumerate(SMPL22.parents):
        places[joint] = np.array(REST_OFFSETS[joint]) + (places[parent] if parent >= 0 else 0)
    return np.repeat((places - [0, places[:, 1].min(), 0])[None], frames, axis=0)


def statistics(positions, fps=20.0):
    found = kinematic_statistics(Motion(positions=positions, fps=fps))
    return dict(zip(STATISTICS, found, strict=True))


def test_a_body_at_rest_moves_nothing():
    found = statistics(standing())
    still = [name for name in STATISTICS if "reach" not in name and name != "hand_height"]
    assert all(found[name] == pytest.approx(0, abs=1e-6) for name in still)
    assert 0.2 < found["hand_reach"] < 0.8
    assert found["hand_height"] > found["hand_reach"]


def test_a_straight_glide_has_its_length_and_speed_in_body_heights():
    body = standing()
    height = body_chain(body, "smpl22")
    seconds = np.arange(41)[:, None] / 20
    glide = body.copy()
    glide[:, :, 2] += 1.5 * seconds
    found = statistics(glide)
    for part in ("root", "hand", "foot"):
        assert found[f"{part}_speed_mean"] == pytest.approx(1.5 / height, rel=1e-4)
        assert found[f"{part}_speed_p95"] == pytest.approx(1.5 / height, rel=1e-4)
    assert found["path_length"] == pytest.approx(3.0 / height, rel=1e-4)
    assert found["net_displacement"] == pytest.approx(3.0 / height, rel=1e-4)
    assert found["turning"] == pytest.approx(0, abs=1e-5)
    there_and_back = np.concatenate([glide[:21], glide[:20][::-1]])
    again = statistics(there_and_back)
    assert again["net_displacement"] == pytest.approx(0, abs=1e-5)
    assert again["path_length"] == pytest.approx(3.0 / height, rel=1e-4)


def test_turning_round_counts_radians_and_up_and_down_heights():
    body = standing(81)
    height = body_chain(body, "smpl22")
    angle = np.linspace(0, 3 * math.pi, 81)
    turned = np.stack(
        [
            p @ np.array([[math.cos(a), 0, -math.sin(a)], [0, 1, 0], [math.sin(a), 0, math.cos(a)]])
            for p, a in zip(body, angle, strict=True)
        ]
    )
    assert statistics(turned)["turning"] == pytest.approx(3 * math.pi, rel=1e-4)
    bent = body.copy()
    bent[:, :, 1] += 0.3 * np.abs(np.sin(np.linspace(0, 2 * math.pi, 81)))[:, None]
    found = statistics(bent)
    assert found["height_range"] == pytest.approx(0.3 / height, rel=1e-3)
    assert found["vertical_travel"] == pytest.approx(4 * 0.3 / height, rel=1e-3)


def test_body_size_frame_rate_and_place_do_not_matter():
    rng = np.random.default_rng(0)
    steps = np.cumsum(rng.normal(0, 0.01, (121, 1, 3)), axis=0)
    walk = standing(121) + np.repeat(steps, 22, axis=1)
    first = kinematic_statistics(Motion(positions=walk, fps=20.0))
    larger = kinematic_statistics(Motion(positions=walk * 1.3 + [3, 0, -2], fps=20.0))
    np.testing.assert_allclose(larger, first, rtol=2e-3, atol=1e-5)
    twice = np.repeat(walk, 2, axis=0)[:-1]
    twice[1::2] = (walk[1:] + walk[:-1]) / 2
    faster = kinematic_statistics(Motion(positions=twice, fps=40.0))
    np.testing.assert_allclose(faster, first, rtol=1e-3, atol=1e-5)


def test_a_clip_of_one_frame_is_refused():
    with pytest.raises(ValueError, match="expected 2 frames"):
        kinematic_statistics(Motion(positions=standing(1), fps=20.0))


def test_columns_are_standardized_and_constant_ones_are_zero():
    rows = np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]])
    found = standardized(rows)
    np.testing.assert_allclose(found[:, 0], [-1.224745, 0, 1.224745], atol=1e-6)
    assert not found[:, 1].any()


def test_the_grid_by_hand():
    # Four corners of a 2 x 2 grid: a holds three corners, one of them twice; b one, with a.
    points = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 0], [1, 0]], float)
    a, b = grid_coverage(points, ["a", "a", "a", "a", "b", "b", "b"], cells=2)
    assert (a.n, a.occupied, b.n, b.occupied) == (4, 3, 3, 2)
    entropy = -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    assert a.effective == pytest.approx(math.exp(entropy))
    # Cells of all: (0,0) two, (0,1) one, (1,0) three, (1,1) one.
    assert a.tail == pytest.approx(3 / 4)
    assert b.tail == pytest.approx(1 / 3)


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_effective_cells_lie_between_one_and_those_occupied(points, cells):
    rows = grid_coverage(np.array(points), ["x"] * len(points), cells)
    assert 1 - 1e-9 <= rows[0].effective <= rows[0].occupied + 1e-9
    assert rows[0].occupied <= min(cells * cells, len(points))
    assert 0 <= rows[0].tail <= 1


def test_a_grid_needs_points_and_a_name_for_each():
    with pytest.raises(ValueError, match="points"):
        grid_coverage(np.zeros((0, 2)), [])
    with pytest.raises(ValueError, match="corpora"):
        grid_coverage(np.zeros((2, 2)), ["a"])
