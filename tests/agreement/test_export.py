"""The report as CSV and LaTeX."""

import csv
import io

from agreement.axis import Axis
from agreement.export import COLUMNS, to_csv, to_latex
from agreement.ratings import RatingRecord, from_records
from agreement.report import build_report
from tests.agreement.samples import table


def report_of(ratings, **kwargs):
    return build_report([ratings], title="x", tool_version="0", resamples=50, **kwargs)


def named(rows, name):
    records = [
        RatingRecord(f"i{i}", f"A{j}", label, None, {"part": "uv"[i % 2]})
        for i, row in enumerate(rows)
        for j, label in enumerate(row)
    ]
    return from_records(Axis(name=name, level="nominal", domain=("a", "b")), records)


def test_csv_holds_every_coefficient_of_the_whole_and_of_each_stratum():
    report = report_of(named([["a", "a"], ["a", "b"], ["b", "b"], ["a", "a"]], "x"))
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    check = report.checks[0]
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(check.analysis.coefficients) + 2 * len(check.headline)
    assert {row["stratum"] for row in rows} == {"", "u", "v"}
    kappa = next(r for r in rows if r["coefficient"] == "fleiss_kappa" and not r["stratum"])
    assert float(kappa["value"]) == check.analysis.find("fleiss_kappa").value
    assert kappa["simulated"] == "no"


def test_a_stratum_of_the_data_is_no_formula_to_a_spreadsheet():
    records = [
        RatingRecord(f"i{i}", f"A{j}", label, None, {"method": method})
        for i, (label, method) in enumerate(
            [("a", "=1+1"), ("b", "=1+1"), ("a", "T2M"), ("b", "T2M")]
        )
        for j in range(2)
    ]
    ratings = from_records(Axis(name="x", level="nominal", domain=("a", "b")), records)
    rows = list(csv.DictReader(io.StringIO(to_csv(report_of(ratings)))))
    assert {row["stratum"] for row in rows} == {"", "'=1+1", "T2M"}


def test_undefined_is_an_empty_cell_with_its_reason():
    rows = list(csv.DictReader(io.StringIO(to_csv(report_of(table([["a", "a"]] * 4))))))
    kappa = next(r for r in rows if r["coefficient"] == "fleiss_kappa")
    assert (kappa["value"], kappa["ci_low"], kappa["reason"]) == ("", "", "no_variation")


def test_latex_escapes_names_and_dashes_what_is_undefined():
    text = to_latex(report_of(named([["a", "a"]] * 4, "single_change & 100%")))
    assert r"single\_change \& 100\% & 4 & 100.0\% & -- & -- & $1.00$ \\" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_latex_says_when_raters_are_simulated():
    ratings = named([["a", "a"], ["b", "a"]], "x")
    assert "% SIMULATED" in to_latex(report_of(ratings, simulated_raters=["A0"]))
    assert "SIMULATED" not in to_latex(report_of(ratings))
