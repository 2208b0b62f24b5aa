"""People in a real browser: links, training, keys, reloads, two tabs, what the server gave away."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from audit.blind import caption_order
from audit.labelling import SHOWN, my_labels
from audit.studies import add_member, progress
from exports.verify import verify_release
from motionjury.cli import cli
from motionjury.workspace import Workspace, init_workspace
from perf.long_study import READY
from store.tables import LabelRow, MemberRow
from tests.annotation_app.pressing import press
from tests.annotation_app.site import FRAMES, HOSTILE

pytestmark = pytest.mark.browser


class Wire:
    """Everything a page received: bodies, headers, addresses, websocket frames."""

    def __init__(self, page) -> None:
        self.parts: list[str] = []
        self.frames: list[str] = []
        page.on("response", self._response)
        page.on("websocket", lambda ws: ws.on("framereceived", self._frame))

    def _response(self, response) -> None:
        self.parts += [response.url, str(response.headers)]
        path = response.url.split("?")[0]
        # Streamlit's own bundle is the same for everybody; redirects have no body.
        if "/static/" not in path and "/clip/" not in path and response.status < 300:
            self.parts.append(response.text())

    def _frame(self, payload) -> None:
        text = payload if isinstance(payload, str) else payload.decode("utf-8", "replace")
        self.frames.append(text)

    def text(self) -> str:
        return "\n".join([*self.parts, *self.frames])


def sign_in(page, site, name: str) -> None:
    page.goto(site.link(name))


def desk(page, count: str) -> None:
    page.locator(READY, has_text=count).wait_for()


def read_guidelines(page) -> None:
    page.get_by_role("button", name="I have read this").click()


def rows(page) -> list[str]:
    """Names of the questions asked, in order."""
    return page.locator(".question:visible").evaluate_all("all => all.map(q => q.dataset.name)")


def chosen(page) -> dict[str, str]:
    script = "all => all.map(b => [b.closest('.question').dataset.name, b.dataset.value])"
    pressed = page.locator(".question:visible .option[aria-pressed=true]")
    return dict(pressed.evaluate_all(script))


def choose(page, wanted: dict[str, str]) -> dict[str, str]:
    """Answer the questions asked with keys only; return what was chosen."""
    answers = {name: wanted[name] for name in rows(page) if name in wanted}
    while page.locator(".question.active").get_attribute("data-name") != rows(page)[0]:
        page.keyboard.press("ArrowUp")
    for name, value in answers.items():
        while page.locator(".question.active").get_attribute("data-name") != name:
            page.keyboard.press("ArrowDown")
        page.keyboard.press(value if value.isdigit() else value[0])
    assert chosen(page) == answers
    return answers


def saved(page) -> None:
    page.locator(".saved", has_text=re.compile("^Saved$")).wait_for()


def labels_of(site, name: str, study: str):
    with site.workspace.db.read() as session:
        return my_labels(session, site.studies[study], site.people[name])


YES = {"fluent": "yes", "single_change": "yes", "distinguishable": "yes", "exclusive": "yes"}
PLAN = {
    "Ada Quillfeather": [
        {**YES, "confidence": "5"},
        {**YES, "fluent": "no", "confidence": "3"},
        {**YES, "distinguishable": "no", "exclusive": "no", "confidence": "1"},
    ],
    "Ben Oxbridge": [
        {**YES, "single_change": "no", "confidence": "2"},
        {**YES, "confidence": "4"},
        {**YES, "distinguishable": "no", "confidence": "5"},
    ],
}


def walk(page, site, name: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Go from the link to the last item; return answers by captions on screen, and each A."""
    sign_in(page, site, name.split()[0])
    read_guidelines(page)
    desk(page, "Training 1 of 1")
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    page.locator(".wrong .outcome", has_text="Here the answer is No.").wait_for()
    page.get_by_text("One of the captions also adds a wave.").wait_for()
    page.keyboard.press("Enter")
    choose(page, {**YES, "single_change": "no", "confidence": "4"})
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Continue").wait_for()
    page.keyboard.press("Enter")
    clicked, first = {}, []
    for number, plan in enumerate(PLAN[name], start=1):
        desk(page, f"Item {number} of 3")
        key = " | ".join(sorted(page.locator(".caption p").all_inner_texts()))
        first.append(page.locator(".caption p").first.inner_text())
        clicked[key] = choose(page, plan)
        if number == 2:
            saved(page)
            page.reload()
            desk(page, "Item 2 of 3")
            assert " | ".join(sorted(page.locator(".caption p").all_inner_texts())) == key
            assert chosen(page) == clicked[key]
            page.keyboard.press("t")
            # Keys are dead while writing: none of these plays, answers or submits.
            page.keyboard.type("n 5, s? [fine]")
            page.keyboard.press("Escape")
            assert chosen(page) == clicked[key]
            clicked[key]["comment"] = "n 5, s? [fine]"
        page.wait_for_function(PLAYING)
        # Two keys at once are one submission.
        page.keyboard.press("Enter")
        page.keyboard.press("s")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    press(
        page.get_by_role("button", name="Change my last answer"),
        page.locator(READY, has_text="Changing your last answer"),
    )
    page.keyboard.press("b")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    return clicked, first


