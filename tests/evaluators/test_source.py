import numpy as np
import pytest

from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.cache import VectorCache
from evaluators.file_source import read_pair_scores
from evaluators.model_source import ModelScores
from evaluators.source import MotionLibrary, Text


def motion(height, frames=30):
    return Motion(positions=np.full((frames, 22, 3), height, dtype=np.float32), fps=20.0)


class Heights:
    """A dual encoder in one dimension: a number in words, and the height of a motion."""

    name, native_metric, fingerprint = "Heights", "negated difference", "ab" * 32

    def __init__(self):
        self.asked = []

    def visible(self, text):
        return " ".join(text.split()[:2])

    def embed_texts(self, texts):
        self.asked.append(("texts", len(texts)))
        return np.array([[float(text.split()[0])] for text in texts], dtype=np.float32)

    def embed_motions(self, motions):
        if any(m.frames < 10 for m in motions):
            raise InputError("expected 10 frames", file="x")
        self.asked.append(("motions", len(motions)))
        return np.array([[m.positions[..., 1].mean()] for m in motions], dtype=np.float32)

    def similarity(self, texts, motions):
        return -np.abs(texts - motions.T)


class Pairs:
    name, native_metric, fingerprint = "Pairs", "product", "cd" * 32

    def __init__(self):
        self.asked = 0

    def score(self, texts, motions):
        if any(m.frames < 10 for m in motions):
            raise InputError("expected 10 frames", file="x")
        self.asked += len(texts)
        products = [
            float(t) * float(m.positions[..., 1].mean())
            for t, m in zip(texts, motions, strict=True)
        ]
        return np.array(products, dtype=np.float32)


LIBRARY = MotionLibrary.of({"low": motion(1), "high": motion(3), "short": motion(1, 5)})
TEXTS = [Text("a", "1 m"), Text("b", "3 m"), Text("a", "1 m"), Text("b", "3 m")]
IDS = ["low", "low", "high", "short"]


def test_pairs_of_a_dual_encoder():
    source = ModelScores(Heights(), LIBRARY)
    found = source.pairs(TEXTS, IDS)
    assert found[:3].tolist() == [0.0, -2.0, -2.0]
    assert np.isnan(found[3])
    assert source.refused(IDS) == {"short": "expected 10 frames"}


def test_nothing_is_computed_twice(tmp_path):
    first, second = Heights(), Heights()
    scores = ModelScores(first, LIBRARY, cache=tmp_path).pairs(TEXTS[:3], IDS[:3])
    again = ModelScores(second, LIBRARY, cache=tmp_path).pairs(TEXTS[:3], IDS[:3])
    assert first.asked == [("motions", 2), ("texts", 2)]
    assert second.asked == []
    assert np.array_equal(scores, again)


def test_another_checkpoint_shares_nothing(tmp_path):
    ModelScores(Heights(), LIBRARY, cache=tmp_path).pairs(TEXTS[:3], IDS[:3])
    other = Heights()
    other.fingerprint = "ef" * 32
    ModelScores(other, LIBRARY, cache=tmp_path).pairs(TEXTS[:3], IDS[:3])
    assert other.asked == [("motions", 2), ("texts", 2)]


def test_texts_that_the_model_sees_as_one_share_a_vector():
    model = Heights()
    vectors = ModelScores(model, LIBRARY).embed_texts(["1 m and more", "1 m", "3 m"])
    assert ("texts", 2) in model.asked or ("texts", 3) in model.asked
    assert np.array_equal(vectors[0], vectors[1])


def test_mirrored_motions_have_their_own_vectors():
    rng = np.random.default_rng(0)
    one = Motion(positions=rng.normal(size=(30, 22, 3)), fps=20.0)
    library = MotionLibrary.of({"m": one})
    assert library.content_hash("m#mirrored") != library.content_hash("m")
    assert np.array_equal(library.load("m#mirrored").positions, one.mirrored().positions)
    assert np.array_equal(library.load("m#time_reversed").positions, one.positions[::-1])


def test_pairs_of_a_pair_scorer_are_kept(tmp_path):
    model = Pairs()
    texts = [Text("a", "2"), Text("b", "5"), Text("a", "2")]
    source = ModelScores(model, LIBRARY, cache=tmp_path)
    found = source.pairs(texts, ["low", "high", "short"])
    assert found[:2].tolist() == [2.0, 15.0]
    assert np.isnan(found[2])
    ModelScores(model, LIBRARY, cache=tmp_path).pairs(texts[:2], ["low", "high"])
    assert model.asked == 2


