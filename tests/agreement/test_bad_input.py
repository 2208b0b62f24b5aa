"""Bad tables: one clear line, or a stated null; never a traceback, never a wrong number."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from agreement.analysis import analyse
from agreement.axis import Axis, canonical, identity
from agreement.files import read_table
from agreement.ratings import RatingRecord, from_columns, from_records
from agreement.registry import compute
from corpus.problems import InputError
from motionjury.commands.agreement import app
from tests.agreement.samples import table

GOOD = [
    ("item", "rater", "label"),
    ("a", "r1", "1"),
    ("a", "r2", "1"),
    ("b", "r1", "2"),
    ("b", "r2", "3"),
    ("c", "r1", "3"),
    ("c", "r2", "3"),
]


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def run(path, *options, level="ordinal", categories="1,2,3,4,5"):
    """The command's outcome: parsed JSON, or the one line of the refusal."""
    arguments = ["table", str(path), "--item", "item", "--rater", "rater", "--label", "label"]
    arguments += ["--level", level, "--resamples", "50", "--json", *options]
    if categories:
        arguments += ["--categories", categories]
    result = CliRunner().invoke(app, arguments)
    if result.exception is None:
        return json.loads(result.stdout)
    assert isinstance(result.exception, InputError), result.exception
    text = str(result.exception)
    assert "\n" not in text
    return text


def test_a_label_outside_the_domain_names_file_and_row(tmp_path):
    path = write(tmp_path / "r.csv", [*GOOD, ("d", "r1", "7")])
    text = run(path)
    assert str(path) in text
    assert "row 8" in text
    assert "'7'" in text
    assert "1, 2, 3, 4, 5" in text


def test_an_item_rated_twice_by_one_rater(tmp_path):
    text = run(write(tmp_path / "r.csv", [*GOOD, ("a", "r1", "2")]))
    assert "row 8" in text
    assert "'r1'" in text
    assert "'a'" in text


def test_a_rater_column_that_is_an_id(tmp_path):
    rows = [GOOD[0], *((f"i{k // 3}", f"row-{k}", "1") for k in range(30))]
    assert "looks like an id" in run(write(tmp_path / "r.csv", rows))


@pytest.mark.parametrize("word", ["", "  ", "NA", "NaN", "nan", "None", "null"])
def test_missing_words_are_missing_and_counted(tmp_path, word):
    found = run(write(tmp_path / "r.csv", [*GOOD, ("d", "r1", "2"), ("d", "r2", word)]))
    assert found["n_items"] == 4
    assert found["n_pairable"] == 3
    assert found["n_ratings"] == 7
    assert found["n_missing_rows"] == 1
    assert found["missing_share"] == pytest.approx(1 / 8)


def test_a_declared_label_is_no_missing_word():
    ratings = table([["None", "None"], ["x", "None"]], domain=("None", "x"))
    assert ratings.n_ratings == 4


def test_text_and_number_are_one_label(tmp_path):
    path = tmp_path / "r.jsonl"
    labels = [1, "1", 2.0, "2", "1.0", 1]
    lines = [{"item": f"i{k // 2}", "rater": f"r{k % 2}", "label": v} for k, v in enumerate(labels)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = run(path, categories="1,2")
    agreed = next(c for c in found["coefficients"] if c["coefficient"] == "percent_agreement")
    assert agreed["value"] == 1
    assert any("as text and as numbers" in w for w in found["warnings"])


def test_one_rater_only(tmp_path):
    rows = [GOOD[0], *(row for row in GOOD[1:] if row[1] == "r1")]
    found = run(write(tmp_path / "r.csv", rows))
    assert found["n_raters"] == 1
    assert {c["reason"] for c in found["coefficients"]} == {"single_rater"}
    assert {c["value"] for c in found["coefficients"]} == {None}


def test_raters_with_no_common_item(tmp_path):
    rows = [GOOD[0], ("a", "r1", "1"), ("b", "r2", "2"), ("c", "r1", "2"), ("d", "r2", "2")]
    found = run(write(tmp_path / "r.csv", rows))
    assert {c["reason"] for c in found["coefficients"]} == {"no_pairable_items"}


def test_one_label_throughout_is_null_but_for_ac1(tmp_path):
    rows = [GOOD[0], *((f"i{k}", r, "3") for k in range(8) for r in ("r1", "r2", "r3"))]
    found = run(write(tmp_path / "r.csv", rows))
    by_name = {
        (c["coefficient"], *map(str, c["params"].values())): c for c in found["coefficients"]
    }
    assert by_name["fleiss_kappa",]["reason"] == "no_variation"
    assert by_name["fleiss_kappa",]["warnings"] == []
    assert by_name["krippendorff_alpha", "ordinal"]["value"] is None
    assert by_name["gwet_ac1",]["value"] == 1
    assert by_name["percent_agreement",]["value"] == 1


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"item,rater,label\n", "no rows"),
        (b"item,rater\na,r1\n", "no column 'label'"),
        (b"item,rater,label\na,r1\n", "line 2: 2 fields, expected 3"),
        (b"item,item,label\na,r1,1\n", "stands twice"),
        (b"item,rater,label\n\xff\xfe,r1,1\n", "UTF-8"),
        (b"item,rater,label\n,r1,1\n", "row 2: the item is empty"),
        (b"item,rater,label\na,,1\n", "row 2: the rater is empty"),
    ],
)
def test_damaged_csv(tmp_path, content, part):
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    text = run(path)
    assert part in text
    assert str(path) in text


