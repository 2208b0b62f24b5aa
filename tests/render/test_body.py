import numpy as np
import pytest

from corpus.skeletons import SMPL24
from render.body import ASSET, PART_COLOURS, PARTS, load_body, reshaped


@pytest.fixture(scope="module")
def body():
    return load_body()


def _mirror_of(vertices):
    from scipy.spatial import cKDTree

    distance, other = cKDTree(vertices).query(vertices * [-1.0, 1.0, 1.0])
    return distance, other


def test_asset_is_small_and_consistent(body):
    assert ASSET.stat().st_size < 250_000
    assert body.faces.max() == len(body.vertices) - 1
    assert body.parents == SMPL24.parents
    assert body.weight_values.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert set(np.unique(body.face_parts)) == set(range(len(PARTS)))
    assert set(PART_COLOURS) == set(PARTS)


def test_body_stands_on_the_floor_upright_facing_plus_z(body):
    assert body.vertices[:, 1].min() == pytest.approx(0.0, abs=1e-6)
    assert 1.5 < body.vertices[:, 1].max() < 2.0
    foot = body.joints[SMPL24.index("left_foot")] - body.joints[SMPL24.index("left_ankle")]
    assert foot[2] > 0.08
    assert body.joints[SMPL24.index("left_wrist"), 0] > 0.5
    eyes = body.vertices[body.faces[body.face_parts == PARTS.index("eyes")]].mean(axis=(0, 1))
    hair = body.vertices[body.faces[body.face_parts == PARTS.index("hair")]].mean(axis=(0, 1))
    assert eyes[2] > hair[2] + 0.05


def test_body_is_its_own_mirror_image(body):
    distance, other = _mirror_of(body.vertices)
    assert distance.max() < 1e-6
    dense = np.zeros((len(body.vertices), 24))
    np.put_along_axis(dense, body.weight_joints, body.weight_values, axis=1)
    assert np.abs(dense[other][:, SMPL24.mirror_index()] - dense).max() < 0.02
    counts = np.bincount(body.face_parts, minlength=len(PARTS))
    for name in ("arm", "hand", "leg", "foot"):
        assert counts[PARTS.index(f"left_{name}")] == counts[PARTS.index(f"right_{name}")]


def test_limb_colours_keep_to_their_side(body):
    centre = body.vertices[body.faces].mean(axis=1)[:, 0]
    for number, name in enumerate(PARTS):
        mine = centre[body.face_parts == number]
        if name.startswith("left_"):
            assert mine.min() > 0
        elif name.startswith("right_"):
            assert mine.max() < 0


def test_left_and_right_colours_differ_to_every_kind_of_eye():
    # Blue against orange differs along the yellow-blue axis that red-green deficiency keeps, and
    # in the red channel that blue-yellow deficiency keeps (Okabe and Ito 2008).
    for limb in ("arm", "hand", "leg", "foot"):
        left, right = (np.array(PART_COLOURS[f"{s}_{limb}"], dtype=int) for s in ("left", "right"))
        assert left[2] - left[0] > 80
        assert right[0] - right[2] > 80


def test_reshaped_with_own_joints_changes_nothing(body):
    same = reshaped(body, body.joints)
    assert np.abs(same.vertices - body.vertices).max() < 1e-4


def test_reshaped_scales_as_a_whole_and_stretches_one_bone(body):
    half = reshaped(body, body.joints * np.float32(0.5))
    assert np.ptp(half.vertices, axis=0) == pytest.approx(
        np.ptp(body.vertices, axis=0) / 2, rel=0.02
    )
    longer = body.joints.copy()
    below = [SMPL24.index(f"left_{name}") for name in ("ankle", "foot")]
    longer[below, 1] -= 0.1
    tall = reshaped(body, longer)
    soles = [
        body.faces[body.face_parts == PARTS.index(f"{side}_foot")] for side in ("left", "right")
    ]
    change = [(tall.vertices[s] - body.vertices[s])[..., 1].mean() for s in soles]
    assert change[0] == pytest.approx(-0.1, abs=0.015)
    assert change[1] == pytest.approx(0.0, abs=0.005)
