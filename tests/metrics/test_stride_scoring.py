import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.stride import AXES, Triplet
from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.model_source import ModelScores
from evaluators.source import MotionLibrary
from metrics.stride_cells import score_stride
from metrics.stride_grid import Grids, audit_mirrors, grids_csv, score_grids
from metrics.stride_scoring import StrideTask, choose_items, draw_controls, score_items


def task(axis, number, motion=None, corpus="a"):
    clip = motion or f"m{number}"
    return StrideTask(
        item_id=f"{corpus}{axis}{number}",
        triplet=Triplet(
            axis=axis,
            corpus=corpus,
            clip_id=clip,
            caption_id=f"{clip}#0",
            caption=f"{number} told",
            perturbed=f"{number} wrong",
            edit={},
        ),
    )


def motion(number, frames=20):
    return Motion(positions=np.full((frames, 22, 3), number, dtype=np.float32), fps=20.0)


TASKS = [task(axis, n) for axis in AXES for n in range(10)]
LIBRARY = MotionLibrary.of({f"m{n}": motion(n) for n in range(10)})


class Pairs:
    """Scores a pair by a function of caption and motion number; mirrored motions are negative."""

    native_metric, fingerprint = "test", "00" * 32

    def __init__(self, function, name="Test"):
        self.function, self.name = function, name

    def score(self, texts, motions):
        if any(m.frames < 10 for m in motions):
            raise InputError("expected 10 frames", file="x")
        return np.array(
            [
                self.function(t, float(m.positions[0, 0, 1]), float(m.positions[0, 0, 0]) < 0)
                for t, m in zip(texts, motions, strict=True)
            ],
            dtype=np.float32,
        )


def source(function, library=LIBRARY):
    return ModelScores(Pairs(function), library)


def knows(text, number, mirrored=False):
    own, word = text.split()
    return float(own == str(int(number)) and word == "told")


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 20), st.integers(1, 12), st.integers(0, 99))
def test_controls_are_other_motions_of_the_cell(motions, count, seed):
    tasks = [task("temporal_order", n, f"m{n % motions}") for n in range(25)]
    tasks += [task("mirror_reflection", n, f"x{n}") for n in range(3)]
    drawn = draw_controls(tasks, count=count, seed=seed)
    for place, one in enumerate(tasks):
        own = [c.motion_id for c in drawn if c.item == place]
        cell = {t.key.motion_id for t in tasks if t.key.axis == one.key.axis}
        assert len(own) == len(set(own)) == min(count, len(cell) - 1)
        assert set(own) <= cell - {one.key.motion_id}


def test_the_draw_of_an_item_is_its_own():
    tasks = [task("temporal_order", n) for n in range(12)]
    first = draw_controls(tasks, count=4, seed=1)
    again = draw_controls(list(reversed(tasks)), count=4, seed=1)
    by_id = {(tasks[c.item].item_id, c.draw): c.motion_id for c in first}
    turned = {(tasks[11 - c.item].item_id, c.draw): c.motion_id for c in again}
    assert by_id == turned
    assert first != draw_controls(tasks, count=4, seed=2)


def test_draws_are_even():
    tasks = [task("temporal_order", n, f"m{n % 5}") for n in range(4000)]
    drawn = draw_controls(tasks, count=1)
    counts = np.unique([c.motion_id for c in drawn], return_counts=True)[1]
    assert counts.min() > 0.85 * 800


def test_an_item_alone_in_its_cell_has_no_control():
    scored = score_items([task("temporal_order", 0)], source(knows))
    found = score_stride(scored.given).cells[0]
    assert found.acc == 1
    assert found.bias is None
    assert found.reasons["delta"] == "no_unrelated_motion_for_1_of_1_items"


def test_a_model_that_knows():
    scored = score_items(TASKS, source(knows))
    for found in score_stride(scored.given).cells:
        assert (found.acc, found.bias, found.delta, found.gpr) == (1.0, 0.5, 1.0, 100.0)
    assert len(scored.controls) == 8 * len(TASKS)
    assert scored.invisible is None


def test_a_model_that_reads_only_the_text():
    scored = score_items(TASKS, source(lambda text, *_: float(hash_of(text))))
    for found in score_stride(scored.given).cells:
        assert found.delta == 0
        assert found.gpr == 50


def hash_of(text):
    return sum(ord(c) * (k + 1) for k, c in enumerate(text)) % 7


def test_a_dual_encoder_that_reads_only_the_text_is_at_chance_to_the_bit():
    class OnlyText:
        name, native_metric, fingerprint = "Text", "cosine", "11" * 32

        def embed_texts(self, texts):
            rng = [np.random.default_rng(hash_of(t)) for t in texts]
            return np.stack([r.normal(size=33) for r in rng]).astype(np.float32)

        def embed_motions(self, motions):
            row = np.random.default_rng(9).normal(size=33).astype(np.float32)
            return np.stack([row] * len(motions))

        def similarity(self, texts, motions):
            return texts @ motions.T

    scored = score_items(TASKS, ModelScores(OnlyText(), LIBRARY))
    for found in score_stride(scored.given).cells:
        assert found.delta == pytest.approx(0, abs=1e-12)
        assert found.gpr == 50


def test_refused_motions_are_left_out_and_counted():
    library = MotionLibrary.of({f"m{n}": motion(n, 5 if n == 3 else 20) for n in range(10)})
    scored = score_items(TASKS, source(knows, library))
    assert len(scored.given.keys) == 36
    assert all(key.motion_id != "m3" for key in scored.given.keys)
    assert all(control.motion_id != "m3" for control in scored.controls)
    assert scored.dropped[0].n == 4
    assert score_stride(scored.given).cells[0].delta == 1