def test_other_damaged_files(tmp_path):
    bad_json = tmp_path / "r.jsonl"
    bad_json.write_text('{"item": 1}\n[1]\n', encoding="utf-8")
    assert "line 2" in run(bad_json)
    parquet = tmp_path / "r.parquet"
    parquet.write_bytes(b"no parquet")
    assert "Parquet" in run(parquet)
    assert "no such file" in run(tmp_path / "none.csv")
    assert "expected one of .csv" in run(write(tmp_path / "r.txt", GOOD))


def test_levels_and_categories_are_checked(tmp_path):
    path = write(tmp_path / "r.csv", GOOD)
    assert "expected one of nominal" in run(path, level="ordinary")
    assert "names a label twice" in run(path, categories="1,1.0,2,3")
    assert "must be numbers" in run(path, level="interval", categories="low,high")
    assert "must ascend" in run(path, level="interval", categories="3,2,1")
    words = write(tmp_path / "w.csv", [GOOD[0], ("a", "r1", "low"), ("a", "r2", "high")])
    assert "give --categories" in run(words, categories=None)
    assert "expected a number" in run(words, level="interval", categories=None)
    huge = [GOOD[0], ("a", "r1", "1e308"), ("a", "r2", "-1e308")]
    said = run(write(tmp_path / "h.csv", huge), level="interval", categories=None)
    assert "row 2: label '1e+308', expected at most 1e+100 in size" in said
    found = run(path, categories=None)
    assert any("declare them with --categories" in w for w in found["warnings"])


def test_an_ordinal_domain_keeps_its_declared_order():
    rows = [["low", "low"], ["mid", "high"], ["high", "high"], ["high", "mid"], ["low", "mid"]]
    declared = compute(
        table(rows, "ordinal", ("low", "mid", "high")),
        "cohen_kappa",
        {"raters": [0, 1], "weights": "quadratic"},
    )
    alphabetical = compute(
        table(rows, "ordinal", ("high", "low", "mid")),
        "cohen_kappa",
        {"raters": [0, 1], "weights": "quadratic"},
    )
    assert declared.value != pytest.approx(alphabetical.value)


def test_an_item_in_two_clusters_or_strata(tmp_path):
    rows = [
        ("item", "rater", "label", "clip"),
        ("a", "r1", "1", "x"),
        ("a", "r2", "1", "y"),
        ("b", "r1", "1", "y"),
    ]
    assert "item 'a' has cluster 'y'" in run(write(tmp_path / "r.csv", rows), "--cluster", "clip")
    assert "item 'a' has clip 'y'" in run(write(tmp_path / "r.csv", rows), "--by", "clip")


def test_a_hundred_thousand_items():
    n = 100_000
    records = [
        RatingRecord(f"i{i}", f"A{r}", "yes" if (i * 7 + r * (i % 5 == 0)) % 3 else "no")
        for i in range(n)
        for r in range(3)
    ]
    ratings = from_records(Axis(name="x", level="nominal", domain=("yes", "no")), records)
    found = analyse(ratings, resamples=1000)
    assert found.n_pairable == n
    kappa = found.find("fleiss_kappa")
    assert kappa.ci[0] <= kappa.value <= kappa.ci[1]
    assert kappa.ci[1] - kappa.ci[0] < 0.02


