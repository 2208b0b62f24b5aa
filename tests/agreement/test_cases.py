"""Published and hand-made cases; each file carries its source."""

import csv
import json

import pytest
from typer.testing import CliRunner

from agreement.axis import Axis
from agreement.ratings import from_columns
from agreement.registry import COEFFICIENTS, compute
from motionjury.commands.agreement import app
from tests.shared_data import shared_root

FOLDER = shared_root() / "cases" / "agreement"
FILES = sorted(FOLDER.glob("*.json"))


def load(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    if "ratings" not in case:
        return case, None
    rows = [
        (f"i{i}", rater, label)
        for i, row in enumerate(case["ratings"])
        for rater, label in zip(case["raters"], row, strict=True)
    ]
    items, raters, labels = zip(*rows, strict=True)
    axis = Axis(name=case["id"], level=case["level"], domain=tuple(case["categories"]))
    return case, from_columns(axis, items, raters, labels)


def expectations():
    for path in FILES:
        case = json.loads(path.read_text(encoding="utf-8"))
        if "ratings" not in case:
            continue
        for number, expected in enumerate(case["expected"]):
            name = expected["coefficient"]
            yield pytest.param(path, expected, id=f"{path.stem}-{number}-{name}")


@pytest.mark.skipif(not FILES, reason=f"no cases at {FOLDER}")
def test_every_coefficient_of_the_cases_is_known():
    named = {
        e["coefficient"]
        for path in FILES
        if "ratings" in (case := json.loads(path.read_text(encoding="utf-8")))
        for e in case["expected"]
    }
    assert named <= set(COEFFICIENTS)


@pytest.mark.skipif(not FILES, reason=f"no cases at {FOLDER}")
@pytest.mark.parametrize(("path", "expected"), list(expectations()))
def test_case(path, expected):
    _, ratings = load(path)
    found = compute(ratings, expected["coefficient"], expected["params"])
    if expected["value"] is None:
        assert found.value is None
        assert found.reason is not None
        return
    assert found.value == pytest.approx(expected["value"], abs=1e-9)
    if expected.get("published") is not None:
        tolerance = max(expected.get("published_tolerance") or 0.0, 1e-9)
        assert found.value == pytest.approx(expected["published"], abs=tolerance)


@pytest.mark.skipif(not FILES, reason=f"no cases at {FOLDER}")
def test_the_command_prints_the_published_names_params_and_values(tmp_path):
    """Each case as a CSV through ``agreement table``, looked up by exact name and parameters."""
    looked_up = 0
    for path in FILES:
        case, ratings = load(path)
        if ratings is None:
            continue
        file = tmp_path / f"{case['id']}.csv"
        rows = [
            (f"i{i}", rater, "" if label is None else label)
            for i, row in enumerate(case["ratings"])
            for rater, label in zip(case["raters"], row, strict=True)
        ]
        with file.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([("item", "rater", "label"), *rows])
        categories = ",".join(map(str, case["categories"]))
        options = ["--level", case["level"], "--categories", categories, "--resamples", "0"]
        result = CliRunner().invoke(app, ["table", str(file), *options, "--json"])
        assert result.exception is None, (path.name, result.exception)
        found = json.loads(result.stdout)["coefficients"]
        for expected in case["expected"]:
            same = [
                c
                for c in found
                if c["coefficient"] == expected["coefficient"] and c["params"] == expected["params"]
            ]
            if same:
                looked_up += 1
                assert len(same) == 1
                assert same[0]["value"] == pytest.approx(expected["value"], abs=1e-9), path.name
            else:
                # Ordered weights are not offered on a nominal axis, nor a shrunken domain.
                ordered = {"weights", "level", "disagreement_weights"} & set(expected["params"])
                unordered = case["level"] == "nominal" and ordered
                assert unordered or "drop_unused" in expected["params"], (path.name, expected)
    assert looked_up >= 100