def test_nothing_left_is_an_error():
    library = MotionLibrary.of({f"m{n}": motion(n, 5) for n in range(10)})
    with pytest.raises(InputError, match="Test: no item can be scored"):
        score_items(TASKS, source(knows, library))


def test_edits_that_a_model_cannot_see_are_counted():
    class Short(Pairs):
        def visible(self, text):
            return text.split()[0] if int(text.split()[0]) < 5 else text

    model = Short(lambda text, *_: float(len(text)))
    scored = score_items(TASKS, ModelScores(model, LIBRARY))
    found = score_stride(scored.given, invisible=scored.invisible).cells[0]
    assert found.invisible_rate == 0.5
    assert found.tie_rate == 0.5


class Chooser:
    name, native_metric, fingerprint = "Chooser", "forced choice", "22" * 32

    def __init__(self, answer):
        self.answer, self.firsts = answer, []

    def choose(self, motions, first, second):
        self.firsts += [text.endswith("told") for text in first]
        return [
            self.answer(float(m.positions[0, 0, 1]), a, b)
            for m, a, b in zip(motions, first, second, strict=True)
        ]


def test_forced_choice_of_one_who_knows():
    def answer(number, first, second):
        right = f"{int(number)} told"
        return "first" if first == right else "second" if second == right else "tie"

    chooser = Chooser(answer)
    scored = choose_items(TASKS, chooser, LIBRARY)
    for found in score_stride(scored.given).cells:
        assert (found.acc, found.bias, found.delta, found.gpr) == (1.0, 0.5, 1.0, None)
    # The original stands first about half the time, and the same each time it is asked.
    assert 0.4 < np.mean(chooser.firsts) < 0.6
    again = Chooser(answer)
    choose_items(TASKS, again, LIBRARY)
    assert again.firsts == chooser.firsts


def test_always_the_first_gains_nothing():
    scored = choose_items(TASKS, Chooser(lambda *_: "first"), LIBRARY)
    for found in score_stride(scored.given, resamples=0).cells:
        assert abs(found.delta) < 0.9
        assert 0 < found.bias < 1


def test_unusable_answers_are_counted():
    scored = choose_items(TASKS, Chooser(lambda *_: "invalid"), LIBRARY)
    found = score_stride(scored.given).cells[0]
    assert (found.acc, found.bias, found.delta, found.invalid_rate) == (0.5, 0.5, 0.0, 1.0)


def test_answers_that_are_none_are_refused():
    with pytest.raises(InputError, match="Chooser: choose returned 'yes', expected one of first"):
        choose_items(TASKS, Chooser(lambda *_: "yes"), LIBRARY)
    short = Chooser(lambda *_: "first")
    short.choose = lambda *_: ["first"]
    with pytest.raises(InputError, match=r"choose returned 1 answers to \d+ questions"):
        choose_items(TASKS, short, LIBRARY)


def test_a_motion_that_cannot_be_read_costs_its_items_alone():
    def lost():
        raise InputError("the file is cut off")

    library = MotionLibrary(
        {f"m{n}": (str(n), (lambda n=n: motion(n)) if n else lost) for n in range(10)}
    )
    scored = choose_items(TASKS, Chooser(lambda *_: "first"), library)
    of_lost = [one for one in TASKS if one.key.motion_id == "m0"]
    assert [(d.what, d.n, d.reason) for d in scored.dropped] == [
        ("items", len(of_lost), "the file is cut off")
    ]
    assert len(scored.given.keys) == len(TASKS) - len(of_lost)
    assert "m0" not in {one.motion_id for one in scored.asked}
    with pytest.raises(InputError, match="Chooser: no item can be scored: the file is cut off"):
        choose_items(of_lost, Chooser(lambda *_: "first"), library)


def test_mirror_grids_by_hand():
    grids = Grids(
        ("i", "j", "k"),
        ("a", "a", "a"),
        ("m", "m", "n"),
        np.array([[2.0, 1, 0, 3], [1, 2, 2, 1], [1, 1, 1, 1]]),
    )
    # Interactions 2 + 3 - 1 - 0 = 4, 1 + 1 - 2 - 2 = -2 and 0.
    assert grids.interaction.tolist() == [4, -2, 0]
    (found,) = audit_mirrors(grids)
    assert found.n == 3
    assert found.diagonal == 0.5
    assert found.interaction == pytest.approx(2 / 3)
    assert found.caption_original == found.caption_mirrored == 0.5
    assert audit_mirrors(grids, "strict")[0].diagonal == pytest.approx(1 / 3)
    assert grids_csv(grids).splitlines()[1] == "i,a,m,2.0,1.0,0.0,3.0,4.0"


def test_grids_ask_for_the_mirror_image():
    def sided(text, number, mirrored):
        return float(text.endswith("wrong") == mirrored)

    # Numbers stand in x as well, so that a mirrored motion has them negative.
    library = MotionLibrary.of({f"m{n}": motion(n + 1) for n in range(10)})
    grids = score_grids(TASKS, source(sided, library))
    assert len(grids.item_ids) == 10
    (found,) = audit_mirrors(grids)
    assert found.diagonal == found.motion_mirrored == found.caption_mirrored == 1.0
    assert found.interaction == 2.0


def test_a_model_blind_to_sides_has_no_interaction():
    grids = score_grids(TASKS, source(lambda text, number, mirrored: number + len(text)))
    (found,) = audit_mirrors(grids)
    assert found.diagonal == found.motion_original == 0.5
    assert found.interaction == 0.0
