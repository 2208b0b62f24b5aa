"""Judges against people: worked values, libraries, ceilings, selection, tables that are refused."""

import csv
import json

import numpy as np
import pytest
import scipy.stats
from typer.testing import CliRunner

from agreement.judge_levels import permutation_p
from agreement.judge_page import render_judges
from agreement.judge_records import JudgeStudy
from agreement.row_measures import cohen, pearson, spearman
from agreement.rows import estimate, unit_design
from corpus.problems import InputError
from motionjury.commands.agreement import app
from tests.shared_data import shared


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def run(path, *options, resamples=100):
    """The command's JSON, or the one line of the refusal."""
    arguments = ["judge", str(path), "--json", "--resamples", str(resamples), *options]
    result = CliRunner().invoke(app, arguments)
    if result.exception is None:
        return json.loads(result.stdout)
    assert isinstance(result.exception, InputError), result.exception
    assert "\n" not in str(result.exception)
    return str(result.exception)


def made(n=30, methods="ABC", raters=3, seed=0, versions=("V1",)):
    """Rows of prompts that every method answered: raters and a judge share a hidden quality."""
    rng = np.random.default_rng(seed)
    rows = [("version", "prompt", "method", *(f"h{r}" for r in range(raters)), "judge")]
    for p in range(n):
        for k, method in enumerate(methods):
            quality = 3 + 0.5 * (k - 1) + rng.normal()
            scores = np.clip(np.round(quality + rng.normal(size=raters + 1) * 0.6), 1, 5)
            rows.append((versions[p % len(versions)], f"p{p}", method, *scores.astype(int)))
    return rows


HUMANS = ("--clip", "prompt", "--human", "h0,h1,h2")


@pytest.fixture
def case(tmp_path):
    found = json.loads(
        shared("cases/agreement/60_judge_three_granularities.json").read_text(encoding="utf-8")
    )
    names = ("method", "clip", "human", "judge")
    rows = [names, *(tuple(row[n] for n in names) for row in found["rows"])]
    values = {e["coefficient"]: e["value"] for e in found["expected"]}
    return write(tmp_path / "j.csv", rows), found["per_question"][0], values


def test_the_three_levels_of_the_worked_case(case, tmp_path):
    path, question, values = case
    found = run(path, "--method", "method", "--clip", "clip", "--human", "human")
    instance, system = found["instance"], found["system"]
    assert instance["pearson_r"]["value"] == pytest.approx(values["instance_pooled_pearson"])
    assert instance["spearman_rho"]["value"] == pytest.approx(values["instance_pooled_spearman"])
    assert instance["within_method"]["pearson_r"]["value"] == pytest.approx(
        values["instance_within_method_mean_pearson"]
    )
    assert system["pearson_r"]["value"] == pytest.approx(values["system_pearson"])
    assert system["kendall_tau_b"] == pytest.approx(values["system_kendall_tau_b"])
    assert system["n_methods"] == 3
    # Means 2, 4, 6 on both sides: of six orders, the true one and its reverse have |r| = 1.
    assert system["p"] == pytest.approx(2 / 6)
    rows = [("clip", "human", "judge")]
    rows += [
        (f"c{i}", h, j)
        for i, (h, j) in enumerate(zip(question["human"], question["judge"], strict=True))
    ]
    words = run(write(tmp_path / "q.csv", rows))
    assert words["question"]["accuracy"]["value"] == pytest.approx(values["per_question_accuracy"])
    assert words["question"]["cohen_kappa"]["value"] == pytest.approx(
        values["per_question_cohen_kappa"]
    )
    assert words["instance"]["pearson_r"]["value"] is None
    assert words["instance"]["pearson_r"]["reason"] == "not_numeric"


def test_a_judge_that_always_says_pass(tmp_path):
    rows = [("clip", "human", "judge")]
    rows += [(f"c{i}", "pass" if i % 10 else "fail", "pass") for i in range(40)]
    found = run(write(tmp_path / "r.csv", rows), "--positive", "pass")
    question = found["question"]
    assert question["accuracy"]["value"] == pytest.approx(0.9)
    assert question["cohen_kappa"]["value"] == 0
    rates = {c["label"]: c["recall"]["value"] for c in question["classes"]}
    assert rates == {"fail": 0.0, "pass": 1.0}
    assert question["classes"][0]["precision"]["reason"] == "too_few"
    assert found["instance"]["pearson_r"]["reason"] == "constant_input"
    assert any("always says 'pass'" in w for w in found["warnings"])


