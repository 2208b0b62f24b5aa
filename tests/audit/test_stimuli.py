"""Which of several renderings a study shows."""

from __future__ import annotations

import pytest

from audit.lifecycle import launch
from audit.records import StudyConfig
from audit.stimuli import clip_video, missing_clips, study_media
from audit.studies import StudyError, create_study, get_study
from corpus.problems import InputError
from store.clips import add_clips, add_media, list_clips
from store.session import Database
from store.tables import StudyItemRow
from tests.audit.world import World, clip, fill


@pytest.fixture
def world(db: Database) -> World:
    return fill(db, items=3, opened=False)


def render(
    world: World, number: int, key: str, at: float, motion: str | None = None, fit=None, **settings
):
    with world.db.write() as session:
        one = clip(number)
        add_media(
            session, key=key, clip_id=one.id, file=f"{key}.mp4",
            settings={"size": 768, **settings}, frames=60, fps=30.0, seconds=2.0, sha256=key * 64,
            size=1, motion_hash=motion or one.content_hash, rendered_at=at, fit_error_mm=fit,
        )  # fmt: skip


def video(world: World, number: int, **marks) -> str | None:
    config = StudyConfig(name="s", protocol="stride_audit", item_ids=(), **marks)
    with world.db.read() as session:
        return clip_video(session, clip(number).id, config)


def test_the_rendering_that_was_asked_for_last_is_shown(world):
    number = 1
    render(world, number, "f", at=10.0)
    render(world, number, "a", at=20.0)
    assert video(world, number) == "a"
    render(world, number, "f", at=30.0)
    assert video(world, number) == "f"


def test_a_study_shows_the_marks_it_asks_for_and_no_others(world):
    plain = video(world, 1)
    assert video(world, 1, facing_arrow=True) is None
    render(world, 1, "b", at=10.0, facing_arrow=True)
    assert video(world, 1) == plain
    assert video(world, 1, facing_arrow=True) == "b"
    assert video(world, 1, facing_arrow=True, legend=True) is None


def test_a_motion_that_changed_is_not_shown_as_it_was(world):
    with world.db.read() as session:
        first = list_clips(session)[0]
    number = next(n for n in range(10) if clip(n).id == first.id)
    render(world, number, "c", at=10.0)
    assert video(world, number) == "c"
    with world.db.write() as session:
        add_clips(session, [first.model_copy(update={"content_hash": "new"})], [])
    assert video(world, number) != "c"
    render(world, number, "d", at=5.0, motion="new")
    assert video(world, number) == "d"


def test_a_study_with_marks_is_launched_when_all_clips_have_them(world):
    with world.db.write() as session:
        draft = get_study(session, world.study)
        config = draft.config.model_copy(update={"name": "marked", "legend": True})
        marked = create_study(session, config, world.coordinator)
        assert len(missing_clips(session, marked.id)) == 3
        with pytest.raises(StudyError, match="3 of 3 items have no rendered clip"):
            launch(session, marked.id, world.coordinator)
    for number in (1, 2, 3):
        render(world, number, f"{number}e", at=10.0, legend=True)
    with world.db.write() as session:
        assert missing_clips(session, marked.id) == []
        launch(session, marked.id, world.coordinator)
        keys = {session.get(StudyItemRow, (marked.id, one)).media_key for one in config.item_ids}
    assert keys == {"1e", "2e", "3e"}


def test_clips_drawn_in_different_ways_are_no_study(world):
    render(world, 1, "9", at=10.0, size=512)
    with world.db.write() as session, pytest.raises(StudyError, match="rendered in different ways"):
        launch(session, world.study, world.coordinator)


def test_a_prompt_carries_no_arrow(world):
    config = StudyConfig(name="p", protocol="prompt_review", item_ids=("x",), legend=True)
    with (
        world.db.write() as session,
        pytest.raises((StudyError, InputError), match="shows no clip that could carry an arrow"),
    ):
        create_study(session, config, world.coordinator)


def test_what_a_study_shows_is_fixed_by_its_launch(world):
    def shown(**which) -> list[tuple[str, str]]:
        with world.db.read() as session:
            return [(m.clip_id, m.key) for m in study_media(session, world.study, **which)]

    render(world, 1, "a", at=10.0)
    assert [key for _clip, key in shown()] == ["a", f"{2:032x}", f"{3:032x}"]
    render(world, 1, "b", at=20.0)
    with world.db.write() as session:
        launch(session, world.study, world.coordinator)
        entry = session.get(StudyItemRow, (world.study, world.items[2]))
        entry.purpose = "attention"
    render(world, 1, "c", at=30.0)
    assert [key for _clip, key in shown()] == ["b", f"{2:032x}", f"{3:032x}"]
    assert len(shown(work_only=True)) == 2
