"""Captions as tagged words, word pieces, byte pairs and token vectors."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corpus.problems import InputError
from evaluators.text.clip_bpe import BytePairs
from evaluators.text.glove import IMPORTANT, LONGEST, TAGS, WordVectors
from evaluators.text.tags import (
    GivenTags,
    LexiconTags,
    SpacyTags,
    Tagged,
    open_tagger,
    parse_tags,
    read_tags,
    words_of,
)
from evaluators.text.vectors import DistilBertVectors, GivenVectors, open_vectors
from evaluators.text.wordpiece import WordPieces
from tests.evaluators import layouts, reference
from tests.shared_data import shared

SAMPLE = "data/motions/humanml3d_sample/texts"


def test_a_lexicon_gives_humanml3ds_own_tags_back() -> None:
    texts = shared(SAMPLE)
    lexicon = LexiconTags.learn(texts)
    seen = 0
    for file in sorted(texts.glob("*.txt")):
        for line in file.read_text().splitlines():
            caption, field, *_ = line.split("#")
            words = parse_tags(field)
            assert len(words_of(caption)) == len(words)
            found = lexicon(caption)
            assert [t.word for t in found] == [t.word for t in words]
            # One "to" of the two is a particle, the other an adposition: a lexicon cannot tell.
            wrong = {(a, b) for a, b in zip(found, words, strict=True) if a != b}
            assert wrong <= {(Tagged("to", "ADP"), Tagged("to", "PART"))}
            seen += 1
    assert seen == 7


def test_a_mirrored_caption_is_tagged_by_the_lexicon_too() -> None:
    lexicon = LexiconTags.learn(shared(SAMPLE))
    found = lexicon("A man kicks something with his right leg, zigzagging.")
    assert found[2] == Tagged("kick", "VERB")
    assert found[6:] == [
        Tagged("right", "ADJ"),
        Tagged("leg", "NOUN"),
        Tagged("zigzagging", "OTHER"),
    ]


def test_given_tags_come_first_and_others_are_refused_or_passed_on(tmp_path: Path) -> None:
    (tmp_path / "tags.csv").write_text("caption,tokens\na man sits,a/DET man/NOUN sit/VERB\n")
    tags = GivenTags(read_tags(tmp_path / "tags.csv"))
    assert tags("a man sits ") == [Tagged("a", "DET"), Tagged("man", "NOUN"), Tagged("sit", "VERB")]
    with pytest.raises(InputError, match="none are given for 'a man runs'"):
        tags("a man runs")
    other = LexiconTags({"a": Tagged("a", "DET")}, "a test")
    passed_on = GivenTags(read_tags(tmp_path / "tags.csv"), other)
    assert passed_on("a dog") == [Tagged("a", "DET"), Tagged("dog", "OTHER")]
    assert passed_on("a man sits")[2] == Tagged("sit", "VERB")


def test_csv_without_the_columns_and_tokens_without_tags_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,tokens\nx,y\n")
    with pytest.raises(InputError, match="columns caption and tokens"):
        read_tags(tmp_path / "a.csv")
    with pytest.raises(InputError, match="expected word/POS, got 'walk'"):
        GivenTags({"x": "a/DET walk"})
    with pytest.raises(InputError, match=r"expected texts of HumanML3D"):
        read_tags(tmp_path)


def stand_in_spacy(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """spaCy's interface with a fixed analysis, for spaCy itself is not installed."""
    asked: list[str] = []
    analysis = {
        "left": ("leave", "VERB"), "hands": ("hand", "NOUN"), "walks": ("walk", "VERB"),
        "slowly": ("slow", "ADV"), "2": ("2", "NUM"),
    }  # fmt: skip

    def pipeline(text: str) -> list[SimpleNamespace]:
        asked.append(text)
        return [
            SimpleNamespace(text=w, lemma_=analysis[w][0], pos_=analysis[w][1])
            for w in text.split()
        ]

    module = ModuleType("spacy")
    module.load = lambda name: pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    return asked


