"""What a run used, what it was refused, which controls held it, and what came of its files: the parts of
a result that say nothing of how it ended or was judged. Names are those of `result.proto`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pressure:
    """Pressure stall totals in microseconds."""

    cpu_some_us: int
    cpu_full_us: int
    memory_some_us: int
    memory_full_us: int
    io_some_us: int
    io_full_us: int
    source: str | None


@dataclass(frozen=True)
class Usage:
    """What a run used, from kernel counters and host clocks."""

    wall_ms: int
    cpu_user_ms: int
    cpu_system_ms: int
    cpu_throttled_ms: int
    memory_peak_bytes: int
    oom_kills: int
    pids_peak: int
    disk_bytes: int
    inodes: int
    io_bytes: int
    net_bytes_in: int
    net_bytes_out: int
    gpu_ms: int
    queue_ms: int
    start_us: int
    pressure: Pressure | None
    cpu_waited_ms: int | None


@dataclass(frozen=True)
class Denial:
    """One refusal, counted."""

    layer: str | None
    act: str
    target: str | None
    rule: str | None
    count: int
    errno: int
    fix: str | None
    suppressed: int


@dataclass(frozen=True)
class ManifestRow:
    """One control of one run."""

    name: str
    layer: str | None
    asked: str | None
    applied: str | None
    status: str | None
    reason: str | None
    proof: str | None


@dataclass(frozen=True)
class CollectedFile:
    """One collected file."""

    path: str
    content: bytes
    mode: int


@dataclass(frozen=True)
class MissingFile:
    """A file that was asked for but could not be returned."""

    path: str
    reason: str


@dataclass(frozen=True)
class DroppedBytes:
    """Bytes cut out of each stream."""

    stdout: int
    stderr: int


@dataclass(frozen=True)
class StreamSummary:
    """One whole output stream in numbers."""

    total_bytes: int
    head_bytes: int
    sha256: str


@dataclass(frozen=True)
class AuditReceipt:
    """Where a result stands in the audit log."""

    seq: int
    sha256: str
