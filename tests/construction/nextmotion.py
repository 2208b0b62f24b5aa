"""What tests of NextMotionQA drafting share: clips, an endpoint that drafts, a corpus on disk."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from construction.nextmotionqa.difficulty import assess
from construction.nextmotionqa.failures import audit_source
from construction.nextmotionqa.passes import AXIS_WORDS, Job
from construction.nextmotionqa.sources import SourceClip, SourceLabel, from_workspace
from corpus.formats.arrays import save
from corpus.synthetic import demo_corpus
from motionjury.workspace import init_workspace
from store.clips import add_clips
from tests.llm.server import Answer, completion, user_text


def label(text: str, start: float = 0.0, end: float = 2.0, **more: Any) -> SourceLabel:
    """Return a label of a clip."""
    return SourceLabel(text=text, start=start, end=end, **more)


def source(*labels: SourceLabel, caption: str = "a person moves.", **more: Any) -> SourceClip:
    """Return a clip with labels."""
    given = {"clip_id": "x:1", "corpus": "x", "duration": 5.0, "origin": "test"}
    given |= {"content_hash": "0" * 64, "captions": (caption,)}
    return SourceClip(**{**given, "labels": labels, **more})


def job(clip: SourceClip, task: str = "T1", axis: str = "action") -> Job:
    """Return a job for a clip."""
    return Job(clip, assess(clip), audit_source(clip), task, axis)


@cache
def demo():
    """Return the demo corpus, made once."""
    return demo_corpus(0)


def demo_sources():
    """Return the demo corpus as sources."""
    made = demo()
    return from_workspace([m.clip for m in made], [c for m in made for c in m.captions])


DRAFTS: dict[str, dict[str, dict[str, Any]]] = {
    "ChoiceDraft": {
        "body_part": {
            "question": "Which parts of the body does the person use?",
            "options": ["legs", "arms", "torso", "head"],
            "gold": ["legs"],
        },
        "direction": {
            "question": "Which way does the person travel, from their own point of view?",
            "options": ["forward", "backward", "to their left", "to their right"],
            "gold": ["forward"],
        },
        "action": {
            "question": "Which of these does the person do?",
            "options": ["walking", "jumping", "clapping", "sitting down"],
            "gold": ["walking", "jumping"],
        },
    },
    "CaptionDraft": {
        "body_part": {"caption": "A person uses their legs."},
        "direction": {"caption": "A person goes forward."},
        "action": {"caption": "A person walks and jumps."},
    },
    "CorrectionDraft": {
        "body_part": {
            "corrected": "A person uses their legs to move.",
            "corrupted": "A person uses their arms to move.",
            "wrong": "arms",
            "rewrite": "legs",
        },
        "direction": {
            "corrected": "A person walks forward.",
            "corrupted": "A person walks backward.",
            "wrong": "backward",
            "rewrite": "forward",
        },
        "action": {
            "corrected": "A person walks forward.",
            "corrupted": "A person crawls forward.",
            "wrong": "crawls",
            "rewrite": "walks",
        },
    },
}
"""An answer that passes the checks, by schema and axis."""


def schema_of(body: dict[str, Any]) -> str:
    """Return the name of the record a request asks for."""
    return str(body["response_format"]["json_schema"]["name"])


def axis_of(body: dict[str, Any]) -> str:
    """Return the axis a request is about."""
    text = user_text(body)
    return next(axis for axis, words in AXIS_WORDS.items() if words in text)


def drafter(body: dict[str, Any], number: int = 0, **changed: Any) -> Answer:
    """Draft in pass 1 and agree in pass 2; ``changed`` replaces fields of the reviews."""
    name = schema_of(body)
    if name.endswith("Draft"):
        answer = DRAFTS[name][axis_of(body)]
        return completion(json.dumps({"possible": True, "reason": "", **answer}))
    shown = user_text(body).split("Draft:\n", 1)[1].split("\n\n", 1)[0]
    answer = {"possible": True, "reason": "", **json.loads(shown), "changed": False, "why": ""}
    return completion(json.dumps({**answer, **changed}))


def write_corpus(folder: Path) -> tuple[Path, Path]:
    """Write demo clips as HumanML3D has them and their labels as BABEL has them.

    The clips are cut from sequences of datasets whose first seconds HumanML3D drops.

    Returns:
        BABEL's folder and HumanML3D's.
    """
    babel, human = folder / "babel", folder / "HumanML3D"
    for below in (babel, human / "new_joints", human / "texts"):
        below.mkdir(parents=True)
    datasets = (("HDM05", "MPI_HDM05", 3.0), ("SFU", "SFU", 0.0), ("PP", "MPI_Limits", 1.0))
    rows, entries = ["source_path,start_frame,end_frame,new_name"], {}
    wanted = ("0008", "0011", "0017", "0018", "0025", "0034", "0063")
    made = [one for one in demo() if one.clip.id.split(":")[1][:4] in wanted]
    for number, one in enumerate(made, 1):
        archive, dataset, dropped = datasets[number % 3]
        motion = one.motion.resampled(20)
        name, first = f"{number:06d}", 40
        np.save(human / "new_joints" / f"{name}.npy", motion.positions)
        lines = [f"{caption.text}#a/DET#0.0#0.0" for caption in one.captions]
        (human / "texts" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
        last = first + motion.frames
        rows.append(f"./pose_data/{dataset}/s/take_{number}_poses.npy,{first},{last},{name}.npy")
        shift = dropped + first / 20
        labels = [
            {
                "raw_label": event.action,
                "proc_label": event.action,
                "seg_id": "s",
                "act_cat": [event.action.split()[0]],
                "start_t": event.start + shift,
                "end_t": event.end + shift,
            }
            for event in one.clip.events
        ]
        entries[str(number)] = {
            "babel_sid": number,
            "feat_p": f"{archive}/{dataset}/s/take_{number}_poses.npz",
            "dur": shift + motion.duration + 1,
            "seq_ann": None,
            "frame_ann": {"labels": labels},
        }
    (human / "index.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (babel / "train.json").write_text(json.dumps(entries), encoding="utf-8")
    return babel, human


def workspace(folder: Path, url: str = "", count: int = 24) -> Path:
    """Make a workspace with part of the demo corpus, and a model when a server is named."""
    ws = init_workspace(folder)
    (folder / "corpus").mkdir()
    made = demo()[:count]
    for one in made:
        save(one.motion, folder / "corpus" / one.clip.path)
    clips = [one.clip.model_copy(update={"path": f"corpus/{one.clip.path}"}) for one in made]
    with ws.db.write() as session:
        add_clips(session, clips, [caption for one in made for caption in one.captions])
    if url:
        config = folder / "workspace.toml"
        llm = f'\n[llm]\nmodel = "m"\nbase_url = "{url}"\nattempts = 1\nconcurrency = 3\n'
        config.write_text(config.read_text() + llm)
    return folder
