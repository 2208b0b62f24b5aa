"""The 3D view: the video's frames and framing, what is kept of its use, and where it is off."""

from __future__ import annotations

import hashlib
import io
import re

import numpy as np
import pytest
from PIL import Image

from annotation_app import view3d
from audit.access import add_person, invite
from audit.labelling import my_labels
from audit.studies import StudyConfig, StudyError, add_member, create_study, launch
from audit.training import acknowledge_guidelines
from corpus.clips import Caption, Clip
from corpus.formats.arrays import save
from motionjury.commands.render import render_into_workspace
from motionjury.workspace import init_workspace
from render.clip import RenderSettings
from store.clips import add_clips
from store.items import add_items
from tests.annotation_app import site as site_module
from tests.annotation_app.conftest import FLAGS
from tests.annotation_app.test_browser import SHADOW, VIDEO, YES, choose, desk, settled
from tests.render.poses import left_arm_up, striding

GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
MOTIONS = (striding(40), striding(30), left_arm_up(10))
BUILT = (view3d.DIST / "player3d.js").is_file()
needs_build = pytest.mark.skipif(not BUILT, reason="the 3D view was not built (make player)")


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace of real clips with a study that offers 3D and one that does not, served."""
    folder = tmp_path_factory.mktemp("space")
    site = site_module.Site("", init_workspace(folder / "workspace", name="Space"))
    _fill(site)
    process = site_module.start(site, folder / "server.log")
    yield site
    process.terminate()
    process.wait(timeout=20)
    text = (folder / "server.log").read_text()
    assert "Traceback" not in text, text


def _fill(site) -> None:
    workspace = site.workspace
    clips, captions = [], []
    for number, motion in enumerate(MOTIONS):
        item = site_module.stride_item(number, *site_module.PAIRS[number])
        clip_id = item.payload["clip_id"]
        save(motion, workspace.root / f"motion{number}.npz")
        clips.append(
            Clip(
                id=clip_id, corpus="synthetic", path=f"motion{number}.npz", format="arrays",
                content_hash=motion.content_hash(), frames=motion.frames, fps=motion.fps,
                duration=motion.duration, joints=22, skeleton=motion.skeleton,
            )
        )  # fmt: skip
        caption = item.payload["caption"]
        captions.append(Caption(id=item.payload["caption_id"], clip_id=clip_id, text=caption))
        site.items.append(item)
    with workspace.db.write() as session:
        add_clips(session, clips, captions)
        add_items(session, site.items)
    results = render_into_workspace(workspace, clips, RenderSettings(size=384), workers=1)
    assert [result.problem for result in results] == [None] * len(clips)
    site.media = [result.key for result in results]
    with workspace.db.write() as session:
        for name, items, allow in (
            ("Deep study", site.items[:2], True),
            ("Flat study", site.items[2:], False),
        ):
            config = StudyConfig(
                name=name,
                protocol="stride_audit",
                item_ids=tuple(item.id for item in items),
                ratings_per_item=20,
                allow_3d=allow,
            )
            site.studies[name] = create_study(session, config).id
            launch(session, site.studies[name])


def newcomer(site, name: str, study: str = "Deep study") -> str:
    with site.workspace.db.write() as session:
        person = add_person(session, name, "expert")
        add_member(session, site.studies[study], person.id)
        acknowledge_guidelines(session, site.studies[study], person.id)
        site.people[name] = person.id
        site.links[name] = invite(session, person.id)
    return name


@pytest.fixture(scope="module")
def with_gl(chromium, chromium_path):
    """Chromium that draws WebGL on the processor."""
    flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
    browser = chromium.browser_type.launch(executable_path=chromium_path, args=[*flags, *GL])
    yield browser
    browser.close()


def open_desk(browser, site, name: str, height: int = 768):
    page = browser.new_page(viewport={"width": 1366, "height": height})
    page.set_default_timeout(45_000)
    page.goto(site.link(name))
    desk(page, "Item 1 of")
    page.wait_for_function(f"() => {VIDEO}.readyState === 4 && {VIDEO}.currentTime > 0.05")
    page.keyboard.press("Space")
    settled(page)
    return page


def go_to(page, frame: int) -> None:
    page.locator(".scrub input").evaluate(
        "(range, frame) => { range.value = frame; range.dispatchEvent(new Event('input')); }", frame
    )
    settled(page, frame)


def enter(page) -> None:
    page.keyboard.press("v")
    page.locator(".space-state", has_text="The video is what you judge").wait_for()


def drawn(page, frame: int) -> None:
    page.locator(f'.space canvas[data-frame="{frame}"]').wait_for()
    page.wait_for_timeout(100)


def picture(page) -> np.ndarray:
    """What the stage shows, without the buttons on it: (H, W, 3)."""
    page.evaluate(
        f"{SHADOW}.querySelectorAll('.camera, .space-state')"
        ".forEach(e => { e.style.visibility = 'hidden'; })"
    )
    data = page.locator(".stage").screenshot()
    page.evaluate(
        f"{SHADOW}.querySelectorAll('.camera, .space-state')"
        ".forEach(e => { e.style.visibility = ''; })"
    )
    image = Image.open(io.BytesIO(data)).convert("RGB")
    # Without the border; smaller, because the browser scales the video up.
    return np.asarray(image.crop((3, 3, image.width - 3, image.height - 3)).reduce(3), dtype=float)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Mean difference of two pictures, 0 to 255."""
    return float(np.abs(one - other).mean())


