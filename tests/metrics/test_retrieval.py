"""What must hold of any scorer, and agreement with a plain sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpus.problems import InputError
from metrics.retrieval import DIRECTIONS, Measured, Pool, retrieve
from metrics.retrieval_intervals import with_intervals
from metrics.retrieval_protocols import MIXED, PROTOCOLS, granularity_settings, run_protocol
from metrics.retrieval_ranks import TIES, rank_both
from metrics.retrieval_relevance import relevant_pairs, similar_texts
from metrics.retrieval_scores import MatrixScores, Scores, embedding_scores


def pool(scores: Scores, owners: np.ndarray | None = None, **more: Any) -> Pool:
    texts, motions = scores.shape
    return Pool(
        scores,
        tuple(f"t{i}" for i in range(texts)),
        tuple(f"m{i}" for i in range(motions)),
        np.arange(texts) if owners is None else owners,
        **more,
    )


def values(found: Measured, direction: str = "text_to_motion") -> dict[str, float | None]:
    return {name: cell.value for name, cell in found.metrics[direction].items()}


def plain(
    scores: np.ndarray, relevant: np.ndarray, ties: str, cut: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rank and nDCG by sorting each row, ties placed by hand."""
    best, gains = [], []
    for row, right in zip(scores, relevant, strict=True):
        positions: list[int] = []
        ranks = []
        for level in sorted(set(row[right]), reverse=True):
            above, same = int((row > level).sum()), int((row == level).sum())
            mine = int((row[right] == level).sum())
            start = {
                "average": above + (same - 1) / 2,
                "optimistic": above,
                "pessimistic": above + same - mine,
            }[ties]
            ranks.append(start)
            positions += [int(start) + k for k in range(mine)]
        best.append(min(ranks) if ranks else np.nan)
        ideal = sum(1 / np.log2(k + 2) for k in range(min(int(right.sum()), cut)))
        found = sum(1 / np.log2(k + 2) for k in sorted(positions) if k < cut)
        gains.append(found / ideal if ideal else np.nan)
    return np.array(best), np.array(gains)


matrices = hnp.arrays(np.float32, (6, 4), elements=st.integers(0, 3).map(float))
relations = hnp.arrays(np.bool_, (6, 4))


@given(matrices, relations, st.sampled_from(TIES), st.integers(1, 5))
def test_counting_agrees_with_sorting(
    scores: np.ndarray, relevant: np.ndarray, ties: Any, cut: int
) -> None:
    found = rank_both(MatrixScores(scores), np.nonzero(relevant), ties=ties, cuts=(cut,))
    for ranks, s, r in zip(found, (scores, scores.T), (relevant, relevant.T), strict=True):
        best, gain = plain(s, r, ties, cut)
        np.testing.assert_array_equal(ranks.best, best)
        np.testing.assert_allclose(ranks.ndcg[cut], gain, atol=1e-12)
        assert not (ranks.ndcg[cut] > 1 + 1e-12).any()


@given(matrices, relations, st.sampled_from(TIES))
def test_r_at_1_is_ndcg_at_1(scores: np.ndarray, relevant: np.ndarray, ties: Any) -> None:
    for ranks in rank_both(MatrixScores(scores), np.nonzero(relevant), ties=ties, cuts=(1,)):
        asked = ranks.relevant > 0
        np.testing.assert_array_equal(ranks.ndcg[1][asked], ranks.best[asked] < 1)


@given(st.integers(0, 2**31 - 1), st.sampled_from(TIES))
def test_the_order_of_texts_and_motions_does_not_matter(seed: int, ties: Any) -> None:
    rng = np.random.default_rng(seed)
    scores, owners = rng.integers(0, 9, (20, 7)).astype(np.float64), rng.integers(0, 7, 20)
    rows, columns = rng.permutation(20), rng.permutation(7)
    moved = np.argsort(columns)[owners[rows]]
    one = retrieve(pool(MatrixScores(scores), owners), ties=ties)
    other = retrieve(pool(MatrixScores(scores[rows][:, columns]), moved), ties=ties)
    for direction in DIRECTIONS:
        assert values(one, direction) == pytest.approx(values(other, direction))


