"""The coordinator's console in a real browser: what it does, and what it never tells."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from annotation_app import figures
from annotation_app.figures import Figures
from annotation_app.views.held import short
from audit.access import add_person, invite
from audit.assignment import next_assignment
from audit.labelling import submit
from audit.leases import leases
from audit.lineage import lineage
from audit.members import roster
from audit.studies import (
    StudyConfig,
    add_member,
    create_study,
    get_study,
    launch,
    list_studies,
    progress,
)
from audit.training import acknowledge_guidelines, check_training
from benchmarks.items import Provenance, make_item
from benchmarks.nextmotionqa import CaptionItem
from store.items import add_items
from tests.annotation_app import site as site_module
from tests.annotation_app.site import stride_item

pytestmark = pytest.mark.browser

AXE = Path(site_module.ROOT) / "annotation_app/player/node_modules/axe-core/axe.min.js"
GOLD = {"fluent": "yes", "single_change": "no", "distinguishable": "yes", "confidence": "4"}
HELD = """
import time
import annotation_app.figures as figures
_real = figures.study_agreement
def _held(*args):
    while Path({hold!r}).exists():
        time.sleep(0.05)
    return _real(*args)
figures.study_agreement = _held
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A site with, besides, an item to be edited, a free item, an analyst.

    No figures are computed while its file ``hold`` is there.
    """
    folder = tmp_path_factory.mktemp("console")
    built = site_module.build(folder / "workspace")
    verified = make_item(
        "nextmotionqa",
        "caption",
        {"axis": "action", "difficulty": "easy"},
        CaptionItem(
            clip_id=built.items[0].payload["clip_id"],
            axis="action",
            difficulty="easy",
            caption="A person walks quick.",
        ),
        Provenance(rule="drafting/1"),
    )
    free = stride_item(0, "temporal_order", "a free one walks, then sits.", "sits, then walks.")
    with built.workspace.db.write() as session:
        add_items(session, [verified, free])
        config = StudyConfig(
            name="Verify",
            protocol="expert_verification",
            item_ids=(verified.id,),
            ratings_per_item=1,
        )
        study = create_study(session, config)
        launch(session, study.id)
        vera = add_person(session, "Vera Tinderbox", "expert")
        add_member(session, study.id, vera.id)
        acknowledge_guidelines(session, study.id, vera.id)
        held = next_assignment(session, study.id, vera.id)
        answers = {"verdict": "revise", "edit": "walks quickly", "comment": "nearly English"}
        submit(session, held.id, vera.id, "vera-1", answers, {})
        built.studies["Verify"], built.people["Vera Tinderbox"] = study.id, vera.id
        built.links["Vera"] = invite(session, vera.id)
        analyst = add_person(session, "Anton Lindqvist", "analyst")
        built.links["Anton"] = invite(session, analyst.id)
        for name in ("Ada Quillfeather", "Ben Oxbridge"):
            walk = built.studies["Walk study"]
            acknowledge_guidelines(session, walk, built.people[name])
            check_training(session, walk, built.people[name], built.items[8].id, GOLD)
    built.items += [verified, free]
    process = site_module.start(
        built, folder / "server.log", before=HELD.format(hold=str(built.workspace.root / "hold"))
    )
    yield built
    process.terminate()
    process.wait(timeout=20)
    built.workspace.db.close()
    text = (folder / "server.log").read_text()
    assert "Traceback" not in text, text


@pytest.fixture
def console(house, new_page):
    """Return a function that opens a page of the console as the coordinator."""
    page = new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(45_000)
    page.goto(house.link("Cora"))

    def open_page(name: str, study: str = "Walk study"):
        page.goto(f"{house.url}/?study={house.studies[study]}&page={name}")
        page.locator(".mj-top").wait_for()
        return page

    return open_page


def pick(page, label: str, option: str) -> None:
    from playwright.sync_api import TimeoutError as NotYet

    wanted = page.get_by_role("option", name=option)
    for _ in range(5):
        page.locator("[data-test-script-state=notRunning]").wait_for()
        page.get_by_role("combobox", name=label).click()
        try:
            wanted.click(timeout=8_000)
        except NotYet:
            # A list that is open while the page is drawn closes again.
            page.keyboard.press("Escape")
        else:
            return
    pytest.fail(f"{label}: no option {option} to be chosen")


def main(page) -> str:
    return page.locator("[data-testid=stMain]").inner_text()


def test_while_figures_are_computed_the_page_says_so_and_shows_no_other(house, console):
    hold = house.workspace.root / "hold"
    page = console("progress", "Verify")
    page.locator("caption", has_text="Agreement between experts").wait_for()
    hold.touch()
    page.get_by_label("Study", exact=True).click()
    page.get_by_text("Side study · Caption pairs").click()
    page.get_by_role("heading", name="Side study").wait_for()
    page.locator(".mj-computing", has_text="Computing").wait_for()
    assert not page.locator("caption", has_text="Agreement between experts").is_visible()
    hold.unlink()
    page.locator("caption", has_text="Agreement between experts").wait_for()
    hold.touch()
    page.get_by_role("button", name="Refresh").click()
    page.wait_for_timeout(800)
    assert page.locator(".mj-computing").count() == 0
    hold.unlink()


def test_figures_are_kept_until_an_answer_changes(house, monkeypatch):
    asked = []
    real = figures.study_agreement
    monkeypatch.setattr(
        figures, "study_agreement", lambda *args: asked.append(args[1]) or real(*args)
    )
    database, kept = house.workspace.db, Figures()
    with database.read() as session:
        study = get_study(session, "Side study")
    first = kept.report(database, study)
    assert first is not None
    assert kept.report(database, study) is first
    key = house.newcomer("Fay Hollander")
    with database.write() as session:
        held = next_assignment(session, study.id, house.people["Fay Hollander"])
        answers = dict.fromkeys(("fluent", "single_change", "distinguishable", "exclusive"), "yes")
        submit(session, held.id, held.person_id, f"{key}-1", {**answers, "confidence": "5"}, {})
    assert kept.report(database, study) is not first
    assert len(asked) == 2


def test_a_study_is_made_launched_and_joined_in_the_browser(house, console):
    page = console("new")
    page.get_by_role("textbox", name="Name", exact=True).first.fill("Evening study")
    page.get_by_text("1 item fits; 1 will be in the study.").wait_for()
    page.get_by_role("combobox", name="Experts").click()
    page.keyboard.type("Ben")
    page.get_by_role("option", name="Ben Oxbridge").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Create and launch").click()
    page.get_by_text("Evening study is open. Next: invite experts.").wait_for()
    with house.workspace.db.read() as session:
        made = next(one for one in list_studies(session) if one.name == "Evening study")
        counts = progress(session, made.id)
    assert made.state == "open"
    assert made.config.item_ids == (house.items[-1].id,)
    assert [expert.code for expert in counts.experts] == ["A1"]
    # A late expert: the link is shown until it was copied, and never again.
    page.get_by_role("textbox", name="Name").first.fill("Lotte Latecomer")
    page.get_by_role("button", name="Add and make a link").first.click()
    page.get_by_text("It is shown this once").wait_for()
    link = page.locator("code", has_text="/enter/").inner_text().strip()
    page.get_by_role("button", name="I have copied it").click()
    # While the page is drawn anew it may stand there twice.
    page.wait_for_function("() => !document.body.innerText.includes('shown this once')")
    page.reload()
    page.locator("td", has_text="Lotte Latecomer").first.wait_for()
    assert link.rsplit("/", 1)[1] not in page.content()
    with house.client() as client:
        assert client.get(link).status_code == 303
    assert "A2" not in main(page)
    house.studies["Evening study"] = made.id


def test_of_two_people_with_one_name_the_one_that_was_chosen_leaves(house, console):
    study = house.studies["Walk study"]
    with house.workspace.db.write() as session:
        twins = [add_person(session, "Wei Zhang", "expert").id for _ in range(2)]
        for one in twins:
            add_member(session, study, one)
    page = console("people")
    page.get_by_role("button", name="Let them leave").click()
    page.get_by_text("Choose one of the list first.").wait_for()
    pick(page, "Person", f"Wei Zhang ({twins[0][:6]})")
    page.get_by_role("button", name="Let them leave").click()
    page.get_by_text(f"Wei Zhang ({twins[0][:6]}) has left").wait_for()
    with house.workspace.db.read() as session:
        seats = {one.person_id: one.retired_at for one in roster(session, study)}
    assert seats[twins[0]] is not None
    assert seats[twins[1]] is None


def test_an_item_is_taken_back(house, console):
    study = house.studies["Walk study"]
    with house.workspace.db.write() as session:
        next_assignment(session, study, house.people["Ada Quillfeather"])
    page = console("held")
    page.locator("caption", has_text="Open items").wait_for()
    # By whom it is held would lead from a name to a code, and so to answers.
    assert not any(word in main(page) for word in ("A1", "A2", "Quillfeather"))
    page.get_by_role("button", name="Take back").click()
    page.get_by_text("Choose one of the list first.").wait_for()
    with house.workspace.db.read() as session:
        (lease,) = leases(session, study)
    pick(page, "Item to take back", short(lease.item_id))
    page.get_by_role("button", name="Take back").click()
    page.get_by_text("Taken back: the item is free for others.").wait_for()
    with house.workspace.db.read() as session:
        assert [lease.expired for lease in leases(session, study)] == [True]


def test_a_dispute_is_settled_with_a_reason(house, console):
    study = house.studies["Walk study"]
    yes = dict.fromkeys(("fluent", "single_change", "distinguishable"), "yes")
    with house.workspace.db.write() as session:
        for place, name in enumerate(("Ada Quillfeather", "Ben Oxbridge")):
            while (held := next_assignment(session, study, house.people[name])) is not None:
                answers = {**yes, "confidence": "4"}
                if held.item_id == house.items[0].id and place:
                    answers["fluent"] = "no"
                if held.item_id == house.items[2].id:  # the one that is asked a fourth question
                    answers["exclusive"] = "yes"
                key = f"{name}-{held.item_id}"
                submit(session, held.id, house.people[name], key, answers, {})
    page = console("disputes")
    page.locator("caption", has_text="1 item on which experts differ").wait_for()
    page.get_by_text("1 × Yes, 1 × No").first.wait_for()
    text = main(page)
    assert "1 × Yes, 1 × No" in text
    assert not any(word in text for word in ("Quillfeather", "Oxbridge", "A1", "A2"))
    page.get_by_role("button", name="Settle", exact=True).click()
    page.get_by_text("Choose an outcome first.").wait_for()
    page.get_by_text("Accept", exact=True).click()
    page.get_by_role("button", name="Settle", exact=True).click()
    page.get_by_text("Expected a reason of 1 to 2000 characters").wait_for()
    page.get_by_text("Accept", exact=True).click()
    page.get_by_label("Reason (kept with the decision)").fill("fluent enough")
    page.get_by_role("button", name="Settle", exact=True).click()
    page.get_by_text("Settled: accepted.").wait_for()
    with house.workspace.db.read() as session:
        (version,) = lineage(session, house.items[0].id)
    assert [(one.outcome, one.reason) for one in version.decisions] == [
        ("accepted", "fluent enough")
    ]


def test_joint_editing_makes_a_version_that_comes_back_blind(house, console, new_page):
    old = next(item for item in house.items if item.kind == "caption")
    page = console("joint", "Verify")
    page.get_by_text("walks quickly").wait_for()
    assert "nearly English" in main(page)
    kept = set(old.payload) & set(old.stratum)
    assert all(page.get_by_label(name, exact=True).count() == 0 for name in kept), kept
    # Who may be invited is a list of names; beside the answers there is none.
    facts = page.locator(".mj-facts").all_inner_texts()
    assert len(facts) > 0
    assert "Tinderbox" not in " ".join(facts)
    pick(page, "Expert (only", "Vera Tinderbox")
    page.get_by_role("button", name="Invite").click()
    page.get_by_text("Vera Tinderbox can now enter the room.").wait_for()
    page.get_by_label("Caption", exact=True).fill("A person walks quickly.")
    page.get_by_label("What was changed, and why").fill("an adverb")
    # The invited expert says something; the coordinator reads it without a name.
    guest = new_page()
    guest.set_default_timeout(45_000)
    guest.goto(house.link("Vera"))
    guest.get_by_role("button", name="Joint editing, item 1").click()
    styled = "node => getComputedStyle(node).float"
    assert guest.locator(".mj-facts dt").first.evaluate(styled) == "left"
    guest.get_by_label("Remark", exact=True).fill("quickly, then")
    guest.get_by_role("button", name="Add the remark").click()
    guest.get_by_text("quickly, then").first.wait_for()
    assert old.id not in guest.content()
    page.get_by_role("button", name="Make the new version").click()
    page.get_by_text("The new version is made.").wait_for()
    page.get_by_text("Somebody").wait_for()
    page.locator("caption", has_text="Versions of the item").wait_for()
    with house.workspace.db.read() as session:
        first, second = lineage(session, old.id)
    assert second.item.parent == old.id
    assert second.item.payload["caption"] == "A person walks quickly."
    assert first.decisions[0].outcome == "revise"
    guest.goto(house.url)
    guest.locator(".mj[aria-busy=false] .count", has_text="Item 2 of 2").wait_for()
    assert guest.locator(".prompt").inner_text() == "A person walks quickly."
    # Any of F1 to F4 leaves no choice in the verdict, and says so.
    guest.get_by_role("button", name="Revise").click()
    guest.get_by_role("button", name=re.compile("F2")).click()
    pressed = guest.locator(".question[data-name=verdict] .option[aria-pressed=true]")
    assert pressed.get_attribute("data-value") == "reject"
    guest.get_by_text("must be rejected").wait_for()
    # However long the form, it can be sent without scrolling.
    box = guest.locator(".submit").bounding_box()
    assert box["y"] + box["height"] <= 650
    guest.get_by_role("button", name="Accept").click()
    assert pressed.get_attribute("data-value") == "reject"


def test_preview_is_the_page_of_an_expert_and_stores_nothing(house, console):
    page = console("preview", "Side study")
    page.get_by_role("button", name="Show the page").click()
    page.locator(".mj[aria-busy=false] .count", has_text="Preview").wait_for()
    assert page.locator(".caption").count() == 2
    with house.workspace.db.read() as session:
        before = progress(session, house.studies["Side study"])
    for name in ("fluent", "single_change", "distinguishable", "exclusive"):
        if page.locator(f".question[data-name={name}]").is_visible():
            page.keyboard.press("y")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.get_by_text("This is a preview: nothing is sent.").wait_for()
    page.get_by_role("link", name="Back to the console").click()
    page.get_by_role("button", name="Show the page").wait_for()
    with house.workspace.db.read() as session:
        assert progress(session, house.studies["Side study"]) == before


def test_pause_and_unblind(house, console, new_page):
    page = console("manage", "Side study")
    page.get_by_role("button", name="Pause the study").click()
    page.get_by_text("The study is paused.").wait_for()
    guest = new_page()
    guest.set_default_timeout(45_000)
    guest.goto(house.link(house.newcomer("Pia Waitwell")))
    guest.get_by_text("is paused; your answers are kept").wait_for()
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("The study goes on.").wait_for()
    guest.get_by_role("button", name="Try again").click()
    guest.locator(".mj[aria-busy=false] .count", has_text="Item 1 of 5").wait_for()
    assert "Ninefingers" not in main(page)
    page.get_by_label("Reason", exact=True).fill("to thank them")
    page.get_by_role("button", name="Unblind").click()
    page.get_by_text("Tick the box first").wait_for()
    page.get_by_text("Yes, unblind the study for good").click()
    page.get_by_role("button", name="Unblind").click()
    page.get_by_text("Unblinded since").wait_for()
    page.get_by_text("All answers with their authors").first.click()
    page.locator("td", has_text="Robot Ninefingers").first.wait_for()


def test_an_analyst_sees_progress_and_nothing_else(house, new_page):
    page = new_page()
    page.goto(house.link("Anton"))
    page.goto(f"{house.url}/?study={house.studies['Side study']}&page=people")
    page.locator("caption", has_text="Experts, by code").wait_for()
    assert page.get_by_role("button", name="New study").count() == 0
    assert "Ninefingers" not in main(page)
    page.goto(f"{house.url}/?study={house.studies['Side study']}&preview=1")
    page.locator("caption", has_text="Experts, by code").wait_for()


def test_coordinators_and_analysts_get_the_report_and_experts_do_not(house):
    study = house.studies["Side study"]
    running = house.studies["Walk study"]
    with house.client("Anton") as client:
        # Unblinded by the test before; the other study still runs.
        for file, status in (("report.html", 403), ("report.json", 403), ("table.tex", 200)):
            answer = client.get(f"/report/{running}/{file}", timeout=60)
            assert answer.status_code == status, file
            assert "A1" not in answer.text
        page = client.get(f"/report/{study}/report.html", timeout=60)
        assert page.status_code == 200
        assert "preview=" not in page.text
        assert "Ninefingers" not in page.text
        numbers = client.get(f"/report/{study}/report.json")
        assert numbers.headers["content-disposition"] == 'attachment; filename="report.json"'
        assert numbers.json()["title"] == "Side study"
        assert numbers.json()["methods"] in html.unescape(page.text)
        table = client.get(f"/report/{study}/coefficients.csv").text
        assert "fleiss_kappa" in table
        assert "tabular" in client.get(f"/report/{study}/table.tex").text
        for path in (f"{study}/jury.db", "nostudy/report.html"):
            assert client.get(f"/report/{path}").status_code == 404
    for name in (house.newcomer("Ole Bramsche"), None):
        with house.client(name) as client:
            answer = client.get(f"/report/{study}/report.html")
            assert (answer.status_code, "Side" in answer.text) == (403, False)


def test_german(house, new_page):
    page = new_page(locale="de-DE")
    page.set_default_timeout(45_000)
    page.goto(house.link(house.newcomer("Uta Kranich")))
    page.locator(".mj[aria-busy=false] .count", has_text="Aufgabe 1 von 5").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text(re.compile("Fragen sind noch offen")).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Tastenkürzel").wait_for()
    page.goto(f"{house.url}/?lang=en")
    page.locator(".mj[aria-busy=false] .count", has_text="Item 1 of 5").wait_for()
    with house.client() as client:
        client.headers["Accept-Language"] = "de"
        assert "abgemeldet" in client.post("/work/draft", json={}).json()["error"]


PAGES = ("progress", "held", "disputes", "joint", "people", "preview", "manage", "new")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_for_screen_readers_keyboards_and_eyes(house, new_page, scheme):
    if not AXE.is_file():
        pytest.skip("axe-core is not there; `npm ci` in annotation_app/player brings it")
    page = new_page(color_scheme=scheme, viewport={"width": 1366, "height": 768})
    page.set_default_timeout(45_000)
    faults = {}
    page.goto(house.url)
    page.get_by_role("heading", name="Please open your personal link").wait_for()
    faults["stranger"] = serious(page)
    page.goto(house.link("Cora"))
    for name in PAGES:
        study = "Verify" if name == "joint" else "Side study"
        page.goto(f"{house.url}/?study={house.studies[study]}&page={name}")
        page.locator(".mj-top").wait_for()
        page.locator("[data-test-script-state=notRunning]").wait_for()
        faults[name] = serious(page)
    key = house.newcomer(f"Axel {scheme}")
    house.links[scheme] = house.links[key]
    page.goto(house.link(scheme))
    page.locator(".mj[aria-busy=false] .count", has_text="Item 1 of 5").wait_for()
    page.keyboard.press("y")
    page.locator(".saved", has_text="Saved").wait_for()
    faults["desk"] = serious(page)
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    faults["keys"] = serious(page)
    assert "\n".join(f"{name}: {one}" for name, found in faults.items() for one in found) == ""


def serious(page) -> list[str]:
    """Return the serious and critical faults that axe-core finds, with the first place of each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0]['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
