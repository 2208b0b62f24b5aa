"""A limit on wrong codes, per client, in the memory of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque


class BadCodes:
    """Counts wrong codes of each client within a sliding window; safe between threads.

    A server with several processes counts in each of them. Codes have 192 random bits, so the
    limit keeps noise away; it is not what makes them unguessable.
    """

    def __init__(self, limit: int, window_seconds: float, clients: int = 10_000) -> None:
        """Set the limit.

        Args:
            limit: Wrong codes after which a client is blocked.
            window_seconds: How long a wrong code counts.
            clients: Most clients remembered; the longest silent is forgotten first.
        """
        self._limit = limit
        self._window = window_seconds
        self._clients = clients
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def blocked(self, client: str, now: float) -> bool:
        """Return whether a client's wrong codes have reached the limit within the window."""
        with self._lock:
            times = self._seen.get(client)
            if times is None:
                return False
            while times and times[0] <= now - self._window:
                times.popleft()
            if not times:
                del self._seen[client]
            return len(times) >= self._limit

    def record(self, client: str, now: float) -> None:
        """Count one wrong code."""
        with self._lock:
            times = self._seen.setdefault(client, deque(maxlen=self._limit))
            times.append(now)
            self._seen.move_to_end(client)
            while len(self._seen) > self._clients:
                self._seen.popitem(last=False)
