"""Labels as acts: the verb, the parts that make it, where it goes, and how to say so."""

from __future__ import annotations

from typing import NamedTuple

from construction.nextmotionqa.sources import SourceClip, SourceLabel
from construction.nextmotionqa.words import Part, content, table
from construction.text.morphology import inflect

REGIONS = ("legs", "arms", "torso", "head")
"""Regions of the body that T1 offers (NextMotionQA Table 8)."""

WAYS: dict[str, str] = {
    "forward": "forward",
    "backward": "backward",
    "left": "to their own left",
    "right": "to their own right",
    "clockwise": "clockwise, seen from above",
    "counterclockwise": "counterclockwise, seen from above",
    "in_place": "in place",
}
"""Ways to go or turn, in words that say whose left and from where (against F2)."""

_LIMBS = {"arm": "arms", "leg": "legs"}


class Act(NamedTuple):
    """One label, read."""

    verb: str
    """Base verb, a key of the table of actions."""
    parts: tuple[Part, ...]
    """Parts the label names, by name and side."""
    regions: tuple[str, ...]
    """Regions that make the motion, in the order of ``REGIONS``; empty where not known."""
    ways: tuple[str, ...]
    """Directions of travel or turn the label names, keys of ``WAYS``."""
    stays: bool | None
    """Whether the body stays where it is; null where the verb leaves it open."""
    moves_part: bool
    """Whether the named part is the verb's object: "raises their left arm"."""

    @property
    def base(self) -> str:
        """Base form with its object, e.g. ``raise their left arm``."""
        return self._said(self.verb)

    @property
    def finite(self) -> str:
        """Third person with its object, e.g. ``raises their left arm``."""
        return self._said(str(inflect(self.verb, "VBZ")))

    @property
    def gerund(self) -> str:
        """Present participle with its object, e.g. ``raising their left arm``."""
        return self._said(str(inflect(self.verb, "VBG")))

    @property
    def organs(self) -> str:
        """What it is done with, e.g. ``left leg`` or ``legs and torso``; empty if not known."""
        sided = [f"{part.side} {part.name}" for part in self.parts if part.side]
        return " and ".join(sided) if sided else " and ".join(self.regions)

    def _said(self, verb: str) -> str:
        return f"{verb} their {self.organs}" if self.moves_part and self.organs else verb


def read_label(label: SourceLabel) -> Act | None:
    """Read a label; its categories where its words name no known action.

    Returns:
        The act, or None where neither names a known action.
    """
    said = content(label.text)
    verb = said.actions[0] if said.actions else None
    if verb is None:
        verb = next((a for name in label.categories for a in content(name).actions), None)
    if verb is None:
        return None
    row = table("actions")["actions"][verb]
    parts = tuple(sorted(set(said.parts), key=lambda part: (part.name, part.side or "")))
    named = {part.region for part in parts}
    regions = named or set(row["parts"])
    travels = row.get("travels")
    return Act(
        verb=verb,
        parts=parts,
        regions=tuple(region for region in REGIONS if region in regions),
        ways=tuple(dict.fromkeys(way for way in said.directions if way in WAYS)),
        stays=None if travels is None else not travels,
        moves_part=bool(row.get("object")),
    )


def read_acts(clip: SourceClip) -> tuple[list[Act], str]:
    """Read a clip's labels in order of time; poses to start from are passed over.

    Returns:
        The acts and an empty reason; or no acts and which label names no known action.
    """
    acts: list[Act] = []
    for label in clip.actions:
        if label.text in table("words")["neutral"]["labels"]:
            continue
        act = read_label(label)
        if act is None:
            return [], f"label {label.text!r} names no action the template knows"
        acts.append(act)
    return acts, "" if acts else "the labels name no action, only a pose to start from"


def limbs(act: Act) -> tuple[str, ...]:
    """Return the whole limbs with their side that an act names: ``left arm``, ``right leg``."""
    names = []
    for part in act.parts:
        limb = next((one for one, many in _LIMBS.items() if part.region == many), None)
        if part.side and limb:
            names.append(f"{part.side} {limb}")
    return tuple(dict.fromkeys(names))


def kin(verb: str) -> frozenset[str]:
    """Return the verbs too close to an action to stand beside it as a wrong option."""
    actions = table("actions")["actions"]
    own = set(str(actions[verb]["kin"]).split())
    return frozenset({verb} | own | {v for v, row in actions.items() if verb in row["kin"].split()})