def test_row_statistics_are_the_libraries_on_any_draw():
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 5, 60), rng.integers(0, 5, 60)
    for _ in range(20):
        drawn = rng.integers(0, 60, 60)
        counts = np.bincount(drawn, minlength=60).astype(float)
        a, b = x[drawn], y[drawn]
        pairs = (
            (pearson(x * 1.0, y * 1.0), scipy.stats.pearsonr(a, b).statistic),
            (spearman(x * 1.0, y * 1.0), scipy.stats.spearmanr(a, b).statistic),
            (cohen(x, y, 5), cohen_kappa_score(a, b, labels=range(5))),
            (
                cohen(x, y, 5, quadratic=True),
                cohen_kappa_score(a, b, labels=range(5), weights="quadratic"),
            ),
        )
        for statistic, expected in pairs:
            assert float(statistic.at(counts)) == pytest.approx(expected, abs=1e-12)


def test_intervals_hold_the_estimate_and_widen_with_the_cluster():
    rng = np.random.default_rng(5)
    prompt = np.repeat(np.arange(40), 5)
    shared_part = rng.normal(size=40)[prompt]
    x, y = shared_part + rng.normal(size=200) * 0.3, shared_part + rng.normal(size=200) * 0.3
    alone, together = (
        estimate([pearson(x, y)], unit_design(units), resamples=2000)[0]
        for units in (np.arange(200), prompt)
    )
    for found in (alone, together):
        assert found.ci[0] < found.value < found.ci[1]
    assert together.ci[1] - together.ci[0] > 1.5 * (alone.ci[1] - alone.ci[0])


def test_permutation_p_counts_orders():
    assert permutation_p([1, 2, 4], [1, 2, 4]) == pytest.approx(1 / 6)
    assert permutation_p([1, 2], [1, 2]) is None
    assert permutation_p(range(9), range(9)) is None
    assert permutation_p([1, 1, 1], [1, 2, 3]) is None
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=6), rng.normal(size=6)
    reference = scipy.stats.permutation_test(
        (y,), lambda v: scipy.stats.pearsonr(x, v).statistic,
        permutation_type="pairings", n_resamples=np.inf, alternative="two-sided",
    )  # fmt: skip
    r = abs(scipy.stats.pearsonr(x, y).statistic)
    exact = (np.abs(reference.null_distribution) >= r - 1e-9).mean()
    assert permutation_p(x.tolist(), y.tolist()) == pytest.approx(exact)


def test_the_ceiling_is_each_rater_against_the_others(tmp_path):
    rows = made()
    found = run(write(tmp_path / "r.csv", rows), *HUMANS)
    human = np.array([r[3:6] for r in rows[1:]], dtype=float)
    judge = np.array([r[6] for r in rows[1:]], dtype=float)
    ceiling = {row["measure"]: row for row in found["ceiling"]["rows"]}
    others = [(human.sum(axis=1) - human[:, r]) / 2 for r in range(3)]
    people = np.mean([np.corrcoef(human[:, r], others[r])[0, 1] for r in range(3)])
    machine = np.mean([np.corrcoef(judge, others[r])[0, 1] for r in range(3)])
    row = ceiling["instance_pearson_r"]
    assert row["human"]["value"] == pytest.approx(people)
    assert row["judge"]["value"] == pytest.approx(machine)
    assert row["difference"]["value"] == pytest.approx(machine - people)
    low, high = row["difference"]["ci"]
    assert low <= machine - people <= high
    same = [np.floor(o + 0.5) == human[:, r] for r, o in enumerate(others)]
    assert ceiling["question_accuracy"]["human"]["value"] == pytest.approx(np.mean(same))


def test_one_row_per_rater_gives_what_one_column_per_rater_gives(tmp_path):
    rows = made()
    wide = run(write(tmp_path / "w.csv", rows), *HUMANS)
    long = [("prompt", "method", "who", "human", "judge")]
    long += [(r[1], r[2], f"h{k}", r[3 + k], r[6]) for r in rows[1:] for k in range(3)]
    path = write(tmp_path / "l.csv", long)
    narrow = run(path, "--clip", "prompt", "--human", "human", "--rater", "who")
    for level in ("instance", "question", "system", "ceiling"):
        assert narrow[level] == wide[level]


def test_without_a_second_rater_there_is_no_ceiling(tmp_path):
    path = write(tmp_path / "r.csv", made())
    assert run(path, "--clip", "prompt", "--human", "h0")["ceiling"] is None


def test_groups_are_the_table_of_the_group(tmp_path):
    rows = made(n=40, versions=("V1", "V2"))
    whole = run(write(tmp_path / "r.csv", rows), *HUMANS, "--version", "version")
    one = [rows[0], *(r for r in rows[1:] if r[0] == "V2")]
    alone = run(write(tmp_path / "v.csv", one), *HUMANS)
    groups = {g["stratum"]["version"]: g for g in whole["groups"]}
    assert list(groups) == ["V1", "V2"]
    assert groups["V2"]["system"] == alone["system"]
    assert groups["V2"]["question"]["accuracy"] == alone["question"]["accuracy"]


