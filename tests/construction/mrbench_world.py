"""What the tests of MRBench share: clips, captions, frames not drawn, a model that answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from corpus.clips import Caption, Clip, EventLabel
from llm.ask import LanguageModel
from llm.cache import ResponseCache
from llm.embedding import TfidfEmbedder
from llm.media import Media, frames
from tests.construction.nextmotion import demo as demo_motions
from tests.llm.server import Answer, completion, user_text
from tests.llm.world import ENV, settings

PNG = b"\x89PNG\r\n\x1a\n"
CAPTION = re.compile(r"<caption>(.*?)</caption>", re.S)


def clip(clip_id: str, path: str | None = None, content: str | None = None, **changed: Any) -> Clip:
    """Return a clip whose file and content are its own unless told."""
    given = {
        "id": clip_id, "corpus": clip_id.partition(":")[0], "path": path or f"{clip_id}.npz",
        "format": "arrays", "content_hash": content or f"hash of {clip_id}", "frames": 80,
        "fps": 20.0, "duration": 4.0, "joints": 22, "skeleton": "smpl22",
    }  # fmt: skip
    return Clip(**(given | changed))


def captioned(texts: dict[str, list[str]], **changed: Any) -> tuple[list[Clip], list[Caption]]:
    """Return clips by id with these captions."""
    clips = [clip(clip_id, **changed) for clip_id in texts]
    captions = [
        Caption(id=f"{clip_id}#{k}", clip_id=clip_id, text=text)
        for clip_id, listed in texts.items()
        for k, text in enumerate(listed)
    ]
    return clips, captions


def event(action: str, side: str | None = None) -> EventLabel:
    """Return an event label of one second."""
    return EventLabel(action=action, start=0.5, end=1.5, side=side)


def demo() -> tuple[list[Clip], list[Caption]]:
    """Return clips and captions of the demo corpus."""
    made = demo_motions()
    return [m.clip for m in made], [c for m in made for c in m.captions]


def plain_frames(shown: Clip) -> tuple[Media, ...]:
    """Return two pictures that differ from clip to clip."""
    return frames([(0.0, PNG + shown.id.encode()), (0.2, PNG + b"end")])


def tfidf(texts: list[str]) -> TfidfEmbedder:
    """Return the default embedder, fitted."""
    return TfidfEmbedder(texts)


def good(schema: str, caption: str) -> dict[str, Any]:
    """Return an answer that lets a caption pass every stage."""
    if schema == "CaptionScore":
        return {"discriminability": 4, "compactness": 5, "reason": "it names the limb"}
    if schema == "CategoryChoice":
        return {"category": "Kick", "reason": "a kick decides"}
    if schema == "Alignment":
        point = {"point": "a deed", "verdict": "yes", "rationale": "seen at 0.2 s"}
        return {
            "primary_motion": "the deed", "primary_verdict": "yes", "rationale": "seen at 0.2 s",
            "key_points": [point],
        }  # fmt: skip
    bare = caption.rstrip(".")
    return {
        "concise": " ".join(bare.split()[:3]) + ".",
        "standard": f"{bare} in full view now.",
        "fine": f"{bare} in full view now, and then comes to rest with both feet on the floor.",
    }


def answering(
    answer: Callable[[str, str], dict[str, Any] | Answer] = good,
) -> Callable[[dict[str, Any], int], Answer]:
    """Return a server's script that answers by the name of the schema and the caption."""

    def script(body: dict[str, Any], number: int) -> Answer:
        schema = body["response_format"]["json_schema"]["name"]
        said = answer(schema, CAPTION.findall(user_text(body))[0])
        return said if isinstance(said, Answer) else completion(json.dumps(said))

    return script


def model(url: str, folder: Any = None, **changed: Any) -> LanguageModel:
    """Return a model behind a server."""
    cache = None if folder is None else ResponseCache(folder)
    return LanguageModel(settings(url, **changed), cache, environ=ENV)
