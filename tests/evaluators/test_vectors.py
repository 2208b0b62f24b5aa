"""Batches and similarities that all dual encoders share."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from corpus.problems import InputError
from evaluators.vectors import batches, cosine, in_batches, negated_euclidean


@given(st.lists(st.integers(1, 300)), st.integers(1, 9), st.floats(0, 1))
def test_batches_hold_every_item_once_and_items_of_like_length(lengths, size, near) -> None:
    made = list(batches(lengths, size, near=near))
    assert sorted(k for batch in made for k in batch) == list(range(len(lengths)))
    for batch in made:
        assert 1 <= len(batch) <= size
        longest = max(lengths[k] for k in batch)
        assert all(lengths[k] >= near * longest for k in batch)


def test_long_items_stand_in_smaller_batches() -> None:
    assert [len(b) for b in batches([200] * 100, 64)] == [64, 36]
    assert [len(b) for b in batches([2000] * 9, 64)] == [4, 4, 1]
    assert [len(b) for b in batches([5000, 5000, 10, 10], 64)] == [1, 1, 2]


def test_distances_and_cosines_equal_scipys() -> None:
    rng = np.random.default_rng(0)
    texts, motions = rng.normal(size=(9, 6)), rng.normal(size=(7, 6)) * 3
    np.testing.assert_allclose(negated_euclidean(texts, motions), -cdist(texts, motions), atol=1e-5)
    expected = 1 - cdist(texts, motions, "cosine")
    np.testing.assert_allclose(cosine(texts, motions), expected, atol=1e-6)


def test_equal_vectors_far_from_the_origin_have_no_distance_and_no_nan() -> None:
    rows = (np.random.default_rng(1).normal(size=(50, 512)) + 100).astype(np.float32)
    found = np.diag(negated_euclidean(rows, rows))
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 1e-3
    assert (negated_euclidean(rows, rows).argmax(axis=1) == np.arange(50)).all()


def test_a_vector_of_no_length_has_cosine_zero_and_widths_must_agree() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(cosine(rows, rows), [[0, 0], [0, 1]])
    for measure in (cosine, negated_euclidean):
        with pytest.raises(ValueError, match=r"got \(2, 2\) and \(2, 3\)"):
            measure(rows, np.zeros((2, 3)))
        assert measure(np.zeros((0, 2)), rows).shape == (0, 2)


def test_batches_on_several_cores_give_what_one_core_gives_in_order() -> None:
    rows = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
    seen, threads = set(), torch.get_num_threads()

    def encode(batch):
        assert not torch.is_grad_enabled()
        seen.add(threading.get_ident())
        time.sleep(0.01)
        return rows[batch] * 2

    try:
        torch.set_num_threads(3)
        found = in_batches([1] * 40, 4, encode, 5)
        assert torch.get_num_threads() == 3
        assert len(seen) > 1
        torch.set_num_threads(1)
        seen.clear()
        np.testing.assert_array_equal(found, in_batches([1] * 40, 4, encode, 5))
        assert seen == {threading.get_ident()}
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(found, (rows * 2).numpy())


def test_an_error_in_a_batch_comes_out_and_the_cores_are_given_back() -> None:
    threads = torch.get_num_threads()

    def encode(batch):
        raise InputError("a clip that cannot be")

    try:
        torch.set_num_threads(2)
        with pytest.raises(InputError, match="a clip that cannot be"):
            in_batches([1] * 4, 1, encode, 5)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
