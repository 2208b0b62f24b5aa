"""Likelihood filter, text-only check and rewriting, each on its own; bad input of a draft."""

from __future__ import annotations

import json

import pytest

from benchmarks.stride import STRUCTURAL_AXES
from construction import stride_candidates
from construction.stages import Stages
from construction.stride import draft_stride
from construction.stride_check import ModelCheck, rule_verdict
from construction.stride_filter import MAX_GAP, LikelihoodFilter
from construction.stride_rewrite import TemporalRewriter
from construction.text.language import foreign
from construction.text.scorers import ScorerNotRun
from corpus.clips import Caption
from tests.construction.test_stride import clip, corpus_of, walkers
from tests.llm.server import FakeEndpoint, completion, user_text
from tests.llm.world import model


class Fixed:
    """A scorer with given scores."""

    id, unit, definition, papers, fingerprint = "fixed", "nats/token", "given", False, "f"

    def __init__(self, scores, unit="nats/token", papers=False):
        self.scores, self.unit, self.papers = scores, unit, papers
        self.asked = []

    def score(self, texts):
        self.asked += texts
        return [self.scores.get(text) for text in texts]


def test_the_filter_keeps_pairs_up_to_the_gap_and_says_what_it_saw():
    pairs = walkers(("walk", "run"), ("run", "walk"), ("kick", "punch"), ("hop", "skip"))
    scores = {"a man walks.": -2.0, "a man runs.": -2.0 - MAX_GAP, "a man kicks.": -2.0}
    scores["a man punchs."] = -2.1501
    scorer = Fixed(scores)
    kept, refused = LikelihoodFilter(lambda clip_id: scorer)(pairs)
    assert [c.edit["source_lemma"] for c in kept] == ["walk", "run", "hop"]
    note = kept[0].notes["likelihood_filter"]
    assert (note["original"], note["perturbed"], note["gap"]) == (-2.0, -2.15, 0.15)
    assert note["note"] == "not the paper's scorer"
    assert kept[2].flags == ("likelihood gap unknown",)
    assert [(p.reason_code, p.text) for p in refused] == [("likelihood_gap", "a man punchs.")]
    assert "favours the original by 0.150 nats" in refused[0].reason
    assert len(scorer.asked) == len(set(scorer.asked))


def test_gpt2_is_not_marked_and_a_probability_is_no_likelihood():
    pairs = walkers(("walk", "run"))
    scores = {"a man walks.": -1.0, "a man runs.": -1.0}
    kept, _ = LikelihoodFilter(lambda clip_id: Fixed(scores, papers=True))(pairs)
    assert "note" not in kept[0].notes["likelihood_filter"]
    with pytest.raises(ScorerNotRun, match="the filter needs nats/token"):
        LikelihoodFilter(lambda clip_id: Fixed(scores, unit="probability"))(pairs)


def test_balance_follows_the_filter():
    texts = {f"w{k}": ["a man walks in a circle."] for k in range(3)}
    texts |= {f"r{k}": ["a man runs in a circle."] for k in range(3)}
    clips, captions = corpus_of(texts)

    class OneWay(Fixed):
        def score(self, texts):
            return [-2.0 if "walk" in t or "run" in t else -9.0 for t in texts]

    filtered = LikelihoodFilter(lambda clip_id: OneWay({}))
    result = draft_stride(clips, captions, 0, ["action_identity"], likelihood=filtered)
    assert len(result.items) == 6
    (pair,) = [p for p in result.pairs if p.kept]
    assert (pair.pair, pair.forward, pair.backward, pair.kept) == ("run/walk", 3, 3, 3)
    assert {p.reason_code for p in result.passed} == {"likelihood_gap"}


@pytest.mark.parametrize(
    ("caption", "edited", "said"),
    [
        ("a man walks.", "a man runs.", None),
        ("an old man makes an arching motion", "an old man makes a kicking motion", None),
        ("a man walks.", "a man run.", "no verbs of one form"),
        ("a man walks.", "a man walks slowly.", "more than one word"),
        ("a man walks left.", "a man runs right.", "2 words differ"),
        ("a man walks.", "a man walks.", "0 words differ"),
        ("a man runs.", "a man jogs.", "another word for"),
        ("a man walks.", "a dog walks.", "no verbs of one form"),
    ],
)
def test_the_rule_reads_the_two_texts_alone(caption, edited, said):
    found = rule_verdict(caption, edited)
    assert (found is None) if said is None else (found is not None and said in found)


def verdict(**changed):
    """Return an answer that finds nothing wrong, but for what is changed."""
    sound = dict.fromkeys(
        ("fluent_a", "fluent_b", "one_action_differs", "visually_distinct", "mutually_exclusive"),
        True,
    )
    return {**sound, "reason": "because", **changed}


