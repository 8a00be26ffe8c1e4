"""What a caller asks: dictionaries with the fields of the contract (`proto/rollcage/v1/request.proto`),
whose comments are the reference. A line of `rollcage batch` is such a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

VerifyKind = Literal[
    "exit_code",
    "stdout",
    "asserts",
    "answer",
    "cases",
    "pytest",
    "unittest",
    "cargo_test",
    "go_test",
    "node_test",
    "jest",
    "junit_xml",
    "tap",
    "ctrf",
    "command",
    "compile",
    "coverage",
    "leaks",
    "lint",
    "combined",
]
Language = Literal[
    "python",
    "javascript",
    "typescript",
    "go",
    "java",
    "c",
    "cpp",
    "rust",
    "php",
    "ruby",
    "perl",
    "lua",
    "shell",
]


class FileWithMode(TypedDict, total=False):
    """A file with more than its content; exactly one of `text`, `base64` and `content`."""

    text: str
    base64: str
    content: bytes
    mode: int | str


FileContent = Union[str, bytes, FileWithMode]
Files = Mapping[str, FileContent]
Size = Union[int, str]
"""Bytes, or a size such as `"512 MiB"`."""


class Limits(TypedDict, total=False):
    """What a run may use; each may only narrow what the policy allows."""

    wall_ms_max: int
    cpu_ms_max: int
    cpu_millicores_max: int
    memory_bytes_max: Size
    pids_max: int
    disk_bytes_max: Size
    files_max: int
    output_bytes_max: Size
    output_bytes_total_max: Size
    open_files_max: int


class Case(TypedDict, total=False):
    """One case: of a program (stdin, argv -> stdout, exit_code) or of a function (args -> expected).
    Arguments and the expected value are plain Python values."""

    id: str
    stdin: str | bytes
    argv: Sequence[str]
    stdout: str | bytes
    exit_code: int
    args: Sequence[Any]
    expected: Any
    kwargs: Mapping[str, Any]


class TestCode(TypedDict, total=False):
    """One piece of test code."""

    id: str
    code: str


class Answer(TypedDict, total=False):
    """What answer is right."""

    expected: Sequence[str]
    compare: Literal["exact", "numeric", "symbolic"]
    take: Literal["whole", "last_line", "boxed"]


class Verify(TypedDict, total=False):
    """How to judge a run. `kind` is required; which kinds take which fields stands in request.proto."""

    kind: VerifyKind
    file: str
    code: str
    exit_code: int
    stdout: str | bytes
    ignore_trailing_space: bool
    float_tolerance: float
    isolation: Literal["separate", "shared"]
    on_tamper: Literal["grade", "zero"]
    language: Language
    tests: Sequence[str | TestCode]
    test_ids: Sequence[str]
    entry_points: Sequence[str]
    test_files: Files
    protected: Sequence[str]
    args: Sequence[str]
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    format: str
    report: str
    fail_to_pass: Sequence[str]
    pass_to_pass: Sequence[str]
    partial_credit: bool
    repeat: int
    declaration: str
    cases: Sequence[Case]
    stop_on_first_fail: bool
    function: str
    case_wall_ms: int
    answer: Answer
    min_coverage_pct: float
    baseline_coverage_pct: float
    max_leaks: int
    max_errors: int
    max_warnings: int
    parts: Sequence[Part]
    combine: Literal["all", "weighted", "min"]
    git: Literal["keep", "scrub"]
    case_cpu_ms: int


class Part(TypedDict, total=False):
    """One part of a combination."""

    name: str
    weight: float
    verify: Verify


class Request(TypedDict, total=False):
    """One program in one fresh sandbox: create, put files, run, collect, judge, destroy."""

    id: str
    tier: Literal["auto", "container", "wasm"]
    image: str
    policy: str
    policy_document: str
    files: Files
    argv: Sequence[str | bytes]
    argv_bytes: Sequence[bytes]
    env: Mapping[str, str]
    cwd: str
    stdin: str | bytes
    limits: Limits
    collect: Sequence[str]
    verify: Verify
    group: str
    priority: int
    deadline_ms: int
    idempotency_key: str
    labels: Mapping[str, str]
    traceparent: str
    retry_infra: bool
    static_check: Literal["none", "syntax", "imports"]


def python(code: str) -> Request:
    """The request that runs a Python program; more fields may be laid over it with `|`."""
    return {"policy": "python", "files": {"main.py": code}, "argv": ["python3", "main.py"]}
