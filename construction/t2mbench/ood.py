"""Are prompts out of a corpus's distribution? Overlap of their embeddings, and a picture (3.1).

The paper embeds its 1,025 prompts and all captions of HumanML3D with MotionGPT's T5 encoder and
reports an overlap of 3.6098 % at k = 3: 37 prompts of 1,025 in the captions' k-NN manifold. Any
encoder does here; the figure belongs to the encoder, so it is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.items import Frozen
from benchmarks.t2mbench import MotionPrompt
from construction.manifold import InManifold, in_manifold, nearest
from construction.report import Figure
from construction.sampling import same_text, seeded_order
from construction.t2mbench.scatter import Group, embed_in_plane, scatter
from corpus.problems import InputError
from llm.embedding import TextEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K = 3
"""Neighbour that a ball reaches to (T2MBench 3.1)."""
MAX_CORPUS = 20_000
"""Most captions taken; more are sampled with the seed (ours: cost grows with the square)."""
PICTURED = 1500
"""Most captions in the picture, sampled with the seed (ours)."""
_LISTED = 100
_NO_GROUP = "other"


class OodCheck(Frozen):
    """Overlap of prompts and a corpus, both ways."""

    embedding: str
    """What made the vectors."""
    corpus: str
    """Name of the corpus."""
    n_captions: int
    """Different captions of the corpus."""
    n_taken: int
    """Captions taken of these."""
    prompts_in_corpus: InManifold
    """Prompts inside the captions' manifold: the paper's overlap; low is out of distribution."""
    corpus_in_prompts: InManifold
    """Captions inside the prompts' manifold."""
    by_category: list[dict[str, Any]]
    """Share of the prompts inside the captions' manifold, by category."""
    overlapping: list[dict[str, Any]]
    """Prompts inside, with the nearest caption, nearest first; the first 100."""

    def line(self) -> str:
        """Return the overlap as one line."""
        told = self.prompts_in_corpus
        if told.share is None:
            return f"overlap with {self.corpus}: undefined: {told.reason}"
        return (
            f"overlap with {self.corpus}: {100 * told.share:.4f} % ({told.inside} of "
            f"{told.n_points} prompts, k = {told.k}, {self.embedding})"
        )


