"""Exports of Label Studio and Potato go straight into a table of ratings."""

import json

import pytest
from typer.testing import CliRunner

from agreement.files import read_table
from corpus.problems import InputError
from motionjury.commands.agreement import app


def annotation(who, choice, rating=3, **extra):
    result = [
        {"from_name": "fluent", "type": "choices", "value": {"choices": choice}},
        {"from_name": "realism", "type": "rating", "value": {"rating": rating}},
    ]
    return {"completed_by": who, "result": result, **extra}


TASKS = [
    {
        "id": 11,
        "data": {"clip": "c1", "video": "a.mp4"},
        "annotations": [
            annotation(1, ["yes"], 4),
            annotation({"id": 2, "email": "x@example.org"}, ["yes"], 5),
            annotation(3, ["no"], was_cancelled=True),
        ],
    },
    {
        "id": 12,
        "data": {"clip": "c1"},
        "annotations": [annotation(1, ["no"], 2), annotation(2, ["yes"], 2)],
    },
]


def run(path, label, level, *options):
    arguments = ["table", str(path), "--label", label, "--level", level, "--json"]
    result = CliRunner().invoke(app, [*arguments, "--resamples", "20", *options])
    if result.exception is None:
        return json.loads(result.stdout)
    assert isinstance(result.exception, InputError), result.exception
    return str(result.exception)


def test_label_studio(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(TASKS), encoding="utf-8")
    found = run(path, "fluent", "nominal", "--categories", "yes,no", "--cluster", "data.clip")
    assert (found["n_items"], found["n_raters"], found["n_ratings"]) == (2, 2, 4)
    assert [r["rater"] for r in found["raters"]] == ["1", "2"]
    assert found["resampling"]["unit"] == "cluster"
    assert "1 skipped annotations are left out" in found["warnings"]
    percent = next(c for c in found["coefficients"] if c["coefficient"] == "percent_agreement")
    assert percent["value"] == 0.5
    scores = run(path, "realism", "ordinal", "--categories", "1,2,3,4,5")
    assert scores["labels"] == {"1": 0, "2": 2, "3": 0, "4": 1, "5": 1}


def test_several_choices_are_refused(tmp_path):
    tasks = [{"id": 1, "annotations": [annotation(1, ["yes", "no"]), annotation(2, ["yes"])]}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    assert "holds several values" in run(path, "fluent", "nominal")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "expected JSON"),
        ("{}", "list of Label Studio tasks"),
        ('[{"id": 1}]', "task 1"),
        ('[{"id": 1, "annotations": [{"result": 5}]}]', "task 1: expected a list as result"),
    ],
)
def test_what_is_no_label_studio_export(tmp_path, text, part):
    path = tmp_path / "export.json"
    path.write_text(text, encoding="utf-8")
    assert part in run(path, "fluent", "nominal")


def test_potato_folder(tmp_path):
    for who, labels in (("ann", ("yes", "no")), ("bob", ("yes", "yes"))):
        (tmp_path / who).mkdir()
        lines = [
            {
                "id": f"clip{k}",
                "displayed_text": "x",
                "label_annotations": {
                    "fluent": {"yes": label == "yes", "no": label == "no"},
                    "realism": {"scale_": str(k + 3)},
                },
                "span_annotations": {},
            }
            for k, label in enumerate(labels)
        ]
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / who / "annotated_instances.jsonl").write_text(text, encoding="utf-8")
    found = run(tmp_path, "fluent", "nominal", "--categories", "yes,no")
    assert [r["rater"] for r in found["raters"]] == ["ann", "bob"]
    assert found["labels"] == {"yes": 3, "no": 1}
    assert run(tmp_path, "realism", "ordinal", "--categories", "3,4")["labels"] == {"3": 2, "4": 2}
    one = run(tmp_path / "ann" / "annotated_instances.jsonl", "fluent", "nominal")
    assert "the rater is empty" in one
    assert "expected Potato's folder" in run(tmp_path / "ann", "fluent", "nominal")


def test_label_studio_json_min(tmp_path):
    path = tmp_path / "min.json"
    rows = [
        {"id": task, "annotator": who, "annotation_id": 10 * task + who, "fluent": "yes"}
        for task in (1, 2)
        for who in (7, 8)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = read_table(path)
    assert found.column("item") == [1, 1, 2, 2]
    assert found.column("rater") == [7, 8, 7, 8]
    assert found.column("fluent") == ["yes"] * 4
