"""How long trouble of the daemon's is waited out: one object a call. It knows no clock but that of
its caller and sleeps nowhere.
"""

from __future__ import annotations

import math
import time

from .errors import DaemonFault, DaemonUnreachable, QueueFull, RollcageError

_FIRST_S = 0.1
_MOST_S = 2.0


class Progress:
    """When something of a batch was last done: a daemon that is full of it is no trouble."""

    def __init__(self) -> None:
        self.at = -math.inf

    def note(self) -> None:
        """Something was done."""
        self.at = time.monotonic()


class Patience:
    """Counts from the first trouble; where the daemon is only full, from the batch's last progress."""

    def __init__(self, patience_s: float, progress: Progress | None = None) -> None:
        self._patience_s = patience_s
        self._progress = progress
        self._since: float | None = None
        self._next_s = _FIRST_S

    def delay_s(self, error: RollcageError) -> float | None:
        """How long to wait before the next try; None: not at all, this is the end."""
        retried = isinstance(error, (QueueFull, DaemonUnreachable)) or (
            isinstance(error, DaemonFault) and error.code == "unavailable"
        )
        if not retried:
            return None
        now = time.monotonic()
        if self._since is None:
            self._since = now
        since = self._since
        if self._progress is not None and isinstance(error, QueueFull):
            since = max(since, self._progress.at)
        left = since + self._patience_s - now
        if left <= 0:
            return None
        wanted = error.retry_after_s if isinstance(error, QueueFull) else self._next_s
        self._next_s = min(self._next_s * 1.6, _MOST_S)
        return min(max(wanted, 0.001), left)
