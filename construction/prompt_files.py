"""The prompt files of the drafts, ours or one's own: which there are and what each is given."""

from __future__ import annotations

from pathlib import Path

from corpus.problems import InputError
from llm.prompts import Prompt, load_prompt

FOLDER = Path(__file__).parent / "prompts"
"""Our own prompt files, a folder for each benchmark."""

_DRAFT = ("axis", "labels", "caption", "duration", "failures")
_REVIEW = ("axis", "labels", "caption", "duration", "draft")

VARIABLES: dict[str, tuple[str, ...]] = {
    "stride.temporal": ("caption",),
    "stride.action_check": ("caption_a", "caption_b"),
    "t2mbench.expand": (
        "category", "about", "length", "fewest", "most", "digits", "seeds", "count", "mistakes",
    ),
    "t2mbench.refine": ("text", "fewest", "most"),
    "t2mbench.target": ("text", "category", "joints"),
    "nextmotionqa.t1": _DRAFT,
    "nextmotionqa.t2": _DRAFT,
    "nextmotionqa.t3": _DRAFT,
    "nextmotionqa.review_t1": _REVIEW,
    "nextmotionqa.review_t2": _REVIEW,
    "nextmotionqa.review_t3": _REVIEW,
    "mrbench.score": ("caption",),
    "mrbench.classify": ("caption", "categories"),
    "mrbench.verify": ("caption", "frames", "fps"),
    "mrbench.rewrite": ("caption", "rationale", "frames", "fps"),
}  # fmt: skip
"""Variables each prompt file is given, by benchmark and file name without ending."""


class PromptFiles:
    """Prompt files by name; one's own take the place of ours."""

    def __init__(self, own: Path | None = None) -> None:
        """Keep the folder; nothing is read yet.

        Args:
            own: Folder with prompt files of one's own, ``temporal.md`` and the like; a file that
                is not there is ours.
        """
        self.own = own
        self._read: dict[str, Prompt] = {}

    def load(self, name: str) -> Prompt:
        """Return a prompt; each file is read once.

        Args:
            name: Key of ``VARIABLES``.

        Raises:
            InputError: It cannot be read, or wants a variable it is not given.
        """
        if name not in self._read:
            benchmark, _, stem = name.partition(".")
            own = None if self.own is None else self.own / f"{stem}.md"
            path = own if own is not None and own.exists() else FOLDER / benchmark / f"{stem}.md"
            self._read[name] = load_prompt(path, VARIABLES[name])
        return self._read[name]

    def check(self, benchmark: str) -> None:
        """Read the files of one's own for a benchmark, so that a faulty one is told at once.

        Raises:
            InputError: No such folder, none of this benchmark's files in it, or as ``load``.
        """
        if self.own is None:
            return
        if not self.own.is_dir():
            raise InputError("expected a folder of prompt files", file=str(self.own))
        stems = [name.partition(".")[2] for name in VARIABLES if name.startswith(f"{benchmark}.")]
        found = [stem for stem in stems if (self.own / f"{stem}.md").exists()]
        if not found:
            known = ", ".join(f"{stem}.md" for stem in stems)
            raise InputError(f"expected some of {known}, found none", file=str(self.own))
        for stem in found:
            self.load(f"{benchmark}.{stem}")
