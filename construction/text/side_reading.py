"""How a bare "left" or "right" is meant: a side, leaving, remaining, emphasis, correctness."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import Literal

from construction.text.morphology import verb_lemmas
from construction.text.tables import words
from construction.text.tokens import Token

CueReading = Literal["lateral", "other", "ambiguous", "uncovered"]
"""A side; something else; not certain; a side written in a way the rules do not cover."""
DIRECTION_WORDS = frozenset(
    {"left", "lefts", "right", "forward", "forwards", "backward", "backwards"}
)
"""Words whose number in the caption helps to read "and left"."""


class Context:
    """The words around one token; punctuation counts as a boundary."""

    def __init__(self, tokens: list[Token], index: int, directions: Counter[str]) -> None:
        """Keep the caption's tokens, the place, and how often each direction word occurs."""
        self.low = tokens
        self.i = index
        self.directions = directions

    def at(self, offset: int) -> str:
        """Return the lower-case word at a distance; punctuation as written; '' past an end."""
        j = self.i + offset
        return self.low[j].low if 0 <= j < len(self.low) else ""

    def before(self, limit: int = 6) -> list[str]:
        """Words before the token, nearest first, up to a clause boundary."""
        found: list[str] = []
        for offset in range(1, limit + 1):
            word = self.at(-offset)
            if not word or word in {",", ".", ";", ":", "!", "?", "(", ")"}:
                break
            found.append(word)
        return found


_END = frozenset({"", ".", ",", ";", ":", "!", "?", ")"})


def _w(key: str) -> frozenset[str]:
    return words("lateral", key)


def _directional(word: str) -> bool:
    return bool(verb_lemmas(word) & (_w("strong") | _w("moving")))


def read_left(c: Context) -> tuple[CueReading, str]:
    """Read the word "left" in its context: the reading and, in words, why."""
    p1, p2, n1, n2 = c.at(-1), c.at(-2), c.at(1), c.at(2)
    if n1 == "-" and n2 in {"over", "overs", "behind", "luggage"}:
        return "other", "the verb leave"
    if n1 in _w("across") and n2 == "right":
        return "lateral", "a side"
    if n1 == "field" and p1 in {"out", "of"}:
        return "other", "an idiom"
    if p1 == "two" and n1 == "feet":
        return "ambiguous", "idiom or two feet of one side"
    if n1 in _w("side_nouns"):
        if p1 in _w("pronouns") and n2 not in _END and n1 not in {"handed", "footed"}:
            return "ambiguous", "leaving, or a side"
        return "lateral", "a side"
    if p1 in {"'", "\u2019"} or (p1 == "s" and p2 in {"'", "\u2019"}):
        owner = c.at(-3)
        if p1 == "s" and owner in {"he", "she", "it", "who", "there", "what", "that"}:
            return _remaining_or_left(c)
        return "lateral", "a side"
    if p1 in {"is", "was"} and p2 in {"what", "all", "whatever", "nothing"}:
        return "other", "what remains"
    if n1 in {"'", "\u2019"} or n1 == "of" or n1 == "-":
        return "lateral", "a side"
    if p1 in _w("side_nouns") and n1 in {"is", "are", "was", "were"}:
        return "ambiguous", "what remains, or a side"
    if (p1.isdigit() or p1 in _w("numbers")) and n1 in _END:
        return "ambiguous", "what remains, or a side"
    counted = p2 in {"one", "another"} or p2 in _w("numbers")
    had = any("have" in verb_lemmas(c.at(-k)) or c.at(-k) == "with" for k in (3, 4))
    if counted and had and n1 in _END | {"to", "for"}:
        return "ambiguous", "what remains, or a side"
    if n1 in _w("determiners") and n2 in _w("left_places") and not verb_lemmas(p1):
        return "other", "the verb leave"
    remaining = _remaining(c)
    if remaining:
        return remaining
    to_self = n1 == "to" and (n2 in _w("reflexives") or c.at(3) == "own")
    if to_self and not _directional(p1) and p1 not in _w("determiners") | _w("pronouns"):
        # "left to her own devices", but "steps left to his own corner", "on her left to ..."
        return "other", "the verb leave"
    if p1 in words("verb_use", "body_parts") and n1 in _w("left_so") and n2 != "right":
        # "with arms left at his sides", but "swings his arm left to catch the ball"
        return _if_moved(c)
    if n1 in {"on", "in", "at", "by"} and n2 in _w("determiners") and _thing(c):
        return "ambiguous", "leaving, or a side"
    if p1 in {"is", "was", "are", "were", "been", "being", "be", "gets", "got", "get"}:
        return _remaining_or_left(c)
    negated = p1 == "t" and p2 in {"'", "\u2019"} and c.at(-3) in {"hasn", "haven", "hadn"}
    perfect = {"has", "have", "had", "having"}
    if negated or p1 in perfect or (p1 == "not" and p2 in perfect):
        return "other", "the verb leave"
    if p1 in {"just", "already", "never", "finally", "recently", "suddenly", "then", "also"} and (
        p2 in _w("people") | perfect
    ):
        return "other", "the verb leave"
    if n1 in {"behind", "alone", "unattended", "over", "without"} and not _directional(p1):
        return "other", "the verb leave"
    if n1 == "off" and p1 in {"he", "she", "they"}:
        return "other", "the verb leave"
    return _left_after_subject_or_verb(c)


