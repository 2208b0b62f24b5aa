"""No motion is scored by a model that has seen its captions, its mirror image's or its copy's."""

from __future__ import annotations

import pytest

from construction.text import held_out
from construction.text.held_out import held_out_ngrams, motion_group
from construction.text.scorers import ScorerNotRun
from corpus.clips import Caption
from tests.construction.test_stride import clip


def world(names, split=None, corpus="humanml3d"):
    clips = [
        clip(name, corpus).model_copy(update={"split": (split or {}).get(name)}) for name in names
    ]
    captions = [
        Caption(id=f"{c.id}#0", clip_id=c.id, text=f"a person does a move{k} here")
        for k, c in enumerate(clips)
    ]
    return clips, captions


def vocabulary(scorer):
    return scorer._model.vocabulary


def test_drafted_and_test_motions_are_left_out_with_their_mirror_images():
    names = [f"{k:06d}" for k in range(40)] + ["M000003"]
    clips, captions = world(names, {"000005": "test", "000003": "test"})
    found = held_out_ngrams(clips, captions, ["humanml3d:000003"], least=5)
    known = vocabulary(found.scorer("humanml3d:000003"))
    assert {"move4", "move39"} <= known
    assert not known & {"move3", "move5", "move40"}
    assert "38 captions" in found.note


def test_with_little_else_each_motion_is_scored_by_the_other_folds():
    names = [f"{k:06d}" for k in range(60)] + ["M000003"]
    clips, captions = world(names)
    drafted = [c.id for c in clips]
    found = held_out_ngrams(clips, captions, drafted, least=20)
    for k, c in enumerate(clips):
        known = vocabulary(found.scorer(c.id))
        assert f"move{k}" not in known
        assert len(known) > 30
    assert "move60" not in vocabulary(found.scorer("humanml3d:000003"))
    assert found.scorer("humanml3d:M000003") is found.scorer("humanml3d:000003")
    assert "5 folds" in found.note


def test_a_copy_of_a_motion_under_another_id_is_left_out_too():
    clips, captions = world([f"{k:06d}" for k in range(30)])
    clips[7] = clips[7].model_copy(update={"content_hash": clips[2].content_hash})
    found = held_out_ngrams(clips, captions, [clips[2].id], least=5)
    assert not vocabulary(found.scorer(clips[2].id)) & {"move2", "move7"}


def test_too_few_captions_is_not_run_with_the_numbers():
    clips, captions = world(["000001", "000002"])
    with pytest.raises(ScorerNotRun, match=f"needs {held_out.MIN_CAPTIONS} captions"):
        held_out_ngrams(clips, captions, [clips[0].id])


def test_groups_of_the_two_corpora():
    named = {"humanml3d:M012314": "012314", "snapmogen:m_ep2_00086#0#250": "ep2_00086"}
    for id_, base in named.items():
        corpus, _, name = id_.partition(":")
        assert motion_group(clip(name, corpus)) == f"{corpus}:{base}"
    assert motion_group(clip("Mary")) == "demo:Mary"


def test_a_copy_of_the_mirror_image_is_left_out_whatever_the_order():
    names = [f"{k:06d}" for k in range(30)] + ["M000002"]
    clips, captions = world(names)
    # 000009 is a copy of the mirror image of 000002
    clips[9] = clips[9].model_copy(update={"content_hash": clips[30].content_hash})
    for ordered in (clips, clips[::-1]):
        found = held_out_ngrams(ordered, captions, [clips[2].id], least=5)
        assert not vocabulary(found.scorer(clips[2].id)) & {"move2", "move9", "move30"}
    folded = held_out_ngrams(clips, captions, [c.id for c in clips], least=5)
    assert len({id(folded.scorer(clips[k].id)) for k in (2, 9, 30)}) == 1
    assert folded.scorer("release:000123").score(["a person"])[0] < 0