def test_parquet_and_wide_give_what_long_gives(tmp_path):
    long = run(write(tmp_path / "r.csv", GOOD))
    parquet = tmp_path / "r.parquet"
    pd.DataFrame(GOOD[1:], columns=GOOD[0]).astype({"label": int}).to_parquet(parquet)
    wide = write(
        tmp_path / "w.csv", [("item", "r1", "r2"), ("a", "1", "1"), ("b", "2", "3"), ("c", "3", 3)]
    )
    assert run(parquet)["coefficients"] == long["coefficients"]
    result = CliRunner().invoke(
        app,
        ["table", str(wide), "--item", "item", "--wide", "--level", "ordinal", "--json"]
        + ["--categories", "1,2,3,4,5", "--resamples", "50"],
    )
    assert json.loads(result.stdout)["coefficients"] == long["coefficients"]


def test_json_holds_the_fixed_keys(tmp_path):
    found = run(write(tmp_path / "r.csv", GOOD))
    first = ["n_items", "n_pairable", "n_ratings", "n_raters", "missing_share", "coefficients"]
    assert list(found)[:6] == first
    keys = {"coefficient", "params", "value", "ci", "method", "n", "reason"}
    assert all(keys <= set(c) for c in found["coefficients"])
    assert found["resampling"]["seed"] == 0


def test_by_a_column(tmp_path):
    rows = [(*GOOD[0], "part"), *((*row, "x" if row[0] != "c" else "y") for row in GOOD[1:])]
    found = run(write(tmp_path / "r.csv", rows), "--by", "part")
    assert [(g["value"], g["n_items"]) for g in found["by"]["groups"]] == [("x", 2), ("y", 1)]