def _thing(c: Context) -> bool:
    """Whether a thing is named before the word: "the box left on the floor"."""
    p1, p2 = c.at(-1), c.at(-2)
    if not p1.isalpha() or _directional(p1) or p1.endswith("ly") or p2 not in _w("named"):
        return False
    return p1 not in _w("side_nouns") and p1 not in _w("turns") | _w(
        "measures"
    ) | DIRECTION_WORDS | _w("determiners")


def _if_moved(c: Context) -> tuple[CueReading, str]:
    if any(_directional(w) for w in takewhile(lambda w: w != "with", c.before()[1:])):
        return "lateral", "a direction"
    return "ambiguous", "leaving, or a side"


def _left_after_subject_or_verb(c: Context) -> tuple[CueReading, str]:
    p1, p2, n1 = c.at(-1), c.at(-2), c.at(1)
    if p1 in _w("pronouns"):
        return "other", "the verb leave"
    if p1 in {"it", "you"} and not verb_lemmas(p2):
        return "other", "the verb leave"
    if p1 in _w("people"):
        return _left_after_person(c)
    if p1 in {"and", "then"} and n1 in _END and p2 in {"left", "but"}:
        return "ambiguous", "leaving, or a side"
    if p1 in {"and", "then", "or", "but"} or p1 in _END:
        return _left_after_conjunction(c)
    if n1 in _w("determiners") | {"him", "them"} and p1 not in _w("determiners"):
        if _directional(p1) and verb_lemmas(p1) & (_w("strong") | _w("moving")):
            return "lateral", "a direction"
        if p1 in _w("side_before"):
            return "lateral", "a side"
        return "ambiguous", "leaving, or a side"
    if p1 in {"to", "had", "not", "n't"} and n1 in _w("determiners"):
        return "lateral", "a side"
    return "lateral", "a side"


def _left_after_person(c: Context) -> tuple[CueReading, str]:
    before = c.before()
    n1 = c.at(1)
    subject = before[1:]
    only_subject = all(not verb_lemmas(w) or w in {"standing", "walking"} for w in subject)
    if not only_subject:
        return "ambiguous", "leaving, or a side"
    follows_leave = (
        n1 in _END
        or n1 in _w("determiners")
        or n1
        in {
            *("home", "early", "quickly", "slowly", "in", "for", "at", "through", "with", "after"),
            *("before", "when", "because", "and", "then", "from", "hurriedly", "angrily", "again"),
            *("while", "it", "him", "them", "something", "work", "school", "by", "via", "as"),
        }
    )
    return ("other", "the verb leave") if follows_leave else ("ambiguous", "leaving, or a side")


def _left_after_conjunction(c: Context) -> tuple[CueReading, str]:
    """Read "…, then left", "and left …": a second direction or a second verb."""
    n1 = c.at(1)
    others = c.directions.total() > 1
    if c.i == 0 or (c.at(-1) in {".", ";"} and n1 not in _w("determiners")):
        return "lateral", "a side"
    if n1 in _w("determiners") | {"him", "them", "it", "home", "quickly", "slowly"}:
        return "ambiguous", "leaving, or a side"
    if others or c.at(-1) == ",":
        return "lateral", "a side"
    near = [w for w in c.before(8) if verb_lemmas(w)]
    if near and verb_lemmas(near[0]) & _w("strong"):
        return "lateral", "a side"
    return "ambiguous", "leaving, or a side"


