"""An expert who runs out of tries in the practice, and a coordinator who lets them go on."""

from __future__ import annotations

import pytest

from audit.access import add_person, invite
from audit.gold import Gold, add_training
from audit.lifecycle import close
from audit.studies import StudyConfig, add_member, create_study, launch
from audit.training import acknowledge_guidelines, standing
from audit.unblinding import unblind
from perf.long_study import READY, Expert, build
from store.items import add_items
from tests.annotation_app.site import start, stride_item
from tests.annotation_app.test_console import pick

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def practice(tmp_path_factory):
    folder = tmp_path_factory.mktemp("practice")
    site = build(folder / "workspace", items=1, experts=1)
    work, drill = (
        stride_item(0, "mirror_reflection", f"a left {part} moves.", f"a right {part} moves.")
        for part in ("hand", "foot")
    )
    with site.workspace.db.write() as session:
        add_items(session, [work])
        config = StudyConfig(
            name="Practice", protocol="stride_audit", item_ids=(work.id,), training_tries=1
        )
        study = site.studies["Practice"] = create_study(session, config).id
        gold = Gold(answers={"fluent": "yes"}, explanation="It is.")
        add_training(session, study, [(drill, gold)])
        launch(session, study)
        for name, role in (("Pia", "expert"), ("Cora", "coordinator")):
            site.people[name] = add_person(session, name, role).id
            site.links[name] = invite(session, site.people[name])
        add_member(session, study, site.people["Pia"])
        acknowledge_guidelines(session, study, site.people["Pia"])
    process = start(site, folder / "server.log")
    yield site
    process.terminate()
    process.wait(timeout=20)
    site.workspace.db.close()
    assert "Traceback" not in (folder / "server.log").read_text()


def answer(page, fluent: str) -> None:
    page.locator(READY, has_text="Training 1 of 1").wait_for()
    page.get_by_text("You have one try at it.").wait_for()
    Expert(page, 1).answer()
    page.locator(f".question[data-name=fluent] .option[data-value={fluent}]").click()
    page.locator(".submit", has_text="Check").click()
    page.locator(".submit", has_text="Continue").click()


def test_after_the_last_try_the_page_sends_to_the_coordinator_who_lets_one_go_on(
    practice, new_page
):
    page = new_page()
    stopped = page.get_by_role("heading", name="Please talk to your coordinator")
    page.goto(practice.link("Pia"))
    answer(page, "no")
    stopped.wait_for()
    page.reload()
    stopped.wait_for()

    console = new_page()
    console.goto(practice.link("Cora"))
    study = practice.studies["Practice"]
    console.goto(f"{practice.url}/?study={study}&page=people")
    console.locator("tr", has_text="Pia").get_by_text("out of tries").wait_for()
    pick(console, "Expert without a try left", "Pia")
    console.get_by_role("button", name="Let them practise on").click()
    console.get_by_text("Pia can practise on.").wait_for()
    with practice.workspace.db.read() as session:
        assert not standing(session, study, practice.people["Pia"]).stopped

    page.get_by_role("button", name="Look again").click()
    answer(page, "yes")
    page.locator(READY, has_text="Item 1 of 1").wait_for()

    console.goto(f"{practice.url}/?study={study}&page=manage")
    console.get_by_text("passed at the first try, over all experts: 0%").wait_for()
    assert "A1" not in console.locator("[data-testid=stMain]").inner_text()

    # Who ran out of tries is known by name: beside a code, tries would tell whose code it is.
    with practice.workspace.db.write() as session:
        close(session, study)
    console.reload()
    console.get_by_text("shown once the study is unblinded").wait_for()
    assert console.get_by_text("Attention items right").count() == 1
    assert console.get_by_text("Tries in practice").count() == 0
    with practice.workspace.db.write() as session:
        unblind(session, study, "to publish")
    console.reload()
    console.get_by_text("Tries in practice").wait_for()
