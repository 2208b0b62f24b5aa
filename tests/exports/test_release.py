from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from corpus.problems import InputError
from exports.folder import FILES, write_release
from exports.records import ReleaseDecision
from exports.release import release_files
from exports.selection import ReleaseSpec, StudySource, joint_outcome, release_content
from exports.tables import from_jsonl
from tests.exports.conftest import ODD_CAPTIONS, item, study


def build(source: StudySource, spec: ReleaseSpec) -> dict[str, bytes]:
    return release_files(release_content([source], spec), spec)


def test_items_hold_the_accepted_and_excluded_the_rest(source: StudySource, spec: ReleaseSpec):
    files = build(source, spec)
    kept = from_jsonl(files["items.jsonl"])
    assert [row["item_id"] for row in kept] == sorted(item(n).id for n in range(5))
    excluded = {row["item_id"]: row for row in from_jsonl(files["excluded.jsonl"])}
    assert set(excluded) == {item(5).id, item(6, parent=item(5).id).id}
    assert excluded[item(5).id]["outcome"] == "rejected"
    assert excluded[item(5).id]["reason"] == "failed: distinguishable has 0 yes of 3"
    open_row = excluded[item(6, parent=item(5).id).id]
    assert (open_row["outcome"], open_row["parent"]) == ("undecided", item(5).id)
    manifest = json.loads(files["manifest.json"])
    assert manifest["counts"] == {
        "kept": 5,
        "dropped": {"rejected": 1, "undecided": 1},
        "labels": 19,
        "simulated_labels": 0,
        "decisions": 6,
    }


def test_every_label_is_there_once(source: StudySource, spec: ReleaseSpec):
    rows = from_jsonl(build(source, spec)["labels.jsonl"])
    # 3 experts by 6 items, and one label of the item that is still open.
    assert len(rows) == 3 * 6 + 1
    keys = {(row["study"], row["item_id"], row["rater"]) for row in rows}
    assert len(keys) == len(rows)
    disputed = {r["rater"]: r["distinguishable"] for r in rows if r["item_id"] == item(0).id}
    assert disputed == {"A1": "yes", "A2": "no", "A3": "yes"}
    third = next(row for row in rows if row["rater"] == "A3")
    assert (third["confidence"], third["revision"], third["seconds"]) == (5, 2, 14.5)


def test_parquet_holds_what_jsonl_holds(source: StudySource, spec: ReleaseSpec):
    files = build(source, spec)
    for table in ("items", "labels"):
        found = pq.read_table(BytesIO(files[f"{table}.parquet"])).to_pylist()
        expected = from_jsonl(files[f"{table}.jsonl"])
        for row, other in zip(found, expected, strict=True):
            assert list(row) == list(other)
            for name, value in other.items():
                text = json.loads(row[name]) if isinstance(value, dict) else row[name]
                assert text == value


def test_captions_come_back_as_they_were(source: StudySource, spec: ReleaseSpec):
    files = build(source, spec)
    captions = {row["caption"] for row in from_jsonl(files["items.jsonl"])}
    assert captions == set(ODD_CAPTIONS[:5])
    table = pq.read_table(BytesIO(files["items.parquet"]))
    assert set(table["caption"].to_pylist()) == set(ODD_CAPTIONS[:5])


def test_same_content_gives_same_bytes_whatever_the_order(source: StudySource, spec: ReleaseSpec):
    shuffled = source.model_copy(
        update={
            "items": source.items[::-1],
            "labels": source.labels[::-1],
            "decisions": source.decisions[::-1],
        }
    )
    first, second = build(source, spec), build(shuffled, spec)
    assert list(first) == [*FILES, "manifest.json"]
    assert first == second


def test_comments_and_a_coordinators_words_stay_inside_unless_asked(
    source: StudySource, spec: ReleaseSpec
):
    decided = source.decisions[0].model_copy(
        update={"rule": "coordinator", "reason": "Zebedee and I agreed"}
    )
    source = source.model_copy(update={"decisions": (decided, *source.decisions[1:])})
    for data in build(source, spec).values():
        assert b"Zebedee" not in data
    wordy = build(source, spec.model_copy(update={"include_comments": True}))
    assert b"Zebedee thinks so" in wordy["labels.jsonl"]
    assert b"Zebedee and I agreed" in wordy["decisions.jsonl"]


def test_simulated_labels_are_refused_and_named(spec: ReleaseSpec):
    simulated = study("made up", simulated=True)
    with pytest.raises(InputError, match=r"'made up' holds 19 simulated labels.*--allow-simulated"):
        release_content([study(), simulated], spec)


def test_simulated_labels_that_were_let_in_are_marked_everywhere(spec: ReleaseSpec):
    files = build(study(simulated=True), spec.model_copy(update={"allow_simulated": True}))
    assert b"**SIMULATED.** 19 of the 19 labels" in files["README.md"]
    assert all(row["simulated"] for row in from_jsonl(files["labels.jsonl"]))
    assert all(row["simulated"] for row in from_jsonl(files["decisions.jsonl"]))
    assert json.loads(files["manifest.json"])["counts"]["simulated_labels"] == 19
    assert json.loads(files["studies.json"])[0]["simulated_raters"] == 3
    assert json.loads(files["agreement.json"])["studies"]["pilot"]["simulated_labels"] == 19


