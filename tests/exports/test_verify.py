from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.problems import InputError
from exports.folder import FILES, MANIFEST, sha256, write_release
from exports.records import StrideItem
from exports.release import release_files
from exports.selection import ReleaseSpec, StudySource, release_content
from exports.stimuli import Stimulus
from exports.tables import columns_of, from_jsonl, to_jsonl, to_parquet
from exports.verify import verify_release
from tests.exports.conftest import item, study


@pytest.fixture
def release(tmp_path: Path, source: StudySource, spec: ReleaseSpec) -> Path:
    out = tmp_path / "release"
    write_release(out, release_files(release_content([source], spec), spec))
    return out


def problems_of(folder: Path) -> list[tuple[str, str]]:
    return [(problem.file, problem.reason) for problem in verify_release(folder)]


def forge(folder: Path, name: str, data: bytes) -> None:
    """Change a file and bring the manifest's hash and size to it, as a careful forger would."""
    (folder / name).write_bytes(data)
    change_manifest(folder, lambda manifest: _relist(manifest, name, data))


def _relist(manifest: dict[str, Any], name: str, data: bytes) -> None:
    for entry in manifest["files"]:
        if entry["file"] == name:
            entry.update(sha256=sha256(data), size=len(data))


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def forge_rows(folder: Path, name: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
    rows = from_jsonl((folder / name).read_bytes())
    change(rows)
    forge(folder, name, to_jsonl(rows))


def test_a_release_as_written_is_ok(release: Path):
    assert verify_release(release) == []


def test_a_simulated_release_and_one_of_two_studies_are_ok(tmp_path: Path, spec: ReleaseSpec):
    spec = spec.model_copy(update={"allow_simulated": True, "include_comments": True})
    content = release_content([study("b"), study("a", simulated=True)], spec)
    write_release(tmp_path / "r", release_files(content, spec))
    assert verify_release(tmp_path / "r") == []


STIMULI = tuple(
    Stimulus(
        study="pilot", motion_id=f"synthetic:clip-{n}", key=f"{n:032x}", renderer_version=3,
        settings={"size": 768, "view": "mesh"}, frames=60, fit_error_mm={"head": 1.5},
    )
    for n in range(3)
)  # fmt: skip


def test_a_release_from_before_there_were_stimuli_is_ok_and_can_be_replaced(
    release: Path, source: StudySource, spec: ReleaseSpec
):
    assert not (release / "stimuli.jsonl").exists()
    assert verify_release(release) == []
    told = source.model_copy(update={"stimuli": STIMULI[::-1]})
    for _again in range(2):
        write_release(release, release_files(release_content([told], spec), spec))
        assert len(from_jsonl((release / "stimuli.jsonl").read_bytes())) == 3
        assert verify_release(release) == []
    (release / "stimuli.jsonl").unlink()
    assert problems_of(release) == [("stimuli.jsonl", "missing")]


def test_stimuli_cannot_be_left_out_afterwards(
    tmp_path: Path, source: StudySource, spec: ReleaseSpec
):
    told = source.model_copy(update={"stimuli": STIMULI})
    write_release(tmp_path / "r", release_files(release_content([told], spec), spec))
    (tmp_path / "r" / "stimuli.jsonl").unlink()

    def unlisted(manifest: dict[str, Any]) -> None:
        manifest["files"] = [e for e in manifest["files"] if e["file"] != "stimuli.jsonl"]

    change_manifest(tmp_path / "r", unlisted)
    found = [("stimuli.jsonl", "is not there, and schema.json has its columns")]
    assert problems_of(tmp_path / "r") == found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[0].update(study="other"), "no such study that shows clips"),
        (lambda rows: rows[0].update(motion_id="x"), "no item has this motion"),
        (lambda rows: rows[0].update(motion_id="x"), "pilot synthetic:clip-0: labelled, and not"),
        (lambda rows: rows.append(rows[2]), "comes 2 times"),
        (lambda rows: rows[0]["settings"].update(bodies="/home/me"), "settings hold bodies"),
        (lambda rows: rows[0].update(fit_error_mm={"head": -1}), "a fit error is below 0"),
        (lambda rows: rows[0].update(key="walk.npy"), "line 1, key: String should match"),
    ],
)
def test_stimuli_that_were_not_shown_are_found(
    tmp_path: Path, source: StudySource, spec: ReleaseSpec, change, said
):
    told = source.model_copy(update={"stimuli": STIMULI})
    write_release(tmp_path / "r", release_files(release_content([told], spec), spec))
    forge_rows(tmp_path / "r", "stimuli.jsonl", change)
    found = problems_of(tmp_path / "r")
    assert any(file == "stimuli.jsonl" and said in reason for file, reason in found), found