def test_spacy_gives_lemmas_of_nouns_and_verbs_but_never_of_left(monkeypatch) -> None:
    asked = stand_in_spacy(monkeypatch)
    found = SpacyTags()("le-ft hands walks slowly 2")
    assert asked == ["left hands walks slowly 2"]
    assert found == [
        Tagged("left", "VERB"), Tagged("hand", "NOUN"), Tagged("walk", "VERB"),
        Tagged("slowly", "ADV"),
    ]  # fmt: skip


def test_the_tagger_says_what_it_is(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InputError, match="install spaCy .* or give HumanML3D's texts"):
        open_tagger()
    with pytest.raises(InputError, match="spaCy is not installed"):
        open_tagger(spacy="en_core_web_sm")
    (tmp_path / "1.txt").write_text("a man sits#a/DET man/NOUN sit/VERB#0.0#0.0\n")
    tagger = open_tagger(tmp_path)
    assert tagger.id == f"given tags, else lexicon of 3 words from {tmp_path.name}"
    assert tagger("sits a man") == [
        Tagged("sit", "VERB"),
        Tagged("a", "DET"),
        Tagged("man", "NOUN"),
    ]
    stand_in_spacy(monkeypatch)
    assert open_tagger(tmp_path).id == "given tags, else spacy:en_core_web_sm"


@given(st.text(max_size=60))
def test_words_are_letters_only_and_hyphens_are_taken_out(text: str) -> None:
    found = words_of(text)
    assert all(word.isalpha() for word in found)
    assert words_of(text.replace("-", "")) == found


def test_word_vectors_stand_for_twenty_words_between_two_marks(tmp_path: Path) -> None:
    words = WordVectors.read(layouts.write_glove(tmp_path, ("walk", "left", "dance")))
    vectors = np.load(tmp_path / "our_vab_data.npy").astype(np.float32)
    long = [Tagged("walk", "VERB")] * 30
    found, tags, lengths = words.arrays(
        [long, [Tagged("left", "ADJ"), Tagged("xyz", "NOUN"), Tagged("dance", "INTJ")]]
    )
    assert found.shape == (2, LONGEST + 2, 300)
    assert lengths.tolist() == [22, 5]
    np.testing.assert_array_equal(found[0, 1:21], np.repeat(vectors[3:4], 20, axis=0))
    np.testing.assert_array_equal(found[1, :6], vectors[[1, 4, 0, 5, 2, 0]])
    names = [TAGS[k] for k in tags[1].argmax(axis=1)[:6]]
    assert names == ["OTHER", "Loc_VIP", "OTHER", "Act_VIP", "OTHER", "OTHER"]
    assert (tags.sum(axis=2) == 1).all()
    assert words.seen(long) == words.seen(long[:20]) != words.seen(long[:19])


def test_lists_of_words_do_not_overlap() -> None:
    every = [word for words in IMPORTANT.values() for word in words.split()]
    assert len(every) == len(set(every)) == 81
    assert set(IMPORTANT) <= set(TAGS)


class Trap:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return (Path.touch, (self.file,))


def test_a_vocabulary_that_names_a_function_is_not_run(tmp_path: Path) -> None:
    layouts.write_glove(tmp_path, ("walk",))
    (tmp_path / "our_vab_words.pkl").write_bytes(pickle.dumps(Trap(tmp_path / "touched")))
    with pytest.raises(InputError, match=r"our_vab_words\.pkl: .*was not loaded"):
        WordVectors.read(tmp_path)
    assert not (tmp_path / "touched").exists()


def test_a_vocabulary_that_does_not_fit_its_vectors_is_refused(tmp_path: Path) -> None:
    layouts.write_glove(tmp_path, ("walk", "run"))
    np.save(tmp_path / "our_vab_data.npy", np.zeros((3, 300)))
    with pytest.raises(InputError, match="rows outside the 3 vectors"):
        WordVectors.read(tmp_path)
    with pytest.raises(InputError, match="no word 'sos'"):
        WordVectors({"unk": 0}, np.zeros((1, 300), np.float32))


def pieces() -> WordPieces:
    return WordPieces(list(layouts.PIECES))