@needs_build
@pytest.mark.browser
def test_the_3d_view_starts_as_the_video_and_keeps_its_frames(space, with_gl):
    page = open_desk(with_gl, space, newcomer(space, "Ola Lindqvist"))
    frames = (4, 12, 30)
    last = int(page.locator(".scrub input").get_attribute("max"))
    assert last in (29, 39)
    frames = [frame * last // 39 for frame in frames]
    videos = {}
    for frame in frames:
        go_to(page, frame)
        videos[frame] = picture(page)
    enter(page)
    for frame in frames:
        go_to(page, frame)
        drawn(page, frame)
        shown = picture(page)
        # The same picture, but for the video's compression and the soft edge of its shadow.
        assert apart(shown, videos[frame]) < 2.0
        edges = np.abs(shown - videos[frame]).max(axis=2) > 40
        assert edges.mean() < 0.01
        nearest = min(videos, key=lambda other: apart(shown, videos[other]))
        assert nearest == frame
    # Left limbs are blue and, seen from the front, on the right of the picture.
    go_to(page, 0)
    drawn(page, 0)
    shown = picture(page)
    red, _green, blue = (shown[..., c] for c in range(3))
    columns = np.arange(shown.shape[1])
    left = ((blue > red + 90).sum(axis=0) * columns).sum() / (blue > red + 90).sum()
    right = ((red > blue + 90).sum(axis=0) * columns).sum() / (red > blue + 90).sum()
    assert left > right
    # Stepping goes through both, and the last frame is not taken for the first.
    at = 0
    for key, by in ((".", 1), (".", 1), (",", -1)):
        page.keyboard.press(key)
        at += by
        settled(page, at)
        drawn(page, at)
    go_to(page, last)
    drawn(page, last)
    end = picture(page)
    page.keyboard.press("v")
    assert apart(end, picture(page)) < 2.0
    page.close()


@needs_build
@pytest.mark.browser
def test_orbit_zoom_reset_and_what_is_kept(space, with_gl):
    name = newcomer(space, "Pia Sandoval")
    page = open_desk(with_gl, space, name)
    go_to(page, 10)
    enter(page)
    drawn(page, 10)
    start = picture(page)
    for keys in ("hh", "k", "z", "Z", "l"):
        before = picture(page)
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_timeout(150)
        assert apart(picture(page), before) > 1.0, keys
    page.keyboard.press("x")
    page.wait_for_timeout(150)
    assert apart(picture(page), start) < 0.05
    box = page.locator(".space canvas").bounding_box()
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y + 10, steps=4)
    page.mouse.up()
    page.wait_for_timeout(600)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(150)
    assert apart(picture(page), start) > 1.0
    page.get_by_role("button", name="Reset the camera").click()
    page.wait_for_timeout(150)
    assert apart(picture(page), start) < 0.05
    page.wait_for_timeout(1000)
    page.keyboard.press("v")
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 2")
    # The next clip starts with its video; the 3D view follows it when it is wanted.
    assert page.locator(".space canvas").is_hidden()
    page.wait_for_function(f"() => {VIDEO}.currentTime > 0.05")
    enter(page)
    page.keyboard.press("Space")
    drawn(page, settled(page))
    with space.workspace.db.read() as session:
        (label,) = my_labels(session, space.studies["Deep study"], space.people[name])
    used = label.activity
    # hh, k, l and the drag; z and Z at once are one; then the wheel.
    assert used["orbits"] == 5
    assert 2 <= used["zooms"] <= 3
    assert used["pans"] == 0
    assert 1.0 < used["seconds_3d"] <= used["seconds"]
    page.close()


