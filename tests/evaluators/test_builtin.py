import numpy as np
import pytest

from corpus.problems import InputError
from corpus.synthetic import demo_corpus
from evaluators.builtin import (
    BuiltinEvaluator,
    load_builtin,
    load_weights,
    read_frames,
    save_weights,
)
from evaluators.model_source import ModelScores
from evaluators.protocol import EmbeddingModel, SeesText
from evaluators.source import MotionLibrary
from evaluators.training.builtin import BuiltinConfig, TrainingSet, train_builtin

TINY = BuiltinConfig(epochs=3, width=32, layers=1, batch=16, learning_rate=3e-3)


def quiet(*_):
    pass


@pytest.fixture(scope="module")
def performed():
    return demo_corpus(1)


@pytest.fixture(scope="module")
def data(performed):
    return TrainingSet(
        [read_frames(made.motion) for made in performed],
        [tuple(c.text for c in made.captions) for made in performed],
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("weights") / "tiny.npz"
    return path, train_builtin(path, TINY, quiet, data=data)


def test_the_same_recipe_gives_the_same_bytes(tmp_path, data, trained):
    path, report = trained
    again = train_builtin(tmp_path / "tiny.npz", TINY, quiet, data=data)
    assert again.fingerprint == report.fingerprint
    assert (tmp_path / "tiny.npz").read_bytes() == path.read_bytes()


def test_a_stopped_run_goes_on_and_ends_the_same(tmp_path, data, trained):
    out = tmp_path / "tiny.npz"
    train_builtin(out, TINY, quiet, data=data, stop_after=2)
    assert not out.exists()
    assert (tmp_path / "tiny.npz.partial").exists()
    report = train_builtin(out, TINY, quiet, data=data)
    assert report.resumed_from == 2
    assert out.read_bytes() == trained[0].read_bytes()
    assert not (tmp_path / "tiny.npz.partial").exists()


def test_another_recipe_does_not_go_on_with_it(tmp_path, data, trained):
    out = tmp_path / "tiny.npz"
    train_builtin(out, TINY, quiet, data=data, stop_after=1)
    other = TINY.model_copy(update={"seed": 1, "epochs": 1})
    report = train_builtin(out, other, quiet, data=data)
    assert report.resumed_from == 0
    assert report.fingerprint != trained[1].fingerprint


def test_it_learns(tmp_path, data, performed):
    # Twenty epochs of a small network rank a caption's own motion far above chance (R@10 0.13).
    learning = {"epochs": 20, "dropout": 0.0, "learning_rate": 6e-3}
    train_builtin(tmp_path / "w.npz", TINY.model_copy(update=learning), quiet, data=data)
    model = load_builtin(tmp_path / "w.npz")
    texts = model.embed_texts([made.captions[0].text for made in performed])
    motions = model.embed_motions([made.motion for made in performed])
    scores = model.similarity(texts, motions)
    rank = (scores > np.diag(scores)[:, None]).sum(axis=1)
    assert (rank < 10).mean() > 0.5


def test_it_follows_the_protocol(trained):
    model = load_builtin(trained[0])
    assert isinstance(model, EmbeddingModel)
    assert isinstance(model, SeesText)
    assert model.native_metric == "cosine"
    assert model.embed_texts([]).shape == model.embed_motions([]).shape == (0, 32)
    assert model.visible("A Person zooms, left.") == "a person <unk> left"


def test_vectors_do_not_depend_on_their_neighbours(trained, performed):
    model = load_builtin(trained[0])
    motions = [made.motion for made in performed[:9]]
    together = model.embed_motions(motions)
    alone = np.concatenate([model.embed_motions([m]) for m in motions])
    assert np.abs(together - alone).max() < 1e-5
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    texts = [made.captions[0].text for made in performed[:9]]
    each = np.concatenate([model.embed_texts([t]) for t in texts])
    assert np.abs(model.embed_texts(texts) - each).max() < 1e-5


def test_unknown_words_make_captions_one(trained, performed):
    source = ModelScores(load_builtin(trained[0]), MotionLibrary.of({"a": performed[0].motion}))
    vectors = source.embed_texts(["a person zorbs", "a person blargs"])
    assert np.array_equal(vectors[0], vectors[1])


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_damaged_weights_are_refused(tmp_path, content):
    path = tmp_path / "w.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="w.npz: expected weights of the built-in evaluator"):
        load_builtin(path)


def test_weights_that_are_not_there_are_named(tmp_path):
    with pytest.raises(InputError, match="motionjury train builtin"):
        load_builtin(tmp_path / "none.npz")


def test_other_arrays_are_no_weights(tmp_path):
    np.savez(tmp_path / "x.npz", scores=np.ones(3))
    with pytest.raises(InputError, match="this file holds none"):
        load_builtin(tmp_path / "x.npz")


def test_changed_weights_have_another_fingerprint(tmp_path, trained):
    arrays, meta = load_weights(trained[0])
    arrays["mean"] = arrays["mean"] + 1
    save_weights(tmp_path / "o.npz", arrays, meta)
    assert load_builtin(tmp_path / "o.npz").fingerprint != trained[1].fingerprint
    assert BuiltinEvaluator(*load_weights(trained[0])).fingerprint == trained[1].fingerprint


@pytest.mark.parametrize(
    "harm",
    [
        lambda arrays, meta: arrays.pop("mean"),
        lambda arrays, meta: arrays.pop("parameter/words.weight"),
        lambda arrays, meta: arrays.update({"parameter/words.weight": np.zeros((2, 2))}),
        lambda arrays, meta: meta.update(vocabulary=meta["vocabulary"][:5]),
        lambda arrays, meta: meta.update(config={"width": "wide"}),
        lambda arrays, meta: meta.pop("vocabulary"),
    ],
)
def test_weights_that_do_not_fit_are_refused(trained, tmp_path, harm):
    arrays, meta = load_weights(trained[0])
    harm(arrays, meta)
    save_weights(tmp_path / "odd.npz", arrays, meta)
    with pytest.raises(InputError, match="do not fit the built-in evaluator"):
        load_builtin(tmp_path / "odd.npz")


def test_weights_whose_meta_is_a_list_are_refused(tmp_path):
    np.savez(tmp_path / "list.npz", meta=np.array('["kind"]'))
    with pytest.raises(InputError, match="holds none or is damaged"):
        load_builtin(tmp_path / "list.npz")


def test_an_unusable_place_is_found_out_before_training(trained, data, tmp_path):
    def never(*_):
        raise AssertionError("training began")

    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        train_builtin(tmp_path / "file" / "out.npz", TINY, never)
    (tmp_path / "out.npz.partial").write_text("no weights")
    with pytest.raises(InputError, match="delete it to start anew"):
        train_builtin(tmp_path / "out.npz", TINY, never)
    # Finished weights of the same recipe lack the optimiser and the number of the epoch.
    (tmp_path / "out.npz.partial").write_bytes(trained[0].read_bytes())
    with pytest.raises(InputError, match="delete it to start anew"):
        train_builtin(tmp_path / "out.npz", TINY, quiet, data=data)