@given(st.integers(0, 2**31 - 1))
def test_a_growing_function_of_the_scores_changes_nothing(seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((15, 15))
    one, other = (retrieve(pool(MatrixScores(s))) for s in (scores, np.exp(3 * scores)))
    assert one.metrics == other.metrics


def test_a_perfect_scorer_finds_all() -> None:
    found = retrieve(pool(MatrixScores(np.eye(30))))
    for direction in DIRECTIONS:
        got = values(found, direction)
        assert got["MedR"] == 1
        assert {got[k] for k in got if k != "MedR"} == {100.0}


def test_an_inverted_scorer_finds_none() -> None:
    found = retrieve(pool(MatrixScores(-np.eye(30))))
    assert values(found) == {
        "R@1": 0, "R@5": 0, "R@10": 0, "MedR": 30, "nDCG@1": 0, "nDCG@5": 0, "nDCG@10": 0,
    }  # fmt: skip
    assert retrieve(pool(MatrixScores(-np.eye(30), -1.0))).metrics["text_to_motion"][
        "R@1"
    ].value == (100.0)


@pytest.mark.parametrize(
    ("ties", "median"), [("average", 15.5), ("optimistic", 1), ("pessimistic", 30)]
)
def test_a_constant_scorer_depends_on_the_rule_for_ties(ties: Any, median: float) -> None:
    found = retrieve(pool(MatrixScores(np.zeros((30, 30)))), ties=ties)
    assert values(found)["MedR"] == median
    assert found.tie_rate == {"text_to_motion": 1.0, "motion_to_text": 1.0}


def test_a_random_scorer_is_at_chance() -> None:
    scores = np.random.default_rng(0).random((2000, 2000))
    found = retrieve(pool(MatrixScores(scores)))
    # 10 of 2,000: 0.5 %, one standard deviation 0.16 points.
    assert values(found)["R@10"] == pytest.approx(0.5, abs=0.65)
    assert values(found)["MedR"] == pytest.approx(1000, abs=70)


def test_three_captions_of_a_motion_are_all_relevant_to_it() -> None:
    scores = np.array([[9.0, 0], [1, 0], [7, 0], [8, 9], [0, 8], [0, 7]])
    found = retrieve(pool(MatrixScores(scores), np.array([0, 0, 0, 1, 1, 1])))
    second = 1 + 1 / np.log2(4) + 1 / np.log2(5)
    ideal = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    assert found.metrics["motion_to_text"]["nDCG@5"].value == pytest.approx(
        100 * (second / ideal + 1) / 2
    )
    assert found.metrics["motion_to_text"]["nDCG@5"].n == 2


def test_mixed3_is_one_pool_and_the_settings_are_its_parts() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((30, 10))
    owners = np.repeat(np.arange(10), 3)
    whole = pool(
        MatrixScores(scores), owners, granularity=tuple(["concise", "standard", "fine"] * 10)
    )
    parts = granularity_settings(whole)
    assert list(parts) == ["concise", "standard", "fine", MIXED]
    alone = retrieve(pool(MatrixScores(scores[1::3])))
    assert retrieve(parts["standard"]).metrics == alone.metrics
    means = [retrieve(parts[name]).metrics["text_to_motion"]["R@5"].value for name in parts]
    assert means[3] == pytest.approx(np.mean(means[:3]))


def test_scores_of_embeddings_are_those_of_the_matrix() -> None:
    rng = np.random.default_rng(2)
    text, motion = rng.standard_normal((300, 16)), rng.standard_normal((100, 16))
    owners = np.repeat(np.arange(100), 3)
    units = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in (text, motion)]
    plain_scores = units[0] @ units[1].T
    far = -((text[:, None] - motion[None]) ** 2).sum(axis=2)
    for similarity, matrix in (
        ("cosine", plain_scores),
        ("euclidean", far),
        ("dot", text @ motion.T),
    ):
        found = retrieve(pool(embedding_scores(text, motion, similarity=similarity), owners))
        wanted = retrieve(pool(MatrixScores(matrix), owners))
        for ranks, expected in zip(found.ranks, wanted.ranks, strict=True):
            np.testing.assert_array_equal(ranks.best, expected.best)


@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_equal_embeddings_tie_exactly(device: str) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.standard_normal((40, 33)).astype(np.float32)
    which = rng.integers(0, 40, 700)
    found = retrieve(pool(embedding_scores(kinds[which], kinds[which], device=device)))
    same = np.bincount(which, minlength=40)[which]
    for ranks in found.ranks:
        np.testing.assert_array_equal(ranks.best, (same - 1) / 2)
        np.testing.assert_array_equal(ranks.tied, same > 1)


def test_torch_and_numpy_count_the_same() -> None:
    rng = np.random.default_rng(4)
    text, motion = rng.standard_normal((900, 24)), rng.standard_normal((300, 24))
    owners = np.repeat(np.arange(300), 3)
    one, other = (
        retrieve(pool(embedding_scores(text, motion, device=device), owners))
        for device in ("numpy", "cpu")
    )
    assert one.metrics == other.metrics


