"""Texts as vectors of unit length: TF-IDF, a local sentence encoder, or an endpoint's embeddings.

A cosine says little about sides: sentence encoders put "raise the left hand" and "raise the right
hand" at .97. Whoever takes near for same must look at sides and directions besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corpus.problems import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from llm.budget import Budget
    from llm.settings import LlmSettings

SPECS = "tfidf, sentence-transformers:FOLDER, endpoint:MODEL"
"""What an embedder can be, as ``embedder`` reads it."""

MAX_TERMS = 4096
"""Most terms TF-IDF keeps (ours): the most frequent words and pairs of words."""


class TextEmbedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine."""

    @property
    def id(self) -> str:
        """What it is and of which state, for provenance."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) rows of unit length; a text it can make nothing of is a row of zeros."""


class TfidfEmbedder:
    """Words and pairs of neighbouring words, weighed by rarity (Sparck Jones, 1972).

    Finds captions that say the same in nearly the same words; synonyms stay far apart.
    """

    def __init__(self, corpus: Sequence[str] | None = None, max_terms: int = MAX_TERMS) -> None:
        """Fit on a corpus.

        Args:
            corpus: Texts that say how rare a term is; None fits on the first texts embedded.
            max_terms: Most terms kept; the width of the rows is at most this.
        """
        self._max_terms = max_terms
        self._fitted: Any = None
        self._names = ""
        if corpus is not None:
            self._fit(corpus)

    @property
    def id(self) -> str:
        """``tfidf``, and once fitted a hash of its terms and weights."""
        return f"tfidf{self._names}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) float32 rows of unit length; rows of zeros for texts without a known term.

        Args:
            texts: Any texts.

        Returns:
            The rows; D is the number of terms kept, 0 where the corpus has none.
        """
        import numpy as np

        if self._fitted is None and not self._names:
            self._fit(texts)
        if self._fitted is None or not texts:
            width = 0 if self._fitted is None else len(self._fitted.vocabulary_)
            return np.zeros((len(texts), width), np.float32)
        dense: NDArray[np.float32] = self._fitted.transform(texts).toarray()
        return dense

    def _fit(self, corpus: Sequence[str]) -> None:
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            ngram_range=(1, 2),
            max_features=self._max_terms,
            sublinear_tf=True,
            token_pattern=r"(?u)\b\w+\b",
            dtype=np.float32,
        )
        if not any(any(sign.isalnum() for sign in text) for text in corpus):
            self._names = ":empty"
            return
        self._fitted = vectorizer.fit(corpus)
        terms = "\n".join(self._fitted.get_feature_names_out()).encode()
        weights = np.asarray(self._fitted.idf_, np.float32).tobytes()
        self._names = f":{hashlib.sha256(terms + weights).hexdigest()[:12]}"


class SentenceTransformerEmbedder:
    """A sentence encoder in a local folder; nothing is fetched."""

    def __init__(self, folder: Path) -> None:
        """Load the encoder.

        Args:
            folder: Folder with the encoder's ``modules.json`` or ``config.json`` and its weights.

        Raises:
            InputError: No such folder, no encoder in it, or the library is not installed.
        """
        if not folder.is_dir() or not any(
            (folder / name).is_file() for name in ("modules.json", "config.json")
        ):
            reason = "expected a folder with a sentence encoder (modules.json or config.json)"
            raise InputError(reason, file=str(folder))
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            reason = (
                "needs the library sentence-transformers, which is not installed; "
                "install it or take the embedding tfidf"
            )
            raise InputError(reason, file=f"sentence-transformers:{folder}") from None
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"the encoder cannot be loaded: {error}", file=str(folder)) from error
        self._id = f"sentence-transformers:{folder.name}:{_fingerprint(folder)}"

    @property
    def id(self) -> str:
        """Name of the folder and a hash of its files' names, sizes and settings."""
        return self._id

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) float32 rows of unit length; D is the encoder's own."""
        rows = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return _unit(rows)


def embedder(
    spec: str = "tfidf",
    *,
    corpus: Sequence[str] | None = None,
    settings: LlmSettings | None = None,
    cache: Path | None = None,
    budget: Budget | Callable[[], Budget] | None = None,
    tell: Callable[[str], None] | None = None,
) -> TextEmbedder:
    """Return the embedder a specification names.

    Args:
        spec: ``tfidf``, ``sentence-transformers:FOLDER`` or ``endpoint:MODEL``.
        corpus: Texts that TF-IDF is fitted on; None fits on the first texts embedded.
        settings: Endpoint of ``endpoint:MODEL``; its own model is not asked.
        cache: Folder where an endpoint's vectors are kept; None keeps none.
        budget: The most an endpoint may use, or a function that says what is left.
        tell: Told in one line when an endpoint is asked again or a run stops.

    Returns:
        The embedder.

    Raises:
        InputError: An unknown specification, or one that cannot be used here.
    """
    kind, _, name = spec.partition(":")
    if spec == "tfidf":
        return TfidfEmbedder(corpus)
    if kind == "sentence-transformers" and name:
        return SentenceTransformerEmbedder(Path(name).expanduser())
    if kind == "endpoint" and name:
        from llm.embedding_endpoint import EndpointEmbedder

        if settings is None:
            reason = "needs an endpoint; set base_url under [llm] in workspace.toml"
            raise InputError(reason, file=f"embedding {spec}")
        chosen = settings.model_copy(update={"model": name})
        return EndpointEmbedder(chosen, cache, budget=budget, tell=tell)
    raise InputError(f"expected one of {SPECS}, got {spec!r}", file="embedding")


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Scale rows to unit length; a row of zeros stays."""
    import numpy as np

    wide = np.asarray(rows, np.float32)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    return unit


def _fingerprint(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found.update(f"{path.relative_to(folder).as_posix()}:{path.stat().st_size}\n".encode())
        if path.suffix == ".json":
            found.update(path.read_bytes())
    return found.hexdigest()[:12]