def stages(server, *names, **changed):
    return Stages({name: model(server.url, **changed) for name in names})


def test_the_model_is_not_told_which_caption_is_the_original():
    pairs = walkers(*[("walk", "run"), ("run", "walk")] * 10)

    def script(body, number):
        shown = user_text(body).split("<caption_a>")[-1]
        return completion(
            json.dumps(verdict(fluent_a="runs" not in shown.split("</caption_a>")[0]))
        )

    with FakeEndpoint(script) as server:
        kept, refused = ModelCheck(stages(server, "action_check"), 7)(pairs)
        texts = [user_text(got.body) for got in server.got]
    first = [text.split("<caption_a>")[-1].split("</caption_a>")[0] for text in texts]
    assert {"a man walks.", "a man runs."} == set(first)
    assert all("original" not in text.split("<caption_a>")[0].lower() for text in texts)
    # Only where the edited caption is shown as A does what was said of A count.
    assert refused
    for p in refused:
        assert (p.reason_code, p.text, p.stage) == ("not_fluent", "a man runs.", "text_only_check")
    assert {c.text for c in kept} >= {"a man walks."}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("one_action_differs", "several_changes"),
        ("visually_distinct", "not_distinct"),
        ("mutually_exclusive", "not_exclusive"),
    ],
)
def test_each_fault_has_its_code(fault, code):
    with FakeEndpoint(lambda body, n: completion(json.dumps(verdict(**{fault: False})))) as server:
        kept, refused = ModelCheck(stages(server, "action_check"), 0)(walkers(("walk", "run")))
    assert not kept
    assert [(p.reason_code, p.reason) for p in refused] == [(code, "because")]


def test_no_more_captions_are_sent_than_the_limit_needs(monkeypatch):
    monkeypatch.setattr("construction.stride._CHUNK", 2)
    texts = {f"c{k:02d}": [f"a man claps {k} times, then kneels."] for k in range(20)}
    texts["one"] = ["a man claps."]
    clips, captions = corpus_of(texts)

    def script(body, number):
        caption = user_text(body).split("<caption>")[1].split("</caption>")[0]
        count = caption.split("claps ")[1].split(" ")[0]
        text = f"a man kneels, then claps {count} times." if number else "a man kneels."
        answer = {"reversible": True, "rewritten": text, "reason": "so"}
        return completion(json.dumps(answer))

    with FakeEndpoint(script) as server:
        rewriter = TemporalRewriter(stages(server, "temporal", concurrency=1), 3)
        result = draft_stride(clips, captions, 3, ["temporal_order"], limit=4, rewriter=rewriter)
        asked = len(server.got)
    assert (len(result.items), asked) == (4, 6)
    codes = {}
    for p in result.passed:
        codes[p.reason_code] = codes.get(p.reason_code, 0) + 1
    assert codes == {"content_words": 1, "single_event": 1, "limit": 15}
    lost = next(p for p in result.passed if p.reason_code == "content_words")
    assert (lost.stage, lost.text) == ("rewrite", "a man kneels.")


def test_what_the_model_declines_or_spoils_is_kept_with_its_reason():
    clips, captions = corpus_of(
        {"a": ["a man claps, then kneels."], "b": ["a man waves, then bows."]}
    )

    def script(body, number):
        if "waves" in user_text(body).split("<caption>")[1]:
            return completion(
                json.dumps({"reversible": True, "rewritten": "he bows while waving.", "reason": ""})
            )
        return completion(json.dumps({"reversible": False, "rewritten": "", "reason": "no sense"}))

    with FakeEndpoint(script) as server:
        rewriter = TemporalRewriter(stages(server, "temporal"), 0)
        result = draft_stride(clips, captions, 0, ["temporal_order"], rewriter=rewriter)
    found = {p.reason_code: p for p in result.passed}
    assert not result.items
    assert "no sense" in found["model_declined"].reason
    assert found["simultaneous"].text == "he bows while waving."


LANGUAGES = {
    "una persona camina hacia adelante y luego levanta la mano izquierda": "Spanish",
    "der Mann geht nach links und hebt dann den rechten Arm": "German",
    "une personne lève le bras gauche puis marche vers la droite": "French",
    "человек идет вперед и поднимает левую руку": "another script",
    "一个人向左走然后跳": "another script",
}


