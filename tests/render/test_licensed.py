import pickle
import sys

import numpy as np
import pytest
from pydantic import ValidationError

from corpus.motion import SourceBody
from corpus.problems import InputError
from render import licensed
from render.actor import mesh_actor, skinned
from render.body import PARTS
from render.clip import RenderSettings, Stage, fit_error, stimulus_key, with_own_shape
from render.licensed import load_licensed, model_file, models_in
from render.unpickle import read_body_pickle
from tests.render.poses import motion_of, striding
from tests.render.small_body import JOINTS, arrays, write, write_chumpy

BETAS = (1.5, -2.0, 0.5)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    load_licensed.cache_clear()
    licensed._arrays.cache_clear()


def _by_smplx(kind, local, betas=()):
    """Vertices of one pose by smplx's own function: (V, 3), the pelvis where the model has it."""
    import torch
    from smplx.lbs import lbs

    data = arrays(kind)
    count = 10
    shape = torch.zeros(1, count)
    shape[0, : len(betas)] = torch.tensor(betas)
    turns = torch.eye(3).repeat(1, JOINTS[kind], 1, 1)
    turns[0, : local.shape[0]] = torch.from_numpy(local)
    as_float = {name: torch.from_numpy(data[name]).float() for name in (
        "v_template", "shapedirs", "J_regressor", "weights"
    )}  # fmt: skip
    poses = torch.from_numpy(data["posedirs"].reshape(-1, data["posedirs"].shape[2]).T).float()
    parents = torch.from_numpy(data["kintree_table"][0].astype(np.int64))
    parents[0] = -1
    vertices, joints = lbs(
        shape, turns, as_float["v_template"], as_float["shapedirs"][..., :count], poses,
        as_float["J_regressor"], parents, as_float["weights"], pose2rot=False,
    )  # fmt: skip
    return (vertices[0] - joints[0, 0]).numpy()


@pytest.mark.parametrize("suffix", [".npz", ".pkl"])
@pytest.mark.parametrize("kind", JOINTS)
def test_bodies_are_posed_as_smplx_poses_them(tmp_path, kind, suffix):
    import smplx

    path = write(tmp_path, kind, suffix=suffix)
    options = {} if kind == "smpl" else {"ext": suffix[1:], "use_pca": False}
    if (kind, suffix) != ("smpl", ".npz"):  # which smplx itself cannot read
        assert smplx.create(str(tmp_path), kind, **options).parents.shape == (JOINTS[kind],)
    assert model_file(tmp_path, kind, "neutral") == path
    body = load_licensed(tmp_path, kind, "neutral", BETAS)
    motion = striding(6)
    actor = mesh_actor(motion, body)
    out = np.empty_like(actor.vertices)
    skinned(actor, 4, out)
    ours = out - actor.transforms[4, 0] @ np.append(body.bind_joints[0], 1)
    theirs = _by_smplx(kind, motion.local_rotations[4], BETAS)
    assert np.abs(ours - theirs).max() < 1e-5


def test_betas_are_kept_and_without_them_bones_follow_the_source(tmp_path):
    write(tmp_path, "smpl")
    motion = motion_of({"left_knee": [[0, 0, 0], [60, 0, 0]]})
    mean, tall = (load_licensed(tmp_path, "smpl", "neutral", b) for b in (None, (8.0,)))
    assert not mean.own_shape
    assert np.abs(tall.joints - mean.joints).max() > 0.005
    exact, kept = (mesh_actor(motion, body) for body in (mean, tall))
    assert max(exact.fit_error_mm.values()) < 0.1
    assert max(kept.fit_error_mm.values()) > 1
    for actor in (exact, kept):
        out = np.empty_like(actor.vertices)
        soles = []
        for frame in (0, 1):
            skinned(actor, frame, out)
            soles.append(out[:, 1].min())
        assert min(soles) == pytest.approx(0.0, abs=1e-5)


def test_gender_chooses_the_file(tmp_path):
    for seed, gender in enumerate(("neutral", "male", "female")):
        write(
            tmp_path,
            "smpl",
            gender,
            seed=seed,
            change={"v_template": arrays("smpl")["v_template"] * (1 + seed)},
        )
    heights = [
        np.ptp(load_licensed(tmp_path, "smpl", gender).vertices[:, 1])
        for gender in ("neutral", "male", "female")
    ]
    assert heights == pytest.approx([heights[0], 2 * heights[0], 3 * heights[0]], rel=1e-4)


