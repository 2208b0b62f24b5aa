"""What several releases have in common: where files lie, and the figures of one table."""

from __future__ import annotations

from evaluators.models import Need, Published

META = ("checkpoints/t2m/Comp_v6_KLD01/meta", "t2m/Comp_v6_KLD01/meta", "meta")
"""Folders of the statistics saved with HumanML3D's evaluator."""
FINEST = (
    "checkpoints/t2m/text_mot_match/model/finest.tar",
    "t2m/text_mot_match/model/finest.tar",
    "finest.tar",
)
"""Places of its checkpoint, and of CLaM's."""
VQ_META = (
    "deps/t2m/t2m/VQVAEV3_CB1024_CMT_H1024_NRES3/meta",
    "checkpoints/t2m/VQVAEV3_CB1024_CMT_H1024_NRES3/meta",
    "meta",
)
"""Folders of the statistics saved with T2M-GPT's VQ-VAE."""


def statistics_of(what: str, folders: tuple[str, ...], names: str = "{0}.npy") -> tuple[Need, Need]:
    """Return the needs ``mean`` and ``std``.

    Args:
        what: Of what they are, in words.
        folders: Folders they may lie in.
        names: Name of the file; ``{0}`` is the key, ``{1}`` the key with a capital.
    """
    mean, std = (
        Need(
            key=key,
            what=f"{word} of {what}",
            places=tuple(f"{folder}/{names.format(key, key.capitalize())}" for folder in folders),
        )
        for key, word in (("mean", "the mean"), ("std", "the standard deviation"))
    )
    return mean, std


def in_mrbench(value: float) -> Published:
    """Return a figure of MRBench's table 1: R@1 in percent, HumanML3D, text to motion."""
    return Published(
        metric="full R@1",
        value=value,
        within=0.5,
        source="MRBench, table 1, HumanML3D, text to motion; identical captions all count",
    )


TMR_STATS = (
    "stats/humanml3d/guoh3dfeats",
    "../../stats/humanml3d/guoh3dfeats",
    "guoh3dfeats",
)
"""Folders of TMR's statistics: they lie in its repository."""
TMR_NEEDS = (
    Need(
        key="motion_encoder",
        what="weights of the motion encoder",
        places=("last_weights/motion_encoder.pt",),
        required=False,
    ),
    Need(
        key="text_encoder",
        what="weights of the text encoder",
        places=("last_weights/text_encoder.pt",),
        required=False,
    ),
    Need(
        key="checkpoint",
        what="the checkpoint, where there are no last_weights",
        places=("logs/checkpoints/last.ckpt",),
        required=False,
    ),
    *statistics_of("its features", TMR_STATS, "{0}.pt"),
    Need(
        key="config",
        what="the run's config.json, for the attention heads",
        places=("config.json",),
        required=False,
    ),
    Need(
        key="bert",
        what="a local folder of distilbert-base-uncased (vocab.txt and weights)",
        places=("distilbert-base-uncased",),
        required=False,
    ),
    Need(
        key="vectors",
        what="token vectors made beforehand (NAME.npy with _slice.npy and _index.json)",
        places=("token_embeddings/distilbert-base-uncased.npy",),
        required=False,
    ),
)
"""What a run of TMR's repository is opened from."""
TMR_EITHER = (
    ("motion_encoder", "checkpoint"),
    ("text_encoder", "checkpoint"),
    ("bert", "vectors"),
)
"""Rows of which TMR needs one each."""
VOCAB = Need(
    key="vocab", what="vocab.txt of distilbert-base-uncased", places=("vocab.txt", "*/vocab.txt")
)
"""The word pieces of models that hold DistilBERT's weights themselves."""
RAW_STATS = statistics_of("each joint and axis", ("data/HumanML3D", "."), "{1}_raw.npy")
"""Statistics of MotionPatches and SGAR."""
SNAPMOGEN_NEEDS = (
    Need(
        key="checkpoint",
        what="the checkpoint net_best_top1.tar",
        places=(
            "checkpoint_dir/snapmogen/evaluator/*/model/net_best_top1.tar",
            "model/net_best_top1.tar",
            "net_best_top1.tar",
        ),
    ),
    *statistics_of("its 296 features", ("data/snapmogen/meta_data", "meta_data")),
    Need(
        key="t5",
        what="a local folder of google/t5-v1_1-base",
        places=("t5-v1_1-base",),
        required=False,
    ),
    Need(
        key="vectors",
        what="token vectors made beforehand",
        places=("t5-v1_1-base.npy",),
        required=False,
    ),
    Need(
        key="features",
        what="the folder of features by content hash",
        places=("features",),
        required=False,
    ),
)
"""What SnapMoGen's evaluator is opened from."""
