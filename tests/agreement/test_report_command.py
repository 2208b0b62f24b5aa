"""`agreement report` on a study: its files, its pictures and links, the study left unnamed."""

import json
import subprocess

import imageio_ffmpeg
import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from motionjury.cli import cli
from motionjury.workspace import Workspace
from render.thumbnails import strip_uri
from store.clips import add_media
from store.items import get_item, list_items
from tests.labels import label_everything
from tests.test_docs import write_humanml3d


def run(root, *arguments):
    return CliRunner().invoke(cli, [*arguments, "--workspace", str(root)])


def video(path, seconds=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
         f"testsrc=duration={seconds}:size=64x64:rate=10", "-pix_fmt", "yuv420p", str(path)],
        check=True,
    )  # fmt: skip
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A workspace whose study two experts have labelled; every clip has a video."""
    folder = tmp_path_factory.mktemp("report")
    write_humanml3d(folder / "data")
    root = folder / "w"
    assert CliRunner().invoke(cli, ["init", str(root)]).exit_code == 0
    assert run(root, "corpus", "import", str(folder / "data")).exit_code == 0
    assert run(root, "draft", "stride").exit_code == 0
    workspace = Workspace(root)
    picture = video(workspace.media_dir / "a.mp4").name
    with workspace.db.write() as session:
        for clip_id in {i.payload["clip_id"] for i in list_items(session, benchmark="stride")}:
            add_media(
                session, key=clip_id, clip_id=clip_id, file=picture, settings={}, frames=10,
                fps=10.0, seconds=1.0, sha256="0" * 64, size=1,
            )  # fmt: skip
    created = run(root, "study", "create", "a (first) study", "--ratings", "2", "--per-axis", "1")
    assert created.exit_code == 0, created.exception
    for name in ("Ada", "Bo"):
        run(root, "people", "invite", name, "--role", "expert", "--study", "a (first) study")
    assert run(root, "study", "launch", "a (first) study").exit_code == 0
    label_everything(
        workspace,
        "a (first) study",
        lambda rater, item, question: (
            str(3 + rater)
            if question == "confidence"
            else ("no" if rater == 1 and item == 0 and question == "fluent" else "yes")
        ),
    )
    return root


def test_the_only_study_needs_no_name_and_its_folder_no_odd_dash(root):
    result = run(root, "agreement", "report", "--resamples", "20", "--json")
    assert result.exit_code == 0, result.exception
    report = json.loads(result.stdout)
    assert report["title"] == "a (first) study"
    folder = root / "reports" / "a-first-study"
    names = ["coefficients.csv", "report.html", "report.json", "table.tex"]
    assert sorted(path.name for path in folder.iterdir()) == names
    [fluent] = [c for c in report["checks"] if c["analysis"]["axis"]["name"] == "fluent"]
    [disputed] = fluent["disputed"]
    assert disputed["labels"] == {"A1": "yes", "A2": "no"}
    assert (folder / disputed["link"]).resolve() == (root / "media" / "a.mp4").resolve()
    with Workspace(root).db.read() as session:
        payload = get_item(session, disputed["item"]).payload
    assert disputed["text"] == [payload["caption"], payload["perturbed"]]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'src="data:image/jpeg;base64,' in page
    assert page.count("src=") == page.count('src="data:image/jpeg;base64,')
    everyone, *each = report["times"]
    assert (everyone["rater"], everyone["median"]) == (None, 9.0)
    assert [one["rater"] for one in each] == ["A1", "A2"]
    assert everyone["total"] == pytest.approx(9 * everyone["n"])


def test_a_name_that_is_no_study_and_a_negative_seed(root):
    assert isinstance(run(root, "agreement", "report", "none").exception, InputError)
    refused = run(root, "agreement", "report", "--seed", "-1").exception
    assert "--seed -1" in str(refused)


def test_without_labels_there_is_nothing_to_report(tmp_path):
    CliRunner().invoke(cli, ["init", str(tmp_path / "w")])
    refused = run(tmp_path / "w", "agreement", "report").exception
    assert isinstance(refused, InputError)
    assert "no study has labels yet" in str(refused)


def test_a_strip_is_a_small_picture_and_a_broken_video_none(tmp_path):
    uri = strip_uri(video(tmp_path / "v.mp4", 3), 3.0)
    assert uri.startswith("data:image/jpeg;base64,")
    assert len(uri) < 20_000
    broken = tmp_path / "b.mp4"
    broken.write_bytes(b"no video")
    assert strip_uri(broken, 1.0) is None
    assert strip_uri(tmp_path / "none.mp4", 1.0) is None
