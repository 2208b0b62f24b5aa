"""What is wrong with a checkpoint is said by name, and nothing in it is run."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.clam import Clam
from evaluators.humanml3d import HumanML3DEvaluator
from evaluators.networks.actor import sequence_encoder
from evaluators.snapmogen import SnapMoGen
from evaluators.text.clip_bpe import BytePairs
from evaluators.text.glove import WordVectors
from evaluators.text.tags import GivenTags
from evaluators.tmr import Tmr
from evaluators.weights import SIGNATURES, Weights, recognise
from tests.evaluators import layouts


def saved(state: object, path: Path) -> Weights:
    torch.save(state, path)
    return read_weights(path)


def flat(state: dict) -> dict[str, torch.Tensor]:
    found = {}
    for part, tensors in state.items():
        if isinstance(tensors, dict):
            found |= {f"{part}.{k}": t for k, t in tensors.items() if hasattr(t, "shape")}
    return found


def all_layouts() -> dict[str, dict[str, torch.Tensor]]:
    of = layouts.below
    actor = layouts.actor(8)
    with_linear = actor | layouts.linear("linear", 16, 16)
    bert = layouts.distilbert(9)
    return {
        "HumanML3D evaluator": flat(layouts.humanml3d()),
        "CLaM": flat(layouts.clam(30)),
        "TMR": layouts.tensors(of("motion_encoder.", actor) | of("text_encoder.", actor)),
        "ChronRet": layouts.tensors(
            of("motion_encoder.", actor)
            | of("text_encoder.", actor)
            | of("text_model.text_model.", bert)
        ),
        "one encoder of TMR": layouts.tensors(actor),
        "SnapMoGen": layouts.tensors(of("latent_enc.", with_linear) | of("text_enc.", with_linear)),
        "MotionPatches": layouts.motionpatches(),
        "SGAR": layouts.motionpatches(5),
        "MoBERT": layouts.mobert(20),
        "T2M-GPT's VQ-VAE": layouts.tensors(of("vqvae.", layouts.vqvae())),
        "MotionGPT": layouts.tensors(
            of("vae.", layouts.vqvae()) | {"lm.language_model.shared.weight": (4, 4)}
        ),
        "TEMOS (its own repository)": layouts.tensors({"motionencoder.mu_token": (4,)}),
    }


def test_every_layout_is_recognised_as_itself_and_nothing_else() -> None:
    found = {name: recognise(state) for name, state in all_layouts().items()}
    assert found == {name: [name] for name in SIGNATURES}


@pytest.mark.parametrize("name", SIGNATURES)
def test_another_models_checkpoint_is_refused_naming_both(name: str, tmp_path: Path) -> None:
    weights = saved(all_layouts()[name], tmp_path / "some.pt")
    weights.require(name)
    other = "CLaM" if name != "CLaM" else "TMR"
    with pytest.raises(InputError) as error:
        weights.require(other)
    assert f"expected a checkpoint of {other}, got one of {name}" in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "some.pt"))


def test_models_refuse_each_others_checkpoints(tmp_path: Path) -> None:
    mean, std = layouts.statistics()
    words = WordVectors.read(layouts.write_glove(tmp_path / "glove", ("a",)))
    pairs = BytePairs.read(layouts.write_merges(tmp_path / "m.gz"))
    evaluator = saved(layouts.humanml3d(), tmp_path / "h.tar")
    clam = saved(layouts.clam(len(pairs)), tmp_path / "c.tar")
    tags = GivenTags({})
    with pytest.raises(InputError, match=r"checkpoint of HumanML3D evaluator, got one of CLaM"):
        HumanML3DEvaluator(clam, mean, std, words, tags)
    with pytest.raises(InputError, match=r"checkpoint of CLaM, got one of HumanML3D evaluator"):
        Clam(evaluator, mean, std, pairs)
    with pytest.raises(InputError, match=r"checkpoint of TMR, got one of HumanML3D evaluator"):
        Tmr(evaluator, mean, std, None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"checkpoint of SnapMoGen, got one of CLaM"):
        SnapMoGen(clam, mean, std, None)  # type: ignore[arg-type]


def test_a_missing_key_is_named_with_its_prefix(tmp_path: Path) -> None:
    state = layouts.humanml3d()
    del state["motion_encoder"]["gru.bias_hh_l0_reverse"]  # type: ignore[union-attr]
    mean, std = layouts.statistics()
    words = WordVectors.read(layouts.write_glove(tmp_path / "glove", ("a",)))
    with pytest.raises(InputError, match=r"lacks motion_encoder\.gru\.bias_hh_l0_reverse$"):
        HumanML3DEvaluator(saved(state, tmp_path / "x.tar"), mean, std, words, GivenTags({}))


def test_a_renamed_key_is_named_both_ways(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state["seqTransEncoder.layers.1.linear_two.bias"] = state.pop(
        "seqTransEncoder.layers.1.linear2.bias"
    )
    with pytest.raises(
        InputError,
        match=r"lacks .*layers\.1\.linear2\.bias; it has .*layers\.1\.linear_two\.bias, which",
    ):
        sequence_encoder(saved(state, tmp_path / "x.pt"))


def test_a_key_that_sizes_are_read_from_is_named_too(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    del state["projection.weight"]
    with pytest.raises(InputError, match=r"the checkpoint has no projection\.weight"):
        sequence_encoder(saved(state, tmp_path / "x.pt"))


def test_keys_beyond_are_returned_and_do_no_harm(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state["ema.shadow"] = torch.zeros(3)
    network, extra = sequence_encoder(saved(state, tmp_path / "x.pt"))
    assert extra == ("ema.shadow",)
    assert not network.training


@pytest.mark.parametrize("spoil", [float("nan"), float("inf")])
def test_a_tensor_with_nan_is_refused(spoil: float, tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state["tokens"][0, 0] = spoil
    with pytest.raises(InputError, match="tokens: expected finite numbers"):
        sequence_encoder(saved(state, tmp_path / "x.pt"))


def test_another_shape_is_refused_with_both(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state["seqTransEncoder.layers.1.norm2.bias"] = torch.zeros(7)
    with pytest.raises(InputError, match=r"norm2\.bias: expected shape \(16,\), got \(7,\)"):
        sequence_encoder(saved(state, tmp_path / "x.pt"))


def test_python_objects_are_not_loaded_without_trust(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    torch.save(
        {"state_dict": layouts.tensors({"a": (2,)}), "x": layouts.Trap(touched)}, tmp_path / "t.pt"
    )
    with pytest.raises(InputError, match=r"Python objects .*--trust"):
        read_weights(tmp_path / "t.pt")
    assert not touched.exists()
    weights = read_weights(tmp_path / "t.pt", trust=True)
    assert weights.keys == ("a",)
    assert touched.exists()


def test_a_number_of_numpy_beside_the_tensors_is_no_python_object(tmp_path: Path) -> None:
    state = {**layouts.tensors({"a": (2,)}), "loss": np.float64(0.5), "epoch": np.int64(3)}
    assert saved(state, tmp_path / "x.pt").keys == ("a",)
    state["name"] = np.array(layouts.Trap(tmp_path / "touched"), dtype=object)
    torch.save(state, tmp_path / "y.pt")
    with pytest.raises(InputError, match="--trust"):
        read_weights(tmp_path / "y.pt")
    assert not (tmp_path / "touched").exists()


def test_a_plain_pickle_in_place_of_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    (tmp_path / "t.pt").write_bytes(pickle.dumps(layouts.Trap(touched)))
    with pytest.raises(InputError):
        read_weights(tmp_path / "t.pt")
    with pytest.raises(InputError):
        read_array(tmp_path / "t.pt")
    assert not touched.exists()


@given(st.binary(max_size=200))
def test_any_bytes_end_in_one_line(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("x.pt", "x.safetensors", "x.npy"):
            file = Path(folder) / name
            file.write_bytes(content)
            with pytest.raises(InputError) as error:
                read_array(file) if name == "x.npy" else read_weights(file)
            assert "\n" not in str(error.value)


def test_safetensors_and_nested_dictionaries_give_the_same(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    state = layouts.tensors({"part.a": (2, 3), "part.b": (1,)})
    save_file(state, tmp_path / "x.safetensors")
    nested = {"part": {"a": state["part.a"], "b": state["part.b"]}, "epoch": 3}
    one, other = read_weights(tmp_path / "x.safetensors"), saved(nested, tmp_path / "x.pt")
    assert set(one.keys) == set(other.keys) == {"part.a", "part.b"}
    assert torch.equal(one["part.a"], other.below("part.")["a"])


def test_statistics_of_another_shape_or_with_nan_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "mean.npy", np.zeros(262))
    with pytest.raises(InputError, match=r"shape \(263,\), got float64 \(262,\)"):
        read_array(tmp_path / "mean.npy", (263,))
    torch.save(torch.tensor([1.0, float("nan")]), tmp_path / "std.pt")
    with pytest.raises(InputError, match="finite"):
        read_array(tmp_path / "std.pt")
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "o.npy").write_bytes(buffer.getvalue())
    with pytest.raises(InputError):
        read_array(tmp_path / "o.npy")


def test_the_fingerprint_follows_content_and_options_not_paths(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"weights")
    b.write_bytes(b"weights")
    assert fingerprint({"w": a}, {"k": 1}) == fingerprint({"w": b}, {"k": 1})
    assert fingerprint({"w": a}, {"k": 1}) != fingerprint({"w": a}, {"k": 2})
    b.write_bytes(b"weightS")
    assert fingerprint({"w": a}, {}) != fingerprint({"w": b}, {})