@needs_build
@pytest.mark.browser
def test_impatient_keys_make_one_view(space, with_gl):
    page = open_desk(with_gl, space, newcomer(space, "Yara Quintanilla"))
    for _ in range(5):
        page.keyboard.press("v")
    page.locator(".space-state", has_text="The video is what you judge").wait_for()
    drawn(page, settled(page))
    assert page.locator(".space canvas").count() == 1
    page.close()


@needs_build
@pytest.mark.browser
def test_every_control_has_a_name_a_size_and_a_key(space, with_gl):
    page = open_desk(with_gl, space, newcomer(space, "Quinn Abara"), height=650)
    enter(page)
    for name in (
        "3D view", "Camera to the left", "Camera to the right", "Camera up", "Camera down",
        "Nearer", "Farther", "Reset the camera",
    ):  # fmt: skip
        button = page.get_by_role("button", name=name)
        assert button.get_attribute("aria-keyshortcuts")
        box = button.bounding_box()
        assert (box["height"] >= 44, box["width"] >= 44) == (True, True), name
        assert box["y"] + box["height"] <= 650
    assert page.locator(".controls .faster").bounding_box()["y"] < 650 - 44
    page.get_by_role("img", name=re.compile("3D")).wait_for()
    assert page.get_by_role("button", name="3D view").get_attribute("aria-pressed") == "true"
    page.keyboard.press("?")
    page.locator("dialog", has_text="Camera left, right, up, down").wait_for()
    page.close()


@needs_build
@pytest.mark.browser
def test_the_body_is_fetched_once(space, with_gl):
    page = open_desk(with_gl, space, newcomer(space, "Rui Tavernier"))
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    came, kept = [], set()
    # From memory, or from disk.
    network.on("Network.requestServedFromCache", lambda event: kept.add(event["requestId"]))

    def received(event) -> None:
        came.append((event["response"]["url"], event["requestId"]))
        if event["response"]["fromDiskCache"]:
            kept.add(event["requestId"])

    network.on("Network.responseReceived", received)
    enter(page)
    page.reload()
    desk(page, "Item 1 of")
    enter(page)
    for part in ("/body/", "/player/"):
        requests = [request for url, request in came if part in url]
        assert len(requests) == 2
        assert [request in kept for request in requests] == [False, True]
    page.close()


@pytest.mark.browser
def test_not_offered_where_the_study_forbids_it(space, chromium):
    name = newcomer(space, "Sol Whitcombe", "Flat study")
    page = open_desk(chromium, space, name)
    page.keyboard.press("v")
    assert page.locator(".to-3d, .off-3d, .space").filter(visible=True).count() == 0
    token = page.evaluate(f"{VIDEO}.src").rsplit("/", 1)[1]
    answer = page.request.get(f"{space.url}/clip/{token}/motion")
    assert (answer.status, page.request.get(f"{space.url}/clip/{token}").status) == (403, 200)
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    with space.workspace.db.read() as session:
        (label,) = my_labels(session, space.studies["Flat study"], space.people[name])
    assert "seconds_3d" not in label.activity
    page.close()