def test_two_experts_from_link_to_done(site, new_page, tmp_path):
    clicked, wires, first = {}, {}, {}
    for name in PLAN:
        page = new_page()
        wires[name] = Wire(page)
        clicked[name], first[name] = walk(page, site, name)
    captions = {
        item.id: (item.payload["caption"], item.payload["perturbed"]) for item in site.items[:3]
    }
    for name, told in clicked.items():
        labels = labels_of(site, name, "Walk study")
        assert len(labels) == 3
        stored = {" | ".join(sorted(captions[one.item_id])): one.answers for one in labels}
        assert stored == told
        assert all(one.activity["seconds"] > 0 and one.activity["plays"] >= 1 for one in labels)
    with site.workspace.db.read() as session:
        counts = progress(session, site.studies["Walk study"])
    assert (counts.complete, counts.ratings, counts.surplus) == (3, 6, 0)
    # What stood under A is kept with the label, and is not always the original.
    with site.workspace.db.read() as session:
        for label in session.scalars(select(LabelRow).where(LabelRow.item_id.in_(captions))):
            name = next(one for one in PLAN if site.people[one] == label.person_id)
            item = next(one for one in site.items if one.id == label.item_id)
            field = label.activity[SHOWN].split(",")[0]
            assert item.payload[field] in first[name]
    orders = [
        caption_order(11, f"person {number}", item.id)[0]
        for number in range(50)
        for item in site.items
    ]
    assert 0.4 < orders.count("caption") / len(orders) < 0.6
    for name, wire in wires.items():
        # The training item came by websocket, the items by our own routes: both were captured.
        assert any("he raises the left arm." in frame for frame in wire.frames)
        assert any("a person waves the left hand." in part for part in wire.parts)
        assert secrets_in(wire.text(), site, name) == []
    report_and_release_hold(clicked, captions, site, tmp_path)


def report_and_release_hold(clicked, captions, site, tmp_path) -> None:
    """Close a copy of the study; what it reports and releases is what was clicked, no more."""
    workspace = copied(site.workspace, tmp_path / "copy")

    def run(*words: str) -> str:
        result = CliRunner().invoke(cli, [*words, "--workspace", str(workspace.root)])
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result.stdout

    run("study", "close", "Walk study")
    report = json.loads(run("agreement", "report", "Walk study", "--json"))
    analysis = next(a for c in report["checks"] if (a := c["analysis"])["axis"]["name"] == "fluent")
    one, other = clicked.values()
    agreed = [one[key]["fluent"] == other[key]["fluent"] for key in one]
    percent = next(c for c in analysis["coefficients"] if c["coefficient"] == "percent_agreement")
    assert analysis["n_ratings"] == 6
    assert percent["value"] == pytest.approx(sum(agreed) / 3)
    run("release", "build", "--study", "Walk study", "--out", str(tmp_path / "release"))
    assert verify_release(tmp_path / "release") == []
    rows = [json.loads(line) for line in (tmp_path / "release" / "labels.jsonl").open()]
    with workspace.db.read() as session:
        told = {row.person_id: row.code for row in session.scalars(select(MemberRow))}
    codes = {name: told[site.people[name]] for name in clicked}
    assert sorted(codes.values()) == ["A1", "A2"]
    for name, told in clicked.items():
        mine = [row for row in rows if row["rater"] == codes[name]]
        assert len(mine) == 3
        for row in mine:
            wanted = told[" | ".join(sorted(captions[row["item_id"]]))]
            for question in (*YES, "confidence"):
                given = row.get(question)
                assert (None if given is None else str(given)) == wanted.get(question)
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "release").glob("*.json*"))
    assert "n 5, s?" not in text
    assert not [name for name in site.people if name in text]