def test_a_motion_is_drawn_in_its_own_gender_and_shape(tmp_path):
    for gender in ("neutral", "female"):
        write(tmp_path, "smplh", gender, seed=len(gender))
    source = SourceBody(model="smplh", gender="female", betas=(8.0, *(0.5,) * 15))
    plain = striding(4)
    motion = plain.model_copy(update={"body": source})
    asked = RenderSettings(size=64, body="smplh", bodies=tmp_path)
    own = Stage(motion, asked).actor
    # The file has ten shapes, so the six betas beyond them move nothing.
    named = asked.model_copy(update={"gender": "female", "betas": source.betas[:10]})
    assert np.array_equal(own.vertices, Stage(plain, named).actor.vertices)
    assert not np.array_equal(own.vertices, Stage(plain, asked).actor.vertices)
    assert (own.fit_error_mm, fit_error(motion, asked)) == ({}, {})
    assert fit_error(motion, named)["left_knee"] > 1
    keys = [
        stimulus_key(motion.model_copy(update={"body": body}), asked)
        for body in (
            None,
            source,
            SourceBody(gender="female"),
            SourceBody(model="smplh", gender="female", betas=(8.0,)),
        )
    ]
    assert len(set(keys)) == 4
    # Without a body of its own it is drawn as neutral, and by the name that always had.
    assert keys[0] == stimulus_key(plain, asked.model_copy(update={"gender": "neutral"}))
    embedded = RenderSettings(size=64)
    assert stimulus_key(motion, embedded) == stimulus_key(plain, embedded)


@pytest.mark.parametrize(
    ("body", "change", "gender", "betas"),
    [
        ("smplh", {}, "male", (1.0,)),
        ("smpl", {}, "male", (1.0,)),
        ("smplx", {}, "male", None),
        ("smplh", {"gender": "female"}, "female", None),
        ("smplh", {"betas": (0.0,)}, "male", (0.0,)),
        ("embedded", {}, "neutral", None),
    ],
)
def test_what_is_asked_for_goes_before_what_the_motion_names(tmp_path, body, change, gender, betas):
    source = SourceBody(model="smplh", gender="male", betas=(1.0,))
    motion = striding(2).model_copy(update={"body": source})
    asked = RenderSettings(body=body, bodies=tmp_path, **change)
    drawn = with_own_shape(asked, motion)
    assert (drawn.gender, drawn.betas) == (gender, betas)


@pytest.mark.parametrize(
    ("kind", "in_file", "used"), [("smpl", 300, 300), ("smplh", 16, 16), ("smplx", 20, 10)]
)
def test_all_shapes_of_a_file_can_be_asked_for(tmp_path, kind, in_file, used):
    directions = np.random.default_rng(0).normal(0, 0.004, (4 * JOINTS[kind], 3, in_file))
    write(tmp_path, kind, change={"shapedirs": directions})
    betas = (0.0,) * (used - 1) + (2.0,)
    mean, last = (load_licensed(tmp_path, kind, "neutral", b) for b in ((0.0,), betas))
    move = last.vertices - mean.vertices
    wanted = 2 * directions[..., used - 1]
    assert np.allclose(move - move[0], wanted - wanted[0], atol=1e-5)
    with pytest.raises(InputError, match=f"at most {used}, got {used + 1}"):
        load_licensed(tmp_path, kind, "neutral", (*betas, 1.0))


def test_limbs_keep_their_side(tmp_path):
    write(tmp_path, "smplx")
    body = load_licensed(tmp_path, "smplx")
    centre = body.vertices[body.faces].mean(axis=1)[:, 0]
    for side, sign in (("left", 1), ("right", -1)):
        for limb in ("arm", "hand", "leg", "foot"):
            mine = centre[body.face_parts == PARTS.index(f"{side}_{limb}")]
            assert len(mine) > 0
            assert (mine * sign > 0).all()


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_chumpy_pickle_is_converted_once_without_chumpy(tmp_path, protocol):
    path = write_chumpy(tmp_path, protocol=protocol)
    body = load_licensed(tmp_path, "smpl", "neutral", BETAS)
    assert "chumpy" not in sys.modules
    write(tmp_path / "plain", "smpl")
    same = load_licensed(tmp_path / "plain", "smpl", "neutral", BETAS)
    assert np.array_equal(body.vertices, same.vertices)
    assert np.array_equal(body.correctives, same.correctives)
    copies = [p for p in path.parent.iterdir() if p.suffix == ".npz"]
    assert len(copies) == 1
    stamp = copies[0].stat().st_mtime_ns
    load_licensed.cache_clear()
    licensed._arrays.cache_clear()
    load_licensed(tmp_path, "smpl")
    assert copies[0].stat().st_mtime_ns == stamp
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(".part")] == []


def test_conversion_goes_to_the_cache_where_the_folder_is_not_writable(tmp_path, monkeypatch):
    path = write(tmp_path, "smpl", suffix=".pkl")
    real = np.savez

    def savez(file, **data):
        if file.parent == path.parent:
            raise PermissionError(13, "Permission denied")
        real(file, **data)

    monkeypatch.setattr(np, "savez", savez)
    load_licensed(tmp_path, "smpl")
    assert len(list((tmp_path / "cache" / "motionjury" / "bodies").iterdir())) == 1


class _Runs:
    def __init__(self, function, *values):
        self.call = (function, values)

    def __reduce__(self):
        return self.call


