"""What can go wrong between a caller and a daemon, by whose turn it is.

What a program did is never an exception: it is in the result. Nothing here carries a reward.
"""

from __future__ import annotations


class RollcageError(Exception):
    """Why a call gave no result."""


class Refused(RollcageError):
    """The daemon, or this package before it asked, refused: the caller can change the request."""

    def __init__(
        self, message: str, *, code: str = "invalid_argument", reason: str = "", field: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        """For people: field, value and what is allowed."""
        self.code = code
        """gRPC code in lower snake_case."""
        self.reason = reason
        """Stable reason in upper case, such as `LIMIT_OUT_OF_RANGE`; empty if none was given."""
        self.field = field
        """Path of the field to blame, such as `limits.wall_ms_max`."""

    def __str__(self) -> str:
        return f"{self.message} [{self.reason}]" if self.reason else self.message


class InvalidRequest(Refused):
    """A field cannot be what it is."""


class NotFound(Refused):
    """There is no such run or policy of ours."""


class NotAllowed(Refused):
    """We are nobody the daemon knows, or may not do this."""


class Conflict(Refused):
    """The idempotency key was used with another request."""


class Unsupported(Refused):
    """Well formed, but this host or build cannot do it."""


class SystemTrouble(RollcageError):
    """Not the program's doing and not the caller's: worth another try, and never a reward."""

    def __init__(self, message: str, *, code: str = "unavailable", reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        """For people."""
        self.code = code
        """gRPC code in lower snake_case."""
        self.reason = reason
        """Stable reason in upper case; empty if none was given."""


class QueueFull(SystemTrouble):
    """The daemon takes no more just now."""

    def __init__(self, message: str, *, reason: str = "", retry_after_s: float = 1.0) -> None:
        super().__init__(message, code="resource_exhausted", reason=reason)
        self.retry_after_s = retry_after_s
        """When to try again, in seconds."""


class DaemonUnreachable(SystemTrouble):
    """No daemon answers, or the connection broke before the result came."""


class DaemonFault(SystemTrouble):
    """The daemon answers and is at fault: an operator must look."""


class TimedOut(SystemTrouble):
    """No result within the time that the caller gave (`timeout_s`)."""


class SandboxTrouble(SystemTrouble):
    """The run has a result, and it says that the sandbox or the judge failed, not the program."""


class NotStarted(SystemTrouble):
    """No daemon of our own could be started, or a program of it is missing."""
