"""What a run came to: ending, verdict, output, usage, denials, manifest, receipt. Names are those of
`proto/rollcage/v1/result.proto`, whose comments are the reference.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _json
from ._convert import convert, register_enum
from ._usage import (
    AuditReceipt,
    CollectedFile,
    Denial,
    DroppedBytes,
    ManifestRow,
    MissingFile,
    StreamSummary,
    Usage,
)
from .errors import RollcageError, SandboxTrouble
from .v1 import result_pb2 as pb


class _Named(str, enum.Enum):
    """A value that is its own JSON name. One that this version does not know is `UNRECOGNIZED`."""

    def __str__(self) -> str:
        return str(self.value)


@register_enum
class EndingKind(_Named):
    """How the process ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    WALL_TIME_UP = "wall_time_up"
    CPU_TIME_UP = "cpu_time_up"
    MEMORY_UP = "memory_up"
    OUTPUT_UP = "output_up"
    DISK_UP = "disk_up"
    PIDS_UP = "pids_up"
    SYSCALL_DENIED = "syscall_denied"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"
    SANDBOX_FAILED = "sandbox_failed"
    UNRECOGNIZED = "unrecognized"


@register_enum
class Outcome(_Named):
    """How the task was judged."""

    PASSED = "passed"
    FAILED = "failed"
    COMPILE_ERROR = "compile_error"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    POLICY_VIOLATION = "policy_violation"
    OUTPUT_LIMIT = "output_limit"
    NO_TESTS = "no_tests"
    TAMPERED = "tampered"
    VERIFIER_ERROR = "verifier_error"
    INFRA_ERROR = "infra_error"
    UNJUDGED = "unjudged"
    UNRECOGNIZED = "unrecognized"


_NEVER_SCORED = {Outcome.VERIFIER_ERROR, Outcome.INFRA_ERROR, Outcome.UNJUDGED, Outcome.UNRECOGNIZED}


@register_enum
class TestStatus(_Named):
    """State of one test."""

    __test__ = False
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAIL = "xfail"
    XPASS = "xpass"
    TIMEOUT = "timeout"
    MISSING = "missing"
    UNRECOGNIZED = "unrecognized"


@dataclass(frozen=True)
class Ending:
    """How the process ended; which fields are there depends on `kind`."""

    kind: EndingKind
    code: int | None
    signal: int | None
    core_dumped: bool | None
    sent_by: str | None
    limit_ms: int | None
    used_ms: int | None
    throttled_ms: int | None
    limit_bytes: int | None
    peak_bytes: int | None
    source: str | None
    cap_bytes: int | None
    dropped_bytes: int | None
    limit: int | None
    first_refusal: str | None
    syscall: str | None
    rule: str | None
    by: str | None
    path: str | None
    step: str | None
    reason: str | None

    def __str__(self) -> str:
        kind = self.kind
        if kind is EndingKind.EXITED:
            return f"exit code {self.code}"
        if kind is EndingKind.SIGNALLED:
            return f"ended by signal {self.signal}"
        if kind is EndingKind.WALL_TIME_UP:
            return f"wall time was up ({self.limit_ms} ms)"
        if kind is EndingKind.CPU_TIME_UP:
            return f"CPU time was up ({self.limit_ms} ms)"
        if kind is EndingKind.MEMORY_UP:
            return f"out of memory (limit {self.limit_bytes} bytes)"
        if kind is EndingKind.OUTPUT_UP:
            return f"too much output (limit {self.cap_bytes} bytes)"
        if kind is EndingKind.NOT_STARTED:
            return f"not started: {self.reason or self.path}"
        detail = self.first_refusal or self.syscall or self.by or self.reason
        return f"{kind.value.replace('_', ' ')}" + (f": {detail}" if detail else "")


@dataclass(frozen=True)
class TestResult:
    """One test."""

    __test__ = False
    id: str
    status: TestStatus
    duration_ms: int
    message: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Diagnostic:
    """One message of a compiler, interpreter or checker."""

    tool: str
    severity: str | None
    code: str | None
    message: str
    file: str | None
    line: int | None
    column: int | None