def test_agreement_is_that_of_the_labels(source: StudySource, spec: ReleaseSpec):
    table = json.loads(build(source, spec)["agreement.json"])
    found = table["studies"]["pilot"]["questions"]["distinguishable"]
    by_name = {(c["coefficient"], json.dumps(c["params"])): c for c in found["coefficients"]}
    # Six items with three ratings: five unanimous (1), one with one of three pairs agreeing (1/3).
    percent = by_name["percent_agreement", '{"how": "item_mean"}']
    assert percent["value"] == pytest.approx((5 + 1 / 3) / 6, abs=1e-12)
    # 18 ratings, 14 yes: p_e = (14/18)^2 + (4/18)^2 among the items rated by all; the seventh
    # item, with a lone yes, adds its share to the label shares (Gwet): (4 + 2/3 + 1)/7 yes.
    yes = (4 + 2 / 3 + 1) / 7
    chance = yes**2 + (1 - yes) ** 2
    observed = (5 + 1 / 3) / 6
    kappa = by_name["fleiss_kappa", "{}"]
    assert kappa["value"] == pytest.approx((observed - chance) / (1 - chance), abs=1e-9)
    assert found["n_ratings"] == 19


def test_studies_that_differ_leave_an_item_undecided(source: StudySource, spec: ReleaseSpec):
    other = study("second")
    turned = [
        d.model_copy(update={"outcome": "rejected"}) if d.item_id == item(1).id else d
        for d in other.decisions
    ]
    content = release_content([source, other.model_copy(update={"decisions": tuple(turned)})], spec)
    row = next(row for row in content.excluded if row.item_id == item(1).id)
    assert row.outcome == "undecided"
    assert row.reason == "the studies differ (pilot: accepted, second: rejected)"
    assert len(content.items) == 4


def test_an_item_that_a_later_study_took_up_is_decided_by_that_one(spec: ReleaseSpec):
    later = study("later")
    first = study("first")
    target = item(1).id
    undecided = first.model_copy(
        update={
            "labels": tuple(x for x in first.labels if x.item_id != target or x.rater == "A1"),
            "decisions": tuple(d for d in first.decisions if d.item_id != target),
        }
    )
    alone = release_content([undecided], spec)
    row = next(row for row in alone.excluded if row.item_id == target)
    assert (row.outcome, row.reason) == ("undecided", "1 of 3 ratings in first")
    both = release_content([undecided, later], spec)
    assert target in {kept.item_id for kept in both.items}


def test_joint_outcome_names_each_reason_once():
    decisions = {"a": ("rejected", "why"), "b": ("rejected", "why"), "c": ("rejected", "so")}
    assert joint_outcome(decisions) == ("rejected", "why; so")


def test_card_draws_hostile_names_as_text(source: StudySource, spec: ReleaseSpec):
    hostile = spec.model_copy(update={"name": 'x"]: <img src=x> | **b**', "licence": "a: b\n- c"})
    card = build(source, hostile)["README.md"].decode()
    body = card.split("---\n", 2)[2]
    assert "<img" not in body.replace("\\<img", "")
    assert 'pretty_name: "x\\"]: <img src=x> | **b**"\n' in card
    assert 'license: "a: b\\n- c"\n' in card


def test_card_counts_and_front_matter(source: StudySource, spec: ReleaseSpec):
    yaml = pytest.importorskip("yaml")
    card = build(source, spec)["README.md"].decode()
    front = yaml.safe_load(card.split("---\n", 2)[1])
    assert front["license"] == "CC-BY-4.0"
    files = {c["config_name"]: c["data_files"][0]["path"] for c in front["configs"]}
    assert files == {"items": "items.parquet", "labels": "labels.parquet"}
    assert "| synthetic | action\\_identity | 1 | 1 |" in card
    assert "| synthetic | mirror\\_reflection | 2 | 1 |" in card
    assert "SIMULATED" not in card


def test_schema_describes_every_column(source: StudySource, spec: ReleaseSpec):
    files = build(source, spec)
    schema = json.loads(files["schema.json"])
    for table in ("items", "labels", "excluded", "decisions"):
        rows = from_jsonl(files[f"{table}.jsonl"])
        properties = schema[table]["properties"]
        assert list(rows[0]) == list(properties)
        assert all(entry.get("description") for entry in properties.values())
    assert schema["labels"]["properties"]["fluent"]["enum"] == ["yes", "no", None]


def test_a_previous_release_is_replaced_and_other_folders_are_not(
    tmp_path: Path, source: StudySource, spec: ReleaseSpec
):
    files = build(source, spec)
    out = tmp_path / "deep" / "release"
    write_release(out, files)
    newer = build(source, spec.model_copy(update={"version": "2.0"}))
    write_release(out, newer)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == newer
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"one that holds 'notes.txt'"):
        write_release(out, files)
    assert (out / "manifest.json").read_bytes() == newer["manifest.json"]
    with pytest.raises(InputError, match="File name too long"):
        write_release(tmp_path / ("x" * 300), files)
    (tmp_path / "file").write_text("")
    for blocked in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=r"got a file|cannot write the release"):
            write_release(blocked, files)
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="a previous release"):
        write_release(other, files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "file", "other"]
    assert sorted(path.name for path in out.parent.iterdir()) == ["release"]


def test_a_failed_write_leaves_the_earlier_release(
    tmp_path: Path, source: StudySource, spec: ReleaseSpec, monkeypatch: pytest.MonkeyPatch
):
    files = build(source, spec)
    out = tmp_path / "release"
    write_release(out, files)
    write = Path.write_bytes

    def full_disk(path: Path, data: bytes) -> int:
        if path.name == "labels.jsonl":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        write_release(out, build(source, spec.model_copy(update={"version": "2.0"})))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_decision_of_another_name_is_no_outcome():
    with pytest.raises(ValueError, match="outcome"):
        ReleaseDecision(
            study="s", item_id="i", outcome="maybe", rule="r", reason="", votes={}, simulated=False
        )
