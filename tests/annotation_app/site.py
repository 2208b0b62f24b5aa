"""A small workspace with two studies, and a server of it in a process of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import imageio_ffmpeg
import numpy as np

from audit.access import add_person, invite
from audit.assignment import next_assignment
from audit.labelling import submit
from audit.studies import StudyConfig, add_member, add_training, create_study, launch
from audit.training import Gold, acknowledge_guidelines
from benchmarks.items import Item, Provenance, make_item
from benchmarks.stride import Triplet
from corpus.clips import Caption, Clip
from motionjury.workspace import Workspace, init_workspace
from store.clips import add_clips, add_media
from store.items import add_items

ROOT = Path(__file__).resolve().parents[2]
FRAMES, FPS, SIZE = 60, 30.0, 256
BITS = 8
HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked=1"> waves & bows'


def find_chromium() -> str | None:
    """Return the Chromium to drive: MOTIONJURY_CHROMIUM, else one on the PATH, else None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    return os.environ.get("MOTIONJURY_CHROMIUM") or found


def numbered_clip(path: Path, tint: int) -> None:
    """Write a clip that bears its frame index as eight black or white squares."""
    writer = imageio_ffmpeg.write_frames(
        str(path),
        (SIZE, SIZE),
        fps=FPS,
        codec="libx264",
        pix_fmt_in="rgb24",
        pix_fmt_out="yuv420p",
        output_params=["-crf", "18", "-g", "30", "-movflags", "+faststart"],
    )
    writer.send(None)
    side = SIZE // BITS
    for frame in range(FRAMES):
        image = np.full((SIZE, SIZE, 3), 110, np.uint8)
        image[:, :, tint % 3] = 60 + 20 * (tint // 3)
        for bit in range(BITS):
            on = frame >> (BITS - 1 - bit) & 1
            image[SIZE // 2 - side // 2 :, bit * side : (bit + 1) * side][:side] = 255 * on
        writer.send(np.ascontiguousarray(image))
    writer.close()


@dataclass
class Site:
    """A served workspace and all that a test may want to look for."""

    url: str
    workspace: Workspace
    links: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    studies: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    media: list[str] = field(default_factory=list)

    def newcomer(self, name: str) -> str:
        """Add an expert to the side study who has read the guidelines; return the link's key."""
        with self.workspace.db.write() as session:
            person = add_person(session, name, "expert")
            add_member(session, self.studies["Side study"], person.id)
            acknowledge_guidelines(session, self.studies["Side study"], person.id)
            self.people[name] = person.id
            self.links[name.split()[0]] = invite(session, person.id)
        return name.split()[0]

    def link(self, name: str) -> str:
        return f"{self.url}/enter/{self.links[name]}"

    @contextmanager
    def client(self, name: str | None = None) -> Iterator[httpx.Client]:
        """Yield an HTTP client, signed in as a person."""
        headers = {"X-MotionJury": "1"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=45) as client:
            if name is not None:
                assert client.get(f"/enter/{self.links[name]}").status_code == 303
            yield client


def stride_item(number: int, axis: str, caption: str, perturbed: str) -> Item:
    clip_id = f"synthetic:sourceclip{number:03d}"
    triplet = Triplet(
        axis=axis,
        corpus="synthetic",
        clip_id=clip_id,
        caption_id=f"{clip_id}#captionid",
        caption=caption,
        perturbed=perturbed,
        edit={"source": f"editsource{number}", "target": f"edittarget{number}"},
    )
    return make_item(
        "stride",
        "triplet",
        {"axis": axis, "corpus": "synthetic"},
        triplet,
        Provenance(rule=f"ruleofmaking/{number}", seed=number),
    )


PAIRS = (
    ("mirror_reflection", "a person waves the left hand.", "a person waves the right hand."),
    ("temporal_order", "someone walks, then sits down.", "someone sits down, then walks."),
    ("action_identity", "a man walks forward slowly.", "a man runs forward slowly."),
    ("mirror_reflection", "she kicks with her right leg.", "she kicks with her left leg."),
    ("temporal_order", "someone bows, then jumps.", "someone jumps, then bows."),
    ("random_content", "a person squats twice.", "a person steps to the side."),
    ("mirror_reflection", "the left arm goes up.", "the right arm goes up."),
    ("action_identity", "a person hops ahead.", "a person crawls ahead."),
    ("mirror_reflection", "he raises the left arm.", "he raises the right arm and waves."),
)
"""Three items of the walk study, five of the side study (with hostile captions), one to train."""


SIDE = slice(3, 8)


def _pair(number: int) -> tuple[str, str, str]:
    axis, caption, perturbed = PAIRS[number]
    if number in range(len(PAIRS))[SIDE]:
        caption, perturbed = f"{caption} {HOSTILE}", f"{perturbed} {HOSTILE}"
    return axis, caption, perturbed


def build(root: Path) -> Site:
    workspace = init_workspace(root, name="Test bench")
    site = Site(url="", workspace=workspace)
    clips, captions = [], []
    for number in range(len(PAIRS)):
        axis, caption, perturbed = _pair(number)
        item = stride_item(number, axis, caption, perturbed)
        site.items.append(item)
        clip_id = item.payload["clip_id"]
        clips.append(
            Clip(
                id=clip_id,
                corpus="synthetic",
                path=f"corpus/originalfile{number}.npz",
                format="arrays",
                content_hash=hashlib.sha256(clip_id.encode()).hexdigest(),
                frames=FRAMES,
                fps=FPS,
                duration=FRAMES / FPS,
                joints=22,
                skeleton="humanml3d",
            )
        )
        captions.append(Caption(id=item.payload["caption_id"], clip_id=clip_id, text=caption))
    with workspace.db.write() as session:
        add_clips(session, clips, captions)
        for number, clip in enumerate(clips):
            key = hashlib.sha256(f"media{number}".encode()).hexdigest()[:32]
            path = workspace.media_dir / f"{key}.mp4"
            numbered_clip(path, number)
            data = path.read_bytes()
            add_media(
                session,
                key=key,
                clip_id=clip.id,
                file=path.name,
                settings={"size": SIZE},
                frames=FRAMES,
                fps=FPS,
                seconds=FRAMES / FPS,
                sha256=hashlib.sha256(data).hexdigest(),
                size=len(data),
            )
            site.media.append(key)
        add_items(session, site.items[:8])
        work = [item.id for item in site.items]
        gold = Gold(
            answers={"fluent": "yes", "single_change": "no", "distinguishable": "yes"},
            explanation="One of the captions also adds a wave.",
        )
        _study(session, site, "Walk study", work[:3], [(site.items[8], gold)], ratings=2)
        _study(session, site, "Side study", work[SIDE], [], ratings=20)
        for name in ("Ada Quillfeather", "Ben Oxbridge"):
            person = add_person(session, name, "expert")
            add_member(session, site.studies["Walk study"], person.id)
            site.people[name] = person.id
        site.people["Cora"] = add_person(session, "Cora Stavangerson", "coordinator").id
        robot = add_person(session, "Robot Ninefingers", "expert", simulated=True)
        add_member(session, site.studies["Side study"], robot.id)
        held = next_assignment(session, site.studies["Side study"], robot.id)
        answers = dict.fromkeys(("fluent", "single_change", "distinguishable", "exclusive"), "yes")
        submit(session, held.id, robot.id, "robot-1", {**answers, "confidence": "5"}, {})
        for name, person_id in site.people.items():
            site.links[name.split()[0]] = invite(session, person_id)
    return site


def _study(session, site, name, item_ids, training, ratings) -> None:
    config = StudyConfig(
        name=name,
        protocol="stride_audit",
        item_ids=tuple(item_ids),
        ratings_per_item=ratings,
        seed=11,
    )
    study = create_study(session, config)
    if training:
        add_training(session, study.id, training)
    launch(session, study.id)
    site.studies[name] = study.id


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(
    site: Site, log: Path, before: str = "", port: int | None = None
) -> subprocess.Popen[bytes]:
    """Serve the site and wait until it answers; ``before`` runs there first."""
    port = port or free_port()
    program = (
        "import sys; from pathlib import Path\n"
        "from motionjury.commands.app import serve_app\n"
        "from motionjury.workspace import Workspace\n"
        f"{before}\n"
        "serve_app(Workspace(Path(sys.argv[1])), '127.0.0.1', int(sys.argv[2]), False)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(site.workspace.root), str(port)],
        cwd=ROOT,
        stdout=log.open("ab"),
        stderr=subprocess.STDOUT,
    )
    site.url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{site.url}/health").status_code == 200:
                return process
        except httpx.TransportError:
            time.sleep(0.1)
        if process.poll() is not None:
            break
    process.kill()
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