def _remaining(c: Context) -> tuple[CueReading, str] | None:
    p1, p2, n1 = c.at(-1), c.at(-2), c.at(1)
    nothing = {"nothing", "anything", "something", "none", "little", "much", "everything", "no"}
    if p1 in nothing or p2 in {"no", "any"}:
        return "other", "what remains"
    if p1 in {"time", "seconds", "minutes", "energy", "strength", "distance", "breath", "second"}:
        return "other", "what remains"
    if p1 in {"step", "steps", "rep", "reps", "lap", "laps", "jump", "jumps", "move", "moves"}:
        before = list(takewhile(lambda w: w not in {"and", "then", "or", "but"}, c.before()))
        if {"has", "have", "had", "there", "only", "with", "remaining"} & set(before):
            if before and {"takes", "take", "taking", "took"} & set(before):
                return None
            with_only = "with" in before and not {"has", "have", "had", "there"} & set(before)
            if with_only:
                return "ambiguous", "what remains, or a side"
            return "other", "what remains"
        if n1 == "to" and c.at(2) in {"take", "do", "go", "make", "climb", "complete", "finish"}:
            return "other", "what remains"
    return None


def _remaining_or_left(c: Context) -> tuple[CueReading, str]:
    p2, n1 = c.at(-2), c.at(1)
    if n1 in {"of", "facing", "leaning", "forward"}:
        return ("lateral", "a side") if n1 == "of" else ("ambiguous", "a side, or leaving")
    if p2 in {"there", "what", "nothing", "all", "anything"}:
        return "other", "what remains"
    if n1 in _w("left_so"):
        return "other", "the verb leave"
    return "ambiguous", "leaving, remaining, or a side"


def read_right(c: Context) -> tuple[CueReading, str]:
    """Read the word "right" in its context: the reading and, in words, why."""
    p1, n1, n2 = c.at(-1), c.at(1), c.at(2)
    if n1 == "-":
        return _right_hyphen(n2, c.at(3))
    if p1 in {"re", "m"} and c.at(-2) in {"'", "\u2019"}:
        return "ambiguous", "correct, or the right side"
    if n1 in {"angle", "angles", "angled", "triangle", "triangles"}:
        return "other", "a right angle"
    if p1 in {"all", "alright"}:
        return "other", "'all right'"
    if n1 in _w("reflexives") and p1 in {"to", "can", "will", "and"}:
        return "other", "the verb right"
    if n1 == "to" and "be" in verb_lemmas(p1) and verb_lemmas(n2):
        return "ambiguous", "correct, or a direction"
    if (n1, n2) == ("of", "way") or (n1, n2) == ("side", "up") or (n1, n2) == ("side", "out"):
        return "other", "an idiom"
    if n1 == "hand" and n2 in {"man", "woman"}:
        return "ambiguous", "idiom or a side"
    if n1 == "back" and (n2 in _w("side_nouns") or p1 in _w("determiners") - {"that", "this"}):
        return ("lateral", "a side") if n2 in _w("side_nouns") else ("ambiguous", "back or side")
    if n1 in _w("side_nouns"):
        return "lateral", "a side"
    if n1 in _w("correct_nouns") and p1 in _w("side_before") | _w("determiners") | {"is", "not"}:
        return "ambiguous", "correct, or the right side"
    if c.i == 0 and n1 == "," and n2 not in {"left", "right"}:
        return "ambiguous", "a side, or agreement"
    if n1 in {"", ".", ",", "!", "?", ")", ";"} or n1 in {"and", "or"}:
        return _right_at_end(c)
    return _right_before_word(c)


def _right_hyphen(n2: str, n3: str) -> tuple[CueReading, str]:
    if n2 in {"click", "clicks", "clicking", "clicked", "minded", "on", "wing"}:
        return "other", "not a side of the body"
    if n2 in {"angle", "angled", "angles", "triangle"}:
        return "other", "a right angle"
    if n2 == "side" and n3 in {"up", "out"}:
        return "other", "an idiom"
    return "lateral", "a side"


