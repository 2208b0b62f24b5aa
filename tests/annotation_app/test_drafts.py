"""The page of drafts: what there is, one in full, and a study of what was filtered."""

from __future__ import annotations

import pytest

from audit.studies import free_items, list_studies

pytestmark = pytest.mark.browser


def test_drafts_are_filtered_looked_at_and_made_into_a_study(seven, new_page):
    with seven.db.read() as session:
        free = [one for one in free_items(session, "nextmotionqa") if one.state == "drafted"]
    assert len({one.kind for one in free}) == len(free)
    page = new_page(viewport={"width": 1366, "height": 1000})
    page.set_default_timeout(30_000)
    page.goto(seven.site.link("Cora"))
    page.get_by_role("button", name="Drafts").click()
    page.get_by_role("heading", name="Drafts", exact=True).wait_for()
    page.get_by_label("Benchmark").first.click()
    page.get_by_role("option", name="nextmotionqa").click()
    page.locator("caption", has_text=f"{len(free)} drafts, by cell").wait_for()
    page.get_by_text(f"Only items with a flag ({len(free)})").click()
    # A coordinator sees all of it: the clip, the answer, the flag, the source.
    page.locator("video").wait_for()
    page.get_by_text("by more than 30 mm: left wrist 61 mm").wait_for()
    page.get_by_text("flaggy: F3 suspected").first.wait_for()
    page.get_by_text("Where it comes from").first.click()
    page.locator("td", has_text="modelly-1").wait_for()
    page.get_by_role("button", name=f"Make a study of these {len(free)} items").click()
    page.get_by_text(f"Only the {len(free)} items chosen among the drafts").wait_for()
    page.get_by_text("1 item fits; 1 will be in the study.").wait_for()
    page.get_by_role("textbox", name="Name", exact=True).first.fill("Of drafts")
    page.get_by_role("button", name="Keep as a draft").click()
    page.get_by_text("Of drafts is kept as a draft.").wait_for()
    with seven.db.read() as session:
        made = next(one for one in list_studies(session) if one.name == "Of drafts")
    assert set(made.config.item_ids) <= {one.id for one in free}


def test_drafts_are_for_coordinators(seven, new_page):
    page = new_page()
    page.set_default_timeout(30_000)
    page.goto(seven.site.link("Ben"))
    page.goto(f"{seven.site.url}/?page=drafts")
    page.get_by_role("button", name="Study 1").wait_for()
    assert page.get_by_role("heading", name="Drafts").count() == 0