def _bomb(path):
    open(path, "w").close()


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_hostile_pickle_is_refused_by_name_and_not_run(tmp_path, protocol):
    import os

    trace = tmp_path / "trace"
    place = tmp_path / "smpl" / "SMPL_NEUTRAL.pkl"
    place.parent.mkdir()
    for function, values, said in (
        (os.system, (f"touch {trace}",), r"names (posix|nt)\.system"),
        (_bomb, (str(trace),), r"names tests\.render\.test_licensed\._bomb"),
        (eval, (f"open({str(trace)!r}, 'w')",), r"names (builtins|__builtin__)\.eval"),
    ):
        data = arrays("smpl") | {"f": _Runs(function, *values)}
        place.write_bytes(pickle.dumps(data, protocol=protocol))
        with pytest.raises(InputError, match=said):
            load_licensed(tmp_path, "smpl")
        assert not trace.exists()
    assert [p.name for p in place.parent.iterdir()] == ["SMPL_NEUTRAL.pkl"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "got: "),
        (b"not a pickle", "got: "),
        (pickle.dumps([1, 2]), "dictionary, got list"),
        (pickle.dumps({"a": 1})[:-4], "got: "),
        (b"cnumpy\nfromfile\n.", r"names numpy\.fromfile"),
        (
            b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'O8'\nI0\nI1\ntRS'abc'\ntR.",
            "number",
        ),
        (
            b"ccopy_reg\n_reconstructor\n(cnumpy\nndarray\nc__builtin__\nobject\nNtR.",
            "not admitted",
        ),
    ],
)
def test_what_is_no_body_pickle_is_refused(tmp_path, data, said):
    path = tmp_path / "SMPL_NEUTRAL.pkl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=said):
        read_body_pickle(path)


def test_a_pickle_cannot_alter_the_classes_it_may_name(tmp_path):
    from scipy import sparse

    before = sparse.csc_matrix.toarray
    # BUILD with a slot state sets attributes on whatever lies on the stack, here the class.
    path = tmp_path / "SMPL_NEUTRAL.pkl"
    path.write_bytes(b"cscipy.sparse.csc\ncsc_matrix\n(N(dS'toarray'\ncnumpy\nndarray\nstb.")
    with pytest.raises(InputError):
        read_body_pickle(path)
    assert sparse.csc_matrix.toarray is before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": np.ones((96, 23))}, r"shape \(96, 24\) of smpl, got \(96, 23\)"),
        ({"f": np.array([[0, 1, 96]])}, "triangles of 96 vertices"),
        ({"v_template": np.full((96, 3), np.nan)}, "finite numbers"),
        ({"kintree_table": np.zeros((2, 24), dtype=np.int64)}, "SMPL's joints"),
        ({"shapedirs": np.ones((96, 3))}, "shapedirs"),
    ],
)
def test_a_file_that_is_no_body_is_refused(tmp_path, change, said):
    write(tmp_path, "smpl", change=change)
    with pytest.raises(InputError, match=said):
        load_licensed(tmp_path, "smpl")


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(InputError, match=r"expected smplx/SMPLX_FEMALE.npz or .pkl, got neither"):
        load_licensed(tmp_path, "smplx", "female")
    with pytest.raises(InputError, match="expected a folder"):
        load_licensed(tmp_path / "gone", "smpl")
    write(tmp_path, "smpl")
    said = r"SMPL_MALE.npz or .pkl, got neither; add that file, or choose neutral with --gender"
    with pytest.raises(InputError, match=said):
        load_licensed(tmp_path, "smpl", "male")
    with pytest.raises(InputError, match="at most 10, got 11"):
        load_licensed(tmp_path, "smpl", "neutral", (0.0,) * 11)
    write(tmp_path, "smplh")
    assert [p.name for _, _, p in models_in(tmp_path)] == ["SMPL_NEUTRAL.npz", "SMPLH_NEUTRAL.npz"]


def test_amass_layout_is_found(tmp_path):
    place = tmp_path / "smplh" / "male"
    place.mkdir(parents=True)
    write(tmp_path, "smplh").rename(place / "model.npz")
    assert model_file(tmp_path, "smplh", "male") == place / "model.npz"


def test_settings_name_the_body_and_the_key_follows_its_file(tmp_path):
    write(tmp_path / "a", "smpl")
    write(tmp_path / "b", "smpl", seed=1)
    motion = striding(4)
    one, two = (
        RenderSettings(size=64, body="smpl", bodies=tmp_path / name, betas=BETAS)
        for name in ("a", "b")
    )
    assert "bodies" not in one.model_dump()
    keys = {stimulus_key(motion, s) for s in (one, two, RenderSettings(size=64))}
    assert len(keys) == 3
    assert stimulus_key(motion, one.model_copy(update={"betas": (1.0,)})) not in keys
    arrow = one.model_copy(update={"facing_arrow": True})
    assert Stage(motion, arrow).picture(2).std() > 5
    for wrong, said in (
        ({"betas": BETAS}, "expected smpl, smplh or smplx"),
        ({"body": "smpl"}, "the folder with smpl"),
        ({"body": "smpl", "bodies": tmp_path, "betas": (np.nan,)}, "finite"),
    ):
        with pytest.raises(ValidationError, match=said):
            RenderSettings(**wrong)