def _right_at_end(c: Context) -> tuple[CueReading, str]:
    p1, p2 = c.at(-1), c.at(-2)
    if c.at(1) == "?" and p1 == ",":
        return "other", "a question tag"
    if p1 in {"not", "just", "quite", "exactly", "that", "s", "perfectly"}:
        if p1 == "s" and c.at(-3) not in {"it", "that", "he", "she", "what", "everything"}:
            return "lateral", "a side"
        return "ambiguous", "correct, or the right side"
    lemmas = verb_lemmas(p1)
    if lemmas & {"be", "feel", "seem", "become", "go", "get", "have"} - {"go"}:
        return "ambiguous", "correct, or the right side"
    if "look" in lemmas and p2 in {"it", "that", "everything", "this", "all"}:
        return "ambiguous", "correct, or the right side"
    if p1 in {"it", "things", "them", "this"} and verb_lemmas(p2) & _w("correct_verbs"):
        return "ambiguous", "correct, or the right side"
    if p1 == "in" or (p2 == "in" and p1 == "the"):
        return "ambiguous", "correct, or the right side"
    return "lateral", "a side"


def _right_before_word(c: Context) -> tuple[CueReading, str]:
    p1, n1, n2 = c.at(-1), c.at(1), c.at(2)
    noun_like = p1 in _w("determiners") or (p1 in {"to", "from"} and n1 not in _w("determiners"))
    if noun_like and n1 not in _w("correct_nouns"):
        return "lateral", "a side"
    if n1 in _w("emphasis_always"):
        return "other", "an emphasis"
    if n1 in _w("across") and n2 == "left":
        return "lateral", "a side"
    lemmas = verb_lemmas(p1)
    if c.at(-2) == "left" and (p1 in {"and", "or", "&"} or (p1, n1) == (",", "then")):
        # "looks left and right before crossing": the side, whatever follows
        return "lateral", "a side"
    done = p1 in {"it", "things", "them", "this", "that", "everything"}
    done = done and n1 not in {"of", "back"}
    if done and verb_lemmas(c.at(-2)) & _w("correct_verbs"):
        return "ambiguous", "correct, or the right side"
    if n1 == "then" and (p1 in _END or p1 in {"and", "just"}):
        return "other", "an emphasis"
    if n1 in _w("emphasis_time"):
        if p1 in {"left", "right"}:
            return "other", "an emphasis"
        if lemmas & (_w("strong") | {"step", "walk", "move", "go", "run", "shift"}):
            return "ambiguous", "an emphasis, or a direction"
        if p1 in {"slightly", "far", "degrees", "forward"}:
            return "ambiguous", "an emphasis, or a direction"
        return "other", "an emphasis"
    if n1 == "back" and n2 in {"leg", "foot", "heel", "arm", "hand"}:
        return "lateral", "a side"
    if n1 in _w("emphasis_place"):
        return _right_before_place(c, lemmas)
    if lemmas & _w("correct_verbs") - {"go", "make", "put", "set", "have", "do", "get"}:
        return "ambiguous", "correct, or the right side"
    return "lateral", "a side"


def _right_before_place(c: Context, lemmas: frozenset[str]) -> tuple[CueReading, str]:
    p1, n1, n2 = c.at(-1), c.at(1), c.at(2)
    if n1 == "to" and (n2 in {"left", "face", "avoid", "look"} or verb_lemmas(n2)):
        return "lateral", "a direction"
    if n1 in {"at", "to", "by", "around", "from", "toward", "towards", "along", "on"}:
        if n1 == "around" and n2 in _END | {"and", "then", "to"}:
            return "ambiguous", "an emphasis, or a direction"
        if lemmas & _w("strong"):
            if n1 in {"at", "to", "around", "toward", "towards", "from", "by", "along"} and (
                n1 not in {"at"} or not lemmas & {"look", "gaze", "glance", "stare", "face"}
            ):
                return "lateral", "a direction"
            return "ambiguous", "an emphasis, or a direction"
        if lemmas & _w("moving"):
            return "ambiguous", "an emphasis, or a direction"
        if lemmas or p1 in _END:
            return "other", "an emphasis"
        if p1 in DIRECTION_WORDS | _w("measures") | _w("corners"):
            return "lateral", "a side"
        return "ambiguous", "an emphasis, or a side"
    if lemmas & _w("strong"):
        return "ambiguous", "an emphasis, or a direction"
    if p1 in {"step", "steps"} and not (c.at(-2).isdigit() or c.at(-2) in _w("numbers") | {"a"}):
        return "ambiguous", "an emphasis, or a direction"
    if p1 in _w("measures"):
        return "lateral", "a direction"
    return "other", "an emphasis"
