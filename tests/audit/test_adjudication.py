import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.adjudication import CHECK_RULES, decide
from audit.protocols.stride_audit import STRIDE_AUDIT

MIRROR = {"axis": "mirror_reflection"}
ASKED = ("fluent", "single_change", "distinguishable")

forms = st.fixed_dictionaries({name: st.sampled_from(["yes", "no"]) for name in ASKED})
raters = st.lists(forms, min_size=1, max_size=9)
rules = st.sampled_from(sorted(CHECK_RULES))


def form(fluent: str = "yes", single: str = "yes", told: str = "yes") -> dict[str, str]:
    return {"fluent": fluent, "single_change": single, "distinguishable": told}


def test_majority_passes_two_of_three_on_every_check() -> None:
    found = decide([form(), form("no"), form(told="no")], STRIDE_AUDIT, None, MIRROR)
    assert found.outcome == "accepted"
    assert found.rule == "checks_majority"
    assert found.votes == {
        "fluent": {"yes": 2, "no": 1},
        "single_change": {"yes": 3, "no": 0},
        "distinguishable": {"yes": 2, "no": 1},
    }
    assert found.reason == "passed: fluent, single_change, distinguishable"


def test_one_failed_check_rejects_and_is_named() -> None:
    found = decide([form(told="no"), form(told="no"), form()], STRIDE_AUDIT, None, MIRROR)
    assert (found.outcome, found.reason) == ("rejected", "failed: distinguishable has 1 yes of 3")


def test_a_tie_does_not_pass() -> None:
    assert decide([form(), form("no")], STRIDE_AUDIT, None, MIRROR).outcome == "rejected"


def test_unanimous_takes_one_no_to_reject() -> None:
    answers = [form(), form(), form("no")]
    found = decide(answers, STRIDE_AUDIT, "checks_unanimous", MIRROR)
    assert found.outcome == "rejected"
    assert decide([form()] * 3, STRIDE_AUDIT, "checks_unanimous", MIRROR).outcome == "accepted"


def test_checks_that_are_not_asked_have_no_votes() -> None:
    random = {"fluent": "yes", "distinguishable": "yes"}
    found = decide([random] * 3, STRIDE_AUDIT, None, {"axis": "random_content"})
    assert set(found.votes) == {"fluent", "distinguishable"}
    action = {**form(), "exclusive": "no"}
    found = decide([action] * 3, STRIDE_AUDIT, None, {"axis": "action_identity"})
    assert (found.outcome, found.votes["exclusive"]) == ("rejected", {"yes": 0, "no": 3})


def test_what_cannot_be_decided_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one rater"):
        decide([], STRIDE_AUDIT, None, MIRROR)
    with pytest.raises(ValueError, match="unknown decision rule 'coin'"):
        decide([form()], STRIDE_AUDIT, "coin", MIRROR)
    with pytest.raises(ValueError, match="1 of 2 raters have no answer to 'fluent'"):
        decide([form(), {"single_change": "yes"}], STRIDE_AUDIT, None, MIRROR)
    unchecked = STRIDE_AUDIT.model_copy(update={"checks": ()})
    with pytest.raises(ValueError, match="none of the checks"):
        decide([form()], unchecked, None, MIRROR)


@given(raters, rules, st.randoms(use_true_random=False))
def test_the_order_of_raters_makes_no_difference(answers, rule, random) -> None:
    shuffled = list(answers)
    random.shuffle(shuffled)
    assert decide(shuffled, STRIDE_AUDIT, rule, MIRROR) == decide(
        answers, STRIDE_AUDIT, rule, MIRROR
    )


@given(raters, rules, st.data())
def test_a_yes_in_place_of_a_no_never_harms(answers, rule, data) -> None:
    rater = data.draw(st.integers(0, len(answers) - 1))
    check = data.draw(st.sampled_from(ASKED))
    better = [{**one, check: "yes"} if n == rater else one for n, one in enumerate(answers)]
    before = decide(answers, STRIDE_AUDIT, rule, MIRROR).outcome
    assert before == "rejected" or decide(better, STRIDE_AUDIT, rule, MIRROR).outcome == "accepted"


@given(raters)
def test_what_is_unanimous_has_a_majority(answers) -> None:
    if decide(answers, STRIDE_AUDIT, "checks_unanimous", MIRROR).outcome == "accepted":
        assert decide(answers, STRIDE_AUDIT, "checks_majority", MIRROR).outcome == "accepted"


@given(raters, rules)
def test_votes_add_up_to_the_raters(answers, rule) -> None:
    votes = decide(answers, STRIDE_AUDIT, rule, MIRROR).votes
    assert list(votes) == list(ASKED)
    assert all(sum(count.values()) == len(answers) for count in votes.values())
