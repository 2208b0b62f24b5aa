"""The Kneser-Ney 4-gram: probabilities that add up, a hand-worked case, held-out captions."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.text.ngram import KneserNey, count_grams, texts_hash, words_of

CAPTIONS = ["a man walks.", "a man runs.", "a man walks then runs.", "someone walks left."]
WORDS = st.sampled_from(["a", "man", "walks", "runs", "then", "left", ".", "cartwheels"])


@given(
    texts=st.lists(st.lists(WORDS, max_size=7).map(" ".join), min_size=1, max_size=6),
    history=st.lists(WORDS, max_size=5),
)
def test_probabilities_of_all_words_add_up_to_one(texts, history):
    model = KneserNey(count_grams(texts))
    total = sum(model.probability(word, history) for word in model.vocabulary)
    assert total == pytest.approx(1.0, abs=1e-12)
    assert all(model.probability(word, history) > 0 for word in model.vocabulary)


def test_a_hand_worked_corpus():
    # One text "a b": no pairs of counts, so the discount is 1/2 at every order and the uniform
    # share is 1/4 (a, b, end, unknown). Order 1: three kinds of one context each.
    model = KneserNey(count_grams(["a b"]))
    one = 0.5 / 3 + 0.5 * 0.25
    two = 0.5 + 0.5 * one
    three = 0.5 + 0.5 * two
    four = 0.5 + 0.5 * three
    assert model.probability("a", []) == pytest.approx(four)
    assert model.probability("b", ["a"]) == pytest.approx(four)
    # "b" after something else is known at order 1 only, with what longer histories leave over.
    assert model.probability("b", ["zz", "zz", "zz"]) == pytest.approx(one)
    unseen = 0.5 * 0.25
    assert model.probability("zz", ["zz", "zz", "zz"]) == pytest.approx(unseen)
    assert model.log_likelihood("a b") == pytest.approx(math.log(four))
    assert model.log_likelihood("A B") == model.log_likelihood("a b")


def test_the_likelihood_is_the_mean_over_words_and_end():
    model = KneserNey(count_grams(CAPTIONS))
    words = [*words_of("a man left."), "</s>"]
    logs = [math.log(model.probability(w, words[:k])) for k, w in enumerate(words)]
    assert model.log_likelihood("a man left.") == pytest.approx(sum(logs) / len(words))


def test_counts_of_parts_add_up_to_counts_of_all():
    parts = count_grams(CAPTIONS[:2]) + count_grams(CAPTIONS[2:])
    assert parts == count_grams(CAPTIONS)
    assert all(gram[-1] != "<s>" for gram in parts)
    assert isinstance(parts, Counter)


def test_a_caption_it_was_trained_on_looks_likelier():
    with_it = KneserNey(count_grams([*CAPTIONS, "the figure hops twice."]))
    without = KneserNey(count_grams(CAPTIONS))
    assert with_it.log_likelihood("the figure hops twice.") > without.log_likelihood(
        "the figure hops twice."
    )


def test_nothing_to_train_on_is_refused():
    with pytest.raises(ValueError, match="at least one training text"):
        KneserNey(count_grams([]))


def test_the_fingerprint_knows_the_captions_not_their_order():
    assert texts_hash(CAPTIONS) == texts_hash(CAPTIONS[::-1])
    assert texts_hash(CAPTIONS) != texts_hash(CAPTIONS[1:])


def kneser_ney(texts, word, history):
    """Interpolated Kneser-Ney from the definition (Chen & Goodman 1999, eq. for pKN), unrefined."""
    lines = [["<s>"] * 3 + words_of(text) + ["</s>"] for text in texts]
    windows = [tuple(line[i - 3 : i + 1]) for line in lines for i in range(3, len(line))]
    vocabulary = {w[-1] for w in windows} | {"<unk>"}

    def count(gram):
        if len(gram) == 4:
            return sum(w == gram for w in windows)
        # in how many different words a longer n-gram begins that ends in this one
        longer = {w[-len(gram) - 1 :] for w in windows}
        return sum(g[1:] == gram for g in longer)

    def p(gram):
        if not gram:
            return 1 / len(vocabulary)
        n = len(gram)
        all_grams = {w[-n:] for w in windows}
        counts = {g: count(g) for g in all_grams}
        ones, twos = (sum(c == k for c in counts.values()) for k in (1, 2))
        discount = ones / (ones + 2 * twos) if ones and twos else 0.5
        beside = {g: c for g, c in counts.items() if g[:-1] == gram[:-1]}
        if not beside:
            return p(gram[1:])
        total = sum(beside.values())
        left = discount * len(beside) / total
        return max(beside.get(gram, 0) - discount, 0) / total + left * p(gram[1:])

    known = [w if w in vocabulary else "<unk>" for w in [*history, word]]
    return p(tuple((["<s>"] * 3 + known)[-4:]))


def test_probabilities_are_those_of_the_definition():
    texts = ["a man walks.", "a man walks left.", "a man sits", "the man walks left. a man sits"]
    model = KneserNey(count_grams(texts))
    stream = words_of("a man walks left a dog sits. the")
    for k, word in enumerate(stream):
        for history in (stream[:k], stream[max(0, k - 2) : k]):
            expected = kneser_ney(texts, word, history)
            assert model.probability(word, history) == pytest.approx(expected, rel=1e-12)
