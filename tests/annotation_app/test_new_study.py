"""A study from nothing in the browser: practice in the form, clips rendered, preview, launch."""

from __future__ import annotations

import json

import pytest

from audit.access import add_person, invite
from audit.members import add_member
from audit.studies import list_studies
from audit.training import training_items
from corpus.clips import Caption, Clip
from corpus.formats.arrays import save
from motionjury.workspace import init_workspace
from store.clips import add_clips, add_media, list_media
from store.items import add_items
from tests.annotation_app import site as site_module
from tests.render.poses import left_arm_up, striding

pytestmark = pytest.mark.browser
MOTIONS = (striding(8), left_arm_up(6), striding(5))


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A served workspace with items whose clips were never rendered, and a coordinator."""
    folder = tmp_path_factory.mktemp("raw")
    site = site_module.Site("", init_workspace(folder / "workspace", name="Raw"))
    clips, captions = [], []
    for number, motion in enumerate(MOTIONS):
        item = site_module.stride_item(number, *site_module.PAIRS[number])
        clip_id = item.payload["clip_id"]
        save(motion, site.workspace.root / f"motion{number}.npz")
        clips.append(
            Clip(
                id=clip_id, corpus="synthetic", path=f"motion{number}.npz", format="arrays",
                content_hash=motion.content_hash(), frames=motion.frames, fps=motion.fps,
                duration=motion.duration, joints=22, skeleton=motion.skeleton,
            )
        )  # fmt: skip
        text = item.payload["caption"]
        captions.append(Caption(id=item.payload["caption_id"], clip_id=clip_id, text=text))
        site.items.append(item)
    with site.workspace.db.write() as session:
        add_clips(session, clips, captions)
        add_items(session, site.items)
        for name, role in (("Cora", "coordinator"), ("Ada", "expert")):
            site.people[name] = add_person(session, name, role).id
            site.links[name] = invite(session, site.people[name])
    process = site_module.start(site, folder / "server.log")
    yield site
    process.terminate()
    process.wait(timeout=20)
    site.workspace.db.close()
    text = (folder / "server.log").read_text()
    assert "Traceback" not in text, text


def test_a_study_is_made_rendered_previewed_and_launched(raw, new_page, tmp_path):
    known = {
        "axis": "mirror_reflection",
        "clip_id": raw.items[2].payload["clip_id"],
        "caption": "a person lifts the left knee.",
        "perturbed": "a person lifts the right knee.",
        "answers": {"fluent": "yes", "single_change": "yes"},
        "explanation": "Only the side was changed.",
    }
    good, bad = tmp_path / "practice.json", tmp_path / "bad.json"
    good.write_text(json.dumps([known]))
    bad.write_text(json.dumps([{**known, "answers": {"fluent": "perhaps"}}]))
    page = new_page(viewport={"width": 1366, "height": 1000})
    page.goto(raw.link("Cora"))
    page.get_by_role("textbox", name="Name", exact=True).first.fill("From nothing")
    page.get_by_text("3 items fit; 3 will be in the study.").wait_for()
    page.get_by_text("Practice, attention and repeated items").click()
    picker = page.locator("[data-testid=stFileUploaderDropzoneInput]")
    page.wait_for_timeout(500)  # the name that was entered draws the page anew
    picker.first.set_input_files(bad)
    page.get_by_text("bad.json").wait_for()
    page.get_by_role("spinbutton", name="Items each expert sees").fill("2")
    page.get_by_role("spinbutton", name="At least so many").fill("1")
    page.get_by_role("spinbutton", name="Most tries at a practice item").fill("3")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Keep as a draft").click()
    page.get_by_text("fluent").last.wait_for()
    with raw.workspace.db.read() as session:
        assert list_studies(session) == []
    page.get_by_role("button", name="Remove").first.click()
    page.get_by_text("bad.json").wait_for(state="hidden")
    page.wait_for_timeout(1000)  # the field is made anew when the page has answered
    picker.first.set_input_files(good)
    page.get_by_text("practice.json").wait_for()
    page.get_by_role("button", name="Keep as a draft").click()
    page.get_by_text("From nothing is kept as a draft.").wait_for()
    with raw.workspace.db.read() as session:
        (study,) = list_studies(session)
        assert (study.config.repeats, study.config.repeat_gap) == (2, 1)
        assert study.config.training_tries == 3
    # It cannot be launched or previewed as it is: the console says so and mends it.
    page.get_by_text("3 clips of this study are not rendered yet").wait_for()
    page.get_by_text("motionjury render all --study 'From nothing'").wait_for()
    page.get_by_role("button", name="Render 3 clips now").click()
    page.get_by_text("of 3 clips rendered").wait_for()
    page.get_by_text("3 clips are rendered.").wait_for(timeout=120_000)
    with raw.workspace.db.read() as session:
        assert len(list_media(session)) == 3
    page.goto(f"{raw.url}/?study={study.id}&page=preview")
    page.get_by_role("button", name="Show the page").click()
    page.locator(".mj[aria-busy=false] .count", has_text="Preview").wait_for()
    page.goto(f"{raw.url}/?study={study.id}&page=manage")
    page.get_by_role("button", name="Launch").wait_for()
    assert not page.get_by_text("misses joints").is_visible()
    with raw.workspace.db.write() as session:
        first, second, _third = list_media(session)
        for media, fit in ((first, {"head": 30.0}), (second, {"head": 31.2, "left_wrist": 48.5})):
            add_media(session, **media.model_copy(update={"fit_error_mm": fit}).model_dump())
    clip_of = {one.id: one.payload["clip_id"] for one in raw.items}
    place = [clip_of[one] for one in study.config.item_ids].index(second.clip_id) + 1
    for shown in ("manage", "preview"):
        page.goto(f"{raw.url}/?study={study.id}&page={shown}")
        page.get_by_text("In one clip of this study the drawn body misses joints").wait_for()
        row = page.locator("tr", has_text=second.clip_id)
        row.wait_for()
        cells = [second.clip_id, str(place), "left wrist 48 mm, head 31 mm"]
        assert row.locator("td").all_inner_texts() == cells
        assert page.locator("tr", has_text=first.clip_id).count() == 0
    page.goto(f"{raw.url}/?study={study.id}&page=manage&lang=de")
    page.get_by_text("linkes Handgelenk 48 mm, Kopf 31 mm").wait_for()
    page.goto(f"{raw.url}/?study={study.id}&page=manage")
    page.get_by_role("button", name="Launch").click()
    page.get_by_role("button", name="Pause the study").wait_for()
    assert not page.get_by_text("not rendered yet").is_visible()
    with raw.workspace.db.write() as session:
        add_member(session, study.id, raw.people["Ada"])
        assert len(training_items(session, study.id, raw.people["Ada"])) == 1
