"""HumanML3D's evaluator, TMR, CLaM, ChronRet and SnapMoGen on tiny checkpoints of their layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from corpus.problems import InputError
from evaluators.checkpoints import read_weights
from evaluators.chronret import ChronRet
from evaluators.clam import Clam
from evaluators.humanml3d import HumanML3DEvaluator
from evaluators.model_source import ModelScores
from evaluators.networks.actor import sequence_encoder
from evaluators.protocol import EmbeddingModel, SeesText
from evaluators.snapmogen import FeatureFolder, SnapMoGen
from evaluators.source import MotionLibrary
from evaluators.text.clip_bpe import BytePairs
from evaluators.text.glove import TAGS, WordVectors
from evaluators.text.tags import GivenTags
from evaluators.text.vectors import DistilBertVectors
from evaluators.text.wordpiece import WordPieces
from evaluators.tmr import Tmr
from evaluators.weights import Weights
from metrics.generation import frechet_distance, gaussian
from metrics.generation_suite import REFERENCE_DIVERSITY, Settings
from metrics.interventions import score_interventions
from tests.evaluators import layouts, reference

TEXTS = ("a person walks", "the left hand raised and then a man jump", "sit")
TAGGED = {
    "a person walks": "a/DET person/NOUN walk/VERB",
    "the left hand raised and then a man jump": (
        "the/DET left/ADJ hand/NOUN raise/VERB and/CCONJ then/ADV a/DET zebra/NOUN jump/VERB"
    ),
    "sit": "sit/VERB",
}
WORDS = ("a", "person", "walk", "the", "left", "hand", "raise", "and", "then", "jump", "sit")
IMPORTANT = {
    "left": "Loc_VIP", "hand": "Body_VIP", "walk": "Act_VIP", "raise": "Act_VIP",
    "jump": "Act_VIP", "sit": "Act_VIP",
}  # fmt: skip
LENGTHS = (196, 43, 64, 120, 220)


class Case(NamedTuple):
    model: Any
    state: dict[str, Any]
    expected_motion: Callable[[np.ndarray], np.ndarray]
    expected_text: Callable[[str], np.ndarray]
    width: int = layouts.FEATURES
    lengths: tuple[int, ...] = LENGTHS


def saved(state: Any, path: Path) -> Weights:
    torch.save(state, path)
    return read_weights(path)


def humanml3d(folder: Path) -> Case:
    state = layouts.humanml3d()
    words = WordVectors.read(layouts.write_glove(folder / "glove", WORDS))
    mean, std = layouts.statistics()
    model = HumanML3DEvaluator(
        saved(state, folder / "finest.tar"), mean, std, words, GivenTags(TAGGED)
    )
    text, motion, moves = (
        reference.plain(state[f"{part}_encoder"]) for part in ("text", "motion", "movement")
    )
    vectors = np.load(folder / "glove" / "our_vab_data.npy")
    index = {word: place for place, word in enumerate(("unk", "sos", "eos", *WORDS))}

    def of_motion(clip: np.ndarray) -> np.ndarray:
        kept = min(len(clip) // 4 * 4, 196)
        normal = ((clip[:kept] - mean) / std)[:, :-4]
        units = reference.movement(moves, np.pad(normal, ((0, 196 - kept), (0, 0))))
        return reference.both_ways(motion, units[: kept // 4])

    def of_text(caption: str) -> np.ndarray:
        rows, hot = [], []
        for token in ["sos/OTHER", *TAGGED[caption].split(), "eos/OTHER"]:
            word, tag = token.split("/")
            known = word in index
            important = IMPORTANT.get(word)
            tag = (important or (tag if tag in TAGS else "OTHER")) if known else "OTHER"
            rows.append(vectors[index[word if known else "unk"]])
            hot.append(np.eye(15)[TAGS.index(tag)])
        return reference.both_ways(
            text, np.stack(rows) + reference.linear(text, "pos_emb", np.stack(hot))
        )

    return Case(model, state, of_motion, of_text)


def tmr(folder: Path) -> Case:
    bert = DistilBertVectors(layouts.write_bert(folder / "bert", 64))
    flat = layouts.tensors(
        layouts.below("motion_encoder.", layouts.actor(263))
        | layouts.below("text_encoder.", layouts.actor(64))
        | layouts.below("motion_decoder.", layouts.linear("final_layer", 263, 16))
    )
    mean, std = layouts.statistics()
    model = Tmr(saved(flat, folder / "last.ckpt"), mean, std, bert)
    parts = reference.plain(flat)

    def part(name: str) -> reference.Params:
        return {k.removeprefix(name): v for k, v in parts.items() if k.startswith(name)}

    state = torch.load(folder / "bert" / "pytorch_model.bin")
    frozen = reference.plain({k.removeprefix("distilbert."): v for k, v in state.items()})
    pieces = WordPieces.read(folder / "bert")
    return Case(
        model,
        flat,
        lambda clip: reference.actor(part("motion_encoder."), (clip - mean) / (std + 1e-12))[0],
        lambda caption: reference.actor(
            part("text_encoder."), reference.distilbert(frozen, pieces.ids(caption), 1)
        )[0],
    )


def chronret(folder: Path) -> Case:
    flat = layouts.tensors(
        layouts.below("motion_encoder.", layouts.actor(263))
        | layouts.below("text_encoder.", layouts.actor(64))
        | layouts.below("text_model.text_model.", layouts.distilbert(len(layouts.PIECES), 64))
        | layouts.below("motion_decoder.", layouts.linear("final_layer", 263, 16))
    )
    mean, std = layouts.statistics()
    pieces = WordPieces(list(layouts.PIECES))
    model = ChronRet(saved(flat, folder / "best_model_mt.pt"), mean, std, pieces)
    parts = reference.plain(flat)

    def part(name: str) -> reference.Params:
        return {k.removeprefix(name): v for k, v in parts.items() if k.startswith(name)}

    return Case(
        model,
        flat,
        lambda clip: reference.actor(part("motion_encoder."), (clip[:224] - mean) / (std + 1e-12))[
            0
        ],
        lambda caption: reference.actor(
            part("text_encoder."),
            reference.distilbert(part("text_model.text_model."), pieces.ids(caption, 128), 1),
        )[0],
        lengths=(224, 40, 100, 300),
    )


def clam(folder: Path) -> Case:
    pairs = BytePairs.read(layouts.write_merges(folder / "merges.gz"))
    state = layouts.clam(len(pairs))
    mean, std = layouts.statistics()
    model = Clam(saved(state, folder / "finest.tar"), mean, std, pairs)
    text, motion, moves = (
        reference.plain(state[f"{part}_encoder"]) for part in ("text", "motion", "movement")
    )

    def of_motion(clip: np.ndarray) -> np.ndarray:
        kept = min(len(clip) // 4 * 4, 196)
        normal = ((clip[:kept] - mean) / std)[:, :-4]
        units = reference.movement(moves, np.pad(normal, ((0, 196 - kept), (0, 0))))[: kept // 4]
        x = np.concatenate((units @ motion["proj_pre"], motion["class_embedding"][None]))
        x = reference.layer_norm(motion, "ln_pre", x + motion["positional_embedding"][: len(x)])
        last = reference.clip_blocks(motion, x, 1)[-1]
        return reference.layer_norm(motion, "ln_post", last) @ motion["proj"]

    def of_text(caption: str) -> np.ndarray:
        ids = pairs.ids(caption)
        x = text["token_embedding.weight"][ids] + text["positional_embedding"][: len(ids)]
        x = reference.layer_norm(text, "ln_final", reference.clip_blocks(text, x, 1))
        return x[-1] @ text["text_projection"]

    return Case(model, state, of_motion, of_text)


def snapmogen(folder: Path) -> Case:
    shapes = layouts.actor(148) | layouts.linear("linear", 16, 16)
    of_words = layouts.actor(64) | layouts.linear("linear", 16, 16)
    state = {
        "latent_enc": layouts.tensors(shapes, 1),
        "text_enc": layouts.tensors(of_words, 2),
        "ep": 4,
    }
    mean, std = layouts.statistics(296)
    bert = DistilBertVectors(layouts.write_bert(folder / "words", 64))
    model = SnapMoGen(saved(state, folder / "net_best_top1.tar"), mean, std, bert)
    motion, text = reference.plain(state["latent_enc"]), reference.plain(state["text_enc"])

    def of_motion(clip: np.ndarray) -> np.ndarray:
        kept = min(len(clip) // 8 * 8, 320)
        normal = ((clip[:kept] - mean) / std)[:, :148]
        return reference.linear(motion, "linear", reference.actor(motion, normal)[0])

    return Case(
        model,
        state,
        of_motion,
        lambda caption: reference.linear(
            text, "linear", reference.actor(text, bert.rows([caption])[0])[0]
        ),
        width=296,
        lengths=(320, 128, 161, 400),
    )


MODELS = {
    "humanml3d": humanml3d, "tmr": tmr, "chronret": chronret, "clam": clam, "snapmogen": snapmogen,
}  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return MODELS[request.param](tmp_path_factory.mktemp(request.param))


def test_motions_equal_a_plain_forward_pass(case: Case) -> None:
    clips = layouts.clips(case.lengths, case.width)
    expected = np.stack([case.expected_motion(clip.astype(np.float64)) for clip in clips])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(case.model.embed_features(clips), expected, rtol=0, atol=2e-4)


def test_texts_equal_a_plain_forward_pass(case: Case) -> None:
    expected = np.stack([case.expected_text(text) for text in TEXTS])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(case.model.embed_texts(TEXTS), expected, rtol=0, atol=2e-4)


def test_a_batch_is_what_its_items_are_alone_and_twice_the_same(case: Case) -> None:
    clips = layouts.clips(case.lengths, case.width)
    together = case.model.embed_features(clips)
    alone = np.concatenate([case.model.embed_features([clip]) for clip in clips])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)
    texts = case.model.embed_texts(TEXTS)
    single = np.concatenate([case.model.embed_texts([text]) for text in TEXTS])
    np.testing.assert_allclose(texts, single, rtol=0, atol=1e-5)
    assert np.array_equal(together, case.model.embed_features(clips))


def test_the_order_of_the_batch_is_the_order_of_the_rows(case: Case) -> None:
    clips = layouts.clips(case.lengths, case.width)
    rows = case.model.embed_features(clips)
    back = case.model.embed_features(clips[::-1])
    np.testing.assert_allclose(rows, back[::-1], rtol=0, atol=1e-5)


def test_higher_is_better(case: Case) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(6, 10)).astype(np.float32)
    near = vectors + 0.01 * rng.normal(size=vectors.shape).astype(np.float32)
    scores = case.model.similarity(vectors, near)
    assert scores.shape == (6, 6)
    assert (scores.argmax(axis=1) == np.arange(6)).all()
    assert np.isfinite(case.model.similarity(vectors, vectors)).all()


def test_it_follows_the_protocol(case: Case) -> None:
    assert isinstance(case.model, EmbeddingModel)
    assert isinstance(case.model, SeesText)
    assert case.model.embed_texts([]).shape == (0, case.model.embed_texts(["sit"]).shape[1])
    assert case.model.embed_features([]).shape[0] == 0


def test_what_it_sees_of_a_caption_decides_its_vector(case: Case) -> None:
    long, other = "a person walks " * 70, "a person walks " * 70 + "jump"
    texts = [long, other, "a person walks", "a person sit"]
    if isinstance(case.model, HumanML3DEvaluator):
        words = ("a/DET " * 20, "a/DET " * 20 + "jump/VERB", "a/DET person/NOUN", "sit/VERB")
        case.model._tagger = GivenTags(dict(zip(texts, words, strict=True)) | TAGGED)
    seen = [case.model.visible(text) for text in texts]
    rows = case.model.embed_texts(texts)
    assert seen[0] == seen[1]
    np.testing.assert_allclose(rows[0], rows[1], rtol=0, atol=1e-5)
    assert len(set(seen[1:])) == 3
    assert np.abs(rows[2] - rows[3]).max() > 1e-3


def test_features_of_another_width_are_refused_by_name(case: Case) -> None:
    clip = np.zeros((150, case.width + 1), dtype=np.float32)
    with pytest.raises(InputError, match=rf"clip7: expected features .*{case.width}"):
        case.model.embed_features([clip], ["clip7"])


def test_motions_are_taken_as_joints(tmp_path: Path) -> None:
    model = tmr(tmp_path).model
    motion = layouts.motion(fps=30)
    rows = model.embed_motions([motion, motion.mirrored(), motion.time_reversed()])
    assert np.isfinite(rows).all()
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    assert np.abs(rows[0] - rows[2]).max() > 1e-3


def test_too_short_a_clip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="clip: expected at least 40 frames at 20 fps, got 39"):
        humanml3d(tmp_path).model.embed_features(layouts.clips((39,)), ["clip"])


def test_more_frames_than_positions_are_refused_and_as_many_are_not() -> None:
    network, _ = sequence_encoder(Weights(layouts.tensors(layouts.actor(3, layers=1)), "x"), 1)
    for frames in (4998, 4999):
        steps, mask = torch.zeros(1, frames, 3), torch.ones(1, frames, dtype=torch.bool)
        if frames == 4998:
            with torch.inference_mode():
                assert network(steps, mask).shape == (1, 2, 16)
        else:
            with pytest.raises(InputError, match="at most 4998 frames or tokens, got 4999"):
                network(steps, mask)


def test_snapmogens_fid_is_taken_on_the_vectors_before_the_last_layer(tmp_path: Path) -> None:
    made = snapmogen(tmp_path)
    latent = made.state["latent_enc"]
    names = [f"m{k}" for k in range(8)]
    motions = {name: layouts.motion(30 + k) for k, name in enumerate(names)}
    versions = [*motions.values(), *(m.time_reversed() for m in motions.values())]
    (tmp_path / "features").mkdir()
    for motion, clip in zip(versions, layouts.clips((128,) * 16, 296), strict=True):
        np.save(tmp_path / "features" / f"{motion.content_hash()}.npy", clip)
    mean, std = layouts.statistics(296)
    words = DistilBertVectors(layouts.write_bert(tmp_path / "bert", 64))
    folder = FeatureFolder(tmp_path / "features")
    weights = read_weights(tmp_path / "net_best_top1.tar")
    model = SnapMoGen(weights, mean, std, words, folder, fingerprint="ab" * 32)
    before, behind = model.embed_motions_for_fid(versions), model.embed_motions(versions)
    last = reference.plain(latent)
    np.testing.assert_allclose(reference.linear(last, "linear", before), behind, atol=2e-4)

    def run() -> Any:
        source = ModelScores(model, MotionLibrary.of(motions), tmp_path / "cache")
        settings = Settings(pool=4, replications=2, diversity_pairs=3, distance="cosine")
        captions = [["a person walks"]] * 8
        which = ("original", "time_reversed")
        return score_interventions(source, names, captions, settings=settings, which=which).suites

    suites = run()
    found = suites["time_reversed"].cells
    expected = frechet_distance(gaussian(before[:8]), gaussian(before[8:]))
    assert found["FID"].value == pytest.approx(expected, rel=1e-4)
    wrong = frechet_distance(gaussian(behind[:8]), gaussian(behind[8:]))
    assert wrong != pytest.approx(expected, rel=1e-2)
    # Diversity of both sides is on the vectors of retrieval, with the same draws.
    spread = suites["original"].cells
    assert spread[REFERENCE_DIVERSITY].value is not None
    assert found[REFERENCE_DIVERSITY].value == spread[REFERENCE_DIVERSITY].value
    distances = np.linalg.norm(behind[:8, None] - behind[None, :8], axis=-1)
    assert distances[distances > 0].min() <= spread[REFERENCE_DIVERSITY].value <= distances.max()
    assert run()["time_reversed"].cells["FID"].value == found["FID"].value
    assert {path.name for path in (tmp_path / "cache").glob("*/*")} == {"texts", "motions", "fid"}
