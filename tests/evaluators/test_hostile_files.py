"""Files that are damaged, hostile or of an odd kind end in one line and run nothing."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.networks.actor import sequence_encoder
from evaluators.networks.clip import text_tower
from evaluators.networks.mobert import mobert
from evaluators.regression import read_regression
from evaluators.snapmogen import FeatureFolder
from evaluators.text.clip_bpe import BytePairs
from evaluators.text.glove import WordVectors
from evaluators.text.tags import open_tagger
from evaluators.text.vectors import GivenVectors
from evaluators.weights import Weights
from tests.evaluators import layouts


def reads(state: object, folder: Path) -> Weights:
    torch.save(state, folder / "x.pt")
    return read_weights(folder / "x.pt")


def header(shape: str) -> bytes:
    """The head of an array of that shape, with eight bytes of content."""
    words = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    words += b" " * (53 - (len(words) % 64)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words + bytes(8)


ODD_TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "one number for a million million": lambda: torch.zeros(1).expand(10**12),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "without content": lambda: torch.zeros(3, device="meta"),
}


@pytest.mark.parametrize("kind", ODD_TENSORS)
def test_a_tensor_not_stored_in_full_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"part\.a: expected a tensor stored in full"):
        reads({"part": {"a": ODD_TENSORS[kind]()}}, tmp_path)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floating_point_numbers_are_read_in_float32(
    kind: torch.dtype, tmp_path: Path
) -> None:
    state = layouts.tensors(layouts.actor(8))
    network, _ = sequence_encoder(reads({k: t.to(kind) for k, t in state.items()}, tmp_path))
    for key, tensor in network.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, state[key].to(kind).float())


@pytest.mark.parametrize("kind", [torch.int32, torch.complex64, torch.bool])
def test_what_is_no_floating_point_number_is_refused(kind: torch.dtype, tmp_path: Path) -> None:
    state = {k: t.to(kind) for k, t in layouts.tensors(layouts.actor(8)).items()}
    with pytest.raises(InputError, match="expected floating point numbers, got"):
        sequence_encoder(reads(state, tmp_path))


def test_prefixes_of_several_gpus_and_a_compiler_are_taken_off(tmp_path: Path) -> None:
    plain = layouts.tensors({"encoder.a": (2,), "encoder.b": (3,)})
    for wrapper in ("module.", "_orig_mod."):
        wrapped = {wrapper + key: tensor for key, tensor in plain.items()}
        assert reads(wrapped, tmp_path).keys == tuple(plain)
        assert reads({"state_dict": wrapped, "epoch": 3}, tmp_path).keys == tuple(plain)
    nested = {"text_encoder": {"module.a": torch.zeros(2)}, "opt": {"state": {0: torch.zeros(1)}}}
    assert reads(nested, tmp_path).keys == ("text_encoder.a", "opt.state.0")
    some = {"module.a": torch.zeros(2), "b": torch.zeros(2)}
    assert reads(some, tmp_path).keys == ("module.a", "b")


def test_a_packed_checkpoint_that_would_swell_is_refused_unread(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(4)}, tmp_path / "plain.pt")
    with (
        zipfile.ZipFile(tmp_path / "plain.pt") as plain,
        zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for entry in plain.namelist():
            large = bytes(1 << 25) if entry.endswith("data/0") else plain.read(entry)
            bomb.writestr(entry, large)
    assert (tmp_path / "bomb.pt").stat().st_size < 1 << 17
    with pytest.raises(InputError, match=r"got a packed file of \d+ bytes inside"):
        read_weights(tmp_path / "bomb.pt")


def test_dictionaries_without_end_are_refused(tmp_path: Path) -> None:
    inside: dict[str, object] = {"t": torch.zeros(1)}
    inside["me"] = inside
    with pytest.raises(InputError, match="without end"):
        reads(inside, tmp_path)
    shared: object = torch.zeros(1)
    for _ in range(12):
        shared = {letter: shared for letter in "abcdefghij"}
    with pytest.raises(InputError, match="without end"):
        reads(shared, tmp_path)


@pytest.mark.parametrize("number", ["900000000", "²"])
def test_a_layer_number_that_is_none_is_left_over(number: str, tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state[f"seqTransEncoder.layers.{number}.norm1.bias"] = torch.zeros(16)
    network, extra = sequence_encoder(reads(state, tmp_path))
    assert len(network.seqTransEncoder.layers) == 2
    assert extra == (f"seqTransEncoder.layers.{number}.norm1.bias",)


def test_a_layer_number_far_off_builds_nothing(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    state["seqTransEncoder.layers.99999.norm1.bias"] = torch.zeros(16)
    with pytest.raises(InputError, match=r"has no seqTransEncoder\.layers\.2$"):
        sequence_encoder(reads(state, tmp_path))


def test_sizes_that_no_network_has_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    state = layouts.tensors(layouts.actor(8))
    wide = {**state, "seqTransEncoder.layers.0.linear1.weight": torch.zeros(10**7, 1)}
    with pytest.raises(InputError, match=r"linear1\.weight: expected shape \(10000000, 16\)"):
        sequence_encoder(reads(wide, tmp_path))
    text = layouts.tensors(layouts.below("", layouts.clip_blocks(200, 1)))
    text |= {
        "token_embedding.weight": torch.zeros(9, 200),
        "positional_embedding": torch.zeros(7, 200),
        "text_projection": torch.zeros(200, 4),
    }
    with pytest.raises(InputError, match="no network has tensors of these sizes"):
        text_tower(reads(text, tmp_path))
    odd = layouts.mobert(9)
    odd["ent_pred_head.0.weight"] = torch.zeros(25, 32)
    with pytest.raises(InputError, match="no network has tensors of these sizes"):
        mobert(reads(odd, tmp_path))


def test_keys_in_a_message_are_short_and_printable(tmp_path: Path) -> None:
    weights = reads({"\x1b[31mred\n" + "x" * 999: torch.zeros(1)}, tmp_path)
    with pytest.raises(InputError) as error:
        weights.require("TMR")
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(100000, 100000)", "(-5,)", "(9,)"])
def test_an_array_that_promises_more_than_is_there_is_refused(shape: str, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(header(shape))
    with pytest.raises(InputError, match=r"expected an array in \.npy"):
        read_array(tmp_path / "x.npy")


def test_statistics_are_read_whatever_holds_them(tmp_path: Path) -> None:
    values = torch.tensor([1.5, 2.5])
    for number, tensor in enumerate((values.bfloat16(), values.double(), nn.Parameter(values))):
        torch.save(tensor, tmp_path / f"{number}.pt")
        np.testing.assert_array_equal(read_array(tmp_path / f"{number}.pt"), values.numpy())
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    with pytest.raises(InputError, match=r"got several in \.npz"):
        read_array(tmp_path / "x.npz")
    torch.save({"mean": values}, tmp_path / "d.pt")
    torch.save(np.zeros(2), tmp_path / "n.pt")
    for name in ("d.pt", "n.pt"):
        with pytest.raises(InputError, match="expected one tensor of torch and nothing else"):
            read_array(tmp_path / name)


def test_a_link_to_a_checkpoint_is_followed_and_a_dangling_one_refused(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(1)}, tmp_path / "blob")
    (tmp_path / "link.pt").symlink_to(tmp_path / "blob")
    assert read_weights(tmp_path / "link.pt").keys == ("a",)
    (tmp_path / "gone.pt").symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match="it is not there"):
        read_weights(tmp_path / "gone.pt")
    with pytest.raises(InputError, match="cannot be read"):
        fingerprint({"w": tmp_path / "gone.pt"}, {})


VOCABULARIES = {
    "names a function": pickle.dumps(os.getcwd),
    "a place far off": b"\x80\x02]r\xff\xff\xff\x7f.",
    "a text of 8 EB": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "appends to a dictionary": b"\x80\x02}K\x01a.",
    "sets an item under a list": b"\x80\x02}]K\x01s.",
    "lists for words": pickle.dumps([[1], "unk"]),
    "numbers for words": pickle.dumps([1, 2]),
    "nothing": b"",
}


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_a_vocabulary_that_is_none_is_refused(kind: str, tmp_path: Path) -> None:
    folder = layouts.write_glove(tmp_path / "glove", ("a",))
    (folder / "our_vab_words.pkl").write_bytes(VOCABULARIES[kind])
    with pytest.raises(InputError):
        WordVectors.read(folder)


def test_a_vocabulary_runs_nothing_and_its_rows_are_numbers(tmp_path: Path) -> None:
    folder = layouts.write_glove(tmp_path / "glove", ("a",))
    (folder / "our_vab_idx.pkl").write_bytes(
        pickle.dumps({"a": layouts.Trap(tmp_path / "touched")})
    )
    with pytest.raises(InputError):
        WordVectors.read(folder)
    assert not (tmp_path / "touched").exists()
    rows = {word: "x" for word in ("unk", "sos", "eos", "a")}
    (folder / "our_vab_idx.pkl").write_bytes(pickle.dumps(rows))
    with pytest.raises(InputError, match="the word 'unk' has no row"):
        WordVectors.read(folder)


def test_merges_that_are_damaged_are_refused(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(b"#version\n" + b"a b\n" * 999))
    content[14:18] = b"\xff\xff\xff\xff"
    (tmp_path / "m.gz").write_bytes(content)
    with pytest.raises(zlib.error):
        gzip.decompress(content)
    with pytest.raises(InputError, match="merges in gzip"):
        BytePairs.read(tmp_path / "m.gz")


@pytest.mark.parametrize("row", ["a man walks", "a man walks,a/DET man", '"a man'])
def test_tags_that_are_none_name_file_and_row(row: str, tmp_path: Path) -> None:
    (tmp_path / "tags.csv").write_text(f"caption,tokens\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tags\.csv: row \d: expected"):
        open_tagger(tmp_path / "tags.csv")


@pytest.mark.parametrize("place", [7, -1, "x", None])
def test_given_vectors_with_a_place_that_is_none_are_refused(place: object, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((5, 4), np.float32))
    np.save(tmp_path / "v_slice.npy", np.array([[0, 2], [2, 5]]))
    index = {"a": 0, "b": place}
    (tmp_path / "v_index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(InputError, match=r"v_index\.json: expected places from 0 to 1"):
        GivenVectors(tmp_path / "v.npy")


def test_a_regression_cut_anywhere_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "svr.npz"
    whole = {"support_vectors": np.zeros((3, 4)), "dual_coef": np.zeros(3), "intercept": 0.0}
    np.savez(file, **whole, gamma=0.1)
    content = file.read_bytes()
    for end in range(0, len(content), 31):
        file.write_bytes(content[:end])
        with pytest.raises(InputError, match=r"expected \.npz with"):
            read_regression(file)
    np.savez(file, **whole, gamma=np.nan)
    with pytest.raises(InputError, match="finite"):
        read_regression(file)


@pytest.mark.parametrize("content", [b"content_hash,file\nabc\n", b"content_hash,file\n\xff,a\n"])
def test_an_index_of_features_that_is_none_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "index.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"index\.csv: expected"):
        FeatureFolder(tmp_path)
