"""A served study of many items, and an expert in a real browser who labels it, for measurements."""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.access import add_person, invite
from audit.studies import StudyConfig, add_member, create_study, launch
from audit.training import acknowledge_guidelines
from corpus.clips import Caption, Clip
from motionjury.workspace import init_workspace
from store.clips import add_clips, add_media
from store.items import add_items
from tests.annotation_app.conftest import FLAGS
from tests.annotation_app.site import (
    FPS,
    FRAMES,
    SIZE,
    Site,
    find_chromium,
    numbered_clip,
    stride_item,
)

STUDY = "Long study"
CLIPS = 8
READY = ".mj[aria-busy=false] .count"


def build(root: Path, *, items: int, experts: int, database_url: str | None = None) -> Site:
    """Make a workspace with one open study that every expert labels in full.

    The experts are E1, E2 and so on; the guidelines are read.
    """
    workspace = init_workspace(root, name="Measurement", database_url=database_url)
    site = Site(url="", workspace=workspace)
    with workspace.db.write() as session:
        for number in range(CLIPS):
            _clip(session, site, number)
        for number in range(items):
            site.items.append(
                stride_item(
                    number % CLIPS,
                    "mirror_reflection",
                    f"a person waves the left hand {number + 2} times.",
                    f"a person waves the right hand {number + 2} times.",
                )
            )
        add_items(session, site.items)
        config = StudyConfig(
            name=STUDY,
            protocol="stride_audit",
            item_ids=tuple(item.id for item in site.items),
            ratings_per_item=experts,
            seed=3,
        )
        study = site.studies[STUDY] = create_study(session, config).id
        launch(session, study)
        for number in range(1, experts + 1):
            name = f"E{number}"
            site.people[name] = add_person(session, name, "expert").id
            add_member(session, study, site.people[name])
            acknowledge_guidelines(session, study, site.people[name])
            site.links[name] = invite(session, site.people[name])
    return site


def _clip(session: Any, site: Site, number: int) -> None:
    clip_id = f"synthetic:sourceclip{number:03d}"
    digest = hashlib.sha256(clip_id.encode()).hexdigest()
    file = site.workspace.media_dir / f"{digest[:32]}.mp4"
    numbered_clip(file, number)
    clip = Clip(
        id=clip_id,
        corpus="synthetic",
        path=f"{number}.npz",
        format="arrays",
        content_hash=digest,
        frames=FRAMES,
        fps=FPS,
        duration=FRAMES / FPS,
        joints=22,
        skeleton="humanml3d",
    )
    add_clips(session, [clip], [Caption(id=f"{clip_id}#captionid", clip_id=clip_id, text="waves")])
    add_media(
        session,
        key=digest[:32],
        clip_id=clip_id,
        file=file.name,
        settings={"size": SIZE},
        frames=FRAMES,
        fps=FPS,
        seconds=FRAMES / FPS,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        size=file.stat().st_size,
    )


def launch_browser(playwright: Any) -> Any:
    """Start the Chromium of this machine."""
    return playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)


@dataclass
class Acknowledged:
    """What the server told one browser it had kept."""

    drafts: list[dict[str, Any]] = field(default_factory=list)
    """``task``, ``answers`` as sent, and the ``version`` that was given to them."""
    labels: list[dict[str, Any]] = field(default_factory=list)
    """``task``, ``answers`` and ``submission`` as sent."""


class Expert:
    """Labels in one page, as a person would, and notes what was acknowledged."""

    def __init__(self, page: Any, seed: int) -> None:
        """Listen to the page's saves."""
        self.page = page
        self.chance = random.Random(seed)
        self.kept = Acknowledged()
        page.on("requestfinished", self._finished)

    def _finished(self, request: Any) -> None:
        action = request.url.rpartition("/work/")[2]
        if action not in ("draft", "submit"):
            return
        response = request.response()
        if response is None or response.status != 200:
            return
        sent = json.loads(request.post_data)
        if action == "submit":
            self.kept.labels.append(sent)
        else:
            self.kept.drafts.append({**sent, "version": sent["version"] + 1})

    def answer(self, comment: str | None = None) -> None:
        """Choose something for each question asked, in the order they come, and comment."""
        done: set[str] = set()
        while True:
            names = self.page.locator(".question:visible").evaluate_all(
                "all => all.filter(q => q.querySelector('.option')).map(q => q.dataset.name)"
            )
            left = [name for name in names if name not in done]
            if not left:
                break
            options = self.page.locator(f".question[data-name='{left[0]}'] .option")
            options.nth(self.chance.randrange(options.count())).click()
            done.add(left[0])
        if comment is not None:
            self.page.locator("textarea").last.fill(comment)

    def shown(self) -> dict[str, Any]:
        """Return what stands on the page: the captions, what is chosen, and the comment."""
        pressed = self.page.locator(".question:visible .option[aria-pressed=true]")
        return {
            "captions": self.page.locator(".caption p").all_inner_texts(),
            "chosen": dict(
                pressed.evaluate_all(
                    "all => all.map(b => [b.closest('.question').dataset.name, b.dataset.value])"
                )
            ),
            "comment": self.page.locator("textarea").last.input_value(),
        }

    def saved(self) -> None:
        """Wait until the page says that all is saved."""
        self.page.locator(".saved", has_text=re.compile("^Saved$")).wait_for()