@needs_build
@pytest.mark.browser
def test_a_browser_without_webgl_goes_on_with_the_video(space, chromium, chromium_path):
    browser = chromium.browser_type.launch(
        executable_path=chromium_path, args=[*FLAGS, "--disable-3d-apis"]
    )
    page = open_desk(browser, space, newcomer(space, "Tam Okonedo"))
    page.locator(".off-3d", has_text="no WebGL").wait_for()
    assert page.get_by_role("button", name="3D view").count() == 0
    page.keyboard.press("v")
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 2")
    browser.close()


@needs_build
@pytest.mark.browser
def test_a_clip_whose_motion_is_not_there_goes_on_with_the_video(space, with_gl):
    page = open_desk(with_gl, space, newcomer(space, "Uma Castellan"))
    page.route("**/motion", lambda route: route.abort())
    page.keyboard.press("v")
    page.locator(".off-3d", has_text="did not load").wait_for()
    assert page.locator(".space").is_hidden()
    assert page.evaluate(f"!{VIDEO}.error")
    page.close()


@pytest.mark.browser
def test_without_the_built_script_the_page_says_why(space, chromium, tmp_path):
    (tmp_path / "why.txt").write_text("its libraries could not be fetched\n")
    other = site_module.Site("", space.workspace, space.links)
    before = f"from annotation_app import view3d; view3d.DIST = Path({str(tmp_path)!r})"
    process = site_module.start(other, tmp_path / "server.log", before)
    newcomer(space, "Val Drummond")
    page = open_desk(chromium, other, "Val Drummond")
    page.locator(".off-3d", has_text="its libraries could not be fetched. The video").wait_for()
    assert page.get_by_role("button", name="3D view").count() == 0
    page.close()
    process.terminate()
    process.wait(timeout=20)


def test_who_gets_a_motion_and_how_long_it_may_be_kept(space):
    from annotation_app.desk import desk_state

    name = newcomer(space, "Wes Marchetti")
    with space.workspace.db.write() as session:
        state = desk_state(session, space.studies["Deep study"], space.people[name])
    clip = state["task"]["clip"]
    assert clip["has_3d"]
    path = f"/clip/{clip['token']}/motion"
    motions = [(space.workspace.media_dir / f"{key}.glb").read_bytes() for key in space.media]
    with space.client(name) as client:
        answer = client.get(path)
        assert answer.content in motions
        assert answer.headers["content-type"] == "model/gltf-binary"
        assert answer.headers["cache-control"].startswith("private")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["etag"] != client.get(f"/clip/{clip['token']}").headers["etag"]
        assert len(answer.content) < 100 * 1024
        body = client.get(f"/body/{view3d.body().digest}")
        assert body.status_code == 200
        assert "immutable" in body.headers["cache-control"]
        assert hashlib.sha256(body.content).hexdigest().startswith(view3d.body().digest)
        assert client.get("/body/0000000000000000").status_code == 404
        assert client.get("/player/0000000000000000.js").status_code == 404
        for key in space.media:
            assert key.encode() not in answer.content
    with space.client(newcomer(space, "Xan Pellegrino")) as colleague:
        assert colleague.get(path).status_code == 403
    with space.client() as stranger:
        assert stranger.get(path).status_code == 403


def test_a_video_of_bare_joints_or_another_body_has_no_3d_view(space):
    from audit.access import shown_in_3d
    from audit.records import get_study
    from store.clips import get_media

    with space.workspace.db.read() as session:
        study = get_study(session, space.studies["Deep study"])
        media = get_media(session, space.media[0])
    bare, other = (
        media.model_copy(update={"settings": {**media.settings, **change}})
        for change in ({"view": "skeleton"}, {"body": "smpl"})
    )
    assert [shown_in_3d(study, one) for one in (media, bare, other)] == [True, False, False]


def test_a_protocol_that_has_no_3d_view_refuses_it(space, monkeypatch):
    from audit.protocols.registry import PROTOCOLS

    flat = PROTOCOLS["stride_audit"].model_copy(update={"name": "flat_audit", "allows_3d": False})
    monkeypatch.setitem(PROTOCOLS, "flat_audit", flat)
    config = StudyConfig(name="Refused", protocol="flat_audit", item_ids=("any",), allow_3d=True)
    with (
        space.workspace.db.write() as session,
        pytest.raises(StudyError, match="flat_audit is judged on the video alone"),
    ):
        create_study(session, config)
