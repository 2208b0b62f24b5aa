"""Embeddings from an endpoint, kept on disk text by text so that none is paid for twice."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.problems import InputError
from llm.ask import run_apart
from llm.attempts import Gate, UnsentError, persist
from llm.budget import Account, Budget, Metered
from llm.client import Endpoint
from llm.files import read_kept, write_whole
from llm.outcome import Usage
from llm.retry import CallError
from llm.settings import LlmSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 64
"""Texts of one call (ours)."""

_KEY_VERSION = 1


class VectorCache:
    """A folder of vectors by endpoint, model and text; safe for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Keep vectors below ``folder``, which is made when first written to."""
        self.folder = folder

    def get(self, key: str) -> NDArray[np.float32] | None:
        """Return the vector kept under a key, (D,) float32; None where none or a damaged one is."""
        import numpy as np

        kept = read_kept(self._path(key))
        if kept is None:
            return None
        try:
            row = np.load(io.BytesIO(kept), allow_pickle=False)
        except (ValueError, EOFError):
            return None
        sound = row.ndim == 1 and row.dtype == np.float32 and bool(np.isfinite(row).all())
        return row if sound else None

    def put(self, key: str, row: NDArray[np.float32]) -> None:
        """Keep a vector: the whole file or, when the process dies midway, none.

        Raises:
            InputError: The folder cannot be written to.
        """
        import numpy as np

        raw = io.BytesIO()
        np.save(raw, row, allow_pickle=False)
        write_whole(self._path(key), raw.getvalue())

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npy"


class EndpointEmbedder(Metered):
    """The ``/embeddings`` of an OpenAI-compatible endpoint."""

    def __init__(
        self,
        settings: LlmSettings,
        cache: Path | None = None,
        *,
        budget: Budget | Callable[[], Budget] | None = None,
        tell: Callable[[str], None] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the settings; nothing is sent before texts are embedded.

        Args:
            settings: Endpoint and limits; ``model`` is the embedding model.
            cache: Folder where vectors are kept; None keeps none.
            budget: The most it may use, all texts together; or a function that says what is left,
                where others draw on the same budget.
            tell: Told in one line of waits and of the end of a run.
            environ: Environment that holds the key; the process's own by default.
        """
        super().__init__(settings, budget)
        self._cache = VectorCache(cache) if cache is not None else None
        self._tell = tell or (lambda line: None)
        self._environ = environ

    @property
    def id(self) -> str:
        """Host of the endpoint and name of the model."""
        return f"endpoint:{self._settings.host}:{self._settings.model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) float32 rows of unit length; rows of zeros for texts of blanks only.

        Each text is sent once. What came in is on disk at once, so a run that ends early goes on
        where it was.

        Args:
            texts: Any texts.

        Returns:
            The rows, in order; (N, 0) where no text has a sign in it.

        Raises:
            InputError: No key, the endpoint is down or refuses, the budget is used up, a cache that
                cannot be written, or vectors of different lengths.
        """
        import numpy as np

        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        found = {text: row for text in wanted if (row := self._kept(text)) is not None}
        if missing := [text for text in wanted if text not in found]:
            run_apart(self._fetch(missing, found, self._settings.api_key(self._environ)))
        widths = {row.shape[0] for row in found.values()}
        if len(widths) > 1:
            reason = f"expected vectors of one length, got {sorted(widths)}"
            raise InputError(reason, file=self.id)
        rows = np.zeros((len(texts), widths.pop() if widths else 0), np.float32)
        for place, text in enumerate(texts):
            if text in found:
                rows[place] = found[text]
        return rows

    def _kept(self, text: str) -> NDArray[np.float32] | None:
        return self._cache.get(self._key(text)) if self._cache is not None else None

    def _key(self, text: str) -> str:
        parts = (str(_KEY_VERSION), self._settings.base_url, self._settings.model, text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def _fetch(
        self, missing: Sequence[str], found: dict[str, NDArray[np.float32]], key: str
    ) -> None:
        gate = Gate(self._tell)
        account = Account(self.left(), self._settings)
        batches = [missing[at : at + BATCH] for at in range(0, len(missing), BATCH)]
        todo = iter(batches)
        try:
            async with Endpoint(self._settings, key) as endpoint, asyncio.TaskGroup() as group:
                for _ in range(min(self._settings.concurrency, len(batches))):
                    group.create_task(self._work(todo, endpoint, account, gate, found))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            self.book(account)
        if gate.closed:
            kept = f"; {len(missing) - sum(t not in found for t in missing)} of {len(missing)} done"
            raise InputError(f"embeddings stopped: {gate.why}{kept}", file=self.id)

    async def _work(
        self,
        todo: Iterator[Sequence[str]],
        endpoint: Endpoint,
        account: Account,
        gate: Gate,
        found: dict[str, NDArray[np.float32]],
    ) -> None:
        import numpy as np

        for batch in todo:
            most = Usage(prompt=sum(len(text.encode()) for text in batch), completion=0)
            send = partial(endpoint.embeddings, batch)
            try:
                came = await persist(send, most, self._settings, account, gate, self._tell)
            except UnsentError:
                return
            except CallError as error:
                # Without every vector nothing can be compared: the first lost batch ends the run.
                gate.close(error.reason)
                return
            for text, values in zip(batch, came.rows, strict=True):
                row = np.asarray(values, np.float64)
                norm = float(np.linalg.norm(row))
                unit = (row / norm if norm > 0 else row).astype(np.float32)
                found[text] = unit
                if self._cache is not None:
                    self._cache.put(self._key(text), unit)
