"""MotionPatches and SGAR on tiny checkpoints of their layout."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.checkpoints import read_weights
from evaluators.motion_input import body_joints
from evaluators.motionpatches import MotionPatches
from evaluators.protocol import EmbeddingModel
from evaluators.sgar import CHAINS, MOTION_HEAD
from evaluators.text.wordpiece import WordPieces
from tests.evaluators import layouts, reference
from tests.shared_data import shared

PATCHES_ORDER = ("right leg", "left leg", "torso", "right arm", "left arm")
SGAR_ORDER = ("right arm", "left arm", "torso", "right leg", "left leg")
JOINTS = {
    "right leg": (0, 2, 5, 8, 11), "left leg": (0, 1, 4, 7, 10), "torso": (0, 3, 6, 9, 12, 15),
    "right arm": (9, 14, 17, 19, 21), "left arm": (9, 13, 16, 18, 20),
}  # fmt: skip


@pytest.fixture(scope="module", params=["MotionPatches", "SGAR"])
def opened(request, tmp_path_factory):
    registers = 5 if request.param == "SGAR" else 0
    state = layouts.motionpatches(registers)
    file = tmp_path_factory.mktemp("patches") / "best_model.pt"
    torch.save(state, file)
    rng = np.random.default_rng(1)
    mean = rng.normal(size=(22, 3)).astype(np.float32)
    std = rng.uniform(0.5, 2, size=(22, 3)).astype(np.float32)
    more = {"chains": CHAINS, "motion_head": MOTION_HEAD} if registers else {}
    model = MotionPatches(
        read_weights(file), mean, std, WordPieces(list(layouts.PIECES)), name=request.param, **more
    )
    return model, reference.plain(state), mean, std, registers


def part(p: reference.Params, prefix: str) -> reference.Params:
    return {k.removeprefix(prefix): v for k, v in p.items() if k.startswith(prefix)}


def test_motions_equal_a_plain_forward_pass(opened) -> None:
    model, p, mean, std, registers = opened
    clips = [clip.reshape(-1, 22, 3) for clip in layouts.clips((224, 50, 300), 66)]
    expected = []
    for clip in clips:
        normal = (clip[:224].astype(np.float64) - mean) / std
        order = SGAR_ORDER if registers else PATCHES_ORDER
        parts = [
            reference.resized(normal[:, JOINTS[name]].transpose(1, 0, 2), 16) for name in order
        ]
        picture = np.zeros((3, 224, 80))
        picture[:, : len(normal)] = np.concatenate(parts).transpose(2, 1, 0)
        vision = part(p, "motion_encoder.model.")
        states = reference.vit(vision, picture, 1)
        if registers:
            pooled = reference.layer_norm(vision, "norm", states[0], 1e-6)
        else:
            pooled = reference.layer_norm(vision, "fc_norm", states[1:].mean(0), 1e-6)
        prefix = "motion_projection.0." if registers else "motion_projection."
        expected.append(reference.head(p, prefix, pooled))
    np.testing.assert_allclose(model.embed_joints(clips), expected, rtol=0, atol=5e-4)


def test_texts_equal_a_plain_forward_pass(opened) -> None:
    model, p, *_ = opened
    pieces = WordPieces(list(layouts.PIECES))
    texts = ["a person walks", "the left hand raised, then sit."]
    expected = [
        reference.head(
            p,
            "text_projection.",
            reference.distilbert(part(p, "text_encoder.text_model."), pieces.ids(text), 1)[0],
        )
        for text in texts
    ]
    np.testing.assert_allclose(model.embed_texts(texts), expected, rtol=0, atol=2e-4)


def test_a_batch_is_what_its_items_are_alone(opened) -> None:
    model = opened[0]
    clips = [clip.reshape(-1, 22, 3) for clip in layouts.clips((224, 50, 300, 51), 66)]
    alone = np.concatenate([model.embed_joints([clip]) for clip in clips])
    np.testing.assert_allclose(model.embed_joints(clips), alone, rtol=0, atol=1e-5)
    assert isinstance(model, EmbeddingModel)
    assert model.embed_joints([]).shape == (0, 12)


def test_motions_are_taken_at_20_fps_and_only_the_logit_scale_is_left_over(opened) -> None:
    model = opened[0]
    motion = layouts.motion(fps=30)
    slow = motion.resampled(20)
    rows = model.embed_motions([motion, slow, motion.mirrored()])
    np.testing.assert_allclose(rows[0], rows[1], rtol=0, atol=1e-5)
    assert np.abs(rows[0] - rows[2]).max() > 1e-3
    assert model.unused == ()


def test_joints_come_as_humanml3d_keeps_them() -> None:
    folder = shared("data/motions/humanml3d_sample/new_joints")
    kept = np.load(folder / "012314.npy")
    motion = Motion(positions=kept, fps=20)
    found = body_joints(motion)
    assert found.shape == (169, 22, 3)
    assert np.abs(found - kept[:-1]).max() < 0.01
    turned = Motion(positions=kept @ np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]]) + 2.0, fps=20)
    assert np.abs(body_joints(turned) - found).max() < 1e-3
    # Backwards it would start facing elsewhere; it is turned to +Z as every clip is.
    reversed_start = body_joints(motion.time_reversed())[0]
    assert abs(reversed_start[0, [0, 2]]).max() < 1e-5
    assert reversed_start[1, 0] > reversed_start[2, 0]


def test_a_skeleton_without_these_joints_is_refused(opened) -> None:
    motion = Motion(positions=np.zeros((30, 21, 3)), fps=20, skeleton="kit21", source="kit:1")
    with pytest.raises(InputError, match=r"kit:1: expected a motion of smpl22.*kit21"):
        opened[0].embed_motions([motion])


def test_one_is_not_taken_for_the_other(tmp_path) -> None:
    torch.save(layouts.motionpatches(5), tmp_path / "a.pt")
    stats = np.zeros((22, 3), np.float32), np.ones((22, 3), np.float32)
    with pytest.raises(InputError, match="expected a checkpoint of MotionPatches, got one of SGAR"):
        MotionPatches(read_weights(tmp_path / "a.pt"), *stats, WordPieces(list(layouts.PIECES)))