def test_bytes_before_a_csv_header_are_no_part_of_it(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,label\na,r1,1\n", encoding="utf-8-sig")
    assert list(read_table(path).columns) == ["item", "rater", "label"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [(1, "1"), (1.0, "1"), ("1.50", "1.5"), ("007", "007"), (None, ""), (float("nan"), "")],
)
def test_canonical(raw, text):
    assert canonical(raw) == text


def test_a_study_in_which_everyone_rated_once_is_no_id_column():
    records = [RatingRecord("a", f"A{k}", "yes" if k % 3 else "no") for k in range(12)]
    ratings = from_records(Axis(name="x", level="nominal", domain=("yes", "no")), records)
    assert ratings.n_raters == 12
    assert ratings.n_pairable == 1


def test_ids_are_no_numbers(tmp_path):
    twins = ("1234567890123456788", "1234567890123456789", "52e1", "520", "1e5", "100000")
    rows = [(name, rater, "1") for name in twins for rater in ("r1", "r2")]
    found = run(write(tmp_path / "r.csv", [GOOD[0], *rows]))
    assert found["n_items"] == len(twins)
    assert [identity(name) for name in (1, 1.0, "1", "1.0")] == ["1"] * 4


@pytest.mark.parametrize("other", ["01", "1e0", "+1", "1.00"])
def test_a_number_written_in_two_ways_is_one_label_or_refused(tmp_path, other):
    path = write(tmp_path / "r.csv", [*GOOD, ("d", "r1", other), ("d", "r2", "1")])
    found = run(path, level="interval", categories=None)
    if other == "01":
        assert "labels '1' and '01' are one number" in found
    else:
        assert found["n_ratings"] == 8
        pairs = {str(c["params"]): c for c in found["coefficients"] if c["coefficient"] == "icc"}
        assert pairs["{'type': 'ICC(A,1)'}"]["n"] == 4


@pytest.mark.parametrize("word", ["1_0", "\u0665", "0x5", "1,5", "1e400"])
def test_what_only_looks_like_a_number(tmp_path, word):
    path = write(tmp_path / "r.csv", [*GOOD, ("d", "r1", word)])
    text = run(path, level="interval", categories=None)
    assert "row 8" in text
    assert "expected a number" in text


@pytest.mark.parametrize("mark", [";", "\t"])
def test_what_spreadsheets_write_between_fields(tmp_path, mark):
    path = tmp_path / "r.csv"
    path.write_text("\n".join(mark.join(row) for row in GOOD), encoding="utf-8")
    assert run(path)["n_ratings"] == 6


def test_json_that_is_nested_without_end(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("[" * 100_000, encoding="utf-8")
    assert "nested too deeply" in run(path)


def test_labels_that_hold_several_values(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"item": 1, "rater": 1, "label": ["a", "b"]}\n', encoding="utf-8")
    assert "several values" in run(path, level="nominal", categories=None)


def test_labels_that_differ_in_case_only_are_named(tmp_path):
    rows = [("a", "r1", "yes"), ("a", "r2", "Yes"), ("b", "r1", "no"), ("b", "r2", "no\u200b")]
    found = run(write(tmp_path / "r.csv", [GOOD[0], *rows]), level="nominal", categories=None)
    assert any("count as two labels" in warning for warning in found["warnings"])


def test_columns_of_a_wide_table(tmp_path):
    rows = [("item", "a", "b", "comment"), ("1", "x", "y", "odd"), ("2", "x", "x", "odd")]
    path = write(tmp_path / "w.csv", rows)

    def wide(*options):
        arguments = ["table", str(path), "--wide", "--json", "--resamples", "20", *options]
        result = CliRunner().invoke(app, arguments)
        return json.loads(result.stdout) if result.exception is None else str(result.exception)

    guessed = "every other column is taken as a rater: a, b, comment"
    assert guessed in wide()["warnings"]
    assert guessed not in wide("--rater", "a,b")["warnings"]
    assert "'a' is named twice" in wide("--rater", "a,a,b")
    assert "'item' is also the item" in wide("--rater", "a,item")


@pytest.mark.parametrize(
    ("name", "level"), [("{}", "nominal"), ("{}", "interval"), ("clip{:03}", "nominal")]
)
def test_an_id_beside_the_raters_of_a_wide_table(tmp_path, name, level):
    rows = [("clip", "id", "a", "b"), *((f"c{k}", name.format(k), k % 3, k % 2) for k in range(12))]
    path = write(tmp_path / "w.csv", rows)
    words = ["table", str(path), "--wide", "--item", "clip", "--json", "--resamples", "20"]
    refused = CliRunner().invoke(app, [*words, "--level", level]).exception
    assert isinstance(refused, InputError)
    assert "column 'id' holds 12 different values in as many rows: it looks like an id" in str(
        refused
    )
    named = CliRunner().invoke(app, [*words, "--level", level, "--rater", "a,b"])
    assert json.loads(named.stdout)["n_raters"] == 2


def test_one_column_is_not_item_and_label_at_once(tmp_path):
    path = write(tmp_path / "r.csv", GOOD)
    text = run(path, "--label", "item", level="nominal", categories=None)
    assert "item 'item', rater 'rater' and label 'item': expected three columns" in text


def test_ranks_of_a_wide_table_are_no_ids(tmp_path):
    rows = [("clip", "a", "b"), *((f"c{k}", k, (5 * k) % 12) for k in range(12))]
    path = write(tmp_path / "w.csv", rows)
    words = ["table", str(path), "--wide", "--item", "clip", "--json", "--resamples", "20"]
    ranked = CliRunner().invoke(app, [*words, "--level", "ordinal"])
    assert isinstance(ranked.exception, InputError)
    assert "column 'a'" in str(ranked.exception)
    write(path, [rows[0], *((f"c{k}", (7 * k) % 12, (5 * k) % 12) for k in range(12))])
    ranked = CliRunner().invoke(app, [*words, "--level", "ordinal"])
    assert json.loads(ranked.stdout)["n_raters"] == 2


def test_raters_that_differ_in_case_only_are_named(tmp_path):
    rows = [row if row != ("b", "r2", "3") else ("b", "R2", "3") for row in GOOD]
    assert "raters 'R2' and 'r2' count as two" in run(write(tmp_path / "r.csv", rows))["warnings"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"item": ["a"], "rater": "r", "label": 1}', "row 1: item ['a'] holds several values"),
        ('{"item": "a", "rater": {"id": 1}, "label": 1}', "row 1: rater {'id': 1} holds several"),
        (f'{{"item": "a", "rater": "r", "label": {"9" * 5000}}}', "a number of too many digits"),
    ],
)
def test_lines_of_json_that_hold_no_plain_values(tmp_path, line, message):
    path = tmp_path / "r.jsonl"
    path.write_text(line, encoding="utf-8")
    assert message in run(path)
    path.with_suffix(".json").write_text(f"[{line}]", encoding="utf-8")
    assert "json" in run(path.with_suffix(".json"))


def test_a_hundred_thousand_items_of_continuous_scores():
    rng = np.random.default_rng(0)
    n = 100_000
    scores = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))
    ratings = from_columns(
        Axis(name="score", level="interval"),
        np.repeat(np.arange(n), 2).tolist(),
        ["r1", "r2"] * n,
        scores.ravel().tolist(),
    )
    found = analyse(ratings, resamples=0)
    assert found.find("krippendorff_alpha", level="interval").value == pytest.approx(0.5, abs=0.02)
    assert found.find("icc", type="ICC(1,1)").value == pytest.approx(0.5, abs=0.02)
