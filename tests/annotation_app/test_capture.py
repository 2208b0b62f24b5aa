"""All that the server gives an expert's browser, in each protocol, searched for what is hidden."""

from __future__ import annotations

import json
import re

import pytest
from sqlalchemy import select

from audit.labelling import my_labels
from audit.protocols.registry import PROTOCOLS
from benchmarks.nextmotionqa import FAILURE_MODES
from store.tables import LabelRow, MediaGrantRow, StudyItemRow
from tests.annotation_app.seven import ITEMS, PLANTED, WATCHED
from tests.annotation_app.test_browser import Wire, desk, saved
from tests.audit.kinds import GOOD_ANSWERS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def watched(seven, chromium):
    """The expert's browser, signed in once; each protocol gets a page of it."""
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.goto(seven.site.link(WATCHED.split()[0]))
    page.locator("h1").first.wait_for()
    page.close()
    yield context
    context.close()


def answer(page, answers: dict[str, str]) -> None:
    for name, value in answers.items():
        row = page.locator(f'.question[data-name="{name}"]')
        row.locator(f'.option[data-value="{value}"]').click()


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_browser_is_given_nothing_that_tells(seven, watched, protocol):
    page = watched.new_page()
    page.set_default_timeout(20_000)
    wire = Wire(page)
    page.goto(f"{seven.site.url}/?study={seven.site.studies[protocol]}")
    page.get_by_role("button", name="I have read this").click()
    for number in range(1, ITEMS + 1):
        desk(page, f"Item {number} of {ITEMS + 1}")
        answer(page, GOOD_ANSWERS[protocol])
        if number == 1:
            saved(page)
            page.reload()
            desk(page, f"Item {number} of {ITEMS + 1}")
        page.keyboard.press("Enter")
    desk(page, f"Item {ITEMS + 1} of {ITEMS + 1}")
    page.keyboard.press("b")
    desk(page, "Changing your last answer")
    page.close()
    with seven.db.read() as session:
        study, person = seven.site.studies[protocol], seven.site.people[WATCHED]
        labels = my_labels(session, study, person)
        rows = session.scalars(select(MediaGrantRow).where(MediaGrantRow.person_id == person))
        tokens = [row.token for row in rows if row.study_id == study]
    assert len(labels) == ITEMS
    text = wire.text()
    # Both ways were captured: what was answered went out, what was shown came in.
    assert all(label.assignment_id in text for label in labels)
    shown = shown_words(seven, protocol)
    assert [words for words in shown if words not in text] == []
    assert any(words in part for words in shown for part in wire.parts)
    assert any(words in frame for words in shown for frame in wire.frames)
    assert seven.leaks(text) == []
    with seven.site.client(WATCHED.split()[0]) as client:
        for token in tokens:
            clip = client.get(f"/clip/{token}")
            assert clip.status_code == 200
            everything = clip.content.decode("latin-1") + str(clip.headers)
            assert seven.leaks(everything.replace("video/mp4", "")) == []
    assert bool(tokens) == PROTOCOLS[protocol].shows_clip


def shown_words(seven, protocol: str) -> list[str]:
    """Return a text of each item that the expert must have seen."""
    names = ("caption", "question", "concise", "prompt", "text", "corrupted")
    shown = [one.payload for one in seven.items[protocol][1:]]
    return [next(one[name] for name in names if name in one) for one in shown]


def test_the_search_would_find_what_was_planted(seven):
    with seven.db.read() as session:
        labels = session.scalars(select(LabelRow)).all()
        gold = [row.gold for row in session.scalars(select(StudyItemRow)) if row.gold]
    items = [one for found in seven.items.values() for one in found]
    text = json.dumps([[one.model_dump() for one in items], gold, [one.answers for one in labels]])
    text += " ".join(seven.site.people) + "editedly"
    assert [word for word in PLANTED if word not in text] == []
    assert len(seven.held) == len(PROTOCOLS)
    assert seven.leaks(f"before {seven.items['likert'][0].id} after")
    assert re.fullmatch(r"[0-9a-f]{24}", seven.items["likert"][0].id)


def at_work(seven, watched, protocol: str):
    page = watched.new_page()
    page.set_default_timeout(20_000)
    page.goto(f"{seven.site.url}/?study={seven.site.studies[protocol]}")
    agree = page.get_by_role("button", name="I have read this")
    page.locator(".mj[aria-busy=false] .count").or_(agree).first.wait_for()
    if agree.is_visible():
        agree.click()
    desk(page, f" of {ITEMS + 1}")
    return page


@pytest.mark.parametrize("width", [1024, 1366])
@pytest.mark.parametrize("protocol", ["likert", "t2m_dimensions"])
def test_every_answer_of_a_scale_is_whole_and_within_the_page(seven, watched, protocol, width):
    page = at_work(seven, watched, protocol)
    page.set_viewport_size({"width": width, "height": 768})
    left = page.locator(".ask").bounding_box()["x"]
    for option in page.locator(".question .option").all():
        box = option.bounding_box()
        assert left <= box["x"]
        assert box["x"] + box["width"] <= width
        assert option.evaluate("node => node.scrollWidth <= node.clientWidth")
    if width == 1366:
        assert page.locator(".ask").evaluate("node => node.scrollHeight <= node.clientHeight")
    page.close()


def test_a_score_is_typed_as_the_number_it_is(seven, watched):
    page = at_work(seven, watched, "t2m_dimensions")
    for key in "0157":
        page.keyboard.press(key)
    for key in "10":
        page.keyboard.press(key)
    chosen = page.locator(".option[aria-pressed=true]")
    assert [one.get_attribute("data-value") for one in chosen.all()] == ["0", "15", "7", "10"]
    # What may be the first digit of more is a score as well, once one goes on.
    for key in ("1", "ArrowUp", "ArrowDown", "0"):
        page.keyboard.press(key)
    assert chosen.last.get_attribute("data-value") == "0"
    page.close()


def test_what_the_failures_mean_is_there_to_read(seven, watched):
    page = at_work(seven, watched, "expert_verification")
    assert not page.locator(".question[data-name=failures]").is_visible()
    # With the keyboard: the line opens, and the answer is chosen.
    summary = page.locator(".question[data-name=verdict] summary")
    summary.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Worth keeping once a small thing is put right.").wait_for()
    page.keyboard.press("Enter")
    page.locator('.option[data-value="revise"]').click()
    for code, (_title, meaning) in FAILURE_MODES.items():
        button = page.get_by_role("button", name=re.compile(code))
        text = page.get_by_text(meaning)
        assert text.is_visible()
        assert text.get_attribute("id") == button.get_attribute("aria-describedby")
        assert button.bounding_box()["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366
    page.close()
