import numpy as np
import pytest

from render import pixels, raster, resolve

PLAIN = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 5], [100, 16, 16]])
"""Camera at z = 5 looking at the origin, focal length 100 px, image 32 x 32."""


def _fill(points, faces, parts, samples=1, size=32):
    side = size * samples
    depth = np.empty((side, side), dtype=np.float32)
    bright, part = np.empty_like(depth), np.empty((side, side), dtype=np.uint8)
    spans = np.empty((side, 2), dtype=np.int32)
    raster.fill(
        np.array(points, dtype=np.float32), np.array(faces, dtype=np.int32),
        np.array(parts, dtype=np.uint8), np.ones(len(points), dtype=np.float32),
        np.array([0, 0, size, size]), samples, depth, bright, part, spans,
    )  # fmt: skip
    return depth, bright, part, spans


def test_project_is_a_pinhole():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 3]], dtype=np.float32)
    out = np.empty_like(points)
    raster.project(points, PLAIN, out)
    # x = cx + f * X / depth, y = cy - f * Y / depth, depth = 5 - Z
    assert out == pytest.approx(np.array([[16, 16, 0.2], [36, 16, 0.2], [16, -34, 0.5]]), abs=1e-4)


def test_pixels_whose_centre_is_inside_are_drawn_once_across_a_shared_edge():
    # Two triangles make the square from 4 to 12; counter-clockwise as seen, y grows downwards.
    points = [[4, 4, 1], [4, 12, 1], [12, 12, 1], [12, 4, 1]]
    _, _, part, spans = _fill(points, [[0, 1, 2], [0, 2, 3]], [3, 3])
    expected = np.full((32, 32), raster.EMPTY)
    expected[4:12, 4:12] = 3
    assert np.array_equal(part, expected)
    assert spans[4].tolist() == [4, 11]
    assert spans[20, 1] < spans[20, 0]


def test_nearer_wins_whatever_the_order_and_backs_are_not_drawn():
    near = [[2, 2, 0.5], [2, 30, 0.5], [30, 30, 0.5]]
    far = [[2, 2, 0.1], [2, 30, 0.1], [30, 30, 0.1]]
    for faces, parts in (([[0, 1, 2], [3, 4, 5]], [1, 2]), ([[3, 4, 5], [0, 1, 2]], [2, 1])):
        _, _, part, _ = _fill(near + far, faces, parts)
        assert set(np.unique(part)) == {1, raster.EMPTY}
    _, _, part, _ = _fill(near, [[0, 2, 1]], [1])
    assert (part == raster.EMPTY).all()


def test_triangles_beyond_the_box_are_clipped():
    points = [[-500, -500, 1], [-500, 900, 1], [900, 900, 1]]
    _, _, part, _ = _fill(points, [[0, 1, 2]], [1])
    assert (part[np.tril_indices(32, -1)] == 1).all()


def test_resolve_blends_an_edge_by_coverage():
    points = [[0, 0, 1], [0, 32, 1], [8.5, 32, 1], [8.5, 0, 1]]
    _, bright, part, spans = _fill(points, [[0, 1, 2], [0, 2, 3]], [0, 0], samples=2)
    frame = np.full((32, 32, 3), 100, dtype=np.uint8)
    colours = np.array([[200.0, 0.0, 50.0]], dtype=np.float32)
    changed = np.tile(np.int32([32, 0]), (32, 1))
    resolve.resolve_all(frame, bright, part, spans, colours, np.array([0, 0, 32, 32]), 2, changed)
    assert changed[5].tolist() == [0, 9]
    assert frame[5, 4].tolist() == [200, 0, 50]
    assert frame[5, 8].tolist() == [150, 50, 75]
    assert frame[5, 9].tolist() == [100, 100, 100]