def test_an_unknown_motion_is_named():
    with pytest.raises(InputError, match="no motion 'gone'"):
        ModelScores(Pairs(), LIBRARY).pairs([Text("a", "1")], ["gone"])


def test_a_damaged_cache_is_named_not_guessed(tmp_path):
    cache = VectorCache(tmp_path)
    cache.add(["aa", "bb"], np.ones((2, 3), dtype=np.float32))
    next(tmp_path.glob("*.vectors.npy")).write_bytes(b"no array")
    with pytest.raises(InputError, match="delete it to compute it again"):
        VectorCache(tmp_path)


def test_a_broken_write_leaves_the_cache_usable(tmp_path):
    VectorCache(tmp_path).add(["aa"], np.ones((1, 3), dtype=np.float32))
    (tmp_path / ".left.keys.npy").write_bytes(b"half")
    (tmp_path / "alone.vectors.npy").write_bytes(b"half")
    assert VectorCache(tmp_path).take(["aa"]).tolist() == [[1.0, 1.0, 1.0]]


def test_the_cache_refuses_what_is_not_finite():
    with pytest.raises(ValueError, match="row 1 has NaN"):
        VectorCache(None).add(["a", "b"], np.array([[1.0], [np.nan]], dtype=np.float32))


@pytest.mark.parametrize(
    ("method", "value", "message"),
    [
        ("embed_texts", np.full((2, 1), np.nan), "embed_texts returned NaN or infinity for 2 of 2"),
        ("embed_texts", np.ones((3, 1)), r"embed_texts returned shape \(3, 1\) for 2 inputs"),
        ("embed_motions", np.ones(2), r"embed_motions returned shape \(2,\) for 2 inputs"),
        ("embed_texts", np.ones((2, 4)), "texts and motions of one width, got 4 and 1"),
        ("embed_texts", [["a"], ["b"]], "embed_texts returned list, expected numbers"),
        ("embed_motions", None, r"embed_motions returned shape \(\) for 2 inputs"),
    ],
)
def test_what_a_model_must_not_return_is_named(method, value, message):
    model = Heights()
    setattr(model, method, lambda _: value)
    with pytest.raises(InputError, match=f"Heights: .*{message}"):
        ModelScores(model, LIBRARY).pairs(TEXTS[:3], IDS[:3])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([np.inf]), "NaN or infinity for 1 of 1"),
        (np.ones((1, 2)), r"shape \(1, 2\) for 1 inputs"),
        (None, r"shape \(\) for 1 inputs"),
        (["good"], "list, expected numbers"),
    ],
)
def test_a_pair_scorer_must_score_each_pair(value, message):
    model = Pairs()
    model.score = lambda texts, motions: value
    with pytest.raises(InputError, match=f"Pairs: score returned {message}"):
        ModelScores(model, LIBRARY).pairs([Text("a", "1")], ["low"])


def test_a_matrix_of_a_file_is_looked_up_and_not_copied(tmp_path):
    path = tmp_path / "scores.npz"
    names = np.array([f"n{k}" for k in range(300)])
    scores = np.arange(300)[:, None] * 300.0 + np.arange(299)
    np.savez(path, scores=scores, text_ids=names, motion_ids=names[:299], higher_is_better=False)
    source = read_pair_scores(path, "Mine", None)
    texts = [Text("n2", ""), Text("n299", "")]
    assert source.pairs(texts, ["n7", "n0"]).tolist() == [-607.0, -89_700.0]
    assert not source.knows_mirrored()
    with pytest.raises(InputError, match=r"1 of 2 pairs have no score.*'n299' with motion 'z'"):
        source.pairs(texts, ["n7", "z"])
    scores[0, 0] = 1e160
    np.savez(path, scores=scores, text_ids=names, motion_ids=names[:299], higher_is_better=False)
    with pytest.raises(InputError, match="numbers up to 1e150"):
        read_pair_scores(path, "Mine", None)


def test_a_table_of_pairs_need_not_be_whole(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("text_id,motion_id,score\na,m#mirrored,2\nb,n,3\na,n,4\n")
    source = read_pair_scores(path, "Mine", True)
    assert source.knows_mirrored()
    assert source.pairs([Text("a", ""), Text("b", "")], ["m#mirrored", "n"]).tolist() == [2, 3]
    with pytest.raises(InputError, match="'b' with motion 'm#mirrored'"):
        source.pairs([Text("b", "")], ["m#mirrored"])


def test_similarities_of_another_shape_are_refused():
    class Odd(Heights):
        def similarity(self, texts, motions):
            return np.zeros(3)

    with pytest.raises(InputError, match="similarity returned shape"):
        ModelScores(Odd(), LIBRARY).pairs(TEXTS, IDS)
