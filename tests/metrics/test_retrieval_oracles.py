"""Numbers that the original code gave on stored inputs; their source stands in each JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from metrics.retrieval import DIRECTIONS, Measured, Pool, retrieve
from metrics.retrieval_protocols import PROTOCOLS, TMR_CUTS, batch_rows, run_protocol
from metrics.retrieval_ranks import rank_both
from metrics.retrieval_relevance import similar_sentences, similar_texts
from metrics.retrieval_scores import MatrixScores, Scores, embedding_scores
from tests.shared_data import shared

SHORT = dict(zip(DIRECTIONS, ("t2m", "m2t"), strict=True))


def case(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = shared("cases/oracles/retrieval")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        return json.loads((folder / f"{name}.json").read_text()), dict(arrays)


def pool(scores: Scores, **more: Any) -> Pool:
    n = scores.shape[0]
    ids = tuple(f"{i:06d}" for i in range(n))
    return Pool(scores, more.pop("ids", ids), more.pop("motions", ids), np.arange(n), **more)


def expect(found: Measured, wanted: dict[str, float], within: float) -> None:
    for name, short in SHORT.items():
        cells = found.metrics[name]
        for cut in TMR_CUTS:
            assert cells[f"R@{cut}"].value == pytest.approx(
                wanted[f"{short}/R{cut:02d}"], abs=within
            )
        assert cells["MedR"].value == pytest.approx(wanted[f"{short}/MedR"], abs=within)


@pytest.mark.parametrize(
    "name", ["tmr_noties_n100", "tmr_ties_n51", "tmr_constant_n50", "tmr_tie_handcheck_n6"]
)
def test_ranks_and_ties_are_tmrs(name: str) -> None:
    told, arrays = case(name)
    found = retrieve(pool(MatrixScores(arrays["scores"])), recall=TMR_CUTS)
    for ranks, short in zip(found.ranks, SHORT.values(), strict=True):
        np.testing.assert_array_equal(ranks.best, arrays[f"expected_rank_{short}"])
        assert ranks.tied.sum() == told["tied_queries"][short]
    expect(found, told["expected"]["unrounded"], 1e-9)
    hopeful = retrieve(pool(MatrixScores(arrays["scores"])), recall=TMR_CUTS, ties="optimistic")
    expect(hopeful, told["unused_optimistic_variant"], 1e-9)


def test_texts_above_the_threshold_are_positives() -> None:
    told, arrays = case("tmr_threshold_n120")
    similar = similar_texts(arrays["text_text_similarity"], told["threshold"])
    found = retrieve(
        pool(MatrixScores(arrays["scores"]), similar=similar),
        positives="threshold",
        recall=TMR_CUTS,
    )
    for ranks, short in zip(found.ranks, SHORT.values(), strict=True):
        np.testing.assert_array_equal(ranks.best, arrays[f"expected_rank_{short}"])
        assert ranks.relevant.mean() == pytest.approx(told["positives_per_query"]["mean"])
    expect(found, told["expected"]["unrounded"], 1e-9)


@pytest.mark.parametrize(
    ("protocol", "file"),
    [
        ("tmr-all", "normal"),
        ("tmr-threshold", "threshold_0.95"),
        ("tmr-nsim", "nsim"),
        ("tmr-guo", "guo"),
    ],
)
def test_the_four_protocols_of_tmr(protocol: str, file: str) -> None:
    told, arrays = case("tmr_retrieval_script_all_protocols_n200")
    scores = embedding_scores(arrays["text"], arrays["motion"])
    ids = tuple(map(str, arrays["keyids"]))
    whole = pool(scores, motions=ids, similar=similar_sentences(arrays["sentence"], 0.95))
    subset = set(map(str, arrays["nsim_keyids"])) if protocol == "tmr-nsim" else None
    found, used, dropped = run_protocol(whole, PROTOCOLS[protocol], subset=subset)
    wanted = told["expected"][f"{file}.yaml"]
    expect(found, wanted, 0.011)
    if protocol == "tmr-guo":
        rows = np.array(batch_rows(ids, 32, "shuffled"))
        np.testing.assert_array_equal(rows, arrays["expected_guo_rows"])
        assert [(d.what, d.n) for d in dropped] == [("pairs", 8)]
    else:
        assert len(used.motion_ids) == wanted["t2m/len"]


def test_exact_captions_are_positives_as_in_motionpatches() -> None:
    told, arrays = case("motionpatches_exact_captions_n150")
    whole = pool(
        embedding_scores(arrays["text"], arrays["motion"]),
        captions=tuple(f"caption {k}" for k in arrays["caption_id"]),
    )
    found, _used, _dropped = run_protocol(whole, PROTOCOLS["motionpatches"])
    for ranks, short in zip(found.ranks, SHORT.values(), strict=True):
        np.testing.assert_array_equal(ranks.best, arrays[f"expected_rank_{short}"])
    logged = told["expected_log_values"]
    for name, short in SHORT.items():
        cells = found.metrics[name]
        for cut in TMR_CUTS:
            assert cells[f"R@{cut}"].value == pytest.approx(logged[f"{short}_top{cut}"], abs=0.0051)
        assert cells["MedR"].value == logged[f"{short}_median"]


def test_ndcg_with_three_relevant_items() -> None:
    told, arrays = case("ndcg_binary3_40x120")
    row, column = np.nonzero(arrays["relevance"])
    cuts = (1, 5, 10, 25)
    found = rank_both(MatrixScores(arrays["scores"]), (row, column), cuts=cuts)[0]
    for cut in cuts:
        wanted = arrays[f"expected_ndcg_at_{cut}"]
        # The last query has nothing relevant: undefined here, 0 there.
        assert np.isnan(found.ndcg[cut][-1])
        np.testing.assert_allclose(found.ndcg[cut][:-1], wanted[:-1], atol=1e-6)
        mean = np.nan_to_num(found.ndcg[cut]).mean()
        assert mean == pytest.approx(told["expected_mean"][f"ndcg@{cut}"], abs=1e-6)


def test_one_pair_is_found() -> None:
    told, _arrays = case("tmr_edge_outcomes")
    found = retrieve(pool(MatrixScores(np.array([[0.3]]))), recall=TMR_CUTS)
    for metric, value in told["outcomes"]["N=1"].items():
        name = metric if metric == "MedR" else f"R@{int(metric[1:])}"
        assert found.metrics["text_to_motion"][name].value == value


def test_whole_numbers_may_tie() -> None:
    told, arrays = case("tmr_edge_outcomes")
    scores = (10 * arrays["base_scores"]).astype(np.int64)
    found = retrieve(pool(MatrixScores(scores)), recall=TMR_CUTS)
    for metric, value in told["outcomes"]["int64 scores"].items():
        name = metric if metric == "MedR" else f"R@{int(metric[1:])}"
        assert found.metrics["text_to_motion"][name].value == value


def test_identical_rows_rank_by_position() -> None:
    told, arrays = case("tmr_edge_outcomes")
    scores = np.tile(arrays["base_scores"][:1], (20, 1))
    found = retrieve(pool(MatrixScores(scores)), recall=TMR_CUTS)
    for metric, value in told["outcomes"]["identical rows"].items():
        name = metric if metric == "MedR" else f"R@{int(metric[1:])}"
        assert found.metrics["text_to_motion"][name].value == value