def copied(workspace, folder):
    """Return a copy of a workspace whose server is running."""
    init_workspace(folder, name=workspace.name).db.close()
    source = sqlite3.connect(workspace.root / "jury.db")
    target = sqlite3.connect(folder / "jury.db")
    source.backup(target)
    source.close()
    target.close()
    return Workspace(folder)


def secrets_in(text: str, site, name: str) -> list[str]:
    """Return what a capture must not hold: gold, sources, other people and their answers."""
    forbidden = [
        "perturbed",
        "caption_id",
        "captionid",
        "clip_id",
        "content_hash",
        "editsource",
        "edittarget",
        "ruleofmaking",
        "sourceclip",
        "originalfile",
        "provenance",
        "media_key",
        "gold",
        ".mp4",
        str(site.workspace.root),
        "sqlite",
        *(item.id for item in site.items),
        *site.media,
        *(other for other in site.people if other != name),
        *(pid for other, pid in site.people.items() if other != name),
    ]
    others = [other for other in PLAN if other != name]
    with site.workspace.db.read() as session:
        for other in others:
            for label in my_labels(session, site.studies["Walk study"], site.people[other]):
                forbidden += [label.id, label.assignment_id, label.submission_id]
    return [word for word in forbidden if word in text]


def test_the_next_clip_is_there_before_it_is_needed(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Cleo Vantongeren"))
    desk(page, "Item 1 of 5")
    page.wait_for_function(PLAYING)
    page.wait_for_function(SPARE_READY)
    choose(page, {**YES, "confidence": "4"})
    before = page.evaluate(SOURCE)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("Enter")
    page.wait_for_function(
        f"before => ({SOURCE})() !== before && ({PLAYING})()", arg=before, polling=10
    )
    assert page.locator(".count").inner_text() == "Item 2 of 5"
    shown = page.evaluate(SOURCE)
    assert shown not in asked


SHADOW = (
    "[...document.querySelectorAll('*')].find(e => e.shadowRoot?.querySelector('.mj')).shadowRoot"
)
VIDEO = f"{SHADOW}.querySelector('video.shown')"
SPARE_READY = f"() => {SHADOW}.querySelector('video.spare')?.readyState === 4"
SOURCE = f"() => {VIDEO}.src"
PLAYING = f"() => {VIDEO}.currentTime > 0.05 && !{VIDEO}.paused"
READ_SQUARES = f"""() => {{
  const video = {VIDEO}, canvas = document.createElement("canvas");
  canvas.width = video.videoWidth; canvas.height = video.videoHeight;
  const paint = canvas.getContext("2d");
  paint.drawImage(video, 0, 0);
  let frame = 0;
  for (let bit = 0; bit < 8; bit++) {{
    const x = Math.round((bit + 0.5) * canvas.width / 8);
    frame = frame * 2 + (paint.getImageData(x, canvas.height / 2, 1, 1).data[0] > 127 ? 1 : 0);
  }}
  return frame;
}}"""


def shown_frame(page) -> int:
    return int(re.match(r"frame (\d+) /", page.locator(".frame").inner_text())[1])


def test_the_counter_shows_the_frame_on_the_screen(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Dan Mistlethwaite"))
    desk(page, "Item 1 of 5")
    page.wait_for_function(PLAYING)
    page.keyboard.press("Space")
    start = settled(page)
    assert start == page.evaluate(READ_SQUARES)
    at = start
    for key, by in ((".", 1), (".", 1), ("ArrowRight", 1), (",", -1), ("ArrowLeft", -1)):
        page.keyboard.press(key)
        at = (at + by) % FRAMES
        assert settled(page, at) == page.evaluate(READ_SQUARES) == at
    # From the first frame back is the last one, and on again.
    page.locator(".scrub input").evaluate(
        "r => { r.value = '0'; r.dispatchEvent(new Event('input')); }"
    )
    for at, key in ((0, None), (FRAMES - 1, ","), (0, "."), (1, ".")):
        if key:
            page.keyboard.press(key)
        assert settled(page, at) == page.evaluate(READ_SQUARES) == at
    for key, rate in (("[", 0.75), ("-", 0.5), ("[", 0.25), ("[", 0.25), ("]", 0.5)):
        page.keyboard.press(key)
        assert page.evaluate(f"{VIDEO}.playbackRate") == rate
    page.keyboard.press("Home")
    page.wait_for_function(PLAYING)
    assert page.evaluate(f"{VIDEO}.loop && {VIDEO}.muted")


def settled(page, frame: int | None = None) -> int:
    """Wait until a seek is over and, where given, the counter stands at a frame."""
    page.wait_for_function(f"() => !{VIDEO}.seeking && {VIDEO}.paused")
    if frame is not None:
        page.locator(".frame", has_text=f"frame {frame} /").wait_for()
    else:
        page.wait_for_timeout(150)
    return shown_frame(page)


def test_second_tab_is_told(site, new_page):
    first = new_page()
    sign_in(first, site, site.newcomer("Eve Rumpelberg"))
    desk(first, "Item 1 of 5")
    second = first.context.new_page()
    second.goto(site.url)
    desk(second, "Item 1 of 5")
    first.keyboard.press("n")
    saved(first)
    second.keyboard.press("y")
    second.locator(".notice", has_text="changed in another window").wait_for()
    assert second.get_by_role("button", name="Stopped").is_disabled()
    second.get_by_role("button", name="Reload").click()
    desk(second, "Item 1 of 5")
    assert chosen(second) == {"fluent": "no"}
    # A submission in one tab ends the other one, and is one label.
    choose(second, {**YES, "confidence": "2"})
    second.keyboard.press("Enter")
    desk(second, "Item 2 of 5")
    first.keyboard.press("2")
    first.locator(".notice", has_text="already submitted").wait_for()
    assert len(labels_of(site, "Eve Rumpelberg", "Side study")) == 1


def test_an_answer_can_be_changed(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Hal Brackenbury"))
    desk(page, "Item 1 of 5")
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 5")
    page.keyboard.press("y")
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    assert chosen(page)["confidence"] == "4"
    page.keyboard.press("b")
    desk(page, "Item 2 of 5")
    assert chosen(page) == {"fluent": "yes"}
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    # A rerun of the script, which would offer item 2, does not end the change.
    page.keyboard.press("g")
    page.get_by_role("dialog", name="Guidelines").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Guidelines").wait_for(state="hidden")
    desk(page, "Changing your last answer")
    changed = choose(page, {**YES, "fluent": "no", "confidence": "2"})
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 5")
    assert chosen(page) == {"fluent": "yes"}
    (label,) = labels_of(site, "Hal Brackenbury", "Side study")
    assert (label.revision, label.answers) == (2, changed)
    # The second click of a double click does not send the item that comes up, complete as it is.
    choose(page, {**YES, "confidence": "4"})
    saved(page)
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    box = page.locator(".submit").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.up()
    desk(page, "Item 2 of 5")
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    assert len(labels_of(site, "Hal Brackenbury", "Side study")) == 1


def test_a_lost_connection_loses_and_doubles_nothing(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Max Trevelyan"))
    desk(page, "Item 1 of 5")
    page.route("**/work/draft", lambda route: route.abort())
    page.keyboard.press("y")
    page.locator(".saved", has_text="Not saved yet, trying again").wait_for()
    page.unroute("**/work/draft")
    saved(page)
    choose(page, {**YES, "confidence": "4"})
    saved(page)
    # What could not be saved before a lost submission is tried again after it.
    page.route("**/work/*", lambda route: route.abort())
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.locator(".message", has_text="Your answers are kept; press Submit again").wait_for()
    page.unroute("**/work/*")
    saved(page)
    reached = []

    def lose_the_answer(route) -> None:
        reached.append(route.fetch().status)
        route.abort()

    page.route("**/work/submit", lose_the_answer, times=1)
    page.keyboard.press("Enter")
    page.locator(".message", has_text="Your answers are kept; press Submit again").wait_for()
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 5")
    assert reached == [200]
    assert len(labels_of(site, "Max Trevelyan", "Side study")) == 1


def test_hostile_captions_are_text(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Ivy Thistlewood"))
    desk(page, " of 5")
    for caption in page.locator(".caption p").all_inner_texts():
        assert caption.endswith(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".captions script, .captions img").count() == 0


def test_open_questions_are_pointed_out(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Jon Featherstone"))
    desk(page, "Item 1 of 5")
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    page.locator(".message", has_text="questions are still open").wait_for()
    assert page.locator(".question.missing").count() == len(rows(page)) - 2
    assert labels_of(site, "Jon Featherstone", "Side study") == []


def test_digits_choose_again_after_a_comment_and_in_a_revision(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Lea Nightingale"))
    desk(page, "Item 1 of 5")
    page.keyboard.press("t")
    page.keyboard.type("r c s b 1 2")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    assert chosen(page) == {"fluent": "no"}
    assert page.locator("textarea").input_value() == "r c s b 1 2"
    choose(page, {**YES, "confidence": "4"})
    page.keyboard.press("Enter")
    desk(page, "Item 2 of 5")
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    page.keyboard.press("2")
    assert chosen(page)["fluent"] == "no"


def test_a_clip_plays_on_behind_the_guidelines(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Mia Holloway"))
    desk(page, "Item 1 of 5")
    page.locator("video.shown").wait_for()
    page.keyboard.press("g")
    page.get_by_role("dialog", name="Guidelines").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Guidelines").wait_for(state="hidden")
    assert page.locator("video.shown").evaluate("video => !video.paused")


def test_answers_stay_on_one_line_on_a_tablet(site, new_page):
    page = new_page()
    page.set_viewport_size({"width": 1024, "height": 768})
    sign_in(page, site, site.newcomer("Ned Abernathy"))
    desk(page, "Item 1 of 5")
    for button in page.locator(".option:visible").all():
        assert button.bounding_box()["height"] == 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    # On a telephone nothing stands out to the side either.
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".clip").scroll_into_view_if_needed()
    wide = "all => all.filter(e => e.getBoundingClientRect().right > 390).map(e => e.className)"
    assert page.locator(".mj *:visible").evaluate_all(wide) == []


def test_labelling_fits_a_small_laptop(site, new_page):
    page = new_page()
    sign_in(page, site, site.newcomer("Kit Underhill"))
    desk(page, "Item 1 of 5")
    for selector in (".submit", ".controls .faster", ".caption", "textarea"):
        box = page.locator(selector).last.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 650
    for button in page.locator(".mj button:visible").all():
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366


def test_several_studies(site, new_page):
    page = new_page()
    link = site.newcomer("Ned Oglethorpe")
    with site.workspace.db.write() as session:
        add_member(session, site.studies["Walk study"], site.people["Ned Oglethorpe"])
    sign_in(page, site, link)
    page.get_by_role("button", name="Walk study").wait_for()
    page.get_by_role("button", name="Side study").click()
    desk(page, "Item 1 of 5")
    captions = page.locator(".captions").inner_text()
    page.reload()
    desk(page, "Item 1 of 5")
    assert page.locator(".captions").inner_text() == captions


def test_progress_page_is_for_coordinators(site, new_page):
    page = new_page()
    sign_in(page, site, "Cora")
    page.locator("caption", has_text="Agreement between experts").wait_for()
    page.locator("caption", has_text="Items, by kind").wait_for()
    text = page.locator("[data-testid=stMain]").inner_text()
    for words in ("A1", "A2", "mirror reflection", "Krippendorff", "Are both captions fluent"):
        assert words in text
    for jargon in ("tratum", "Could still get", "Axis"):
        assert jargon not in text
    assert "Quillfeather" not in text
    # Six ratings of three clips: the report's caution is repeated, and marks each interval.
    assert "†" in page.locator("tr", has_text="Are both captions fluent").inner_text()
    page.locator(".mj-caution", has_text="only 3 clips are behind it").wait_for()
    assert "imulated" not in text
    page.get_by_label("Study").click()
    page.get_by_text("Side study · Caption pairs").click()
    page.locator(".mj-banner", has_text=re.compile("given by (a program|programs), not")).wait_for()
    page.locator(".mj-banner", has_text="Simulated raters are in these numbers: A1").wait_for()
    page.locator("tr", has_text="A1").locator(".mj-tag", has_text="simulated").wait_for()
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("heading", name="Agreement").wait_for()


def test_without_a_link(site, new_page):
    page = new_page()
    page.goto(site.url)
    page.get_by_role("heading", name="Please open your personal link").wait_for()
    # A window without an address bar: the link is pasted, and nothing else gets in.
    page.get_by_label("Or paste the link here").fill("https://elsewhere.example/not-a-link?")
    page.get_by_role("button", name="Go in").click()
    page.get_by_role("heading", name="This link does not work").wait_for()
    assert page.url.startswith(f"{site.url}/enter/")
    page.goto(site.url)
    page.get_by_label("Or paste the link here").fill(f" {site.link('Cora')}/ ")
    page.get_by_role("button", name="Go in").click()
    page.get_by_role("button", name="New study").wait_for()
    page.context.clear_cookies()
    page.goto(f"{site.url}/enter/not-a-link")
    page.get_by_role("heading", name="This link does not work").wait_for()
    assert "Traceback" not in page.content()
