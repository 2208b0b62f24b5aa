"""A model as a source of scores; the vectors it computed are kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.cache import VectorCache, Vectors
from evaluators.protocol import (
    EmbeddingModel,
    FidEmbedding,
    LikelihoodModel,
    PairScorer,
    Scorer,
    SeesText,
)
from evaluators.source import MotionLibrary, Text

Progress = Callable[[int, int], None]
"""Called with how many are done and out of how many."""

_BLOCK = 128
_Embed = Callable[[Sequence[Motion]], Vectors]


class ModelScores:
    """Scores of a model; what it computed is kept under its fingerprint."""

    resolution = 4 * float(np.finfo(np.float32).eps)

    def __init__(
        self,
        model: Scorer,
        motions: MotionLibrary,
        cache: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Open the cache.

        Args:
            model: Any model that gives a number for a text with a motion.
            motions: Where its motions come from.
            cache: Folder of kept vectors; None keeps them in memory only.
            progress: Told how many motions or pairs are done.
        """
        self.name, self.native_metric = model.name, model.native_metric
        self.fingerprint = model.fingerprint
        self._model, self._motions, self._progress = model, motions, progress
        folder = None if cache is None else cache / model.fingerprint[:32]
        self._kept = {
            kind: VectorCache(None if folder is None else folder / kind)
            for kind in ("texts", "motions", "fid", "pairs")
        }
        self._refused: dict[str, str] = {}

    def visible(self, text: str) -> str | None:
        """Return what the model sees of a text; None where it cannot tell."""
        return self._model.visible(text) if isinstance(self._model, SeesText) else None

    def refused(self, motion_ids: Iterable[str]) -> dict[str, str]:
        """Return why motions cannot be scored; a dual encoder embeds them to find out."""
        wanted = list(dict.fromkeys(motion_ids))
        if isinstance(self._model, EmbeddingModel):
            self._embed_motions(self._model.embed_motions, wanted)
        return {name: self._refused[name] for name in wanted if name in self._refused}

    def pairs(self, texts: Sequence[Text], motion_ids: Sequence[str]) -> NDArray[np.float64]:
        """Return (N,) scores of N aligned pairs; NaN where the motion was refused."""
        if len(texts) != len(motion_ids):
            raise ValueError(
                f"expected as many texts as motions, got {len(texts)}, {len(motion_ids)}"
            )
        if isinstance(self._model, EmbeddingModel):
            return self._embedded_pairs(texts, motion_ids)
        return self._scored_pairs(self._model, texts, motion_ids)

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) vectors of a dual encoder's texts.

        Two texts that the model sees as one get the same vector, so that rounding in batches of
        unequal width does not tell them apart.

        Raises:
            InputError: The model is no dual encoder.
        """
        model = self._dual()
        seen = [text if (v := self.visible(text)) is None else v for text in texts]
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in seen]
        new = {k: t for k, t in zip(keys, texts, strict=True) if k not in self._kept["texts"]}
        if new:
            vectors = model.embed_texts(list(new.values()))
            self._kept["texts"].add(list(new), self._checked(vectors, len(new), "embed_texts"))
        return self._kept["texts"].take(keys)

    def embed_motions(self, motion_ids: Sequence[str]) -> Vectors:
        """Return (N, D) vectors of a dual encoder's motions, NaN for refused ones.

        Raises:
            InputError: The model is no dual encoder.
        """
        self._embed_motions(self._dual().embed_motions, list(dict.fromkeys(motion_ids)))
        return self._taken(motion_ids, "motions")

    def embed_motions_for_fid(self, motion_ids: Sequence[str]) -> Vectors | None:
        """Return (N, E) that FID is taken on, NaN for refused motions.

        None where the model has none of its own, so that FID uses ``embed_motions``.
        """
        if not isinstance(self._model, FidEmbedding):
            return None
        wanted = list(dict.fromkeys(motion_ids))
        self._embed_motions(self._model.embed_motions_for_fid, wanted, "fid")
        return self._taken(motion_ids, "fid")

    def similarity(self, texts: Vectors, motions: Vectors) -> Vectors:
        """Return the (N, M) scores a dual encoder gives to its vectors, finite.

        Raises:
            InputError: The model is no dual encoder, or returns another shape, NaN or infinity.
        """
        model = self._dual()
        if texts.shape[1] != motions.shape[1]:
            raise InputError(
                f"{self.name}: expected texts and motions of one width, got {texts.shape[1]} "
                f"and {motions.shape[1]}"
            )
        scores = self._numbers(model.similarity(texts, motions), "similarity")
        if scores.shape != (len(texts), len(motions)):
            raise InputError(
                f"{self.name}: similarity returned shape {scores.shape} for {len(texts)} texts "
                f"and {len(motions)} motions"
            )
        return self._checked(scores, len(texts), "similarity")

    def _checked(self, vectors: Vectors, count: int, method: str) -> Vectors:
        """Refuse what a model must not return; models may be the user's own."""
        data = self._numbers(vectors, method)
        if data.ndim != 2 or len(data) != count:
            raise InputError(
                f"{self.name}: {method} returned shape {data.shape} for {count} inputs"
            )
        bad = int((~np.isfinite(data)).any(axis=1).sum())
        if bad:
            raise InputError(
                f"{self.name}: {method} returned NaN or infinity for {bad} of {count} inputs"
            )
        return data

    def _numbers(self, returned: object, method: str) -> Vectors:
        try:
            return np.asarray(returned, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: {method} returned {type(returned).__name__}, expected numbers: "
                f"{error}"
            ) from error

    def _dual(self) -> EmbeddingModel:
        if not isinstance(self._model, EmbeddingModel):
            raise InputError(f"{self.name}: scores pairs, it has no embeddings")
        return self._model

    def _taken(self, motion_ids: Sequence[str], kind: str) -> Vectors:
        """Return the kept vectors, NaN for refused motions."""
        usable = [name for name in motion_ids if name not in self._refused]
        vectors = self._kept[kind].take([self._motions.content_hash(n) for n in usable])
        found = np.full((len(motion_ids), vectors.shape[1]), np.nan, dtype=np.float32)
        found[[name not in self._refused for name in motion_ids]] = vectors
        return found

    def _embed_motions(
        self, embed: _Embed, motion_ids: Sequence[str], kind: str = "motions"
    ) -> None:
        new = [
            name
            for name in motion_ids
            if name not in self._refused
            and self._motions.content_hash(name) not in self._kept[kind]
        ]
        for start in range(0, len(new), _BLOCK):
            read = self._read(new[start : start + _BLOCK])
            if read:
                by_hash = {self._motions.content_hash(name): m for name, m in read.items()}
                names: dict[str, list[str]] = {}
                for name in read:
                    names.setdefault(self._motions.content_hash(name), []).append(name)
                self._keep_motions(embed, by_hash, names, kind)
            if self._progress is not None:
                self._progress(min(start + _BLOCK, len(new)), len(new))

    def _keep_motions(
        self, embed: _Embed, motions: dict[str, Motion], names: dict[str, list[str]], kind: str
    ) -> None:
        try:
            vectors = embed(list(motions.values()))
        except InputError as error:
            if len(motions) == 1:
                for name in next(iter(names.values())):
                    self._refused[name] = error.problem.reason
                return
            for key, motion in motions.items():
                self._keep_motions(embed, {key: motion}, {key: names[key]}, kind)
            return
        method = "embed_motions" if kind == "motions" else "embed_motions_for_fid"
        vectors = self._checked(vectors, len(motions), method)
        self._kept[kind].add(list(motions), vectors)

    def _read(self, motion_ids: Iterable[str]) -> dict[str, Motion]:
        read = {}
        for name in motion_ids:
            try:
                read[name] = self._motions.load(name)
            except InputError as error:
                self._refused[name] = error.problem.reason
        return read

    def _embedded_pairs(
        self, texts: Sequence[Text], motion_ids: Sequence[str]
    ) -> NDArray[np.float64]:
        places = {name: k for k, name in enumerate(dict.fromkeys(motion_ids))}
        motions = self.embed_motions(list(places))
        words = {text: k for k, text in enumerate(dict.fromkeys(t.text for t in texts))}
        vectors = self.embed_texts(list(words))
        row = np.array([words[t.text] for t in texts], dtype=np.int64)
        column = np.array([places[name] for name in motion_ids], dtype=np.int64)
        found = np.full(len(texts), np.nan)
        usable = np.asarray(np.isfinite(motions).all(axis=1))
        order = np.argsort(row, kind="stable")
        for start in range(0, len(words), _BLOCK):
            low, high = np.searchsorted(row[order], [start, start + _BLOCK])
            pairs = order[low:high]
            pairs = pairs[usable[column[pairs]]]
            if not pairs.size:
                continue
            here, inverse = np.unique(column[pairs], return_inverse=True)
            block = self.similarity(vectors[start : start + _BLOCK], motions[here])
            found[pairs] = block[row[pairs] - start, inverse]
        return found

    def _scored_pairs(
        self,
        model: PairScorer | LikelihoodModel,
        texts: Sequence[Text],
        motion_ids: Sequence[str],
    ) -> NDArray[np.float64]:
        score = model.log_likelihood if isinstance(model, LikelihoodModel) else model.score
        pairs: dict[str, tuple[str, str]] = {}
        keys: list[str] = []
        for text, name in zip(texts, motion_ids, strict=True):
            seen = text.text if (v := self.visible(text.text)) is None else v
            content = f"{self._motions.content_hash(name)}\n{seen}"
            keys.append(hashlib.sha256(content.encode()).hexdigest())
            pairs.setdefault(keys[-1], (text.text, name))
        new = [key for key in pairs if key not in self._kept["pairs"]]
        # Pairs of one motion stand together, so that each motion is read once.
        new.sort(key=lambda key: pairs[key][1])
        for start in range(0, len(new), _BLOCK):
            block = new[start : start + _BLOCK]
            read = self._read(dict.fromkeys(pairs[key][1] for key in block))
            self._keep_pairs(score, [(k, *pairs[k]) for k in block if pairs[k][1] in read], read)
            if self._progress is not None:
                self._progress(min(start + _BLOCK, len(new)), len(new))
        found = np.full(len(keys), np.nan)
        known = np.array([key in self._kept["pairs"] for key in keys], dtype=bool)
        if known.any():
            taken = self._kept["pairs"].take(
                [k for k, is_in in zip(keys, known, strict=True) if is_in]
            )
            found[known] = taken[:, 0]
        return found

    def _keep_pairs(
        self,
        score: Callable[[Sequence[str], Sequence[Motion]], Vectors],
        block: Sequence[tuple[str, str, str]],
        motions: dict[str, Motion],
    ) -> None:
        if not block:
            return
        try:
            scores = score([text for _, text, _ in block], [motions[name] for _, _, name in block])
        except InputError as error:
            if len({name for _, _, name in block}) == 1:
                self._refused[block[0][2]] = error.problem.reason
                return
            for name in dict.fromkeys(name for _, _, name in block):
                self._keep_pairs(score, [entry for entry in block if entry[2] == name], motions)
            return
        column = self._numbers(scores, "score")
        if column.shape not in ((len(block),), (len(block), 1)):
            raise InputError(
                f"{self.name}: score returned shape {column.shape} for {len(block)} inputs"
            )
        column = self._checked(column.reshape(-1, 1), len(block), "score")
        self._kept["pairs"].add([key for key, _, _ in block], column)