def test_an_empty_release_is_ok(tmp_path: Path, source: StudySource, spec: ReleaseSpec):
    empty = source.model_copy(update={"items": (), "labels": (), "decisions": ()})
    write_release(tmp_path / "r", release_files(release_content([empty], spec), spec))
    assert verify_release(tmp_path / "r") == []


@pytest.mark.parametrize("name", FILES)
def test_each_changed_missing_or_longer_file_is_named(release: Path, name: str):
    original = (release / name).read_bytes()
    flipped = bytearray(original)
    flipped[len(flipped) // 2] ^= 1
    (release / name).write_bytes(bytes(flipped))
    [(file, reason)] = problems_of(release)
    assert file == name
    assert "SHA-256 differs" in reason
    (release / name).write_bytes(original + b"\n")
    assert problems_of(release) == [
        (name, f"size differs: {len(original)} bytes in the manifest, {len(original) + 1} here")
    ]
    (release / name).unlink()
    assert problems_of(release) == [(name, "missing")]


def test_all_broken_files_are_named_at_once(release: Path):
    (release / "README.md").unlink()
    (release / "items.jsonl").write_bytes(b"")
    (release / "notes.txt").write_text("mine")
    assert [file for file, _ in problems_of(release)] == ["README.md", "items.jsonl", "notes.txt"]


def test_links_pipes_folders_and_odd_names_are_problems(release: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_bytes((release / "items.jsonl").read_bytes())
    (release / "items.jsonl").unlink()
    (release / "items.jsonl").symlink_to(secret)
    (release / "labels.jsonl").unlink()
    os.mkfifo(release / "labels.jsonl")
    (release / "schema.json").unlink()
    (release / "schema.json").mkdir()
    (release / "two\nlines").write_text("")
    Path(os.fsdecode(os.fsencode(release) + b"/latin-\xe9")).write_text("")
    found = dict(problems_of(release))
    assert found["items.jsonl"] == "expected a file, got a symbolic link"
    assert found["labels.jsonl"] == "expected a file, got a folder or device"
    assert found["schema.json"] == "expected a file, got a folder or device"
    assert found["two\\nlines"] == "not part of the release"
    assert any(name.startswith("latin-") and name.isprintable() for name in found)
    json.dumps(found, ensure_ascii=False).encode()


def test_a_hostile_manifest_reads_nothing_outside(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    opened: list[str] = []
    real = os.open

    def spy(path: Any, *args: Any, **kwargs: Any) -> int:
        opened.append(os.path.realpath(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", spy)
    for name in ("../outside", str(outside), "a/../../outside", "\x00", "x\ny"):
        change_manifest(
            release,
            lambda m, name=name: m["files"].append(
                {"file": name, "sha256": sha256(b"secret"), "size": 6, "rows": None}
            ),
        )
    found = problems_of(release)
    assert [file for file, _ in found] == [MANIFEST] * 5
    assert all("which no release has" in reason and reason.isprintable() for _, reason in found)
    assert opened
    assert all(os.path.dirname(path) == os.path.realpath(release) for path in opened)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{",
        b'{"kind": NaN}',
        b'{"kind": "motionjury-release", "kind": "motionjury-release"}',
        b'{"kind": "other"}',
        b"[" * 200_000,
        b" " * 2_000_000,
    ],
    ids=["empty", "utf16", "array", "cut", "nan", "twice", "kind", "deep", "huge"],
)
def test_a_broken_manifest_is_one_problem(release: Path, data: bytes):
    (release / MANIFEST).write_bytes(data)
    [(file, reason)] = problems_of(release)
    assert file == MANIFEST
    assert reason
    assert "\n" not in reason


def test_a_manifest_that_leaves_out_or_repeats_a_file(release: Path):
    def change(manifest: dict[str, Any]) -> None:
        manifest["files"] = [e for e in manifest["files"] if e["file"] != "items.jsonl"]
        manifest["files"].append(manifest["files"][0])

    change_manifest(release, change)
    assert problems_of(release) == [
        (MANIFEST, "lists README.md 2 times"),
        (MANIFEST, "does not list items.jsonl"),
    ]


def test_a_folder_that_is_no_release(tmp_path: Path):
    with pytest.raises(InputError, match=r"manifest.json is missing"):
        verify_release(tmp_path)
    with pytest.raises(InputError, match="got nothing"):
        verify_release(tmp_path / "none")
    with pytest.raises(InputError, match="File name too long"):
        verify_release(tmp_path / ("x" * 300))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="got a file"):
        verify_release(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("items.jsonl", b"\xff\n"),
        ("items.jsonl", b"not json\n"),
        ("items.jsonl", b'{"item_id": 1}\n'),
        ("labels.jsonl", b"[]\n"),
        ("labels.jsonl", b"[" * 100_000 + b"\n"),
        ("decisions.jsonl", b'{"votes": Infinity}\n'),
        ("labels.jsonl", b'{"study": "\\ud800"}\n'),
        ("studies.json", b"{}"),
        ("studies.json", b"[1]"),
        ("agreement.json", b"null"),
        ("schema.json", b"\xff"),
        ("items.parquet", b"PAR1"),
        ("labels.parquet", b""),
    ],
)
def test_files_that_cannot_be_parsed_are_named_on_one_line(release: Path, name: str, data: bytes):
    forge(release, name, data)
    found = problems_of(release)
    assert {file for file, _ in found} == {name}
    assert all(reason and "\n" not in reason for _, reason in found)


def _set(position: int, **values: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[position].update(values)


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        (
            "items.jsonl",
            _set(1, caption="another"),
            {
                ("items.parquet", "row 2 differs from items.jsonl in caption"),
                ("items.jsonl", "does not hold what its id is the hash of"),
            },
        ),
        (
            "labels.jsonl",
            _set(0, fluent="no"),
            {
                ("labels.parquet", "row 1 differs from labels.jsonl in fluent"),
                ("decisions.jsonl", "its votes are not those of its labels"),
                ("agreement.json", "pilot.questions.fluent"),
            },
        ),
        (
            "labels.jsonl",
            _set(0, fluent="perhaps"),
            {("labels.jsonl", "fluent is 'perhaps'"), ("agreement.json", "cannot be computed")},
        ),
        ("labels.jsonl", _set(0, item_id="0" * 24), {("labels.jsonl", "no such item")}),
        ("labels.jsonl", _set(0, study="other"), {("labels.jsonl", "no study 'other'")}),
        ("labels.jsonl", _set(0, rater="A2"), {("labels.jsonl", "comes 2 times")}),
        (
            "labels.jsonl",
            _set(0, simulated=True),
            {
                (MANIFEST, "counts.simulated_labels is 0, counted 1"),
                (MANIFEST, "the configuration does not allow them"),
                ("README.md", "does not say that simulated labels are inside"),
                ("decisions.jsonl", "simulated is False"),
            },
        ),
        (
            "labels.jsonl",
            lambda rows: rows.pop(),
            {
                ("labels.parquet", "19 rows, 18 in labels.jsonl"),
                (MANIFEST, "counts.labels is 19, counted 18"),
                (MANIFEST, "labels.jsonl has 18 rows, not 19"),
            },
        ),
        (
            "decisions.jsonl",
            _set(0, rule="checks_unanimous"),
            {("decisions.jsonl", "rule 'checks_unanimous', study 'pilot' has 'checks_majority'")},
        ),
        (
            "excluded.jsonl",
            lambda rows: [row.update(outcome="revise") for row in rows],
            {
                ("excluded.jsonl", "is revise; decisions.jsonl says rejected"),
                (MANIFEST, "counts.dropped"),
            },
        ),
    ],
)
def test_a_careful_forgery_is_found(
    release: Path,
    name: str,
    change: Callable[[list[dict[str, Any]]], Any],
    expected: set[tuple[str, str]],
):
    forge_rows(release, name, change)
    found = problems_of(release)
    for file, part in expected:
        assert any(f == file and part in reason for f, reason in found), (file, part, found)


def test_a_decision_turned_by_hand_is_found(release: Path):
    def turn(rows: list[dict[str, Any]]) -> None:
        next(row for row in rows if row["item_id"] == item(5).id)["outcome"] = "accepted"

    forge_rows(release, "decisions.jsonl", turn)
    found = problems_of(release)
    assert (
        "decisions.jsonl",
        f"decision on {item(5).id}: accepted; its 3 labels give rejected",
    ) in found
    assert (
        "excluded.jsonl",
        f"item {item(5).id} is rejected; decisions.jsonl says accepted",
    ) in found


def test_a_rejected_item_slipped_in_is_found(release: Path, source: StudySource):
    slipped = StrideItem.of(item(5)).model_dump(mode="json")
    rows = [*from_jsonl((release / "items.jsonl").read_bytes()), slipped]
    forge(release, "items.jsonl", to_jsonl(rows))
    forge(release, "items.parquet", to_parquet(rows, columns_of(StrideItem)))
    found = problems_of(release)
    assert (
        "items.jsonl",
        f"item {item(5).id} is kept; decisions.jsonl says rejected",
    ) in found
    assert ("excluded.jsonl", f"item {item(5).id} is also in items.jsonl") in found
    assert (MANIFEST, "item_set_hash is not that of the items") in found


def test_a_manifest_that_renames_or_relicenses_the_release_is_found(release: Path):
    change_manifest(release, lambda m: m.update(name="Other", licence=None))
    assert problems_of(release) == [
        ("README.md", "pretty_name is not that of the manifest"),
        ("README.md", "license is not that of the manifest"),
    ]


def test_another_form_under_a_known_protocol_version_is_found(release: Path):
    studies = json.loads((release / "studies.json").read_bytes())
    studies[0]["protocol"]["questions"][0]["text"] = "Is this nice?"
    forge(release, "studies.json", json.dumps(studies).encode())
    assert problems_of(release) == [
        ("studies.json", "study 'pilot': not the form of stride_audit version 1")
    ]


def test_a_schema_of_other_columns_is_found(release: Path):
    schema = json.loads((release / "schema.json").read_bytes())
    del schema["labels"]["properties"]["simulated"]
    forge(release, "schema.json", json.dumps(schema).encode())
    assert problems_of(release) == [("schema.json", "labels: not the columns of labels")]


def test_agreement_that_was_improved_is_found(release: Path):
    table = json.loads((release / "agreement.json").read_bytes())
    table["studies"]["pilot"]["questions"]["distinguishable"]["coefficients"][0]["value"] += 1e-6
    forge(release, "agreement.json", json.dumps(table).encode())
    assert problems_of(release) == [
        (
            "agreement.json",
            "studies.pilot.questions.distinguishable.coefficients.0.value: "
            "computed again from labels.jsonl, it differs",
        )
    ]


def test_another_versions_intervals_may_differ_and_its_values_may_not(release: Path):
    table = json.loads((release / "agreement.json").read_bytes())
    found = table["studies"]["pilot"]["questions"]["distinguishable"]["coefficients"]
    found[0]["ci"] = [0.1, 0.2]
    found.pop()
    forge(release, "agreement.json", json.dumps(table).encode())
    assert [file for file, _ in problems_of(release)] == ["agreement.json"]
    assert len(verify_release(release, tool_version="0.1.0")) == 1
    assert verify_release(release, tool_version="0.2.0") == []
    found[0]["value"] = 0.99
    forge(release, "agreement.json", json.dumps(table).encode())
    [problem] = verify_release(release, tool_version="0.2.0")
    assert problem.reason.startswith("pilot.distinguishable.percent_agreement")
    del table["studies"]["pilot"]["questions"]["distinguishable"]
    forge(release, "agreement.json", json.dumps(table).encode())
    assert len(verify_release(release, tool_version="0.2.0")) == 1


def test_a_bootstrap_that_would_never_end_is_refused(release: Path):
    change_manifest(release, lambda m: m["configuration"].update(resamples=10**12))
    [(file, _)] = problems_of(release)
    assert file == MANIFEST
