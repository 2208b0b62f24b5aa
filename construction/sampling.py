"""Seeded choices that depend on ids only, and Random Content (STRIDE 2.1)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

from construction.text.morphology import verb_lemmas
from construction.text.outcome import Outcome, item, rejected
from construction.text.tables import words
from construction.text.tokens import unreadable

RULE = "stride.random/3"
"""Name and version of the Random Content rule."""

_DRAWS = 16


def seeded_order(seed: int, *keys: str) -> str:
    """Return a hex key whose order is a fixed shuffle.

    Args:
        seed: Study or draft seed.
        keys: What is ordered, e.g. an item id.
    """
    return hashlib.sha256("\x1f".join([str(seed), *keys]).encode()).hexdigest()


def same_text(caption: str) -> str:
    """Reduce a caption to what tells it from others: no case, full stops or extra spaces."""
    return " ".join(caption.casefold().replace(".", " ").split())


def deeds(caption: str) -> frozenset[str]:
    """Return what a caption says is done: its verbs, without those that say nothing of it.

    Where only such verbs are left ("does a squat"), all words count instead.
    """
    found = re.findall(r"[a-z]+", caption.casefold())
    verbs = {lemma for word in found for lemma in verb_lemmas(word)}
    return frozenset(verbs - words("verb_use", "empty_deeds")) or frozenset(found)


def random_content(
    caption: str,
    key: str,
    candidates: Sequence[tuple[str, str]],
    seed: int,
    avoid: Iterable[str] = (),
    allowed: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Take the caption of another motion of the corpus (STRIDE 2.1, reference axis).

    Args:
        caption: The ground-truth caption.
        key: Its id; the draw depends on seed, key and the candidates.
        candidates: (caption id, text) of the corpus, in a fixed order.
        seed: Seed of the draw.
        avoid: Texts that are also true of this motion, e.g. its other captions.
        allowed: Whether a caption id may be drawn (another motion); all may by default.

    Returns:
        ``item`` with another caption that differs in more than case, spaces and full stops
        and tells of something that this motion's captions do not ("walks" may still be true
        of "walks, then runs"; ours); ``rejected`` where there is none.
    """
    own = [caption, *avoid]
    true_of_motion = set(map(same_text, own))
    done = frozenset().union(*map(deeds, own))

    def usable(candidate: tuple[str, str]) -> bool:
        found, text = candidate
        if found == key or not allowed(found) or unreadable(text):
            return False
        return same_text(text) not in true_of_motion and not deeds(text) <= done

    # A few draws nearly always succeed; only then is the whole corpus searched.
    for attempt in range(_DRAWS if candidates else 0):
        drawn = candidates[int(seeded_order(seed, key, str(attempt)), 16) % len(candidates)]
        if usable(drawn):
            return item(
                drawn[1], "caption of another motion", "drawn", {"source_caption": drawn[0]}
            )
    rest = [candidate for candidate in candidates if usable(candidate)]
    if not rest:
        return rejected("no other motion has a different caption", "no_other_caption")
    drawn = rest[int(seeded_order(seed, key), 16) % len(rest)]
    return item(drawn[1], "caption of another motion", "drawn", {"source_caption": drawn[0]})
