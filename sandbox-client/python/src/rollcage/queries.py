"""What a daemon tells about itself and its policies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PolicySummary:
    """One policy in short."""

    name: str
    description: str
    policy_sha256: str
    lineage: tuple[str, ...]
    unenforceable: tuple[str, ...]
    self_test: str | None
    self_test_trouble: str


@dataclass(frozen=True)
class PolicyDocument:
    """One policy with its documents."""

    name: str
    document: str
    canonical: str
    policy_sha256: str
    self_test: str | None
    self_test_trouble: str


@dataclass(frozen=True)
class HostFeature:
    """One feature of the host."""

    name: str
    available: bool
    value: str
    why: str
    fix: str


@dataclass(frozen=True)
class Capabilities:
    """What the daemon's host can enforce."""

    version: str
    mode: str
    kernel: str
    features: tuple[HostFeature, ...]
    verify_kinds: tuple[str, ...]
    images: tuple[str, ...]
    host_image_sha256: str
    mode_reason: str


@dataclass(frozen=True)
class Status:
    """Load and health of the node."""

    node: str
    version: str
    started_unix_ms: int
    draining: bool
    runs_active: int
    runs_queued: int
    sandboxes_live: int
    sandboxes_max: int
    runs_finished: int
    policies: tuple[str, ...]