@dataclass(frozen=True)
class TamperNote:
    """Something of the test harness that was touched."""

    path: str
    what: str


@dataclass(frozen=True)
class Contention:
    """The host's part in a run that ended at a time limit."""

    host_busy: bool
    cpu_ms: int
    cpu_share_ms: int
    cpu_waited_ms: int | None
    source: str | None
    rerun_alone: bool


@dataclass(frozen=True)
class Flake:
    """What repetitions of one verification came to."""

    runs: int
    passed: int
    test_ids: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """What a verdict depends on."""

    image_sha256: str
    policy_sha256: str
    inputs_sha256: str
    tests_sha256: str
    verifier_sha256: str
    isolation: str | None
    image_unpinned: bool
    contention: Contention | None
    flake: Flake | None


@dataclass(frozen=True)
class Verdict:
    """How the task was judged."""

    outcome: Outcome
    reward: float | None
    """0 to 1; None where there is none, which is not 0."""
    scorable: bool
    """Whether there is a reward."""
    reason: str
    tests: tuple[TestResult, ...]
    diagnostics: tuple[Diagnostic, ...]
    tamper: tuple[TamperNote, ...]
    evidence: Evidence | None
    metrics: Mapping[str, float]

    def __post_init__(self) -> None:
        # Whatever a newer or a broken daemon says, no number comes of what must not be scored.
        reward = self.reward
        holds = self.scorable and self.outcome not in _NEVER_SCORED and reward is not None and math.isfinite(reward)
        object.__setattr__(self, "scorable", holds)
        if not holds:
            object.__setattr__(self, "reward", None)


@dataclass(frozen=True)
class Attempt:
    """An attempt that was not the last."""

    why: str | None
    sandbox_id: str
    outcome: Outcome
    reason: str
    audit: AuditReceipt | None


