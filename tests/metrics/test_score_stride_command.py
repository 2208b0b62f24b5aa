import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.formats.arrays import save
from corpus.problems import InputError
from corpus.synthetic import demo_corpus
from evaluators.builtin import read_frames
from evaluators.training.builtin import BuiltinConfig, TrainingSet, train_builtin
from motionjury.cli import cli
from motionjury.models import cache_folder, motion_library
from motionjury.workspace import init_workspace
from store.clips import add_clips
from tests.metrics import stride_release

HEAD = "item_id,corpus,axis,motion_id,s_mc,s_mcp,s_uc,s_ucp"
ROWS = (
    "a,humanml3d,temporal_order,m1,3,1,1,2",
    "b,humanml3d,temporal_order,m2,3,1,2,1",
    "c,humanml3d,mirror_reflection,m1,1,3,1,2",
    "d,humanml3d,mirror_reflection,m2,3,1,1,2",
    "e,humanml3d,action_identity,m1,3,1,1,2",
    "f,humanml3d,action_identity,m2,2,1,1,2",
    "g,humanml3d,random_content,m1,3,1,2,2",
    "h,humanml3d,random_content,m2,3,1,1,2",
)


def write(path, rows=ROWS, head=HEAD):
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def run(*arguments):
    done = CliRunner().invoke(cli, ["score", "stride", *map(str, arguments)])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def as_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return stride_release.write(tmp_path_factory.mktemp("stride") / "release")


@pytest.fixture(scope="module")
def demo():
    return demo_corpus()


@pytest.fixture(scope="module")
def weights(tmp_path_factory, demo):
    made = demo[::4]
    data = TrainingSet(
        [read_frames(m.motion) for m in made],
        [tuple(c.text for c in m.captions) for m in made],
    )
    path = tmp_path_factory.mktemp("weights") / "tiny.npz"
    config = BuiltinConfig(epochs=1, width=16, layers=1, heads=2, batch=8)
    train_builtin(path, config, lambda *_: None, data=data)
    return path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_wide_file_gives_what_its_numbers_say(tmp_path):
    found = as_json(write(tmp_path / "s.csv"))
    cells = {c["axis"]: c for c in found["cells"]}
    assert list(cells) == [
        "temporal_order",
        "mirror_reflection",
        "action_identity",
        "random_content",
    ]
    order = cells["temporal_order"]
    assert (order["corpus"], order["n"], order["acc"], order["bias"]) == ("humanml3d", 2, 1.0, 0.5)
    assert (order["delta"], order["gpr"], order["tie_rate"]) == (1.0, 100.0, 0.0)
    mirror = cells["mirror_reflection"]
    # One right, one wrong; no bias: (1/2 - 0) / 1. The wrong one's advantage -2 is below -1.
    assert (mirror["acc"], mirror["bias"], mirror["delta"], mirror["gpr"]) == (0.5, 0.0, 0.5, 50.0)
    assert cells["random_content"]["bias"] == 0.25
    assert found["macro_gpr"] == {"humanml3d": pytest.approx((100 + 50 + 100) / 3)}
    assert "higher = better" in found["notes"][0]


def test_axes_that_are_not_there_draw_no_radar_and_are_said_in_words(tmp_path):
    out = tmp_path / "out"
    printed = run(write(tmp_path / "two.csv", ROWS[:4]), "--out", out).stdout
    assert "macro GPR — (no items of action identity)" in printed
    assert {path.name for path in out.glob("*.svg")} == {
        "bias_humanml3d.svg",
        "delta_humanml3d.svg",
    }
    assert "no items of action identity" in (out / "report.html").read_text(encoding="utf-8")


def test_distances_have_to_be_said(tmp_path):
    turned = [",".join([*r.split(",")[:4], *(f"-{v}" for v in r.split(",")[4:])]) for r in ROWS]
    lower = as_json(write(tmp_path / "d.csv", turned), "--lower-is-better")
    assert lower["cells"] == as_json(write(tmp_path / "s.csv"))["cells"]


def test_several_models_are_marked_and_written(tmp_path):
    better = [r.replace(",1,3,1,2", ",3,1,1,2") for r in ROWS]
    write(tmp_path / "one.csv")
    write(tmp_path / "two.csv", better)
    found = as_json("one.csv", "Better=two.csv", "--out", "out")
    assert list(found["models"]) == ["one", "Better"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"result.json", "report.html", "stride.csv", "stride.tex", "stride_gpr.tex"} <= names
    assert {"bias_humanml3d.svg", "delta_humanml3d.svg", "delta_radar_humanml3d.svg"} <= names
    rows = list(csv.DictReader((tmp_path / "out" / "stride.csv").open(encoding="utf-8")))
    value = next(
        r["value"]
        for r in rows
        if (r["Model"], r["group"], r["metric"]) == ("Better", "Mirror Reflection", "Δ")
    )
    assert float(value) == 1.0
    latex = (tmp_path / "out" / "stride.tex").read_text(encoding="utf-8")
    assert r"$\mathbf{1.000}" in latex
    assert r"$\underline{0.500}" in latex


