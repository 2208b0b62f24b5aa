"""When exchanging left and right changes nothing: coordinated pairs, swaying, alternation."""

from __future__ import annotations

from construction.text.laterality import Cue
from construction.text.morphology import verb_lemmas
from construction.text.tables import words
from construction.text.tokens import Token

_EXCHANGE = {"left": "right", "right": "left", "lefts": "rights", "rights": "lefts"}
_LONGEST_PAIR = 8


def _mirrored_word(token: Token, stems: dict[int, Cue], index: int) -> str:
    cue = stems.get(index)
    if cue is None:
        return token.low
    if cue.stem in {"left", "right"}:
        return _EXCHANGE[cue.stem] + token.low[len(cue.stem) :]
    return "clockwise" if cue.stem in {"counterclockwise", "ccw"} else "counterclockwise"


def _plain_word(token: Token, stems: dict[int, Cue], index: int) -> str:
    cue = stems.get(index)
    if cue is None or cue.stem in {"left", "right"}:
        return token.low
    return "counterclockwise" if cue.stem in {"counterclockwise", "ccw"} else "clockwise"


def _units(tokens: list[Token], cues: list[Cue]) -> list[tuple[int, str, str]]:
    """Tokens as (index, plain word, exchanged word), rotation words of several tokens as one."""
    stems = {cue.index: cue for cue in cues}
    units: list[tuple[int, str, str]] = []
    skip_to = 0
    for i, token in enumerate(tokens):
        if i < skip_to:
            continue
        if i in stems:
            skip_to = i + stems[i].tokens
        units.append((i, _plain_word(token, stems, i), _mirrored_word(token, stems, i)))
    return units


def _conjunctions(units: list[tuple[int, str, str]]) -> list[tuple[int, int, bool]]:
    """Places where two phrases are coordinated: (end of first, start of second, is a comma)."""
    low = [plain for _, plain, _ in units]
    places: list[tuple[int, int, bool]] = []
    for i, word in enumerate(low):
        if word in {"and", "or", "nor", "&", "+"}:
            end = i - 1 if i and low[i - 1] == "," else i
            after = i + 1
            if low[i + 1 : i + 3] == ["/", "or"]:
                after = i + 3
            if low[i + 1 : i + 2] and low[i + 1] == "also":
                after = i + 2
            places.append((end, after, False))
        elif i and (word == "-" or (word == "/" and low[i - 1] != "and")):
            places.append((i, i + 1, False))
        elif word == "," and low[i + 1 : i + 2] not in (["and"], ["or"], ["then"]):
            places.append((i, i + 1, True))
        elif low[i : i + 4] == ["as", "well", "as"] or low[i : i + 3] == ["as", "well", "as"]:
            places.append((i, i + 3, False))
        elif word == "versus" or low[i : i + 2] == ["along", "with"]:
            places.append((i, i + (1 if word == "versus" else 2), False))
    return places


def _match(first: list[tuple[int, str, str]], second: list[tuple[int, str, str]]) -> int:
    """Length of the longest phrase that ends ``first`` and whose mirror begins ``second``."""
    longest = 0
    for size in range(1, min(len(first), len(second), _LONGEST_PAIR) + 1):
        a, b = first[-size:], second[:size]
        # Compared in both directions, so that "right" in "right away" mirrors nothing.
        alike = [(p, m) for _, p, m in a] == [(m, p) for _, p, m in b]
        if alike and any(p != m for _, p, m in a):
            longest = size
    return longest


def invariant_pairs(tokens: list[Token], cues: list[Cue]) -> set[int]:
    """Find cues that stand in a pair which reads the same after the exchange.

    Args:
        tokens: The caption's tokens.
        cues: Its cues that are read as lateral.

    Returns:
        Token indices of the cues in such pairs: "left and right arms", "his left arm and his
        right arm", "left/right". Pairs in an order ("left, then right") are not among them.
    """
    units = _units(tokens, cues)
    fillers = words("lateral", "determiners") | {"both", "either", "with", "to"}
    inside: set[int] = set()
    for end, start, comma in _conjunctions(units):
        first = units[max(0, end - _LONGEST_PAIR) : end]
        for drop in (0, 1):
            second = units[start + drop : start + drop + _LONGEST_PAIR]
            if drop and units[start : start + 1] and units[start][1] not in fillers:
                continue
            size = _match(first, second)
            if not size or (comma and not _closed_list_pair(first, second, size)):
                continue
            if drop and size == 1 and not _same_opening(first, units[start][1]):
                continue
            matched = {i for i, p, m in [*first[-size:], *second[:size]] if p != m}
            inside |= matched
            break
    return inside


def _same_opening(first: list[tuple[int, str, str]], opening: str) -> bool:
    """Whether the first phrase opens like the second: "the left and the right arm"."""
    return len(first) > 1 and first[-2][1] == opening


def _closed_list_pair(
    first: list[tuple[int, str, str]], second: list[tuple[int, str, str]], size: int
) -> bool:
    """Whether a comma pair is a description ("left arm up, right arm up"), not a sequence."""
    opening = second[0][1]
    after = second[size][1] if len(second) > size else "."
    starts_with_side = second[0][1] != second[0][2] or opening in words("lateral", "determiners")
    return size >= 2 and starts_with_side and after in {".", ";", ","}


def invariant_reason(tokens: list[Token], cues: list[Cue]) -> str | None:
    """Say why a caption as a whole does not change under the exchange, or return None.

    Args:
        tokens: The caption's tokens.
        cues: Its cues that are read as lateral.
    """
    low = [t.low for t in tokens]
    stems = {cue.stem for cue in cues}
    both = {"left", "right"} <= stems or {"clockwise", "counterclockwise"} <= stems
    if not both:
        return None
    ordered = {"start", "starts", "starting", "started", "first", "begins", "beginning", "begin"}
    if words("lateral", "repeated") & set(low) and not ordered & set(low):
        return "both sides at once or in turn: no order to exchange"
    between = [w for w in low[cues[0].index + 1 : cues[1].index] if w != "-"]
    if len(cues) == 2 and between == ["to"]:
        lemmas = {lemma for word in low for lemma in verb_lemmas(word)}
        if lemmas & words("lateral", "oscillating") or _to_and_fro(low):
            return "to and fro: 'left to right' names no first side"
    if len(cues) == 2 and {c.stem for c in cues} == {"left", "right"}:
        return _reciprocal(low, cues)
    return None


def _to_and_fro(low: list[str]) -> bool:
    text = " ".join(low)
    return any(
        phrase in text
        for phrase in (
            "side to side",
            "back and forth",
            "and back",
            "several times",
            "multiple times",
            "to and fro",
            "over and over",
            "his head from",
            "head left to right",
            "again",
        )
    )


def _reciprocal(low: list[str], cues: list[Cue]) -> str | None:
    """Find "left hand touches right hand": the same noun on both sides of a mutual verb."""
    a, b = cues[0].index, cues[1].index
    noun_a = low[a + 1] if a + 1 < len(low) else ""
    noun_b = low[b + 1] if b + 1 < len(low) else ""
    between = low[a + 2 : b]
    fillers = words("lateral", "determiners") | {"with", "and", "together"}
    verbs = [w for w in between if w not in fillers]
    if noun_a and noun_a == noun_b and len(verbs) == 1:
        mutual = words("lateral", "reciprocal")
        if any(lemma in mutual for lemma in verb_lemmas(verbs[0])):
            return "the two sides do the same to each other"
    return None