def test_identical_captions_share_their_motions() -> None:
    pairs = relevant_pairs(
        np.array([0, 1, 1, 2]), 3, positives="identical-caption", captions=["a", "b", "a", "c"]
    )
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == [
        (0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (3, 2),
    ]  # fmt: skip


def test_the_threshold_is_strict_and_own_motions_always_count() -> None:
    similarity = np.array([[0.1, 0.5, 0.2], [0.5, 1.0, 0.5 + 1e-6], [0.2, 0.5 + 1e-6, 1.0]])
    similar = similar_texts(similarity, 0.75)
    pairs = relevant_pairs(np.arange(3), 3, positives="threshold", similar=similar)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == [
        (0, 0), (1, 1), (1, 2), (2, 1), (2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (np.array([[1, 0.5], [0.4, 1]]), "symmetric"),
        (np.array([[1, np.nan], [np.nan, 1]]), "NaN or infinity at row 0, column 1"),
        (np.ones((2, 3)), "expected shape"),
    ],
)
def test_bad_text_similarities_are_refused(similarity: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        similar_texts(similarity, 0.95)


def test_motions_without_a_text_stay_as_candidates() -> None:
    found = retrieve(pool(MatrixScores(np.array([[1.0, 2.0]])), np.array([0])))
    assert values(found)["MedR"] == 2
    assert found.left_out == {"text_to_motion": 0, "motion_to_text": 1}
    assert found.queries["motion_to_text"] == 1


def test_without_any_query_numbers_are_undefined() -> None:
    found = retrieve(pool(MatrixScores(np.array([[1.0, 2.0]])), np.array([-1])))
    cell = found.metrics["text_to_motion"]["R@1"]
    assert (cell.value, cell.reason) == (None, "no query has a relevant item")


def test_a_batch_needs_as_many_pairs() -> None:
    with pytest.raises(InputError, match="20 pairs are fewer than a batch of 32"):
        run_protocol(pool(MatrixScores(np.eye(20))), PROTOCOLS["tmr-guo"])


def test_a_subset_must_be_given_and_known() -> None:
    whole = pool(MatrixScores(np.eye(5)))
    with pytest.raises(InputError, match="--subset"):
        run_protocol(whole, PROTOCOLS["tmr-nsim"])
    with pytest.raises(InputError, match="listed motion 'm9' is not among the motions"):
        run_protocol(whole, PROTOCOLS["tmr-nsim"], subset=["m1", "m9"])
    found, used, dropped = run_protocol(whole, PROTOCOLS["tmr-nsim"], subset=["m1", "m3"])
    assert used.motion_ids == ("m1", "m3")
    assert found.queries["text_to_motion"] == 2
    assert [(row.what, row.n) for row in dropped] == [("motions", 3), ("texts", 3)]


def test_tmr_takes_the_first_text_of_each_motion() -> None:
    scores = np.array([[0.0, 1], [1, 0], [0, 1], [9, 9]])
    found, used, dropped = run_protocol(
        pool(MatrixScores(scores), np.array([1, 0, 0, 1])), PROTOCOLS["tmr-all"]
    )
    assert used.text_ids == ("t0", "t1")
    assert found.metrics["text_to_motion"]["R@1"].value == 100.0
    assert [(row.what, row.n) for row in dropped] == [("texts", 2)]


@pytest.mark.parametrize(
    ("text", "motion", "message"),
    [
        (np.ones((3, 4)), np.ones((3, 5)), "unequal widths: text embeddings have 4 numbers"),
        (np.ones((3, 4)), np.zeros((3, 4)), "row 0 is all zeros"),
        (np.array([[1, np.nan]]), np.ones((3, 2)), "row 0 holds NaN"),
        (np.ones(3), np.ones((3, 2)), "expected shape"),
    ],
)
def test_bad_embeddings_are_refused(text: np.ndarray, motion: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        embedding_scores(text, motion)


def test_intervals_are_those_of_resampled_motions() -> None:
    rng = np.random.default_rng(0)
    owners = np.repeat(np.arange(60), 3)
    scores = rng.standard_normal((180, 60))
    scores[np.arange(180), owners] += 2
    whole = pool(MatrixScores(scores), owners)
    found = with_intervals(retrieve(whole), whole, resamples=400, seed=1)
    draws = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=400)
    best = found.ranks[0].best
    for metric, statistic in (
        ("R@5", lambda ranks: 100 * (ranks < 5).mean()),
        ("MedR", lambda ranks: np.median(ranks) + 1),
    ):
        values = [statistic(np.repeat(best, np.repeat(counts, 3))) for counts in draws]
        wanted = np.quantile(values, (0.025, 0.975))
        assert found.metrics["text_to_motion"][metric].ci == pytest.approx(tuple(wanted))
    for cells in found.metrics.values():
        for cell in cells.values():
            assert cell.ci is not None
            assert cell.ci[0] <= cell.value <= cell.ci[1]


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="device 'warp' cannot be used"):
        embedding_scores(np.ones((2, 3)), np.ones((2, 3)), device="warp")


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_vectors_whose_products_would_overflow_are_refused(similarity: Any) -> None:
    texts = np.ones((2, 3))
    with pytest.raises(InputError, match="motion embeddings: row 1 is longer than 1e18"):
        embedding_scores(texts, np.array([[1.0] * 3, [1e19] * 3]), similarity=similarity)
    found = embedding_scores(texts * 1e17, texts * 1e17, similarity=similarity)
    assert np.isfinite(found.pairs(np.array([0]), np.array([1]))).all()
