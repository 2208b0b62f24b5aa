"""Training and attention items from JSON."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from audit.gold import Gold
from audit.protocol import Protocol
from audit.shown import KINDS
from benchmarks.items import Item, Provenance, make_item
from corpus.problems import InputError
from store.clips import get_clip
from store.items import get_item

_TRIPLET = ("axis", "caption", "perturbed")


def read_known(
    session: Session, data: bytes, protocol: Protocol, source: str
) -> list[tuple[Item, Gold]]:
    """Read items whose answers are known.

    Args:
        session: Any session.
        data: JSON in UTF-8, a list of objects: ``item_id``, or ``payload`` with ``kind`` (which may
            be left out where the protocol takes one kind), or ``axis``, ``clip_id``, ``caption``
            and ``perturbed``; ``answers``; ``explanation``.
        protocol: Protocol of the study.
        source: Where the data came from, named in messages.

    Raises:
        InputError: The data, an item or what is said to be right cannot be used; names the entry.
    """
    try:
        entries = json.loads(data.decode("utf-8-sig"))
        # Halves of characters, which no database keeps.
        text = json.dumps(entries, ensure_ascii=False)
        text.encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON in UTF-8, got: {error}", file=source) from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("expected a list of objects", file=source)
    if not entries:
        raise InputError("there is no item in it", file=source)
    if "\\u0000" in text:
        raise InputError("expected texts without NUL characters", file=source)
    return [_entry(session, source, n, entry, protocol) for n, entry in enumerate(entries, 1)]


def _entry(
    session: Session, source: str, number: int, entry: dict[str, Any], protocol: Protocol
) -> tuple[Item, Gold]:
    try:
        gold = Gold.model_validate(
            {"answers": entry.get("answers"), "explanation": entry.get("explanation", "")}
        )
        if "item_id" in entry:
            return get_item(session, str(entry["item_id"])), gold
        return _item(session, entry, protocol), gold
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{field}: {first['msg']}", file=source, place=f"entry {number}"
        ) from error
    except InputError as error:
        raise InputError(error.problem.reason, file=source, place=f"entry {number}") from error


def _item(session: Session, entry: dict[str, Any], protocol: Protocol) -> Item:
    kinds = protocol.kinds or ("triplet",)
    kind = str(entry.get("kind", kinds[0] if len(kinds) == 1 else ""))
    if kind not in kinds:
        raise InputError(f"kind: expected one of {list(kinds)}, got {kind!r}")
    payload = entry.get("payload")
    if payload is None and kind == "triplet":
        payload = {
            **{name: entry.get(name) for name in _TRIPLET},
            "clip_id": entry.get("clip_id"),
            "corpus": "",
            "caption_id": f"{entry.get('clip_id')}#training",
            "edit": {},
        }
    if not isinstance(payload, dict):
        raise InputError("expected item_id or payload")
    stratum = {}
    if "clip_id" in KINDS[kind].payload.model_fields:
        stratum["corpus"] = get_clip(session, str(payload.get("clip_id"))).corpus
    if kind == "triplet":
        payload = {**payload, "corpus": stratum.get("corpus", "")}
    made = KINDS[kind].payload.model_validate(payload)
    plain = made.model_dump(mode="json")
    for name in ("axis", "difficulty", "query_type", "category"):
        if isinstance(plain.get(name), str):
            stratum[name] = plain[name]
    return make_item(protocol.benchmark, kind, stratum, made, Provenance(rule="training/1"))