def test_one_sample_softens_outlines_and_leaves_the_inside():
    points = [[4, 4, 1], [4, 28, 1], [12, 28, 1], [12, 4, 1]]
    beside = [[12, 4, 1], [12, 28, 1], [20, 28, 1], [20, 4, 1]]
    faces = [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    _, bright, part, spans = _fill(points + beside, faces, [0, 0, 1, 1])
    frame = np.full((32, 32, 3), 100, dtype=np.uint8)
    colours = np.array([[200.0, 0.0, 60.0], [40.0, 80.0, 60.0]], dtype=np.float32)
    changed = np.tile(np.int32([32, 0]), (32, 1))
    resolve.resolve_one(frame, bright, part, spans, colours, np.array([0, 0, 32, 32]), changed)
    assert frame[10, 8].tolist() == [200, 0, 60]
    assert frame[10, 11].tolist() == [180, 10, 60]  # 7/8 of its own part, 1/8 of the next
    assert frame[10, 4].tolist() == [188, 13, 65]  # 7/8 own, 1/8 background
    assert frame[10, 3].tolist() == [113, 88, 95]  # 7/8 background, 1/8 of the part
    assert frame[4, 4].tolist() == [175, 25, 70]  # a corner: 2/8 background
    assert frame[10, 2].tolist() == [100, 100, 100]
    assert changed[10].tolist() == [3, 21]
    assert changed[3].tolist() == [3, 21]
    assert changed[2].tolist() == [32, 0]


def test_light_above_one_whitens_also_with_one_sample():
    points = [[0, 0, 1], [0, 32, 1], [32, 32, 1], [32, 0, 1]]
    frames = []
    for samples in (1, 2):
        _, bright, part, spans = _fill(points, [[0, 1, 2], [0, 2, 3]], [0, 0], samples)
        bright[:] = 1.2
        frame = np.zeros((32, 32, 3), dtype=np.uint8)
        colours = np.array([[230.0, 100.0, 0.0]], dtype=np.float32)
        changed = np.tile(np.int32([32, 0]), (32, 1))
        box = np.array([0, 0, 32, 32])
        if samples == 1:
            resolve.resolve_one(frame, bright, part, spans, colours, box, changed)
        else:
            resolve.resolve_all(frame, bright, part, spans, colours, box, samples, changed)
        frames.append(frame[16, 16].tolist())
    assert frames[0] == frames[1] == [255, 151, 51]


def test_i420_is_bt709_limited_range():
    # ITU-R BT.709-6, 3.2 to 3.4: Y = 16 + 219 E'Y, Cb = 128 + 224 (E'B - E'Y) / 1.8556,
    # Cr = 128 + 224 (E'R - E'Y) / 1.5748.
    rng = np.random.default_rng(0)
    colours = np.concatenate(
        [rng.integers(0, 256, (13, 3)), [[0, 0, 0], [255, 255, 255], [255, 0, 0]]]
    )
    for colour in colours:
        frame = np.tile(colour.astype(np.uint8), (2, 2, 1))
        whole = np.int32([[0, 2], [0, 2]])
        y, cb, cr = (np.zeros(s, dtype=np.uint8) for s in ((2, 2), (1, 1), (1, 1)))
        pixels.to_i420(frame, y, cb, cr, whole, whole)
        red, green, blue = colour / 255
        luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        assert y[0, 0] == pytest.approx(16 + 219 * luma, abs=0.51)
        assert cb[0, 0] == pytest.approx(128 + 224 * (blue - luma) / 1.8556, abs=0.51)
        assert cr[0, 0] == pytest.approx(128 + 224 * (red - luma) / 1.5748, abs=0.51)


def test_i420_touches_only_what_changed_now_or_before():
    frame = np.full((8, 8, 3), 255, dtype=np.uint8)
    y, cb, cr = (np.zeros(s, dtype=np.uint8) for s in ((8, 8), (4, 4), (4, 4)))
    now, before = (np.tile(np.int32([8, 0]), (8, 1)) for _ in range(2))
    now[5], before[6] = (3, 5), (5, 6)
    pixels.to_i420(frame, y, cb, cr, now, before)
    assert np.flatnonzero((y == 235).any(axis=1)).tolist() == [4, 5, 6, 7]
    assert np.flatnonzero(y[5]).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(y[6]).tolist() == [4, 5]
    assert (cb > 0).sum() == 3


def test_blur_keeps_the_sum_and_the_middle():
    image = np.zeros((40, 40), dtype=np.float32)
    image[20, 20] = 1.0
    pixels.blur(image, np.empty_like(image), 40, 40, 3)
    assert image.sum() == pytest.approx(1.0, abs=1e-4)
    assert np.unravel_index(image.argmax(), image.shape) == (20, 20)
    assert image == pytest.approx(image[::1, ::1].T, abs=1e-6)


def test_skin_moves_a_vertex_by_its_shares():
    transforms = np.zeros((2, 3, 4), dtype=np.float32)
    transforms[:, :, :3] = np.eye(3)
    transforms[1, 0, 3] = 4.0
    out = np.empty((1, 3), dtype=np.float32)
    raster.skin(
        np.array([[1, 2, 3]], dtype=np.float32), np.array([[0, 1]], dtype=np.int32),
        np.array([[0.75, 0.25]], dtype=np.float32), transforms, out,
    )  # fmt: skip
    assert out[0].tolist() == [2.0, 2.0, 3.0]


def test_shade_is_brightest_towards_the_light():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
    faces = np.array([[0, 1, 2]], dtype=np.int32)
    out, normals = np.empty(3, dtype=np.float32), np.empty((3, 3), dtype=np.float32)
    ambient = np.array([0.1, 0.3], dtype=np.float32)
    for toward, expected in ((1.0, 0.2 + 0.5), (-1.0, 0.2)):
        lights = np.array([[0, 0, toward, 0.5]], dtype=np.float32)
        raster.shade(vertices, faces, lights, ambient, normals, out)
        assert out == pytest.approx(expected, abs=1e-6)


def test_a_soft_shadow_of_half_resolution_is_interpolated_and_marked():
    frame = np.full((16, 16, 3), 200, dtype=np.uint8)
    shadow = np.zeros((8, 8), dtype=np.float32)
    shadow[:4, :4][1:3, 1:3] = 0.5
    changed = np.tile(np.int32([16, 0]), (16, 1))
    pixels.darken(frame, shadow, np.array([2, 3, 6, 7]), changed)
    dark = 200 - frame[..., 0].astype(int)
    assert dark[10, 8] == dark[9, 7] == 100
    # A quarter of the way out: 0.75 of the share, at a corner its square; then 0.25.
    assert (dark[9, 6], dark[8, 6], dark[9, 5]) == (75, 56, 25)
    assert np.array_equal(dark[6:14, 4:12], dark[6:14, 4:12][::-1, ::-1])
    assert dark.sum() == dark[7:13, 5:11].sum()
    assert changed[9].tolist() == [5, 11]
    assert changed[3].tolist() == [16, 0]