def test_a_shared_prompt_is_drawn_for_all_methods_and_own_clips_within_methods(tmp_path):
    rows = made(n=12)
    paired = run(write(tmp_path / "r.csv", rows), *HUMANS)
    assert (paired["unit"], paired["n_units"], paired["within_methods"]) == ("clip", 12, False)
    own = [rows[0], *((r[0], r[1] + r[2], *r[2:]) for r in rows[1:])]
    apart = run(write(tmp_path / "o.csv", own), *HUMANS)
    assert (apart["n_units"], apart["within_methods"]) == (36, True)
    assert apart["system"]["pearson_r"]["value"] == paired["system"]["pearson_r"]["value"]


def test_selection_is_the_mean_absolute_difference_smallest_marked(tmp_path):
    rng = np.random.default_rng(7)
    dimensions = ("ENA", "AC", "MOC", "BPU", "PP")
    human = rng.integers(0, 11, (50, 5, 5)).astype(float)
    near = human.mean(axis=2) + rng.normal(size=(50, 5))
    far = human.mean(axis=2) + rng.normal(size=(50, 5)) * 3
    far[:, 2] = human[:, :, :].mean(axis=2)[:, 2]
    rows = [("clip", "dimension", "r1", "r2", "r3", "r4", "r5", "far", "near")]
    rows += [
        (f"p{p}", dimensions[d], *human[p, d], far[p, d], near[p, d])
        for p in range(50)
        for d in range(5)
    ]
    path = write(tmp_path / "r.csv", rows)
    found = run(path, "--human", "r1,r2,r3,r4,r5", "--judge", "far,near", "--question", "dimension")
    selection = found["selection"]
    assert selection["n_raters"] == 5
    assert selection["n_prompts"] == 50
    assert set(selection["dimensions"][:-1]) == set(dimensions)
    mean = human.mean(axis=2)
    for row, scores in zip(selection["rows"], (far, near), strict=True):
        cells = {c["dimension"]: c for c in row["cells"]}
        for d, name in enumerate(dimensions):
            value = cells[name]["mean_absolute_difference"]["value"]
            assert value == pytest.approx(np.abs(scores[:, d] - mean[:, d]).mean())
            assert cells[name]["smallest"] is ((name == "MOC") == (row["judge"] == "far"))
        overall = np.abs(scores.sum(axis=1) - mean.sum(axis=1)).mean()
        assert cells["overall"]["mean_absolute_difference"]["value"] == pytest.approx(overall)
    assert selection["rows"][1]["behind"] is None
    assert selection["rows"][0]["behind"]["ci"][0] > 0
    assert found["judge"] == "far"
    assert [o["judge"] for o in found["others"]] == ["near"]


def test_missing_scores_are_left_out_and_counted(tmp_path):
    rows = made(n=10)
    rows[1] = (*rows[1][:3], "", "", "NA", rows[1][6])
    rows[2] = (*rows[2][:6], "")
    found = run(write(tmp_path / "r.csv", rows), *HUMANS)
    assert found["dropped"] == {"no_human": 1, "no_judge": 1}
    assert found["instance"]["n_clips"] == 28


def test_few_methods_and_constant_means_are_null_with_a_reason(tmp_path):
    two = run(write(tmp_path / "r.csv", made(methods="AB")), *HUMANS)
    assert two["system"]["pearson_r"]["reason"] == "too_few"
    assert two["system"]["p"] is None
    rows = [("method", "clip", "human", "judge")]
    rows += [(m, f"{m}{k}", k, k) for m in "ABC" for k in (1, 2, 3)]
    flat = run(write(tmp_path / "f.csv", rows))
    assert flat["system"]["pearson_r"]["reason"] == "constant_input"
    assert flat["instance"]["pearson_r"]["value"] == pytest.approx(1)


def test_a_table_without_common_scores_is_all_null(tmp_path):
    rows = [("method", "clip", "human", "judge"), ("A", "x", 1, ""), ("B", "y", "", 2)]
    found = run(write(tmp_path / "r.csv", rows))
    for level, names in (
        ("instance", ("pearson_r", "spearman_rho", "mean_bias")),
        ("question", ("accuracy", "cohen_kappa")),
        ("system", ("pearson_r",)),
    ):
        for name in names:
            assert found[level][name]["value"] is None
            assert found[level][name]["reason"] == "too_few"
    assert "no row has both" in found["warnings"][0]


