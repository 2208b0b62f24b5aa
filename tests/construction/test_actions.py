import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.stride import edit_caption
from construction.text.actions import action_candidates, action_forms, action_pairs, swaps
from construction.text.morphology import inflect
from construction.text.tables import table
from tests.construction.cases import own


@pytest.mark.parametrize("case", own("action_identity"), ids=lambda c: c["caption"][:40])
def test_own_cases(case):
    found = edit_caption(case["caption"], "action_identity")
    assert found.outcome == case["outcome"]
    assert found.reason
    texts = {c.text for c in action_candidates(case["caption"]) if c.text is not None}
    assert texts == set(case.get("one_of", ()))


def test_the_forms_of_the_table_agree_with_the_verb_list():
    for lemma in table("actions")["forms"]:
        forms = action_forms(lemma)
        assert forms == {tag: inflect(lemma, tag) for tag in forms}


def test_the_table_holds_no_look_alikes_and_no_pair_twice():
    pairs = [pair.verbs for pair in action_pairs()]
    assert len(pairs) == len(set(pairs))
    assert all(first < second for first, second in pairs)
    related = table("actions")["related"]
    for first, second in pairs:
        assert second not in related[first].split()
        assert first not in related[second].split()


@pytest.mark.parametrize("pair", action_pairs(), ids=lambda p: "/".join(p.verbs))
def test_a_replacement_can_be_undone(pair):
    objects = {"intransitive": "", "any": "", "object": " the ladder", "body": " both knees"}
    tail = objects[pair.frame] + (f" {pair.need}" if pair.need == "down" else "")
    tail = " his head" if pair.need == "head" else tail
    first, second = pair.verbs
    captions = [f"the man {action_forms(verb)['VBZ']}{tail}." for verb in (first, second)]
    for caption, other in (captions, captions[::-1]):
        texts = {c.text for c in action_candidates(caption) if c.text is not None}
        assert other in texts


@given(st.text(max_size=200), st.integers(0, 2**32))
def test_any_text_gets_an_outcome_with_a_reason(text, seed):
    found = edit_caption(text, "action_identity", seed)
    assert found.reason
    assert (found.text is not None) == (found.outcome == "item")


def test_the_seed_chooses_among_the_candidates():
    caption = "a man walks in a circle."
    texts = {edit_caption(caption, "action_identity", seed).text for seed in range(10)}
    assert texts == {c.text for c in action_candidates(caption) if c.text is not None}


@pytest.mark.parametrize(
    ("caption", "refused"),
    [
        ("the person jumps and spins in the air.", "'air'"),
        ("a person hops twice and lands on the left foot.", "'lands'"),
        ("a person hops along with long strides.", "'strides'"),
        ("the man walks, one foot in front of the other.", "'one foot in front of the other'"),
        ("a person kicks off their shoes.", "particle"),
        ("a person lifts one arm and puts it down.", "'down'"),
    ],
)
def test_what_only_the_first_action_suits_rules_the_other_out(caption, refused):
    (found,) = swaps(caption)
    assert found.outcome == "rejected"
    assert refused in found.reason
