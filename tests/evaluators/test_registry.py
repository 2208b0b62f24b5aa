"""Every released model opens from a folder in its official layout, and says what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from corpus.problems import InputError
from evaluators import protocol
from evaluators.models import ModelFiles
from evaluators.registry import MODELS, get_model, open_model
from evaluators.selfcheck import check_embeddings, read_test_set
from evaluators.snapmogen import FeatureFolder
from motionjury.cli import cli
from tests.evaluators import layouts
from tests.evaluators.test_m2t import write_t5

PROTOCOLS = {
    "embedding": protocol.EmbeddingModel,
    "pair": protocol.PairScorer,
    "likelihood": protocol.LikelihoodModel,
}


def put(array: np.ndarray, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".pt":
        torch.save(torch.from_numpy(array), file)
    else:
        np.save(file, array)


def put_statistics(folder: Path, mean: str, std: str, width: int = 263) -> None:
    for array, name in zip(layouts.statistics(width), (mean, std), strict=True):
        put(array, folder / name)


def put_state(state: object, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, file)


def guo(root: Path) -> None:
    put_statistics(root / "checkpoints/t2m/Comp_v6_KLD01/meta", "mean.npy", "std.npy")


def write_humanml3d(root: Path) -> None:
    put_state(layouts.humanml3d(), root / "checkpoints/t2m/text_mot_match/model/finest.tar")
    guo(root)
    layouts.write_glove(root / "glove", ("a", "person", "walk", "sit"))
    texts = root / "dataset/HumanML3D/texts"
    texts.mkdir(parents=True)
    (texts / "1.txt").write_text("a person walks#a/DET person/NOUN walk/VERB#0.0#0.0\n")


def write_tmr(root: Path) -> None:
    for part, width, seed in (("motion_encoder", 263, 1), ("text_encoder", 20, 2)):
        put_state(layouts.tensors(layouts.actor(width), seed), root / f"last_weights/{part}.pt")
    put_statistics(root / "stats/humanml3d/guoh3dfeats", "mean.pt", "std.pt")
    layouts.write_bert(root / "distilbert-base-uncased")


def write_chronret(root: Path) -> None:
    state = layouts.tensors(
        layouts.below("motion_encoder.", layouts.actor(263))
        | layouts.below("text_encoder.", layouts.actor(20))
        | layouts.below("text_model.text_model.", layouts.distilbert(len(layouts.PIECES)))
    )
    put_state(state, root / "output/bert_neg_o2e/best_model_mt.pt")
    put_statistics(root / "stats/humanml3d/guoh3dfeats", "mean.pt", "std.pt")
    (root / "vocab.txt").write_text("\n".join(layouts.PIECES) + "\n")


def write_clam(root: Path) -> None:
    words = 512 + len(layouts.MERGES) + 2
    put_state(layouts.clam(words), root / "checkpoints/t2m/text_mot_match/model/finest.tar")
    guo(root)
    (root / "CLIP_CLaM/clip").mkdir(parents=True)
    layouts.write_merges(root / "CLIP_CLaM/clip/bpe_simple_vocab_16e6.txt.gz")


def write_mobert(root: Path) -> None:
    from tests.evaluators.test_mobert import WORDS, tokenizer

    folder = root / "checkpoints/primary_evaluator/std_bpe2000"
    state = {"model_state_dict": layouts.mobert(len(WORDS)), "scheduler_state_dict": {"n": 1}}
    put_state(state, folder / "best_Faithfulness_checkpoint.pth")
    put_statistics(root / "T2MEval_263_dataset", "Mean.npy", "Std.npy")
    (folder / "tokenizer.tk").write_text(tokenizer().to_str())


def write_snapmogen(root: Path) -> None:
    state = {
        "latent_enc": layouts.tensors(layouts.actor(148) | layouts.linear("linear", 16, 16), 1),
        "text_enc": layouts.tensors(layouts.actor(16) | layouts.linear("linear", 16, 16), 2),
    }
    put_state(
        {"eval_model": state, "ep": 3},
        root / "checkpoint_dir/snapmogen/evaluator/some_run/model/net_best_top1.tar",
    )
    put_statistics(root / "data/snapmogen/meta_data", "mean.npy", "std.npy", 296)
    write_t5(root / "t5-v1_1-base", [], 40)
    put(layouts.clips((130,), 296)[0], root / "features" / f"{layouts.motion().content_hash()}.npy")


def write_patches(root: Path, registers: int = 0) -> None:
    folder = "pretrained" if registers == 0 else "sgar"
    state = layouts.motionpatches(registers)
    put_state(state, root / f"checkpoints/{folder}/HumanML3D/best_model.pt")
    for array, name in zip(layouts.statistics(66), ("Mean_raw", "Std_raw"), strict=True):
        put(array.reshape(22, 3), root / f"data/HumanML3D/{name}.npy")
    (root / "vocab.txt").write_text("\n".join(layouts.PIECES) + "\n")


def write_motiongpt(root: Path) -> None:
    _, model = write_t5(root / "deps/flan-t5-base", [], 40)
    state = {f"vae.{k}": v for k, v in layouts.tensors(layouts.vqvae(), 3).items()}
    state |= {f"lm.language_model.{k}": v for k, v in model.state_dict().items()}
    put_state({"state_dict": state}, root / "motiongpt_s3_h3d.tar")
    put_statistics(root / "deps/t2m/t2m/VQVAEV3_CB1024_CMT_H1024_NRES3/meta", "mean.npy", "std.npy")


def write_mg(root: Path) -> None:
    extra = [f"<{k}>" for k in range(20)] + ["<Motion Tokens>", "</Motion Tokens>"]
    write_t5(root / "m2t-ft-from-GSPretrained-base", extra, 40)
    vq = {f"vqvae.{k}": v for k, v in layouts.tensors(layouts.vqvae(), 3).items()}
    put_state({"net": vq}, root / "checkpoints/pretrained_vqvae/t2m.pth")
    put_statistics(
        root / "checkpoints/t2m/VQVAEV3_CB1024_CMT_H1024_NRES3/meta", "mean.npy", "std.npy"
    )


WRITERS = {
    "humanml3d": write_humanml3d, "tmr": write_tmr, "temos": write_tmr, "chronret": write_chronret,
    "clam": write_clam, "mobert": write_mobert, "snapmogen": write_snapmogen,
    "motionpatches": write_patches, "sgar": lambda root: write_patches(root, 5),
    "motiongpt": write_motiongpt, "mg-motionllm": write_mg,
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_opens_from_its_official_layout_and_scores(name: str, tmp_path: Path) -> None:
    if name in ("mobert", "snapmogen", "motiongpt", "mg-motionllm"):
        pytest.importorskip("transformers", reason="transformers is not installed")
    WRITERS[name](tmp_path)
    model = open_model(name, tmp_path)
    spec = get_model(name)
    assert isinstance(model, PROTOCOLS[spec.kind])
    assert model.name == spec.title
    assert len(model.fingerprint) == 64
    assert model.native_metric in spec.native_metric or spec.native_metric.startswith(
        model.native_metric
    )
    motion, text = layouts.motion(), "a person walks"
    if isinstance(model, protocol.EmbeddingModel):
        rows = model.embed_motions([motion])
        score = model.similarity(model.embed_texts([text]), rows)
    elif isinstance(model, protocol.PairScorer):
        score = model.score([text], [motion])
    else:
        score = model.log_likelihood([text], [motion])
        assert (score < 0).all()
    assert np.isfinite(score).all()
    assert isinstance(model, protocol.SeesText)
    assert model.visible(text)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_missing_is_listed_in_full(name: str, tmp_path: Path) -> None:
    spec = get_model(name)
    with pytest.raises(InputError) as error:
        open_model(name, tmp_path)
    required = [need.key for need in spec.needs if need.required]
    for key in (*required, *(row[0] for row in spec.either)):
        assert f"--file {key}=PATH" in str(error.value)


def test_the_fingerprint_follows_weights_and_options(tmp_path: Path) -> None:
    write_clam(tmp_path)
    one = open_model("clam", tmp_path).fingerprint
    assert open_model("clam", tmp_path).fingerprint == one
    assert open_model("clam", tmp_path, options={"metric": "cosine"}).fingerprint != one
    put(layouts.statistics()[0] + 1, tmp_path / "checkpoints/t2m/Comp_v6_KLD01/meta/mean.npy")
    assert open_model("clam", tmp_path).fingerprint != one


def test_clams_two_metrics_are_named(tmp_path: Path) -> None:
    write_clam(tmp_path)
    rows = np.eye(3, 10, dtype=np.float32)
    far = open_model("clam", tmp_path)
    near = open_model("clam", tmp_path, options={"metric": "cosine"})
    assert isinstance(far, protocol.EmbeddingModel)
    assert isinstance(near, protocol.EmbeddingModel)
    assert far.native_metric == "Euclidean distance, negated"
    assert near.native_metric == "cosine"
    assert far.similarity(rows, 2 * rows)[0, 0] == pytest.approx(-1)
    assert near.similarity(rows, 2 * rows)[0, 0] == pytest.approx(1)


def test_named_files_come_before_the_folders_and_unknown_names_are_refused(tmp_path: Path) -> None:
    write_clam(tmp_path)
    spec = get_model("clam")
    put(np.zeros(5), tmp_path / "other.npy")
    given = {"mean": tmp_path / "other.npy"}
    with pytest.raises(InputError, match=r"mean: the encoder takes 263 features.*\(5,\)"):
        open_model("clam", tmp_path, given)
    with pytest.raises(InputError, match="--file: clam takes checkpoint, mean, std, bpe, got x"):
        ModelFiles(spec, tmp_path, {"x": tmp_path})
    with pytest.raises(InputError, match="--option: clam takes metric, got heads"):
        ModelFiles(spec, tmp_path, options={"heads": "2"})
    with pytest.raises(InputError, match="--option metric: expected one of euclidean, cosine"):
        open_model("clam", tmp_path, options={"metric": "dot"})
    with pytest.raises(InputError, match="it is not there"):
        ModelFiles(spec, tmp_path, {"mean": tmp_path / "absent.npy"})


def test_a_last_ckpt_does_where_there_are_no_last_weights(tmp_path: Path) -> None:
    write_tmr(tmp_path)
    whole = {
        f"{part}.{key}": tensor
        for part in ("motion_encoder", "text_encoder")
        for key, tensor in torch.load(tmp_path / f"last_weights/{part}.pt").items()
    }
    first = open_model("tmr", tmp_path)
    for part in ("motion_encoder", "text_encoder"):
        (tmp_path / f"last_weights/{part}.pt").unlink()
    put_state({"state_dict": whole, "epoch": 9}, tmp_path / "logs/checkpoints/last.ckpt")
    second = open_model("tmr", tmp_path)
    assert isinstance(first, protocol.EmbeddingModel)
    assert isinstance(second, protocol.EmbeddingModel)
    np.testing.assert_array_equal(first.embed_texts(["sits"]), second.embed_texts(["sits"]))


def test_the_checkpoint_the_user_names_comes_before_the_last_weights(tmp_path: Path) -> None:
    write_tmr(tmp_path)
    whole = layouts.tensors(
        layouts.below("motion_encoder.", layouts.actor(263))
        | layouts.below("text_encoder.", layouts.actor(20)),
        seed=77,
    )
    put_state({"state_dict": whole}, tmp_path / "epoch=99.ckpt")
    last = open_model("tmr", tmp_path)
    named = open_model("tmr", tmp_path, {"checkpoint": tmp_path / "epoch=99.ckpt"})
    alone = open_model(
        "tmr",
        None,
        {
            "checkpoint": tmp_path / "epoch=99.ckpt",
            "bert": tmp_path / "distilbert-base-uncased",
            "mean": tmp_path / "stats/humanml3d/guoh3dfeats/mean.pt",
            "std": tmp_path / "stats/humanml3d/guoh3dfeats/std.pt",
        },
    )
    rows = [m.embed_texts(["sits"]) for m in (last, named, alone)]  # type: ignore[union-attr]
    np.testing.assert_array_equal(rows[1], rows[2])
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    # One file of the two alone does not hide the checkpoint that has both.
    (tmp_path / "last_weights/text_encoder.pt").unlink()
    put_state({"state_dict": whole}, tmp_path / "logs/checkpoints/last.ckpt")
    half = open_model("tmr", tmp_path)
    np.testing.assert_array_equal(half.embed_texts(["sits"]), rows[1])  # type: ignore[union-attr]


def test_a_word_that_is_no_corpus_and_a_device_that_is_none_are_refused(tmp_path: Path) -> None:
    write_humanml3d(tmp_path)
    with pytest.raises(InputError, match="--option corpus: expected one of t2m, kit, got KIT"):
        open_model("humanml3d", tmp_path, options={"corpus": "KIT"})
    with pytest.raises(InputError, match=r"corpus=kit: expected 251 features.*\(263,\)"):
        open_model("humanml3d", tmp_path, options={"corpus": "kit"})
    for device in ("tpu", "meta", "cuda:99"):
        with pytest.raises(InputError, match=f"--device: expected .*, got {device}"):
            open_model("humanml3d", tmp_path, device=device)


def test_a_malicious_checkpoint_runs_only_where_it_is_trusted(tmp_path: Path) -> None:
    write_humanml3d(tmp_path)
    touched = tmp_path / "touched"
    file = tmp_path / "checkpoints/t2m/text_mot_match/model/finest.tar"
    put_state({**layouts.humanml3d(), "options": layouts.Trap(touched)}, file)
    words = ["humanml3d", "--files", str(tmp_path), "--data", str(tmp_path / "data")]
    write_data(tmp_path / "data")
    result = CliRunner().invoke(cli, ["score", "selfcheck", *words])
    assert isinstance(result.exception, InputError)
    assert "give --trust if you trust its maker" in str(result.exception)
    assert not touched.exists()
    assert CliRunner().invoke(cli, ["score", "selfcheck", *words, "--trust"]).exit_code == 1
    assert touched.exists()


def test_a_folder_of_another_model_names_both(tmp_path: Path) -> None:
    write_clam(tmp_path)
    write_data(tmp_path / "data")
    words = ["humanml3d", "--files", str(tmp_path), "--data", str(tmp_path / "data")]
    result = CliRunner().invoke(cli, ["score", "selfcheck", *words])
    assert isinstance(result.exception, InputError)
    assert "expected a checkpoint of HumanML3D evaluator, got one of CLaM" in str(result.exception)


def test_a_list_or_motion_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    write_data(tmp_path)
    name = (tmp_path / "test.txt").read_text().split()[0]
    np.savez(tmp_path / "new_joint_vecs" / f"{name}.npz", a=np.zeros(3))
    (tmp_path / f"new_joint_vecs/{name}.npz").rename(tmp_path / f"new_joint_vecs/{name}.npy")
    with pytest.raises(InputError, match=rf"{name}\.npy: expected an array"):
        read_test_set(tmp_path, "new_joint_vecs")
    (tmp_path / "test.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"test\.txt: expected ids in UTF-8"):
        read_test_set(tmp_path, "new_joint_vecs")


def test_tmrs_heads_come_from_its_config(tmp_path: Path) -> None:
    write_tmr(tmp_path)
    four = open_model("tmr", tmp_path)
    config = {"model": {"motion_encoder": {"num_heads": 2}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    two = open_model("tmr", tmp_path)
    named = open_model("tmr", tmp_path, options={"heads": "4"})
    rows = [m.embed_motions([layouts.motion()]) for m in (four, two, named)]  # type: ignore[union-attr]
    assert np.abs(rows[0] - rows[1]).max() > 1e-4
    np.testing.assert_array_equal(rows[0], rows[2])
    assert four.fingerprint == named.fingerprint != two.fingerprint
    config["model"]["motion_encoder"]["num_heads"] = 0
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        InputError, match=r"config\.json: model\.motion_encoder\.num_heads: expected"
    ):
        open_model("tmr", tmp_path)


def test_an_edited_motion_never_gets_the_features_of_the_one_it_was_made_from(
    tmp_path: Path,
) -> None:
    motion = layouts.motion()
    put(np.ones((130, 296), np.float32), tmp_path / "a.npy")
    (tmp_path / "index.csv").write_text(f"content_hash,file\n{motion.content_hash()},a.npy\n")
    folder = FeatureFolder(tmp_path)
    assert folder.of(motion).shape == (130, 296)
    for edited in (motion.mirrored(), motion.time_reversed()):
        with pytest.raises(InputError, match="mirrored and reversed motions need their own"):
            folder.of(edited)


class Lookup:
    """A dual encoder whose vectors are what the test says."""

    def __init__(self, texts: dict[str, list[float]]) -> None:
        self.texts = texts

    def embed_texts(self, texts):
        return np.array([self.texts[t] for t in texts], dtype=np.float32)

    def similarity(self, texts, motions):
        return texts @ motions.T


def test_recall_of_a_perfect_a_constant_and_a_cyclic_model() -> None:
    captions = [f"c{k}" for k in range(70)]
    eye = np.eye(70, dtype=np.float32)
    perfect = check_embeddings(
        Lookup(dict(zip(captions, eye.tolist(), strict=True))), captions, eye
    )
    assert (perfect.n, perfect.pooled) == (70, 64)
    assert perfect.results["R@1"] == perfect.results["full R@1"] == 100.0
    constant = check_embeddings(Lookup({c: [0.0] * 70 for c in captions}), captions, eye)
    assert constant.results["R@3"] == constant.results["full R@10"] == 0.0
    shifted = np.roll(eye, 1, axis=0) + 0.5 * eye
    second = check_embeddings(
        Lookup(dict(zip(captions, shifted.tolist(), strict=True))), captions, eye
    )
    assert second.results["full R@1"] == 0.0
    assert second.results["full R@5"] == 100.0


def test_any_motion_with_the_identical_caption_counts_in_the_full_set() -> None:
    captions = ["same", "same", "other"]
    motions = np.eye(3, dtype=np.float32)
    model = Lookup({"same": [1.0, 0.0, 0.5], "other": [0.0, 0.0, 1.0]})
    assert check_embeddings(model, captions, motions).results["full R@1"] == 100.0


def write_data(folder: Path, count: int = 70) -> None:
    rng = np.random.default_rng(0)
    (folder / "texts").mkdir(parents=True)
    (folder / "new_joint_vecs").mkdir()
    names = [f"{k:06d}" for k in range(count + 3)]
    for place, name in enumerate(names):
        frames = 30 if place == count else 230 if place == count + 1 else 40 + place
        clip = rng.normal(size=(frames, 263)).astype(np.float32)
        np.save(folder / "new_joint_vecs" / f"{name}.npy", clip)
        words = "a person walks" if place % 2 else "a person sits"
        tags = "a/DET person/NOUN walk/VERB" if place % 2 else "a/DET person/NOUN sit/VERB"
        span = "0.5#2.6" if place == 5 else "0.0#0.0"
        (folder / "texts" / f"{name}.txt").write_text(f"{words}#{tags}#{span}\n")
    (folder / "new_joint_vecs" / f"{names[-1]}.npy").unlink()
    (folder / "test.txt").write_text("\n".join(names) + "\n")


def test_the_test_split_is_read_with_spans_and_lengths(tmp_path: Path) -> None:
    write_data(tmp_path)
    found = read_test_set(tmp_path, "new_joint_vecs", shortest=40, below=200)
    # 000005 has 45 frames, its caption speaks of those from 10 on: 35.
    assert len(found.ids) == 69
    assert "000005" not in found.ids
    assert found.dropped == {"no motion or no captions": 1, "not 40 to 200 frames": 3}
    whole = read_test_set(tmp_path, "new_joint_vecs")
    assert len(whole.arrays[whole.ids.index("000005")]) == 35
    assert len(whole.ids) == 72


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["score", "selfcheck", *words])
    return result.exit_code, result.stdout, result.stderr


def test_selfcheck_measures_and_says_that_random_weights_differ(tmp_path: Path) -> None:
    write_humanml3d(tmp_path / "release")
    write_data(tmp_path / "data")
    words = ["humanml3d", "--files", str(tmp_path / "release"), "--data", str(tmp_path / "data")]
    code, out, _ = run(*words, "--json")
    result = json.loads(out)
    assert code == 1
    assert result["outcome"] == "differs"
    assert result["missing"] == []
    assert result["n"] == 69
    assert 0 <= result["results"]["R@1"] < 30
    assert result["difference"] == pytest.approx(result["results"]["R@1"] - 51.1)
    assert result["notes"] == ["tags: given tags, else lexicon of 4 words from texts"]
    code, out, _ = run(*words)
    assert code == 1
    assert "published R@1: 51.10 %" in out


def test_selfcheck_lists_what_is_missing_and_measures_nothing(tmp_path: Path) -> None:
    write_humanml3d(tmp_path)
    (tmp_path / "glove" / "our_vab_data.npy").rename(tmp_path / "x.npy")
    (tmp_path / "checkpoints/t2m/Comp_v6_KLD01/meta/std.npy").unlink()
    code, out, err = run("humanml3d", "--files", str(tmp_path), "--data", str(tmp_path), "--json")
    result = json.loads(out)
    assert code == 2
    assert result["outcome"] == "not run"
    assert result["results"] == {}
    assert [line for line in result["missing"] if "--file std=PATH" in line]
    assert [line for line in result["missing"] if line.endswith("test.txt")]
    assert not [line for line in result["missing"] if "mean" in line.split("(")[0]]
    assert err.strip() == f"motionjury: humanml3d not run: {len(result['missing'])} missing"


def test_selfcheck_opens_models_without_a_figure(tmp_path: Path) -> None:
    write_mobert(tmp_path)
    code, out, _ = run("mobert", "--files", str(tmp_path), "--json")
    result = json.loads(out)
    assert code == 0
    assert result["outcome"] == "opened"
    assert result["assumed"]
    assert result["published"] is None


def test_selfcheck_without_a_model_lists_them() -> None:
    code, out, _ = run("--json")
    assert code == 0
    assert [entry["name"] for entry in json.loads(out)] == list(MODELS)
    assert "tmr: TMR (embedding; cosine; MIT)" in run()[1]


@pytest.mark.parametrize("words", [["--file", "mean"], ["--option", "=x"], ["--file", "mean="]])
def test_options_without_a_value_are_refused(words: list[str]) -> None:
    result = CliRunner().invoke(cli, ["score", "selfcheck", "clam", *words])
    assert isinstance(result.exception, InputError)
    assert "expected KEY=VALUE" in str(result.exception)
