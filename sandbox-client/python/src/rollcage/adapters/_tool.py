"""A program of the model's, run as a tool: what it did as text, and never our own trouble as its error."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidRequest, SandboxTrouble, SystemTrouble
from ..requests import python
from ._judge import Judge, code_of

UNAVAILABLE = "The sandbox cannot run programs just now. This says nothing about your program; it was not run."


class Tool:
    """Runs Python programs."""

    def __init__(self, *, policy: str = "python", tries: int = 3, chars_max: int = 4000, **judge: Any) -> None:
        self._judge = Judge(policy=policy, **{"patience_s": 30.0, **judge})
        self._policy = policy
        self._tries = tries
        self._chars_max = chars_max

    def run(self, code: str) -> str:
        """How the program ended and what it wrote. Trouble of ours is tried again, then said to be ours."""
        request = {**python(code_of(code, "python")), "policy": self._policy}
        for _ in range(self._tries):
            try:
                result = self._judge.client().run_request(request)  # type: ignore[arg-type]
                return result.describe(self._chars_max)
            except InvalidRequest as error:
                return f"not run: {error.message}"
            except SandboxTrouble:
                continue
            except SystemTrouble:
                # It was waited for.
                break
        return UNAVAILABLE