def test_likelihoods_stand_in_a_table_of_their_own(tmp_path):
    write(tmp_path / "m2t.csv")
    write(tmp_path / "tmr.csv")
    run("m2t.csv", "tmr.csv", "--likelihood", "m2t", "--out", "out")
    shown = (tmp_path / "out" / "stride_likelihood.csv").read_text(encoding="utf-8")
    assert "m2t" in shown
    assert "tmr" not in shown
    assert "m2t" not in (tmp_path / "out" / "stride.csv").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="--likelihood: expected one of m2t"):
        run("m2t.csv", "--likelihood", "other")


def test_mirror_grids_of_a_file(tmp_path):
    rows = [r + (",0,2" if "mirror" in r else ",0,0") for r in ROWS]
    found = as_json(write(tmp_path / "s.csv", rows, f"{HEAD},s_mpc,s_mpcp"), "--out", "out")
    (audit,) = found["mirror"]
    # Interactions: 1 + 2 - 3 - 0 = 0 and 3 + 2 - 1 - 0 = 4.
    assert (audit["n"], audit["diagonal"], audit["interaction"]) == (2, 0.75, 2.0)
    lines = (tmp_path / "out" / "mirror_grids.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "c,humanml3d,m1,1.0,3.0,0.0,2.0,0.0"


def test_choices_give_no_gpr(tmp_path):
    rows = [
        f"{item},humanml3d,{axis},m{k},{role},{k},{choice}"
        for axis in ("temporal_order", "random_content")
        for k, item in enumerate(f"{axis}{n}" for n in range(4))
        for role, choice in (
            ("matched", "original" if k else "perturbed"),
            ("unrelated", "original" if k % 2 else "perturbed"),
        )
    ]
    head = "item_id,corpus,axis,motion_id,role,draw,choice"
    found = as_json(write(tmp_path / "c.csv", rows, head))
    cell = found["cells"][0]
    assert (cell["acc"], cell["bias"], cell["delta"], cell["gpr"]) == (0.75, 0.5, 0.5, None)
    assert cell["reasons"]["gpr"] == "choices_have_no_scores"


@pytest.mark.parametrize(
    ("rows", "head", "message"),
    [
        ([ROWS[0].replace(",3,", ",nan,")], HEAD, "line 2: s_mc: expected a finite number"),
        ([ROWS[0].replace(",3,", ",,")], HEAD, "line 2: s_mc is empty"),
        ([ROWS[0], ROWS[0]], HEAD, "item_id 'a' stands twice"),
        ([ROWS[0].replace("temporal_order", "colour")], HEAD, "axis of item 'a': expected one of"),
        (["a,3,1,1,2"], "item_id,s_mc,s_mcp,s_uc,s_ucp", "no column 'corpus'"),
        (["a,h,temporal_order,m,1"], "item_id,corpus,axis,motion_id,s_mc", "no column 's_mcp'"),
        (
            [ROWS[0] + ",1,1", "m,h,mirror_reflection,m9,1,0,1,0,nan,1"],
            HEAD + ",s_mpc,s_mpcp",
            "line 3: s_mpc: expected a finite number",
        ),
        ([], HEAD, "s.csv"),
        (["a,b,1"], "text_id,motion_id,score", "score stride RELEASE --scores FILE"),
        (
            ["a,h,temporal_order,m,matched,orig,1"],
            "item_id,corpus,axis,motion_id,role,caption,score",
            "say --higher-is-better or --lower-is-better",
        ),
    ],
)
def test_what_cannot_be_scored_is_named(tmp_path, rows, head, message):
    with pytest.raises(InputError, match=message):
        run(write(tmp_path / "s.csv", rows, head))


def test_options_that_make_no_sense_are_refused(tmp_path, release):
    path = write(tmp_path / "s.csv")
    for arguments, message in (
        ((path, "--model", "builtin"), "expected a release folder"),
        ((path, "--pairs", "p.csv"), "expected a release folder"),
        ((path, path), "two models are called 's'"),
        ((path, "--ties", "loose"), "--ties"),
        (("none.csv",), "expected a score file, found none"),
        ((release, path), "expected one release folder alone"),
        ((release,), "needs --model or --scores"),
        ((release, "--model", "nope"), "--model: expected one of builtin"),
        ((tmp_path, "--model", "builtin"), "no release here"),
    ):
        with pytest.raises(InputError, match=message):
            run(*arguments)


def test_a_release_with_the_builtin_evaluator_end_to_end(tmp_path, release, weights):
    found = as_json(release, "--model", f"builtin={weights}", "--out", "out")
    assert found["n_kept"] == 16
    assert {c["axis"]: c["n"] for c in found["cells"]}["mirror_reflection"] == 4
    assert found["mirror"][0]["n"] == 4
    assert all(c["invisible_rate"] is not None for c in found["cells"])
    assert found["sources"][1]["role"] == "model"
    assert len(list(csv.reader((tmp_path / "out" / "mirror_grids.csv").open()))) == 5
    again = as_json(release, "--model", f"builtin={weights}")
    assert again["cells"] == found["cells"]


def test_a_user_with_scores_and_no_model(tmp_path, release):
    # The pairs are listed, filled in by the user's own model, and come back.
    run(release, "--pairs", "pairs.csv", "--controls", "2")
    rows = list(csv.DictReader((tmp_path / "pairs.csv").open(encoding="utf-8")))
    assert len(rows) == 16 * 2
    assert all(row["unrelated_motion_id"] != row["motion_id"] for row in rows)
    for row in rows:
        row |= {"s_mc": "2", "s_mcp": "1", "s_uc": "1", "s_ucp": "1"}
    with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = as_json(release, "--scores", "Mine=filled.csv")
    assert found["macro_gpr"] == {"synthetic": 100.0}
    assert {c["delta"] for c in found["cells"]} == {1.0}
    cut = (tmp_path / "filled.csv").read_text(encoding="utf-8").splitlines()
    write(tmp_path / "cut.csv", cut[1:-2], cut[0])
    with pytest.raises(InputError, match="1 of 16 items of the release have no scores"):
        run(release, "--scores", "cut.csv")


def test_a_matrix_of_scores_for_a_release(tmp_path, release):
    items = stride_release.items()
    motions = sorted({item.payload["clip_id"] for item in items})
    texts, owners, scores = [], [], []
    for item in items:
        clip = item.payload["clip_id"]
        for name, value in ((item.payload["caption_id"], 1.0), (item.id, 0.0)):
            if name not in texts:
                texts.append(name)
                owners.append(clip)
                scores.append([value if motion == clip else 0.0 for motion in motions])
    np.savez(
        tmp_path / "m.npz",
        scores=np.array(scores),
        text_ids=np.array(texts),
        motion_ids=np.array(motions),
        text_motion=np.array(owners),
        higher_is_better=True,
    )
    found = as_json(release, "--scores", "m.npz")
    assert {(c["acc"], c["bias"], c["delta"]) for c in found["cells"]} == {(1.0, 0.5, 1.0)}
    assert found["not_run"] == {"m: mirror audit": "no scores of mirrored motions"}


def test_a_changed_release_is_refused(tmp_path, release, weights):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in release.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    items = (copy / "items.jsonl").read_text(encoding="utf-8")
    (copy / "items.jsonl").write_text(items.replace("left leg", "other leg", 1), encoding="utf-8")
    with pytest.raises(InputError, match="the release is not as it was written: items.jsonl"):
        run(copy, "--model", f"builtin={weights}")


def test_motions_that_are_nowhere_are_named(tmp_path, demo):
    save(demo[0].motion, tmp_path / "x.npz")
    with pytest.raises(InputError, match="2 of 3 motions are not there, the first is 'arrays:y'"):
        motion_library(["arrays:x", "arrays:y", "arrays:z"], motions=tmp_path / "x.npz")


def test_plain_joints_need_a_frame_rate(tmp_path, demo, capsys):
    np.save(tmp_path / "x.npy", demo[0].motion.positions[:20])
    with pytest.raises(InputError, match="1 of 1 motions are not there"):
        motion_library(["arrays:x"], motions=tmp_path / "x.npy")
    assert "say it with --fps" in capsys.readouterr().err
    assert (
        motion_library(["arrays:x"], motions=tmp_path / "x.npy", fps=20).load("arrays:x").fps == 20
    )


def test_motions_are_read_from_a_folder_a_workspace_or_made_anew(tmp_path, demo):
    made = demo[0]
    save(made.motion, tmp_path / "x.npz")
    read = motion_library(["own:x"], motions=tmp_path / "x.npz", corpus="own").load("own:x")
    assert np.array_equal(read.positions, made.motion.positions)
    anew = motion_library([made.clip.id])
    assert anew.content_hash(made.clip.id) == made.clip.content_hash
    workspace = init_workspace(tmp_path / "w")
    save(made.motion, tmp_path / "w" / made.clip.path)
    with workspace.db.write() as session:
        add_clips(session, [made.clip.model_copy(update={"corpus": "mine"})], [])
    known = motion_library([made.clip.id], workspace=tmp_path / "w")
    assert np.array_equal(known.load(made.clip.id).positions, made.motion.positions)
    assert cache_folder(tmp_path / "w") == (tmp_path / "w" / "embeddings").resolve()