def test_word_pieces_of_a_caption() -> None:
    found = pieces()
    assert found.visible("A person WALKS, the left-hand's raised.") == (
        "a person walk ##s , the left - hand ' [UNK] [UNK] ."
    )
    assert found.visible("walks walking café") == "walk ##s walk ##ing cafe"
    ids = found.ids("a person", 3)
    assert [layouts.PIECES[k] for k in ids] == ["[CLS]", "a", "[SEP]"]


TEXTS = (
    "A person walks, then jump-s!", "café \u4eba man", "left\thand  raise\u00a0the", "",
    "walkwalk walked xyz", "a" * 120, "it's a man's $5 ^left^", "Ünïted\u200d hand",
)  # fmt: skip


def check_pieces(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    vocabulary = {piece: k for k, piece in enumerate(layouts.PIECES)}
    theirs = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    theirs.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    assert pieces().ids(text)[1:-1] == theirs.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("text", TEXTS)
def test_word_pieces_equal_the_librarys(text: str) -> None:
    check_pieces(text)


@given(st.text(st.sampled_from("awalkspersonjumping .,'-éÅß人$^\t\u00a0\u2028\u200d\x07Ⅷ½_0")))
def test_word_pieces_equal_the_librarys_on_any_text(text: str) -> None:
    check_pieces(text)


def test_a_vocabulary_without_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"no \[UNK\]"):
        WordPieces.read(tmp_path)
    with pytest.raises(InputError, match="expected BERT's vocabulary"):
        WordPieces.read(tmp_path / "absent.txt")


def test_byte_pairs_merge_the_earliest_learned_first(tmp_path: Path) -> None:
    pairs = BytePairs.read(layouts.write_merges(tmp_path / "m.gz"))
    assert len(pairs) == 512 + len(layouts.MERGES) + 2
    assert pairs.visible("Walk  left &amp; WALKING the") == (
        "walk</w> left</w> &</w> walk ing</w> the</w>"
    )
    assert pairs.visible("café 12's") == "c a f Ã ©</w> 1</w> 2</w> ' s</w>"
    row = pairs.array(["left"], 6)[0]
    assert row[0] == pairs.start
    assert row[2] == pairs.end == row.max()
    assert (row[3:] == 0).all()
    long = pairs.ids("walk " * 100)
    assert len(long) == 77
    assert long[-1] == pairs.end


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("a man\u2019s \u201cleft\u201d hand", 'a man\'s "left" hand'),
        ("\ufb01ve", "five"),
        ("\uff57\uff41\uff4c\uff4b\u3000left", "walk left"),
        ("cafe\u0301", "caf\u00e9"),
        ("\ud800walk", "?walk"),
    ],
)
def test_captions_are_read_as_one_would_type_them(text: str, typed: str, tmp_path: Path) -> None:
    pairs = BytePairs.read(layouts.write_merges(tmp_path / "m.gz"))
    assert pairs.ids(text) == pairs.ids(typed)


def test_each_numeral_is_a_word(tmp_path: Path) -> None:
    pairs = BytePairs.read(layouts.write_merges(tmp_path / "m.gz"))
    assert pairs.visible("2\u00bdx\u00b2") == "2</w> \u00c2 \u00bd</w> x</w> \u00c2 \u00b2</w>"


@pytest.fixture(scope="module")
def both_byte_pairs(tmp_path_factory: pytest.TempPathFactory):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pairs = BytePairs.read(layouts.write_merges(tmp_path_factory.mktemp("bpe") / "m.gz"))
    vocabulary = {piece: k for k, piece in enumerate(pairs._pieces)}
    return pairs, transformers.CLIPTokenizer(vocab=vocabulary, merges=list(layouts.MERGES))


@given(st.text(st.sampled_from("walkleftingTH .,'!-_sdmé人0129\n"), max_size=40))
def test_byte_pairs_equal_the_librarys(both_byte_pairs, text: str) -> None:
    pairs, theirs = both_byte_pairs
    assert pairs.ids(text) == theirs(text)["input_ids"]


def test_broken_merges_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("not gzip")
    with pytest.raises(InputError, match="CLIP's merges in gzip"):
        BytePairs.read(tmp_path / "plain.txt")


