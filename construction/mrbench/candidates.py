"""Candidates: captions of motions, with the motions that must stay on one side of a split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from construction.report import Rejected
from construction.text.held_out import motion_group
from corpus.clips import Caption, Clip


@dataclass(frozen=True, slots=True)
class Candidate:
    """One caption of a motion."""

    caption: Caption
    """The caption."""
    clip: Clip
    """Its motion."""
    group: str
    """Id shared by motions that are one: the clip, its mirrored twin, its copies."""


def motion_groups(clips: Iterable[Clip]) -> dict[str, str]:
    """Group clips that show one motion.

    Clips are one when they are mirrored twins by name, have the same content, or are cut from the
    same file (ours: parts of one recording share performer and often frames).

    Args:
        clips: All clips.

    Returns:
        By clip id: the least id of its group.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    ids: list[str] = []
    for clip in clips:
        ids.append(clip.id)
        for shared in (f"twin\0{motion_group(clip)}", f"hash\0{clip.content_hash}", _file(clip)):
            parent[root(shared)] = root(f"clip\0{clip.id}")
    members: dict[str, list[str]] = defaultdict(list)
    for clip_id in ids:
        members[root(f"clip\0{clip_id}")].append(clip_id)
    return {clip_id: min(group) for group in members.values() for clip_id in group}


def gather(
    clips: Sequence[Clip], captions: Iterable[Caption], beyond: Iterable[Clip] = ()
) -> tuple[list[Candidate], list[Rejected], dict[str, str]]:
    """Bring captions together with their motions.

    Args:
        clips: Clips; of several with one id the first counts.
        captions: Their captions.
        beyond: Further clips, which make no candidate: what is one motion with them is so here.

    Returns:
        Candidates by clip and caption id; what was refused (a clip id that came twice, a caption
        of an unknown clip, a caption id that came twice); the groups of ``motion_groups``.
    """
    refused: list[Rejected] = []
    known: dict[str, Clip] = {}
    for clip in clips:
        if clip.id in known:
            refused.append(_refusal(clip.id, "duplicate_clip", "the clip id came twice"))
            continue
        known[clip.id] = clip
    groups = motion_groups({c.id: c for c in (*beyond, *known.values())}.values())
    seen: set[str] = set()
    found: list[Candidate] = []
    for caption in captions:
        if caption.clip_id not in known:
            reason = f"caption of the unknown clip {caption.clip_id}"
            refused.append(_refusal(caption.id, "unknown_clip", reason, caption.text))
        elif caption.id in seen:
            reason = "the caption id came twice"
            refused.append(_refusal(caption.id, "duplicate_caption", reason, caption.text))
        else:
            seen.add(caption.id)
            clip = known[caption.clip_id]
            found.append(Candidate(caption=caption, clip=clip, group=groups[clip.id]))
    found.sort(key=lambda c: (c.clip.id, c.caption.id))
    return found, refused, groups


def refuse(
    candidate: Candidate,
    stage: str,
    code: str,
    reason: str,
    path: tuple[str, str, str] | None = None,
) -> Rejected:
    """Return the record of a refused candidate.

    Args:
        candidate: The candidate.
        stage: Step that refuses it.
        code: Short stable name of the reason.
        reason: The reason in words.
        path: Its category, where known.
    """
    return Rejected(
        source=candidate.caption.id,
        cell=cell_of(path),
        stage=stage,
        code=code,
        reason=reason,
        text=candidate.caption.text,
    )


def cell_of(path: tuple[str, str, str] | None) -> dict[str, str]:
    """Return the cell of the quota table that a category counts in."""
    return {"coarse": "not filed"} if path is None else {"coarse": path[0], "fine": path[2]}


def _file(clip: Clip) -> str:
    return f"file\0{clip.path}"


def _refusal(source: str, code: str, reason: str, text: str = "") -> Rejected:
    return Rejected(
        source=source, cell=cell_of(None), stage="gather", code=code, reason=reason, text=text
    )
