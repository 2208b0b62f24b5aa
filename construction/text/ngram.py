"""A word 4-gram with interpolated Kneser-Ney smoothing (Kneser & Ney 1995; Chen & Goodman 1999).

The text-only scorer that is always there. Its nats are not GPT-2's: every result names it and says
that it is not the paper's scorer.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

ORDER = 4
"""Length of the longest n-gram."""
RULE = "ngram.kneser-ney/1"
"""Name and version of tokens, smoothing and score."""

_WORD = re.compile(r"\w+|[^\w\s]")
_START, _END, _UNKNOWN = "<s>", "</s>", "<unk>"

Grams = Counter[tuple[str, ...]]
"""Counts of 4-grams, each predicting its last word."""


def words_of(text: str) -> list[str]:
    """Split a text into what the model predicts: lower-case words and punctuation marks.

    >>> words_of("He turns LEFT.")
    ['he', 'turns', 'left', '.']
    """
    return _WORD.findall(text.lower())


def count_grams(texts: Iterable[str]) -> Grams:
    """Count the 4-grams of texts, each text opened by three start marks and closed by an end mark.

    Args:
        texts: Training texts.

    Returns:
        Counts; those of several sets may be added, so that held-out sets can be left out cheaply.
    """
    stream: list[str] = []
    for text in texts:
        stream += [_START] * (ORDER - 1)
        stream += words_of(text)
        stream.append(_END)
    found: Grams = Counter(zip(*(stream[k:] for k in range(ORDER)), strict=False))
    # Windows across two texts predict a start mark; nothing else is wrong with them.
    return Counter({gram: n for gram, n in found.items() if gram[-1] != _START})


class KneserNey:
    """The model: for every history a distribution over the training words, end and unknown."""

    def __init__(self, grams: Grams) -> None:
        """Fit the model.

        Args:
            grams: Counts of 4-grams, at least one.

        Raises:
            ValueError: Nothing to train on.
        """
        if not grams:
            raise ValueError("grams: expected at least one training text, got none")
        self.vocabulary: frozenset[str] = frozenset(g[-1] for g in grams) | {_END, _UNKNOWN}
        self._share: list[dict[tuple[str, ...], float]] = []
        self._back: list[dict[tuple[str, ...], float]] = []
        counts: Grams = grams
        for _ in range(ORDER):
            share, back = _discounted(counts)
            self._share.insert(0, share)
            self._back.insert(0, back)
            # A lower order counts in how many contexts an n-gram was seen, not how often.
            counts = Counter(gram[1:] for gram in counts)
        self._known: dict[tuple[str, ...], float] = {}

    def probability(self, word: str, history: Sequence[str]) -> float:
        """Return p(word | history), 0 to 1.

        Args:
            word: A word; one that was not in training counts as unknown.
            history: Words before it, nearest last; start marks are added where it is short.
        """
        padded = [_START] * (ORDER - 1) + [self._as_known(w) for w in history]
        return self._gram((*padded[1 - ORDER :], self._as_known(word)))

    def log_likelihood(self, text: str) -> float:
        """Return the mean natural logarithm of p over the words of a text and its end mark.

        Args:
            text: Any text; an empty one has its end mark only.

        Returns:
            Nats per token, at most 0: sum of ln p(token | three tokens before) over the words and
            the end mark, divided by their number. The first word is predicted from the start.
        """
        known_words = self.vocabulary
        words = [word if word in known_words else _UNKNOWN for word in words_of(text)]
        stream = [_START] * (ORDER - 1) + words + [_END]
        total = 0.0
        for gram in zip(*(stream[k:] for k in range(ORDER)), strict=False):
            known = self._known.get(gram)
            if known is None:
                known = self._known[gram] = math.log(self._gram(gram))
            total += known
        return total / (len(words) + 1)

    def _as_known(self, word: str) -> str:
        return word if word in self.vocabulary else _UNKNOWN

    def _gram(self, gram: tuple[str, ...]) -> float:
        p = 1.0 / len(self.vocabulary)
        for n in range(ORDER):
            tail = gram[ORDER - 1 - n :]
            p = self._share[n].get(tail, 0.0) + self._back[n].get(tail[:-1], 1.0) * p
        return p


def _discounted(
    counts: Grams,
) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
    """Return the discounted share of each n-gram, and what each history leaves over."""
    once = sum(1 for n in counts.values() if n == 1)
    twice = sum(1 for n in counts.values() if n == 2)
    # n1 / (n1 + 2 n2) of Kneser and Ney; half where a small corpus has no singletons or pairs.
    discount = once / (once + 2 * twice) if once and twice else 0.5
    total: Counter[tuple[str, ...]] = Counter()
    kinds: Counter[tuple[str, ...]] = Counter()
    for gram, n in counts.items():
        history = gram[:-1]
        total[history] += n
        kinds[history] += 1
    share = {gram: (n - discount) / total[gram[:-1]] for gram, n in counts.items()}
    back = {history: discount * kinds[history] / n for history, n in total.items()}
    return share, back


def texts_hash(texts: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of a set of training texts, whatever their order."""
    digest = hashlib.sha256(RULE.encode())
    for text in sorted(texts):
        digest.update(text.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()