@pytest.mark.parametrize("caption", LANGUAGES, ids=LANGUAGES.values())
def test_a_caption_in_another_language_is_passed_over_on_every_axis(caption):
    assert LANGUAGES[caption] in foreign(caption)
    clips, captions = corpus_of({"a": [caption]})
    result = draft_stride(clips, captions, 0, STRUCTURAL_AXES)
    assert not result.items
    assert {p.reason_code for p in result.passed} == {"not_english"}


def test_captions_of_one_and_of_four_hundred_words():
    long = "a man walks forward and raises his left hand. " * 44 + "he turns right."
    assert len(long.split()) > 390
    clips, captions = corpus_of({"a": ["kneeling"], "c": [long]})
    result = draft_stride(clips, captions, 0, STRUCTURAL_AXES)
    (item,) = result.items
    assert item.payload["perturbed"] == long.replace("left", "L").replace("right", "left").replace(
        "L", "right"
    )
    found = {(p.caption_id[-3], p.axis): p.reason_code for p in result.passed}
    assert found["a", "temporal_order"] == "single_event"
    assert found["a", "mirror_reflection"] == "no_lateral"
    assert found["a", "action_identity"] == "no_action"
    assert found["c", "temporal_order"] == "too_long"
    assert found["c", "action_identity"] == "repeated_action"


def test_clips_and_captions_that_share_an_id():
    twin = clip("a")
    other = clip("b")
    texts = [
        Caption(id="demo:a#0", clip_id="demo:a", text="he turns left."),
        Caption(id="demo:a#0", clip_id="demo:a", text="he turns right round."),
        Caption(id="demo:b#0", clip_id="demo:b", text="he steps left."),
    ]
    doubled = clip("b", content="another motion")
    result = draft_stride([twin, twin, other, doubled], texts, 0, ["mirror_reflection"])
    assert [i.payload["caption"] for i in result.items] == ["he turns left."]
    assert {p.reason_code: p.stage for p in result.passed} == {
        "duplicate_caption": "input",
        "duplicate_clip": "input",
    }


LONG = (
    "The person stands relaxed. They take two steps forward with the left foot leading, then raise "
    "the right hand and wave. Finally, they turn counterclockwise and walk away. The other arm "
    "stays on the left hip."
)


def test_all_sides_of_a_long_caption_change_together():
    clips, captions = corpus_of({"a": [LONG]})
    (item,) = draft_stride(clips, captions, 0, ["mirror_reflection"]).items
    swaps = {"left": "right", "right": "left", "counterclockwise": "clockwise"}
    wanted = " ".join(swaps.get(word, word) for word in LONG.split(" "))
    assert item.payload["perturbed"] == wanted


@pytest.mark.parametrize(
    ("caption", "axis", "code"),
    [
        (
            "He steps left. Only the left and right hands move, and the right one waves.",
            "mirror_reflection",
            "ambiguous",
        ),
        ("A man walks to a chair. The steps are slow.", "action_identity", "related_action"),
        ("A man walks to a chair. The walk is brisk.", "action_identity", "repeated_action"),
        ("A man walks to a chair. He sits down.", "temporal_order", "implicit_order"),
    ],
)
def test_what_one_sentence_of_a_long_caption_rules_out(caption, axis, code):
    clips, captions = corpus_of({"a": [caption]})
    result = draft_stride(clips, captions, 0, [axis])
    assert {p.reason_code for p in result.passed} == {code}


def test_edits_are_the_same_whatever_the_number_of_processors(monkeypatch):
    texts = [f"a man turns left {k} times, then jumps." for k in range(6)] + ["una persona salta"]
    axes = ["temporal_order", "mirror_reflection", "action_identity"]
    told = []
    alone = stride_candidates.edits_of_all(texts, axes, lambda *done: told.append(done))
    assert alone == {(a, t): stride_candidates.edits(t, a) for t in texts for a in axes}
    assert told == [(7, 7)]
    monkeypatch.setattr(stride_candidates, "_BLOCK", 3)
    monkeypatch.setattr(stride_candidates, "_WORTH", 1)
    assert stride_candidates.edits_of_all(texts, axes) == alone


def test_a_dead_endpoint_is_asked_one_window_whatever_the_limit():
    texts = {f"m{k}": [f"a man jumps {k} times, then bows."] for k in range(40)}
    clips, captions = corpus_of(texts)
    lone = Stages({"temporal": model("http://127.0.0.1:9/v1", attempts=1)})
    rewriter = TemporalRewriter(lone, 0)
    result = draft_stride(clips, captions, 0, ["temporal_order"], limit=2, rewriter=rewriter)
    assert not result.items
    assert lone.uses()["temporal"].coverage.asked == 8
    assert {p.reason_code for p in result.passed} == {"not_answered"}
    assert len(result.passed) == len(captions)
