"""How long trouble of the daemon's is waited out: one object a call. It knows no clock but that of
its caller and sleeps nowhere.
"""

from __future__ import annotations

import time

from .errors import DaemonFault, DaemonUnreachable, QueueFull, RollcageError

_FIRST_S = 0.1
_MOST_S = 2.0


class Patience:
    """Counts from the first trouble."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._until: float | None = None
        self._next_s = _FIRST_S

    def delay_s(self, error: RollcageError) -> float | None:
        """How long to wait before the next try; None: not at all, this is the end."""
        retried = isinstance(error, (QueueFull, DaemonUnreachable)) or (
            isinstance(error, DaemonFault) and error.code == "unavailable"
        )
        if not retried:
            return None
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._patience_s
        left = self._until - now
        if left <= 0:
            return None
        wanted = error.retry_after_s if isinstance(error, QueueFull) else self._next_s
        self._next_s = min(self._next_s * 1.6, _MOST_S)
        return min(max(wanted, 0.001), left)
