"""The released models by name: what each is opened from, and what it must reproduce."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.problems import InputError
from evaluators.models import ModelFiles, ModelSpec, Need, Published
from evaluators.needs import (
    FINEST,
    META,
    RAW_STATS,
    SNAPMOGEN_NEEDS,
    TMR_EITHER,
    TMR_NEEDS,
    TMR_STATS,
    VOCAB,
    VQ_META,
    in_mrbench,
    statistics_of,
)

if TYPE_CHECKING:
    from evaluators.protocol import ForcedChoiceModel, Scorer


def _opened(module: str, function: str = "open_model") -> Any:
    """Return an opener that imports its module when it is used: torch is heavy."""

    def opener(files: ModelFiles) -> Any:
        from importlib import import_module

        return getattr(import_module(f"evaluators.{module}"), function)(files)

    return opener


MODELS: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (
        ModelSpec(
            name="humanml3d",
            title="HumanML3D evaluator",
            kind="embedding",
            native_metric="Euclidean distance, negated",
            licence="MIT",
            release="github.com/EricGuo5513/text-to-motion",
            needs=(
                Need(key="checkpoint", what="the checkpoint finest.tar", places=FINEST),
                *statistics_of("the evaluator's own features (meta)", META),
                Need(
                    key="glove",
                    what="the folder of word vectors with our_vab_data.npy, our_vab_words.pkl and "
                    "our_vab_idx.pkl",
                    places=("glove",),
                ),
                Need(
                    key="texts",
                    what="HumanML3D's texts folder or a CSV of caption,tokens",
                    places=("dataset/HumanML3D/texts", "texts"),
                    required=False,
                ),
            ),
            options={
                "spacy": "name or folder of a spaCy model; default en_core_web_sm if installed",
                "corpus": "t2m or kit; default t2m (kit takes clips from 24 frames)",
            },
            published=Published(
                metric="R@1",
                value=51.1,
                within=1.5,
                source="Guo et al. 2022, real motions, text to motion, pools of 32",
            ),
            opener=_opened("humanml3d"),
        ),
        ModelSpec(
            name="tmr",
            title="TMR",
            kind="embedding",
            native_metric="cosine",
            licence="MIT",
            release="github.com/Mathux/TMR",
            needs=TMR_NEEDS,
            either=TMR_EITHER,
            options={"heads": "attention heads; default those of config.json, else 4"},
            published=in_mrbench(8.90),
            opener=_opened("tmr"),
        ),
        ModelSpec(
            name="temos",
            title="TEMOS",
            kind="embedding",
            native_metric="cosine",
            licence="MIT",
            release="github.com/Mathux/TMR, trained with model=temos",
            needs=TMR_NEEDS,
            either=TMR_EITHER,
            options={"heads": "attention heads; default those of config.json, else 4"},
            published=in_mrbench(4.38),
            opener=_opened("temos"),
        ),
        ModelSpec(
            name="chronret",
            title="ChronRet",
            kind="embedding",
            native_metric="cosine",
            licence="Apache-2.0",
            release="github.com/line/ChronAccRet",
            needs=(
                Need(
                    key="checkpoint",
                    what="the checkpoint, of bert_neg_o2e for raw captions",
                    places=(
                        "output/bert_neg_o2e/best_model_mt.pt",
                        "bert_neg_o2e/best_model_mt.pt",
                        "best_model_mt.pt",
                    ),
                ),
                *statistics_of("TMR's features", TMR_STATS, "{0}.pt"),
                VOCAB,
            ),
            options={"heads": "attention heads of motion and text encoder; default 4"},
            opener=_opened("chronret"),
        ),
        ModelSpec(
            name="clam",
            title="CLaM",
            kind="embedding",
            native_metric="Euclidean distance, negated; or cosine",
            licence="MIT",
            release="github.com/SheldongChen/CLaM",
            needs=(
                Need(key="checkpoint", what="the checkpoint finest.tar", places=FINEST),
                *statistics_of("the evaluator's own features (meta)", META),
                Need(
                    key="bpe",
                    what="CLIP's merges bpe_simple_vocab_16e6.txt.gz",
                    places=(
                        "CLIP_CLaM/clip/bpe_simple_vocab_16e6.txt.gz",
                        "bpe_simple_vocab_16e6.txt.gz",
                    ),
                ),
            ),
            options={"metric": "euclidean or cosine; default euclidean"},
            opener=_opened("clam"),
        ),
        ModelSpec(
            name="mobert",
            title="MoBERT",
            kind="pair",
            native_metric="alignment, logit",
            licence="GPL-3.0",
            release="github.com/jvoas655/MoBERT",
            needs=(
                Need(
                    key="checkpoint",
                    what="the checkpoint best_Faithfulness_checkpoint.pth",
                    places=(
                        "checkpoints/primary_evaluator/std_bpe2000/"
                        "best_Faithfulness_checkpoint.pth",
                        "best_Faithfulness_checkpoint.pth",
                    ),
                ),
                *statistics_of(
                    "its features (T2MEval_263_dataset)", ("T2MEval_263_dataset",), "{1}.npy"
                ),
                Need(
                    key="tokenizer",
                    what="its byte pairs tokenizer.tk",
                    places=(
                        "checkpoints/primary_evaluator/std_bpe2000/tokenizer.tk",
                        "tokenizer.tk",
                    ),
                ),
                Need(
                    key="svr",
                    what="the regression as .npz, for faithfulness",
                    places=("svr.npz",),
                    required=False,
                ),
            ),
            options={
                "rating": "alignment or faithfulness; default alignment",
                "chunks": "places for chunks; default 21, for faithfulness 15",
                "svr_input": "official (the logit) or fit (the probability); default official",
            },
            assumed=(
                "SELU behind every normalisation, frames of a chunk laid one behind the other, "
                "segment rows words, motion, [CLS], and masked padding: its licence keeps us from "
                "reading its code, and its checkpoint's keys do not tell",
            ),
            opener=_opened("mobert"),
        ),
        ModelSpec(
            name="snapmogen",
            title="SnapMoGen",
            kind="embedding",
            native_metric="cosine",
            licence="Snap, non-commercial",
            release="github.com/snap-research/SnapMoGen",
            needs=SNAPMOGEN_NEEDS,
            either=(("t5", "vectors"),),
            options={"heads": "attention heads; default 4"},
            opener=_opened("snapmogen"),
        ),
        ModelSpec(
            name="motionpatches",
            title="MotionPatches",
            kind="embedding",
            native_metric="cosine",
            licence="CC BY-NC 4.0",
            release="github.com/line/MotionPatches",
            needs=(
                Need(
                    key="checkpoint",
                    what="the checkpoint best_model.pt",
                    places=(
                        "checkpoints/pretrained/HumanML3D/best_model.pt",
                        "HumanML3D/best_model.pt",
                        "best_model.pt",
                    ),
                ),
                *RAW_STATS,
                VOCAB,
            ),
            published=in_mrbench(10.80),
            opener=_opened("motionpatches"),
        ),
        ModelSpec(
            name="sgar",
            title="SGAR",
            kind="embedding",
            native_metric="cosine",
            licence="MIT by its page, CC BY-NC 4.0 in its files",
            release="github.com/JHang2020/SGAR",
            needs=(
                Need(
                    key="checkpoint",
                    what="the checkpoint best_model.pt",
                    places=("checkpoints/*/HumanML3D/best_model.pt", "best_model.pt"),
                ),
                *RAW_STATS,
                VOCAB,
            ),
            published=in_mrbench(12.86),
            opener=_opened("sgar"),
        ),
        ModelSpec(
            name="motiongpt",
            title="MotionGPT",
            kind="likelihood",
            native_metric="mean log-probability a caption token, nats",
            licence="MIT",
            release="huggingface.co/OpenMotionLab/MotionGPT-base",
            needs=(
                Need(
                    key="checkpoint",
                    what="the checkpoint motiongpt_s3_h3d.tar",
                    places=("motiongpt_s3_h3d.tar", "checkpoints/*/motiongpt_s3_h3d.tar"),
                ),
                *statistics_of("its VQ-VAE's features", VQ_META),
                Need(
                    key="t5",
                    what="a local folder of flan-t5-base (configuration and tokenizer)",
                    places=("deps/flan-t5-base", "flan-t5-base"),
                ),
            ),
            opener=_opened("m2t", "open_motiongpt"),
        ),
        ModelSpec(
            name="mg-motionllm",
            title="MG-MotionLLM",
            kind="likelihood",
            native_metric="mean log-probability a caption token, nats",
            licence="none stated",
            release="github.com/BizhuWu/MG-MotionLLM",
            needs=(
                Need(
                    key="model",
                    what="the folder of its T5",
                    places=("m2t-ft-from-GSPretrained-*",),
                ),
                Need(
                    key="vqvae",
                    what="the VQ-VAE t2m.pth",
                    places=("checkpoints/pretrained_vqvae/t2m.pth", "t2m.pth"),
                ),
                *statistics_of("its VQ-VAE's features", VQ_META),
            ),
            opener=_opened("m2t", "open_mg_motionllm"),
        ),
    )
}
"""Released models by name."""


def get_model(name: str) -> ModelSpec:
    """Return a released model's entry.

    Raises:
        InputError: No such model; the message lists those there are.
    """
    if name not in MODELS:
        raise InputError(f"model: expected one of {', '.join(MODELS)}, got {name}")
    return MODELS[name]


def open_model(
    name: str,
    root: Path | None = None,
    given: Mapping[str, Path] | None = None,
    options: Mapping[str, str] | None = None,
    *,
    trust: bool = False,
    device: str = "auto",
) -> Scorer | ForcedChoiceModel:
    """Open a released model from the user's files.

    Args:
        name: Key of ``MODELS``.
        root: Folder in the layout of the official release.
        given: Files by key, before those below ``root``.
        options: Options by name.
        trust: Whether Python objects in checkpoints may be loaded.
        device: ``auto``, ``cpu`` or a GPU as torch names it.

    Returns:
        The model, of the protocol its entry's ``kind`` names.

    Raises:
        InputError: An unknown model, key or option; files that are missing, all of them listed;
            a file that is not what it should be.
    """
    spec = get_model(name)
    files = ModelFiles(spec, root, given, options, trust=trust, device=device)
    missing = files.missing()
    if missing:
        raise InputError(f"{spec.title} needs {'; '.join(missing)}")
    opened: Scorer | ForcedChoiceModel = spec.opener(files)
    return opened
