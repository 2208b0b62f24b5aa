"""MoBERT (Voas et al. 2023): a cross-encoder that scores a caption with a motion in one pass.

Its second score, faithfulness, is a support vector regression on top. It is released as a pickled
scikit-learn object, which is never loaded here: see ``evaluators.regression``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.motion_input import body_features
from evaluators.regression import Regression, read_regression
from evaluators.vectors import device_of
from evaluators.weights import Weights

if TYPE_CHECKING:
    from corpus.motion import Motion
    from evaluators.models import ModelFiles

NAME = "MoBERT"
SHORTEST, LONGEST = 40, 200
"""Frames at 20 fps of a motion; a longer one is cut at its end."""
CHUNK, STRIDE = 14, 10
"""Frames of a chunk, and frames from one to the next."""
CHUNKS_ALIGNMENT, CHUNKS_RATING = 21, 15
"""Places for chunks: in its training, and in its rating scripts."""
BATCH = 64
"""Pairs scored together (ours)."""
Rating = Literal["alignment", "faithfulness"]
"""The score of its head, a logit, or the regression's on top."""


class Mobert:
    """A cross-encoder of MoBERT's kind."""

    name = NAME

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        tokenizer: Any,
        *,
        rating: Rating = "alignment",
        regression: Regression | None = None,
        chunks: int | None = None,
        svr_input: Literal["official", "fit"] = "official",
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the network.

        Args:
            weights: ``model_state_dict`` of ``best_Faithfulness_checkpoint.pth``.
            mean: (263,) of ``T2MEval_263_dataset/Mean.npy``.
            std: (263,), as ``mean``.
            tokenizer: Its byte pairs, a ``tokenizers.Tokenizer``.
            rating: Which score.
            regression: Needed for faithfulness.
            chunks: Places for chunks; by default 21, for faithfulness 15.
            svr_input: What the regression gets as the alignment: the logit, as its rating script
                gives it, or the probability, as it was fitted.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, statistics of another width, no
                regression for faithfulness, a vocabulary larger than the model's.
        """
        from evaluators.networks.mobert import ASSUMED, mobert

        weights.require(NAME)
        self._device = device_of(device)
        network, self.unused = mobert(weights)
        width = weights.shape("frame_encoder.0.weight", 2)[1]
        for what, array in (("mean", mean), ("std", std)):
            if array.shape != (width,):
                raise InputError(f"{what}: expected shape ({width},), got {array.shape}")
        if (std <= 0).any():
            raise InputError(f"std: expected numbers above 0, got {std.min():g}")
        if rating == "faithfulness" and regression is None:
            raise InputError("faithfulness needs the regression (--file svr=FILE.npz)")
        inputs = 1 + 3 * network.word_embs.embedding_dim
        if regression is not None and regression.vectors.shape[1] != inputs:
            raise InputError(
                f"svr: expected support vectors of width {inputs}, "
                f"got {regression.vectors.shape[1]}"
            )
        if tokenizer.get_vocab_size() > network.word_embs.num_embeddings:
            raise InputError(
                f"tokenizer: the model has {network.word_embs.num_embeddings} tokens, the file "
                f"{tokenizer.get_vocab_size()}"
            )
        self._network = network.to(self._device)
        self._mean, self._std = mean, std
        self._tokenizer = tokenizer
        self._marks = {
            name: _mark(tokenizer, name) for name in ("[CLS]", "[SOT]", "[MOT]", "[PAD]")
        }
        self._rating, self._regression, self._svr_input = rating, regression, svr_input
        self._chunks = chunks or (CHUNKS_RATING if rating == "faithfulness" else CHUNKS_ALIGNMENT)
        self._words = network.pos_embs.num_embeddings - 3 - self._chunks
        if self._words < 1:
            raise InputError(f"chunks: no place is left for words with {self._chunks} chunks")
        self.native_metric = (
            "alignment, logit" if rating == "alignment" else "faithfulness, regression"
        )
        self.notes = (f"places for chunks: {self._chunks}", *(f"assumed: {a}" for a in ASSUMED))
        """What decided the numbers beside the weights."""
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str], motions: Sequence[Motion]) -> NDArray[np.float32]:
        """Return (N,) for N aligned pairs; a motion that comes often is read once.

        Raises:
            InputError: A skeleton without these joints, or fewer than 40 frames at 20 fps.
            ValueError: Texts and motions are not equally many.
        """
        if len(texts) != len(motions):
            raise ValueError(f"expected as many texts as motions, got {len(texts)}, {len(motions)}")
        places: dict[int, int] = {}
        features: list[NDArray[np.float32]] = []
        which = []
        for motion in motions:
            if id(motion) not in places:
                places[id(motion)] = len(features)
                features.append(body_features(motion))
            which.append(places[id(motion)])
        names = [motions[which.index(k)].source for k in range(len(features))]
        return self.score_features(texts, features, which, names)

    def score_features(
        self,
        texts: Sequence[str],
        features: Sequence[NDArray[Any]],
        which: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> NDArray[np.float32]:
        """Return (N,) of captions with clips given as (T, 263) features, not normalised.

        Args:
            texts: N captions.
            features: Clips.
            which: Clip of each caption; by default they are aligned.
            names: Names of the clips, for messages.

        Raises:
            InputError: Another width, or fewer than 40 frames.
        """
        import torch

        for place, clip in enumerate(features):
            if clip.ndim != 2 or clip.shape[1] != len(self._mean) or len(clip) < SHORTEST:
                raise InputError(
                    f"expected features of shape (T, {len(self._mean)}) with T >= {SHORTEST}, "
                    f"got {clip.shape}",
                    file=(names[place] if names else "") or f"motion {place}",
                )
        chosen = list(which) if which is not None else list(range(len(features)))
        found = np.zeros(len(texts), dtype=np.float32)
        with torch.inference_mode():
            read = [self._network.chunks(self._cut(clip)) for clip in features]
            ids = [self._ids(text) for text in texts]
            for start in range(0, len(texts), BATCH):
                batch = range(start, min(start + BATCH, len(texts)))
                found[start : start + len(batch)] = self._pass(
                    [ids[k] for k in batch], [read[chosen[k]] for k in batch]
                )
        return found

    def visible(self, text: str) -> str:
        """Return the tokens that are read of a caption."""
        return " ".join(str(self._tokenizer.id_to_token(k)) for k in self._ids(text))

    def _ids(self, text: str) -> list[int]:
        # Half of a surrogate pair is no text to the library.
        plain = text.encode(errors="replace").decode()
        found = self._tokenizer.encode(plain, add_special_tokens=False).ids
        return [int(k) for k in found[: self._words]]

    def _cut(self, clip: NDArray[Any]) -> Any:
        """Return (K, 14, F) chunks; a chunk that would end with the clip is left out."""
        import torch

        normal = ((clip[:LONGEST] - self._mean) / self._std).astype(np.float32)
        starts = [s for s in range(0, len(normal), STRIDE) if s + CHUNK < len(normal)]
        chunks = np.stack([normal[s : s + CHUNK] for s in starts[: self._chunks]])
        return torch.from_numpy(chunks).to(self._device)

    def _pass(self, ids: list[list[int]], chunks: list[Any]) -> NDArray[np.float64]:
        import torch

        from evaluators.networks.mobert import MARK, MOTIONS, WORDS

        length = 3 + self._words + self._chunks
        motion_from = 3 + self._words
        words = torch.full((len(ids), length), self._marks["[PAD]"], dtype=torch.long)
        words[:, 0], words[:, 1] = self._marks["[CLS]"], self._marks["[SOT]"]
        words[:, motion_from - 1] = self._marks["[MOT]"]
        segments = torch.full_like(words, WORDS)
        segments[:, 0] = MARK
        segments[:, motion_from - 1 :] = MOTIONS
        mask = torch.zeros(words.shape, dtype=torch.bool)
        at = mask.clone()
        mask[:, [0, 1, motion_from - 1]] = True
        for place, (row, each) in enumerate(zip(ids, chunks, strict=True)):
            words[place, 2 : 2 + len(row)] = torch.tensor(row, dtype=torch.long)
            mask[place, 2 : 2 + len(row)] = True
            at[place, motion_from : motion_from + len(each)] = True
        mask |= at
        device = self._device
        logits, states = self._network(
            words.to(device),
            segments.to(device),
            torch.cat(chunks),
            at.to(device),
            mask.to(device),
        )
        if self._rating == "alignment" or self._regression is None:
            return np.asarray(logits.double().cpu())
        alignment = logits if self._svr_input == "official" else logits.sigmoid()
        hidden = states.masked_fill(~mask.to(device)[..., None], float("-inf"))
        rows = torch.cat(
            (
                alignment[:, None],
                states[:, 0],
                hidden[:, 1 : motion_from - 1].amax(dim=1),
                hidden[:, motion_from - 1 :].amax(dim=1),
            ),
            dim=1,
        )
        return self._regression.predict(rows.cpu().numpy()) / 4.0


def open_model(files: ModelFiles) -> Mobert:
    """Open the released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be, or tokenizers is not installed.
    """
    rating: Rating = (
        "faithfulness"
        if files.choice("rating", "alignment", "faithfulness") == "faithfulness"
        else "alignment"
    )
    fit = files.choice("svr_input", "official", "fit") == "fit"
    default = CHUNKS_RATING if rating == "faithfulness" else CHUNKS_ALIGNMENT
    chunks = files.number("chunks", default)
    svr = files.get("svr")
    return Mobert(
        read_weights(files["checkpoint"], trust=files.trust),
        read_array(files["mean"]),
        read_array(files["std"]),
        _tokenizer(files["tokenizer"]),
        rating=rating,
        regression=None if svr is None else read_regression(svr),
        chunks=chunks,
        svr_input="fit" if fit else "official",
        device=files.device,
        fingerprint=fingerprint(
            files.hashed("checkpoint", "mean", "std", "tokenizer", "svr"),
            {"rating": rating, "chunks": chunks, "svr_input": "fit" if fit else "official"},
        ),
    )


def _tokenizer(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise InputError(
            "the library tokenizers is not installed: pip install motionjury[scorers]"
        ) from error
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    # The library raises plain Exception for a file that is not its own.
    except Exception as error:
        why = " ".join(str(error).split())[:120]
        raise InputError(
            f"expected a tokenizer of the library tokenizers: {why}", file=str(path)
        ) from error
    # Cutting and filling is done here, whatever was last asked of the saved one.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _mark(tokenizer: Any, name: str) -> int:
    found = tokenizer.token_to_id(name)
    if found is None:
        raise InputError(f"the tokenizer has no {name}")
    return int(found)
