"""Pilot studies: accuracies, confidence, confidently wrong items, failure modes."""

import csv
import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from agreement.calibration import calibrate, gamma_of_counts, mean_and_sd, wilson
from agreement.files import read_table
from agreement.pilot_table import PilotColumns, read_answers
from agreement.rows import unit_design
from corpus.problems import InputError
from motionjury.commands.agreement import app
from tests.shared_data import shared

HEAD = ("item", "rater", "correct", "confidence", "type")


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def run(path, *options):
    """The command's JSON, or the one line of the refusal."""
    result = CliRunner().invoke(app, ["pilot", str(path), "--json", "--resamples", "100", *options])
    if result.exception is None:
        return json.loads(result.stdout)
    assert isinstance(result.exception, InputError), result.exception
    assert "\n" not in str(result.exception)
    return str(result.exception)


# Three raters, four items. Right: A1 1110, A2 1100, A3 1000.
GRID = {"A1": "1110", "A2": "1100", "A3": "1000"}


def small():
    rows = [HEAD]
    for rater, rights in GRID.items():
        for i, right in enumerate(rights):
            rows.append((f"i{i}", rater, right, 5 if i in (0, 3) else 2, "ab"[i // 2]))
    return rows


def test_calibration_of_the_worked_case():
    case = json.loads(
        shared("cases/agreement/61_confidence_calibration.json").read_text(encoding="utf-8")
    )
    expected = {e["coefficient"]: e["value"] for e in case["expected"]}
    confidence = np.array(case["confidence"], dtype=float)
    correct = np.array(case["correct"], dtype=float)
    found = calibrate(confidence, correct, unit_design(np.arange(20)), resamples=200)
    assert [lv.accuracy for lv in found.levels] == expected["accuracy_by_level"]
    assert found.auroc.value == pytest.approx(expected["auroc"])
    assert found.gamma.value == pytest.approx(expected["goodman_kruskal_gamma"])
    assert found.pearson_r.value == pytest.approx(np.corrcoef(confidence, correct)[0, 1])
    assert found.high_share.value == pytest.approx(8 / 20)
    assert found.high_accuracy.value == pytest.approx(7 / 8)
    assert found.auroc.ci[0] < found.auroc.value < found.auroc.ci[1]


def test_auroc_is_the_librarys_and_gamma_that_of_counted_pairs():
    rng = np.random.default_rng(1)
    confidence = rng.integers(1, 6, 80).astype(float)
    correct = (rng.random(80) < confidence / 6).astype(float)
    found = calibrate(confidence, correct, unit_design(np.arange(80)), resamples=0)
    assert found.auroc.value == pytest.approx(roc_auc_score(correct, confidence))
    signs = np.sign(confidence[:, None] - confidence) * np.sign(correct[:, None] - correct)
    assert found.gamma.value == pytest.approx(signs.sum() / np.abs(signs).sum())


def test_wilson_of_published_counts():
    # Newcombe 1998, Statistics in Medicine 17:857, Table I, method 3.
    for successes, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)
    with pytest.raises(ValueError, match="0 <= successes <= n"):
        wilson(3, 2)


def test_all_right_or_all_wrong_has_no_auroc():
    level = np.array([1.0, 2, 3, 4])
    for value in (0.0, 1.0):
        found = calibrate(level, np.full(4, value), unit_design(np.arange(4)), resamples=0)
        for row in (found.auroc, found.gamma):
            assert row.value is None
            assert row.reason == "no_variation"
        assert found.pearson_r.reason == "constant_input"
    assert np.isnan(gamma_of_counts(np.array([3.0]), np.array([2.0])))


def test_no_confident_answer_is_null():
    found = calibrate(
        np.array([1.0, 2, 3]), np.array([0.0, 1, 1]), unit_design(np.arange(3)), resamples=0
    )
    assert found.high_share.value == 0
    assert found.high_accuracy.reason == "too_few"


def test_table_one(tmp_path):
    found = run(write(tmp_path / "p.csv", small()), "--query-type", "type")
    whole = found["whole"]
    assert whole["by_rater"] == {"A1": 0.75, "A2": 0.5, "A3": 0.25}
    assert whole["per_annotator_mean"] == pytest.approx(0.5)
    assert whole["per_annotator_sd"] == pytest.approx(0.25)
    assert whole["pooled"]["value"] == pytest.approx(0.5)
    assert whole["all_correct"]["value"] == pytest.approx(0.25)
    assert whole["either_correct"]["value"] == pytest.approx(0.75)
    first, second = found["by_query_type"]
    assert first["query_type"] == "a"
    assert first["pooled"]["value"] == pytest.approx(5 / 6)
    assert second["either_correct"]["value"] == pytest.approx(0.5)
    # Agreeing pairs per item 1, 1/3, 1/3, 1; half of all answers right: (2/3 - 1/2) / (1/2).
    assert found["fleiss_correct"]["value"] == pytest.approx(1 / 3)
    assert found["fleiss_answers"] is None
    assert found["calibration"] is None


def test_all_and_either_are_of_items_that_everyone_answered(tmp_path):
    rows = [row for row in small() if row[:2] != ("i0", "A2")]
    whole = run(write(tmp_path / "p.csv", rows))["whole"]
    assert (whole["n_items"], whole["n_complete"]) == (4, 3)
    assert whole["all_correct"]["value"] == 0
    assert whole["all_correct"]["n"] == 3


def test_confidently_wrong_items_come_with_who_and_where(tmp_path):
    rows = [(*HEAD, "url"), *((*row, f"/see/{row[0]}") for row in small()[1:])]
    found = run(
        write(tmp_path / "p.csv", rows), "--confidence", "confidence", "--link", "url",
        "--query-type", "type", "--html", str(tmp_path / "p.html"),
    )  # fmt: skip
    [item] = found["confidently_wrong"]
    assert item["item"] == "i3"
    assert item["wrong"] == {"A1": 5, "A2": 5, "A3": 5}
    assert item["link"] == "/see/i3"
    assert found["n_confidently_wrong"] == 3
    assert found["calibration"]["high_accuracy"]["value"] == pytest.approx(0.5)
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert 'href="/see/i3"' in page
    assert "<script" not in page


def test_answers_and_gold_give_correctness_and_kappa_of_answers(tmp_path):
    rows = [("item", "rater", "said", "gold")]
    rows += [(f"i{i}", r, s, "Left") for i in range(4) for r, s in (("A1", "left"), ("A2", "up"))]
    found = run(write(tmp_path / "p.csv", rows), "--answer", "said", "--gold", "gold")
    assert found["whole"]["by_rater"] == {"A1": 1, "A2": 0}
    assert found["fleiss_answers"]["value"] == pytest.approx(-1)


def test_failure_modes_are_counted_by_item(tmp_path):
    rows = [(*HEAD, "modes")]
    marks = {("i1", "A3"): "F1;F4", ("i2", "A2"): "f1", ("i2", "A3"): "F1", ("i3", "A1"): "F2"}
    rows += [(*row, marks.get((row[0], row[1]), "")) for row in small()[1:]]
    found = run(write(tmp_path / "p.csv", rows), "--failure", "modes", "--query-type", "type")
    tally = {f["mode"]: (f["n_items"], f["by_query_type"]) for f in found["failures"]}
    assert tally == {
        "F1": (2, {"a": 1, "b": 1}),
        "F2": (1, {"a": 0, "b": 1}),
        "F3": (0, {"a": 0, "b": 0}),
        "F4": (1, {"a": 1, "b": 0}),
    }
    assert found["failures"][0]["share"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("change", "options", "part"),
    [
        (("i0", "A1", 1, 5, "a"), (), "rates item 'i0' a second time"),
        (("i9", "A1", "maybe", 5, "a"), (), "row 14: 'maybe' in column 'correct'"),
        (("i9", "", 1, 5, "a"), (), "row 14: the rater is empty"),
        (("i9", "A1", 1, "sure", "a"), ("--confidence", "confidence"), "confidence 'sure'"),
        (("i0", "A4", 1, 5, "b"), ("--query-type", "type"), "item 'i0' has query type 'b'"),
        (("i9", "A1", 1, 5, "F9"), ("--failure", "type"), "expected F1, F2, F3 or F4"),
        (("i9", "A1", 1, 5, "a"), ("--answer", "type", "--gold", "gold"), "no column 'gold'"),
    ],
)
def test_what_is_refused_in_one_line(tmp_path, change, options, part):
    assert part in run(write(tmp_path / "p.csv", [*small(), change]), *options)


def test_one_rater_is_null_with_a_reason(tmp_path):
    rows = [row for row in small() if row[1] in ("rater", "A1")]
    found = run(write(tmp_path / "p.csv", rows))
    assert found["fleiss_correct"]["reason"] == "single_rater"
    assert found["whole"]["per_annotator_sd"] is None


def test_latex_is_table_one(tmp_path):
    out = tmp_path / "t.tex"
    run(write(tmp_path / "p.csv", small()), "--query-type", "type", "--latex", str(out))
    text = out.read_text(encoding="utf-8")
    assert r"Per-annotator & 50.0 $\pm$ 25.0 \\" in text
    assert r"All correct & 25.0 \\" in text
    assert r"Fleiss' $\kappa$ & $0.33$ \\" in text


def test_mean_and_sd():
    assert mean_and_sd([]) == (None, None)
    assert mean_and_sd([0.5]) == (0.5, None)
    assert mean_and_sd([0.2, 0.4]) == pytest.approx((0.3, np.sqrt(0.02)))


def test_a_confidence_too_large_to_compute_with(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("item,rater,correct,confidence\na,r1,1,1e300\n", encoding="utf-8")
    columns = PilotColumns("item", "rater", correct="correct", confidence="confidence")
    with pytest.raises(InputError, match=r"row 2.*1e\+100"):
        read_answers(read_table(path), columns)