class RunResult:
    """The result of one run. What the program did wrong is in it, never an exception."""

    __slots__ = ("_ending", "_verdict", "message")

    def __init__(self, message: pb.RunResult) -> None:
        self.message = message
        """The message of the contract, for whatever is not shown here."""
        self._ending: Ending = convert(Ending, message.ending)
        self._verdict: Verdict = convert(Verdict, message.verdict)

    @property
    def id(self) -> str:
        """The caller's id."""
        return self.message.id

    @property
    def run_id(self) -> str:
        """The daemon's id; `rollcage explain` takes it."""
        return self.message.run_id

    @property
    def ending(self) -> Ending:
        """How the process ended."""
        return self._ending

    @property
    def verdict(self) -> Verdict:
        """How the task was judged; `unjudged` where no judgement was asked."""
        return self._verdict

    @property
    def outcome(self) -> Outcome:
        """The verdict's outcome."""
        return self._verdict.outcome

    @property
    def reward(self) -> float | None:
        """The verdict's reward; None where there is none, which is not 0."""
        return self._verdict.reward

    @property
    def scorable(self) -> bool:
        """Whether there is a reward."""
        return self._verdict.scorable

    @property
    def exit_code(self) -> int | None:
        """The program's own exit code; None if it did not exit by itself."""
        return self._ending.code if self._ending.kind is EndingKind.EXITED else None

    @property
    def ok(self) -> bool:
        """Whether the program exited with 0."""
        return self.exit_code == 0

    @property
    def stdout(self) -> bytes:
        """Standard output, byte-exact: head and tail of at most `output_bytes_max` together."""
        return self.message.stdout

    @property
    def stderr(self) -> bytes:
        """Standard error, likewise."""
        return self.message.stderr

    @property
    def dropped_bytes(self) -> DroppedBytes:
        """Bytes cut out between head and tail of each stream."""
        return convert(DroppedBytes, self.message.dropped_bytes)

    @property
    def stdout_summary(self) -> StreamSummary:
        """Whole standard output, in numbers."""
        return convert(StreamSummary, self.message.stdout_summary)

    @property
    def stderr_summary(self) -> StreamSummary:
        """Whole standard error, in numbers."""
        return convert(StreamSummary, self.message.stderr_summary)

    @property
    def usage(self) -> Usage:
        """What was used."""
        return convert(Usage, self.message.usage)

    @property
    def denials(self) -> tuple[Denial, ...]:
        """What the sandbox was refused, and by what."""
        return tuple(convert(Denial, each) for each in self.message.denials)

    @property
    def manifest(self) -> tuple[ManifestRow, ...]:
        """One row per control."""
        return tuple(convert(ManifestRow, each) for each in self.message.manifest)

    @property
    def files(self) -> dict[str, CollectedFile]:
        """Files that `collect` asked for, by path."""
        return {each.path: convert(CollectedFile, each) for each in self.message.files}

    @property
    def files_missing(self) -> tuple[MissingFile, ...]:
        """What `collect` asked for but could not be returned."""
        return tuple(convert(MissingFile, each) for each in self.message.files_missing)

    @property
    def sandbox_id(self) -> str:
        """Sandbox that the program ran in."""
        return self.message.sandbox_id

    @property
    def node(self) -> str:
        """Node that it ran on."""
        return self.message.node

    @property
    def audit(self) -> AuditReceipt:
        """Receipt of the audit record, which was written before the reply."""
        return convert(AuditReceipt, self.message.audit)

    @property
    def earlier_attempts(self) -> tuple[Attempt, ...]:
        """Attempts before the one that is told here."""
        return tuple(convert(Attempt, each) for each in self.message.earlier_attempts)

    @property
    def trouble(self) -> SandboxTrouble | None:
        """Why this result says nothing about the program: the sandbox failed, the run was cancelled,
        or the judge is broken. None where it does."""
        ending, verdict = self._ending, self._verdict
        if ending.kind in (EndingKind.SANDBOX_FAILED, EndingKind.CANCELLED, EndingKind.UNRECOGNIZED):
            return SandboxTrouble(str(ending), code="internal", reason=ending.kind.name)
        if verdict.outcome in _NEVER_SCORED - {Outcome.UNJUDGED}:
            return SandboxTrouble(verdict.reason or verdict.outcome.value, code="internal", reason=verdict.outcome.name)
        return None

    def describe(self, chars_max: int = 4000) -> str:
        """How the program ended and what it wrote, as a text that may be shown to the model.

        Raises `SandboxTrouble` where that would be our trouble and not the program's.
        """
        trouble = self.trouble
        if trouble is not None:
            raise trouble
        parts = [str(self._ending)]
        for found in self._verdict.diagnostics:
            parts.append(f"{found.file or '?'}:{found.line or 0}: {found.message}")
        for name, stream in (("stdout", self.stdout), ("stderr", self.stderr)):
            text = stream.decode(errors="replace").rstrip()
            if text:
                parts.append(f"{name}:\n{cut(text, chars_max // 2)}")
        return cut("\n".join(parts), chars_max)

    def to_dict(self) -> dict[str, Any]:
        """The result in the contract's JSON."""
        return _json.write(self.message)

    def __repr__(self) -> str:
        return f"<RunResult {self.id!r}: {self._ending}, {self.outcome.value}, reward {self.reward}>"


class NotRun:
    """A request of a batch that has no result, and why. It has no reward."""

    __slots__ = ("error", "id")

    def __init__(self, id: str, error: RollcageError) -> None:
        self.id = id
        """The caller's id."""
        self.error = error
        """Why there is no result."""

    @property
    def reward(self) -> None:
        """None: nothing was judged."""
        return None

    @property
    def scorable(self) -> bool:
        """False: nothing was judged."""
        return False

    def __repr__(self) -> str:
        return f"<NotRun {self.id!r}: {self.error}>"


def cut(text: str, chars_max: int) -> str:
    """The text, or its head and tail with a word about what was left out between them."""
    if len(text) <= chars_max:
        return text
    half = max(chars_max - 40, 0) // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[len(text) - half :]}"
