"""The OOD check: the paper's figure, both ways, any encoder, the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks.t2mbench import MotionPrompt
from construction.t2mbench import ood
from construction.t2mbench.ood import StoredEmbeddings, check_ood
from construction.t2mbench.prompt_table import read_prompts
from construction.t2mbench.scatter import Group, scatter
from corpus.problems import InputError
from llm.embedding import embedder

SVG = "{http://www.w3.org/2000/svg}"


def prompt(number, text, category="dance"):
    return MotionPrompt(prompt_id=f"p{number}", text=text, category=category)


class Places:
    """Puts a text at the point it names; a real encoder would be no oracle."""

    id = "places/1"

    def embed(self, texts):
        return np.array([[float(x) for x in text.split()] for text in texts], np.float32)


def test_the_papers_overlap_is_37_prompts_of_1025(monkeypatch):
    # The picture takes seconds and has a test of its own.
    monkeypatch.setattr(ood, "embed_in_plane", lambda *_: None)
    # T2MBench 3.1: "an overlap rate of only 3.6098%" of 1,025 prompts.
    captions = [f"{x} 0" for x in range(100)]
    far = [prompt(n, f"{n} 500") for n in range(1025 - 37)]
    near = [prompt(5000 + n, f"{n + 0.5} 0.5", "balance") for n in range(37)]
    check, _ = check_ood([*far, *near], captions, "line", Places())
    told = check.prompts_in_corpus
    assert (told.inside, told.n_points, told.n_manifold, told.k) == (37, 1025, 100, 3)
    assert f"{100 * told.share:.4f}" == "3.6098"
    assert "3.6098 % (37 of 1025 prompts, k = 3, places/1)" in check.line()
    assert check.by_category == [
        {"category": "dance", "prompts": 988, "inside": 0, "share": 0.0},
        {"category": "balance", "prompts": 37, "inside": 37, "share": 1.0},
    ]
    assert len(check.overlapping) == 37
    first = check.overlapping[0]
    assert first["distance"] == pytest.approx(np.hypot(0.5, 0.5), abs=1e-5)
    # The other way round: the last near prompt, at 36.5, has its third neighbour 3 away, so its
    # ball reaches captions up to 36.5 + sqrt(9 - 0.25) = 39.46: those at 0 to 39.
    assert check.corpus_in_prompts.inside == 40


def test_equal_captions_count_once_and_samples_are_seeded():
    captions = ["0 0", "0 0", "0 0.", "1 0", "2 0", "3 0", "4 0", ""]
    prompts = [prompt(n, f"{n} 1") for n in range(5)]
    check, _ = check_ood(prompts, captions, "c", Places())
    assert (check.n_captions, check.n_taken) == (5, 5)
    some = [check_ood(prompts, captions, "c", Places(), seed=s, max_corpus=4)[0] for s in (1, 1, 2)]
    assert some[0] == some[1]
    assert some[0].n_taken == 4


def test_undefined_overlap_is_null_with_a_reason():
    check, figures = check_ood([prompt(1, "0 0")], ["1 1", "2 2"], "tiny", Places())
    assert check.prompts_in_corpus.share is None
    assert check.corpus_in_prompts.share is None
    assert "undefined: the manifold needs 4 points or more, got 2" in check.line()
    assert check.by_category == [{"category": "dance", "prompts": 1, "inside": None, "share": None}]
    assert figures == []


def test_the_picture_has_every_point_and_a_legend():
    ways = ("up", "down", "forward", "backward", "left", "right", "across", "overhead")
    prompts = [prompt(n, f"raise the left arm {way} slowly") for n, way in enumerate(ways)]
    prompts.append(prompt(99, "moves 2 meters forward", "whole_body"))
    prompts.append(prompt(98, "of a kind of my own", "mine"))
    captions = [f"a person walks {n} and sits {n * 7}" for n in range(30)]
    check, figures = check_ood(prompts, captions, "a <b> corpus", embedder("tfidf"), seed=3)
    (figure,) = figures
    tree = ET.fromstring(figure.svg)
    groups = tree.findall(f"{SVG}g")
    assert [len(group) for group in groups] == [30, 8, 1, 1]
    legend = [text.text for text in tree.findall(f"{SVG}text")]
    assert legend == ["a <b> corpus captions (30)", "dynamics (8)", "accuracy (1)", "other (1)"]
    assert check.embedding in figure.note
    again = check_ood(prompts, captions, "a <b> corpus", embedder("tfidf"), seed=3)
    assert again[1] == figures


def test_points_keep_their_shape_and_stay_on_the_picture():
    points = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 2.0]])
    circles = ET.fromstring(scatter([Group("a", points)])).find(f"{SVG}g")
    assert circles is not None
    places = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in circles])
    assert (places > 0).all()
    assert (places < (760, 560)).all()
    spread = np.ptp(places, axis=0)
    assert spread[1] / spread[0] == pytest.approx(0.2, abs=0.01)
    assert places[2, 1] < places[0, 1]


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_vectors_made_elsewhere_are_looked_up_by_text(tmp_path):
    texts = np.array(["a  b", "c"])
    stored = StoredEmbeddings(npz(tmp_path / "t5.npz", texts=texts, vectors=np.eye(2)))
    assert stored.id == "npz:t5.npz"
    assert stored.embed(["c", "a b"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(InputError, match="1 of 2 texts have no vector, first 'd'"):
        stored.embed(["c", "d"])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"texts": np.array(["a"])}, "expected the arrays texts and vectors, got texts"),
        ({"texts": np.array([1]), "vectors": np.eye(1)}, "expected texts (N,) of strings"),
        ({"texts": np.array(["a"]), "vectors": np.eye(2)}, "got 1 texts and float64 (2, 2)"),
        ({"texts": np.array(["a"]), "vectors": np.array([[np.nan]])}, "expected finite values"),
        ({"texts": np.array(["a"], object), "vectors": np.eye(1)}, "plain arrays"),
    ],
)
def test_a_file_of_vectors_that_is_none_is_refused(tmp_path, arrays, said):
    with pytest.raises(InputError) as refused:
        StoredEmbeddings(npz(tmp_path / "x.npz", **arrays))
    assert said in str(refused.value)


def test_a_file_that_is_no_npz_or_not_there_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 no zip")
    with pytest.raises(InputError, match="expected NPZ"):
        StoredEmbeddings(tmp_path / "x.npz")
    np.save(tmp_path / "y.npy", np.eye(2))
    with pytest.raises(InputError, match="expected NPZ"):
        StoredEmbeddings(tmp_path / "y.npy")
    with pytest.raises(InputError, match="cannot be read"):
        StoredEmbeddings(tmp_path / "absent.npz")


def test_tables_of_prompts_take_the_releases_columns(tmp_path):
    path = tmp_path / "prompts.csv"
    path.write_text(
        "prompt_id,category,subcategory,length_type,prompt\n"
        "T1,Accuracy,Whole-body,accuracy,moves 2 meters forward\n"
        "T2,Dynamics,Martial,long,kicks\n"
        "T2,Dynamics,Martial,long,kicks again\n"
        "T3,Dynamics,Dance,short,\n",
        encoding="utf-8",
    )
    found, problems = read_prompts(path)
    assert [(p.prompt_id, p.category, p.length) for p in found] == [
        ("T1", "whole_body", None), ("T2", "martial_arts", "long"),
    ]  # fmt: skip
    assert [p.place for p in problems] == ["row 4", "row 5"]
    (tmp_path / "none.jsonl").write_text("7\n")
    with pytest.raises(InputError, match="found no prompt that can be used; first: line 1"):
        read_prompts(tmp_path / "none.jsonl")