@pytest.mark.parametrize(
    ("rows", "options", "part"),
    [
        ([("a", 1, 1), ("a", 2, 2)], (), "row 3: clip 'a' stands a second time"),
        ([("a", 1, 1), ("", 2, 2)], (), "row 3: the clip is empty"),
        ([("a", 1, 1), ("b", "good", 2)], (), "row 3: 'good' in column 'human'"),
        ([("a", 1, 1)], ("--judge", "gpt"), "no column 'gpt'"),
        ([("a", 1, 1)], ("--judge", "human"), "named as human and as judge"),
        ([("a", "", "")], (), "every score is missing"),
        ([("a", "yes", "no")], ("--positive", "maybe"), "expected one of no, yes"),
        ([("a", "yes", "no")], ("--categories", "yes,perhaps"), "'no' in column 'judge'"),
        ([("a", 1, 1)], ("--resamples", "-1"), "--resamples -1"),
        ([("a", 1, 1)], ("--human", "human,human"), "different columns"),
        ([("a", 1, 1), ("b", "inf", 2)], (), "row 3: 'inf' in column 'human'"),
        ([("a", 1, 1), ("b", "1e200", 2)], (), "expected up to 1e+100"),
    ],
)
def test_what_is_refused_in_one_line(tmp_path, rows, options, part):
    path = write(tmp_path / "r.csv", [("clip", "human", "judge"), *rows])
    assert part in run(path, *options)


def test_two_judge_scores_of_one_clip_are_refused(tmp_path):
    rows = [("clip", "who", "human", "judge"), ("a", "r1", 1, 2), ("a", "r2", 1, 3)]
    assert "a second, different score" in run(write(tmp_path / "r.csv", rows), "--rater", "who")


def test_verdicts_go_by_majority_and_ties_are_left_out(tmp_path):
    rows = [("clip", "h1", "h2", "h3", "judge")]
    rows += [("a", "yes", "yes", "no", "yes"), ("b", "no", "no", "", "no")]
    rows += [("c", "yes", "no", "", "no"), ("d", "no", "yes", "no", "yes")]
    found = run(write(tmp_path / "r.csv", rows), "--human", "h1,h2,h3", "--positive", "yes")
    assert found["question"]["n_tied"] == 1
    assert found["question"]["accuracy"]["value"] == pytest.approx(2 / 3)
    # People: 2/3, 0, 1/2, 1/3; judge: 1, 0, 0, 1.
    assert found["instance"]["mean_bias"]["value"] == pytest.approx(0.5 - 0.375)


def test_the_page_holds_the_numbers_and_escapes_names(tmp_path):
    rows = [(*r[:2], r[2].replace("A", "<b>A"), *r[3:]) for r in made()]
    rows[0] = ("version", "prompt", "method", "h0", "h1", "h2", "judge")
    path = write(tmp_path / "r.csv", rows)
    out = tmp_path / "r.html"
    found = run(path, *HUMANS, "--html", str(out))
    page = out.read_text(encoding="utf-8")
    assert "<b>A" not in page
    assert "&lt;b&gt;A" in page
    assert "<script" not in page
    for value in (found["instance"]["pearson_r"]["value"], found["system"]["p"]):
        assert f"{value:.3f}" in page
    assert render_judges(JudgeStudy.model_validate(found)) == page


def test_a_hundred_thousand_rows(tmp_path):
    rng = np.random.default_rng(8)
    human = rng.integers(1, 6, 100_000)
    judge = np.clip(human + rng.integers(-1, 2, 100_000), 1, 5)
    rows = [("method", "clip", "human", "judge")]
    rows += [
        (f"m{i % 4}", f"c{i}", h, j) for i, (h, j) in enumerate(zip(human, judge, strict=True))
    ]
    found = run(write(tmp_path / "r.csv", rows), resamples=50)
    assert found["instance"]["n_clips"] == 100_000
    assert found["instance"]["spearman_rho"]["ci"] is None
    assert "no interval" in found["instance"]["spearman_rho"]["warnings"][0]
    assert found["instance"]["pearson_r"]["value"] == pytest.approx(np.corrcoef(human, judge)[0, 1])


def test_latex_is_table_five_and_table_two(tmp_path):
    rows = made(n=40, versions=("V1", "V2"))
    rows = [(*row, row[6]) if i else (*row, "other_judge") for i, row in enumerate(rows)]
    out = tmp_path / "t.tex"
    found = run(
        write(tmp_path / "r.csv", rows), *HUMANS, "--version", "version",
        "--judge", "judge,other_judge", "--latex", str(out),
    )  # fmt: skip
    text = out.read_text(encoding="utf-8")
    r = [g["instance"]["pearson_r"]["value"] for g in found["groups"]]
    assert rf"Instance & Pearson $r$ & ${r[0]:.3f}$ & ${r[1]:.3f}$ \\" in text
    assert r"Granularity & Metric & V1 & V2 \\" in text
    # Both judges are the same, so both are the nearest.
    assert text.count(r"$\mathbf{") == 2
    assert r"other\_judge" in text
