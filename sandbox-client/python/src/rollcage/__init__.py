"""Runs code that nobody trusts, and says truthfully what happened: the client of a Rollcage daemon.

>>> import rollcage
>>> with rollcage.connect() as client:
...     result = client.run(**rollcage.python("print(6 * 7)"))
>>> result.stdout
b'42\\n'
"""

from ._usage import Usage
from .aio import AsyncClient
from .client import Client
from .daemon import Daemon
from .errors import (
    Conflict,
    DaemonFault,
    DaemonUnreachable,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotStarted,
    QueueFull,
    Refused,
    RollcageError,
    SandboxTrouble,
    SystemTrouble,
    TimedOut,
    Unsupported,
)
from .queries import Capabilities, PolicyDocument, PolicySummary, Status
from .requests import Answer, Case, Files, Limits, Part, Request, TestCode, Verify, python
from .results import Ending, EndingKind, NotRun, Outcome, RunResult, TestResult, TestStatus, Verdict

__version__ = "0.1.0"

connect = Client
"""Connects to a daemon; see `Client`."""
connect_async = AsyncClient
"""The same for `async with`; see `AsyncClient`."""

__all__ = [
    "Answer",
    "AsyncClient",
    "Capabilities",
    "Case",
    "Client",
    "Conflict",
    "Daemon",
    "DaemonFault",
    "DaemonUnreachable",
    "Ending",
    "EndingKind",
    "Files",
    "InvalidRequest",
    "Limits",
    "NotAllowed",
    "NotFound",
    "NotRun",
    "NotStarted",
    "Outcome",
    "Part",
    "PolicyDocument",
    "PolicySummary",
    "QueueFull",
    "Refused",
    "Request",
    "RollcageError",
    "RunResult",
    "SandboxTrouble",
    "Status",
    "SystemTrouble",
    "TestCode",
    "TestResult",
    "TestStatus",
    "TimedOut",
    "Unsupported",
    "Usage",
    "Verdict",
    "Verify",
    "connect",
    "connect_async",
    "python",
]