class StoredEmbeddings:
    """Vectors made elsewhere, looked up by text: any encoder at all."""

    def __init__(self, path: Path) -> None:
        """Read the vectors.

        Args:
            path: NPZ with ``texts`` (N,) of strings and ``vectors`` (N, D) of finite numbers.

        Raises:
            InputError: No such file, or its arrays are not these.
        """
        import zipfile

        import numpy as np

        try:
            with np.load(path, allow_pickle=False) as arrays:
                if not {"texts", "vectors"} <= set(arrays.files):
                    names = ", ".join(sorted(arrays.files))
                    reason = f"expected the arrays texts and vectors, got {names or 'none'}"
                    raise InputError(reason, file=str(path))
                texts, vectors = arrays["texts"], arrays["vectors"]
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise InputError(reason, file=str(path)) from error
        except (ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
            # numpy takes any other file for a pickle and names its unsafe option.
            said = "not plain arrays" if "pickle" in str(error) else str(error)
            raise InputError(f"expected NPZ with plain arrays: {said}", file=str(path)) from error
        if texts.ndim != 1 or texts.dtype.kind != "U" or vectors.ndim != 2:
            reason = (
                f"expected texts (N,) of strings and vectors (N, D), got {texts.dtype} "
                f"{texts.shape} and {vectors.shape}"
            )
            raise InputError(reason, file=str(path))
        if len(texts) != len(vectors) or vectors.dtype.kind not in "fiu":
            reason = f"expected a vector of numbers for each text, got {len(texts)} texts and "
            raise InputError(f"{reason}{vectors.dtype} {vectors.shape}", file=str(path))
        if not np.isfinite(vectors).all():
            raise InputError("vectors: expected finite values", file=str(path))
        self._vectors = vectors.astype(np.float32)
        self._places = {" ".join(text.split()): at for at, text in enumerate(texts.tolist())}
        self._file = path

    @property
    def id(self) -> str:
        """Name of the file."""
        return f"npz:{self._file.name}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) rows as stored, not scaled.

        Raises:
            InputError: A text has no vector; the first one and their number are named.
        """
        places = [self._places.get(" ".join(text.split())) for text in texts]
        missing = [text for text, at in zip(texts, places, strict=True) if at is None]
        if missing:
            reason = (
                f"{len(missing)} of {len(texts)} texts have no vector, first {missing[0]!r:.80}"
            )
            raise InputError(reason, file=str(self._file))
        found: NDArray[np.float32] = self._vectors[[at for at in places if at is not None]]
        return found


def check_ood(
    prompts: Sequence[MotionPrompt],
    captions: Sequence[str],
    corpus: str,
    embedder: TextEmbedder,
    *,
    seed: int = 0,
    k: int = K,
    max_corpus: int = MAX_CORPUS,
) -> tuple[OodCheck, list[Figure]]:
    """Measure and draw how prompts and the captions of a corpus overlap.

    Args:
        prompts: The prompts.
        captions: Captions of the corpus; equal ones count once (ours: several motions share a
            caption, and copies would shrink the balls to nothing).
        corpus: Name of the corpus.
        embedder: Makes the vectors, of both sets in one call.
        seed: Seed of the samples and the picture.
        k: Neighbour that a ball reaches to.
        max_corpus: Most captions taken.

    Returns:
        The figures both ways, and a t-SNE picture where there are points enough.

    Raises:
        InputError: The embedder has no vector for a text.
        ValueError: As ``in_manifold``.
    """
    different = list({same_text(text): text for text in captions if text.strip()}.values())
    taken = sorted(different, key=lambda text: seeded_order(seed, "ood", text))[:max_corpus]
    vectors = embedder.embed([*(one.text for one in prompts), *taken])
    own, others = vectors[: len(prompts)], vectors[len(prompts) :]
    overlap, inside = in_manifold(own, others, k)
    back, _ = in_manifold(others, own, k)
    check = OodCheck(
        embedding=embedder.id,
        corpus=corpus,
        n_captions=len(different),
        n_taken=len(taken),
        prompts_in_corpus=overlap,
        corpus_in_prompts=back,
        by_category=_by_category(prompts, inside, overlap.share is not None),
        overlapping=_overlapping(prompts, taken, own, others, inside),
    )
    return check, _picture(prompts, own, others, check, seed)


def _by_category(
    prompts: Sequence[MotionPrompt], inside: NDArray[np.bool_], defined: bool
) -> list[dict[str, Any]]:
    from benchmarks.t2mbench import CATEGORIES

    groups: dict[str, list[bool]] = defaultdict(list)
    for prompt, one in zip(prompts, inside, strict=True):
        groups[prompt.category].append(bool(one))
    return [
        {
            "category": category,
            "prompts": len(found),
            "inside": sum(found) if defined else None,
            "share": round(sum(found) / len(found), 6) if defined else None,
        }
        for category, found in ((name, groups[name]) for name in _ordered(groups, CATEGORIES))
    ]


def _ordered(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return names once each in the benchmark's order, so that pages and colours compare."""
    found, first = dict.fromkeys(names), dict.fromkeys(known)
    return [
        *(name for name in first if name in found),
        *(name for name in found if name not in first),
    ]


def _overlapping(
    prompts: Sequence[MotionPrompt],
    captions: Sequence[str],
    own: NDArray[Any],
    others: NDArray[Any],
    inside: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    chosen = [at for at, one in enumerate(inside) if one]
    if not chosen:
        return []
    places, gaps = nearest(own[chosen], others)
    rows = [
        {
            "prompt_id": prompts[at].prompt_id,
            "prompt": prompts[at].text,
            "nearest_caption": captions[int(place)],
            "distance": round(float(gap), 6),
        }
        for at, place, gap in zip(chosen, places, gaps, strict=True)
    ]
    return sorted(rows, key=lambda row: (row["distance"], row["prompt_id"]))[:_LISTED]


def _picture(
    prompts: Sequence[MotionPrompt],
    own: NDArray[Any],
    others: NDArray[Any],
    check: OodCheck,
    seed: int,
) -> list[Figure]:
    from benchmarks.t2mbench import CATEGORIES

    shown = others[:PICTURED]
    plane = embed_in_plane(own, shown, seed)
    if plane is None:
        return []
    dimensions = [
        CATEGORIES[one.category].dimension if one.category in CATEGORIES else _NO_GROUP
        for one in prompts
    ]
    groups = [Group(f"{check.corpus} captions", plane[len(own) :], muted=True)]
    for name in _ordered(dimensions, [cell.dimension for cell in CATEGORIES.values()]):
        rows = [at for at, one in enumerate(dimensions) if one == name]
        groups.append(Group(name, plane[rows]))
    note = (
        f"t-SNE of {len(own)} prompts and {len(shown)} captions, {check.embedding}, seed {seed}. "
        "Nearness in the picture is no measure; the overlap is reckoned in the full space: "
        f"{check.line()}."
    )
    return [Figure(name="ood", title="Prompts and corpus", svg=scatter(groups), note=note)]
