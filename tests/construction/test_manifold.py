"""The k-NN manifold against a loop written from the formula and against prdc (Naeem 2020)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.manifold import in_manifold, nearest


def loop(points, manifold, k):
    """Kynkäänniemi et al. 2019, equations 1 and 2, one distance at a time."""
    found = []
    for point in points:
        inside = False
        for place, centre in enumerate(manifold):
            others = np.delete(manifold, place, axis=0)
            radius = sorted(float(np.sqrt(((centre - one) ** 2).sum())) for one in others)[k - 1]
            inside |= float(np.sqrt(((point - centre) ** 2).sum())) <= radius
        found.append(inside)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6), st.integers(0, 12))
def test_every_point_is_judged_as_by_the_formula(seed, k, width, count):
    draw = np.random.default_rng(seed)
    # Whole numbers: many ties, equal points and radii of 0, all exact in floating point.
    manifold = draw.integers(-3, 4, (k + 1 + count, width)).astype(float)
    points = draw.integers(-4, 5, (9, width)).astype(float)
    told, inside = in_manifold(points, manifold, k)
    assert inside.tolist() == loop(points, manifold, k)
    assert told.share == np.mean(loop(points, manifold, k))


@pytest.mark.parametrize("shift", [0.0, 0.8, 2.0])
def test_precision_and_recall_are_those_of_prdc(shift):
    prdc = pytest.importorskip("prdc", reason="oracle prdc is not installed")
    draw = np.random.default_rng(3)
    real = draw.normal(size=(300, 8)).astype(np.float32)
    fake = (shift + draw.normal(size=(220, 8))).astype(np.float32)
    theirs = prdc.compute_prdc(real, fake, nearest_k=3)
    assert in_manifold(fake, real, 3)[0].share == pytest.approx(theirs["precision"], abs=1e-12)
    assert in_manifold(real, fake, 3)[0].share == pytest.approx(theirs["recall"], abs=1e-12)


def test_blocks_make_no_difference():
    draw = np.random.default_rng(0)
    points, manifold = draw.normal(size=(2100, 3)), draw.normal(size=(1500, 3)) + 1.5
    whole = in_manifold(points, manifold, 3)[1]
    parts = [in_manifold(points[at : at + 300], manifold, 3)[1] for at in range(0, 2100, 300)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert 0 < whole.mean() < 1


def test_equal_unit_vectors_are_at_distance_zero_in_either_set():
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(6, 300)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    # Four copies: at k = 3 every ball has radius 0 and still holds its own centre.
    manifold = np.repeat(rows[:2], 4, axis=0)
    told, inside = in_manifold(rows, manifold, 3)
    assert inside.tolist() == [True, True, False, False, False, False]
    assert (told.inside, told.n_points, told.n_manifold) == (2, 6, 8)


def test_undefined_says_why_and_is_no_number():
    few, points = np.zeros((3, 2)), np.ones((5, 2))
    told, inside = in_manifold(points, few, 3)
    assert (told.share, told.inside, inside.any()) == (None, 0, False)
    assert told.reason == "the manifold needs 4 points or more, got 3"
    told, _ = in_manifold(np.zeros((0, 2)), points, 3)
    assert (told.share, told.reason) == (None, "there are no points")


@pytest.mark.parametrize(
    ("points", "manifold", "k", "said"),
    [
        (np.zeros((2, 2)), np.zeros((9, 3)), 3, r"\(2, 2\) and \(9, 3\)"),
        (np.zeros((2, 2)), np.full((9, 2), np.nan), 3, "finite"),
        (np.zeros((2, 2)), np.zeros((9, 2)), 0, "k: expected 1 or more"),
    ],
)
def test_what_cannot_be_measured_is_refused(points, manifold, k, said):
    with pytest.raises(ValueError, match=said):
        in_manifold(points, manifold, k)


def test_the_nearest_is_found():
    places, gaps = nearest(np.array([[0.0, 0.0], [5.0, 5.0]]), np.array([[3.0, 4.0], [5.0, 5.0]]))
    assert places.tolist() == [0, 1]
    assert gaps.tolist() == [5.0, 0.0]
