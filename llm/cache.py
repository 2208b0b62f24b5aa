"""Answers kept on disk, one file each, so that nothing answered is asked a second time.

The rule: an answer is used again when endpoint, model, messages (media by content), parameters,
schema and number of the repetition are the same. Entries do not expire. Only replies that passed
the schema are kept; refusals, cut, invalid and failed ones are asked again by the next run.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from llm.files import read_kept, write_whole
from llm.outcome import Exchange


class ResponseCache:
    """A folder of exchanges by key; safe for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Keep exchanges below ``folder``, which is made when first written to."""
        self.folder = folder

    def get(self, key: str) -> Exchange | None:
        """Return the exchange kept under a key.

        Args:
            key: SHA-256 hex.

        Returns:
            The exchange; None where there is none, or its file is damaged or of another key.
        """
        text = read_kept(self._path(key))
        if text is None:
            return None
        try:
            kept = Exchange.model_validate_json(text)
        except ValidationError:
            return None
        return kept if kept.key == key else None

    def put(self, exchange: Exchange) -> None:
        """Keep an exchange: the whole file or, when the process dies midway, none.

        Raises:
            InputError: The folder cannot be written to.
        """
        write_whole(self._path(exchange.key), exchange.model_dump_json(indent=1).encode())

    def __contains__(self, key: str) -> bool:
        """Say whether a sound entry is kept under the key."""
        return self.get(key) is not None

    def __len__(self) -> int:
        """Count the entries, damaged ones included."""
        return sum(1 for _ in self.folder.glob("??/*.json"))

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