def write_given(folder: Path, width: int = 20) -> Path:
    rng = np.random.default_rng(0)
    np.save(folder / "bert.npy", rng.normal(size=(7, width)).astype(np.float32))
    np.save(folder / "bert_slice.npy", np.array([[0, 3], [3, 7]]))
    (folder / "bert_index.json").write_text(json.dumps({"a person": 1, "sits": 0}))
    return folder / "bert.npy"


def test_given_vectors_are_those_of_the_slice(tmp_path: Path) -> None:
    file = write_given(tmp_path)
    found = GivenVectors(file).rows(["a person", "sits"])
    every = np.load(file)
    np.testing.assert_array_equal(found[0], every[3:7])
    np.testing.assert_array_equal(found[1], every[:3])


def test_captions_without_given_vectors_are_made_or_refused(tmp_path: Path) -> None:
    file = write_given(tmp_path)
    with pytest.raises(InputError, match=r"1 of 2 captions have no vectors, such as 'jump'"):
        GivenVectors(file).rows(["sits", "jump"])
    bert = layouts.write_bert(tmp_path / "bert")
    mixed = open_vectors(file, bert)
    alone = DistilBertVectors(bert)
    found = mixed.rows(["jump", "sits", "a man jump"])
    np.testing.assert_allclose(found[0], alone.rows(["jump"])[0], atol=1e-5)
    np.testing.assert_array_equal(found[1], np.load(file)[:3])
    assert found[2].shape == (5, 20)
    assert mixed.fingerprint.endswith(alone.fingerprint)


def test_given_vectors_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    file = write_given(tmp_path)
    with pytest.raises(InputError, match="expected vectors of width 64, got 20"):
        open_vectors(file, layouts.write_bert(tmp_path / "bert", 64))
    np.save(tmp_path / "bert_slice.npy", np.array([[0, 3], [3, 8]]))
    with pytest.raises(InputError, match="a span leaves the 7 tokens"):
        GivenVectors(file)
    (tmp_path / "bert_index.json").write_text("{}")
    with pytest.raises(InputError, match="one place a text"):
        GivenVectors(file)
    with pytest.raises(InputError, match="give DistilBERT's folder"):
        open_vectors(None, None)


def test_distilbert_equals_a_plain_forward_pass_and_the_librarys(tmp_path: Path) -> None:
    folder = layouts.write_bert(tmp_path / "bert", 64)
    texts = ["a person walks and then sit", "jump", "the left hand raise"]
    found = DistilBertVectors(folder).rows(texts)
    state = torch.load(folder / "pytorch_model.bin")
    bare = {
        k.removeprefix("distilbert."): v for k, v in state.items() if k.startswith("distilbert.")
    }
    p = reference.plain(bare)
    for text, rows in zip(texts, found, strict=True):
        expected = reference.distilbert(p, pieces().ids(text), 1)
        np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-4)
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.DistilBertConfig(
        vocab_size=len(layouts.PIECES), dim=64, hidden_dim=28, n_layers=2, n_heads=1,
        max_position_embeddings=140,
    )  # fmt: skip
    theirs = transformers.DistilBertModel(config).eval()
    theirs.load_state_dict(bare)
    for text, rows in zip(texts, found, strict=True):
        with torch.no_grad():
            out = theirs(input_ids=torch.tensor([pieces().ids(text)])).last_hidden_state[0]
        np.testing.assert_allclose(rows, out.numpy(), rtol=0, atol=1e-5)


def test_t5_vectors_equal_the_librarys_and_are_cut_at_120_tokens(tmp_path: Path) -> None:
    from evaluators.text.vectors import T5Vectors
    from tests.evaluators.test_m2t import write_t5

    tokenizer, model = write_t5(tmp_path / "t5", [], 40)
    vectors = T5Vectors(tmp_path / "t5")
    texts = ["a person walks", "sits", "a person " * 100]
    for text, rows in zip(texts, vectors.rows(texts), strict=True):
        ids = torch.tensor([tokenizer(text, truncation=True, max_length=120)["input_ids"]])
        with torch.no_grad():
            expected = model.encoder(input_ids=ids).last_hidden_state[0].numpy()
        np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-5)
    assert len(vectors.rows(texts)[2]) == 120
    assert vectors.visible("a person " * 100) == vectors.visible("a person " * 101)
