"""What a released model is and which of the user's files it is opened from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from benchmarks.items import Frozen
from corpus.problems import InputError

Kind = Literal["embedding", "pair", "likelihood", "forced choice"]
"""Which protocol of ``evaluators.protocol`` a model follows."""


class Need(Frozen):
    """One file or folder a model is opened from."""

    key: str
    """Its name for ``--file KEY=PATH``."""
    what: str
    """What it is."""
    places: tuple[str, ...] = ()
    """Where the official release keeps it, below the folder given; a pattern may be used."""
    required: bool = True
    """Whether the model cannot do without."""


class Published(Frozen):
    """A published figure the model must come near to."""

    metric: str
    """Key of the self-check's result, e.g. ``R@1``."""
    value: float
    """The figure, in percent."""
    within: float
    """Largest difference that counts as reproduced, percentage points (ours)."""
    source: str
    """Where it stands."""


class ModelSpec(Frozen):
    """A released model."""

    name: str
    """Key in the registry and on the command line."""
    title: str
    """Name in tables."""
    kind: Kind
    """Its protocol."""
    native_metric: str
    """The number it was published with."""
    licence: str
    """Licence of weights and code as their makers state it."""
    release: str
    """Repository of the release."""
    needs: tuple[Need, ...]
    """What it is opened from."""
    either: tuple[tuple[str, ...], ...] = ()
    """Keys of needs of which one of each row must be there."""
    options: dict[str, str] = {}
    """Options by name, each with what it takes and its default."""
    published: Published | None = None
    """The figure ``score selfcheck`` compares with; null where none is known to us."""
    assumed: tuple[str, ...] = ()
    """What we could not read anywhere and had to assume; printed by the self-check."""
    opener: Callable[[ModelFiles], Any]
    """Opens the model."""


class ModelFiles:
    """The user's files for one model: found in the official layout below a folder, or named."""

    def __init__(
        self,
        spec: ModelSpec,
        root: Path | None = None,
        given: Mapping[str, Path] | None = None,
        options: Mapping[str, str] | None = None,
        *,
        trust: bool = False,
        device: str = "auto",
    ) -> None:
        """Look for the files.

        Args:
            spec: The model.
            root: Folder in the layout of the official release.
            given: Files by key, before those below ``root``.
            options: Options by name.
            trust: Whether Python objects in checkpoints may be loaded.
            device: As ``evaluators.vectors.device_of``.

        Raises:
            InputError: A key or option the model does not have, or a named file that is not there.
        """
        self._spec = spec
        self.root = root
        self.trust = trust
        self.device = device
        self._options = dict(options or {})
        keys = [need.key for need in spec.needs]
        for name in given or {}:
            if name not in keys:
                raise InputError(f"--file: {spec.name} takes {', '.join(keys)}, got {name}")
        for name in self._options:
            if name not in spec.options:
                known = ", ".join(spec.options) or "none"
                raise InputError(f"--option: {spec.name} takes {known}, got {name}")
        self._named = frozenset(given or {})
        self._found: dict[str, Path] = {}
        for need in spec.needs:
            path = (given or {}).get(need.key) or _below(root, need.places)
            if path is None:
                continue
            if not path.exists():
                raise InputError(f"--file {need.key}: it is not there", file=str(path))
            self._found[need.key] = path

    def __getitem__(self, key: str) -> Path:
        """Return a file.

        Raises:
            InputError: It was not found; the message says where it is expected.
        """
        if key not in self._found:
            need = next(need for need in self._spec.needs if need.key == key)
            raise InputError(f"{self._spec.title} needs {self.sought(need)}")
        return self._found[key]

    def named(self, key: str) -> bool:
        """Return whether the user named this file, rather than the folder it lies in."""
        return key in self._named

    def get(self, key: str) -> Path | None:
        """Return a file, or None where it was not found."""
        return self._found.get(key)

    def option(self, name: str) -> str | None:
        """Return an option, or None where it was not given."""
        return self._options.get(name)

    def choice(self, name: str, *allowed: str) -> str:
        """Return an option that takes one of a few words; the first is the default.

        Raises:
            InputError: Another word.
        """
        found = self._options.get(name, allowed[0])
        if found not in allowed:
            raise InputError(f"--option {name}: expected one of {', '.join(allowed)}, got {found}")
        return found

    def number(self, name: str, default: int) -> int:
        """Return an option that is a whole number above 0.

        Raises:
            InputError: It is not.
        """
        found = self._options.get(name, str(default))
        if not found.isdigit() or int(found) < 1:
            raise InputError(f"--option {name}: expected a whole number above 0, got {found!r}")
        return int(found)

    def hashed(self, *keys: str) -> dict[str, Path]:
        """Return those of the named files that were found, for ``fingerprint``."""
        return {key: self._found[key] for key in keys if key in self._found}

    def missing(self) -> list[str]:
        """Return in words what the model cannot do without and was not found."""
        needs = {need.key: need for need in self._spec.needs}
        absent = [
            self.sought(need)
            for need in needs.values()
            if need.required and need.key not in self._found
        ]
        for row in self._spec.either:
            if not any(key in self._found for key in row):
                absent.append(", or ".join(self.sought(needs[key]) for key in row))
        return absent

    def sought(self, need: Need) -> str:
        """Return in words what is sought and where."""
        places = " or ".join(need.places[:2])
        below = f", in the official release {places}" if places else ""
        return f"{need.what} (--file {need.key}=PATH{below})"


def _below(root: Path | None, places: tuple[str, ...]) -> Path | None:
    if root is None:
        return None
    for place in places:
        for path in sorted(root.glob(place)):
            return path
    return None
