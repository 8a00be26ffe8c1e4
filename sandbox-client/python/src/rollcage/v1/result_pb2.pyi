from rollcage.v1 import request_pb2 as _request_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RetryReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETRY_REASON_UNSPECIFIED: _ClassVar[RetryReason]
    RETRY_REASON_INFRA_ERROR: _ClassVar[RetryReason]
    RETRY_REASON_HOST_BUSY: _ClassVar[RetryReason]

class EndingKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENDING_KIND_UNSPECIFIED: _ClassVar[EndingKind]
    ENDING_KIND_EXITED: _ClassVar[EndingKind]
    ENDING_KIND_SIGNALLED: _ClassVar[EndingKind]
    ENDING_KIND_WALL_TIME_UP: _ClassVar[EndingKind]
    ENDING_KIND_CPU_TIME_UP: _ClassVar[EndingKind]
    ENDING_KIND_MEMORY_UP: _ClassVar[EndingKind]
    ENDING_KIND_OUTPUT_UP: _ClassVar[EndingKind]
    ENDING_KIND_DISK_UP: _ClassVar[EndingKind]
    ENDING_KIND_PIDS_UP: _ClassVar[EndingKind]
    ENDING_KIND_SYSCALL_DENIED: _ClassVar[EndingKind]
    ENDING_KIND_CANCELLED: _ClassVar[EndingKind]
    ENDING_KIND_NOT_STARTED: _ClassVar[EndingKind]
    ENDING_KIND_SANDBOX_FAILED: _ClassVar[EndingKind]

class MemorySource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_SOURCE_UNSPECIFIED: _ClassVar[MemorySource]
    MEMORY_SOURCE_CGROUP: _ClassVar[MemorySource]
    MEMORY_SOURCE_RSS_POLL: _ClassVar[MemorySource]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_PASSED: _ClassVar[Outcome]
    OUTCOME_FAILED: _ClassVar[Outcome]
    OUTCOME_COMPILE_ERROR: _ClassVar[Outcome]
    OUTCOME_TIMEOUT: _ClassVar[Outcome]
    OUTCOME_OUT_OF_MEMORY: _ClassVar[Outcome]
    OUTCOME_POLICY_VIOLATION: _ClassVar[Outcome]
    OUTCOME_OUTPUT_LIMIT: _ClassVar[Outcome]
    OUTCOME_NO_TESTS: _ClassVar[Outcome]
    OUTCOME_TAMPERED: _ClassVar[Outcome]
    OUTCOME_VERIFIER_ERROR: _ClassVar[Outcome]
    OUTCOME_INFRA_ERROR: _ClassVar[Outcome]
    OUTCOME_UNJUDGED: _ClassVar[Outcome]

class TestStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEST_STATUS_UNSPECIFIED: _ClassVar[TestStatus]
    TEST_STATUS_PASSED: _ClassVar[TestStatus]
    TEST_STATUS_FAILED: _ClassVar[TestStatus]
    TEST_STATUS_ERROR: _ClassVar[TestStatus]
    TEST_STATUS_SKIPPED: _ClassVar[TestStatus]
    TEST_STATUS_XFAIL: _ClassVar[TestStatus]
    TEST_STATUS_XPASS: _ClassVar[TestStatus]
    TEST_STATUS_TIMEOUT: _ClassVar[TestStatus]
    TEST_STATUS_MISSING: _ClassVar[TestStatus]

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    SEVERITY_ERROR: _ClassVar[Severity]
    SEVERITY_WARNING: _ClassVar[Severity]
    SEVERITY_NOTE: _ClassVar[Severity]

class PressureSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRESSURE_SOURCE_UNSPECIFIED: _ClassVar[PressureSource]
    PRESSURE_SOURCE_SANDBOX: _ClassVar[PressureSource]
    PRESSURE_SOURCE_HOST: _ClassVar[PressureSource]

class DenialLayer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DENIAL_LAYER_UNSPECIFIED: _ClassVar[DenialLayer]
    DENIAL_LAYER_SECCOMP: _ClassVar[DenialLayer]
    DENIAL_LAYER_LANDLOCK: _ClassVar[DenialLayer]
    DENIAL_LAYER_MOUNT: _ClassVar[DenialLayer]
    DENIAL_LAYER_CGROUP: _ClassVar[DenialLayer]
    DENIAL_LAYER_NETWORK: _ClassVar[DenialLayer]
    DENIAL_LAYER_CODE: _ClassVar[DenialLayer]

class ControlLayer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTROL_LAYER_UNSPECIFIED: _ClassVar[ControlLayer]
    CONTROL_LAYER_SEMANTICS: _ClassVar[ControlLayer]
    CONTROL_LAYER_ATTACK_SURFACE: _ClassVar[ControlLayer]
    CONTROL_LAYER_RESOURCE: _ClassVar[ControlLayer]

class ControlStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTROL_STATUS_UNSPECIFIED: _ClassVar[ControlStatus]
    CONTROL_STATUS_ENFORCED: _ClassVar[ControlStatus]
    CONTROL_STATUS_DEGRADED: _ClassVar[ControlStatus]
    CONTROL_STATUS_NOT_ASKED: _ClassVar[ControlStatus]
RETRY_REASON_UNSPECIFIED: RetryReason
RETRY_REASON_INFRA_ERROR: RetryReason
RETRY_REASON_HOST_BUSY: RetryReason
ENDING_KIND_UNSPECIFIED: EndingKind
ENDING_KIND_EXITED: EndingKind
ENDING_KIND_SIGNALLED: EndingKind
ENDING_KIND_WALL_TIME_UP: EndingKind
ENDING_KIND_CPU_TIME_UP: EndingKind
ENDING_KIND_MEMORY_UP: EndingKind
ENDING_KIND_OUTPUT_UP: EndingKind
ENDING_KIND_DISK_UP: EndingKind
ENDING_KIND_PIDS_UP: EndingKind
ENDING_KIND_SYSCALL_DENIED: EndingKind
ENDING_KIND_CANCELLED: EndingKind
ENDING_KIND_NOT_STARTED: EndingKind
ENDING_KIND_SANDBOX_FAILED: EndingKind
MEMORY_SOURCE_UNSPECIFIED: MemorySource
MEMORY_SOURCE_CGROUP: MemorySource
MEMORY_SOURCE_RSS_POLL: MemorySource
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_PASSED: Outcome
OUTCOME_FAILED: Outcome
OUTCOME_COMPILE_ERROR: Outcome
OUTCOME_TIMEOUT: Outcome
OUTCOME_OUT_OF_MEMORY: Outcome
OUTCOME_POLICY_VIOLATION: Outcome
OUTCOME_OUTPUT_LIMIT: Outcome
OUTCOME_NO_TESTS: Outcome
OUTCOME_TAMPERED: Outcome
OUTCOME_VERIFIER_ERROR: Outcome
OUTCOME_INFRA_ERROR: Outcome
OUTCOME_UNJUDGED: Outcome
TEST_STATUS_UNSPECIFIED: TestStatus
TEST_STATUS_PASSED: TestStatus
TEST_STATUS_FAILED: TestStatus
TEST_STATUS_ERROR: TestStatus
TEST_STATUS_SKIPPED: TestStatus
TEST_STATUS_XFAIL: TestStatus
TEST_STATUS_XPASS: TestStatus
TEST_STATUS_TIMEOUT: TestStatus
TEST_STATUS_MISSING: TestStatus
SEVERITY_UNSPECIFIED: Severity
SEVERITY_ERROR: Severity
SEVERITY_WARNING: Severity
SEVERITY_NOTE: Severity
PRESSURE_SOURCE_UNSPECIFIED: PressureSource
PRESSURE_SOURCE_SANDBOX: PressureSource
PRESSURE_SOURCE_HOST: PressureSource
DENIAL_LAYER_UNSPECIFIED: DenialLayer
DENIAL_LAYER_SECCOMP: DenialLayer
DENIAL_LAYER_LANDLOCK: DenialLayer
DENIAL_LAYER_MOUNT: DenialLayer
DENIAL_LAYER_CGROUP: DenialLayer
DENIAL_LAYER_NETWORK: DenialLayer
DENIAL_LAYER_CODE: DenialLayer
CONTROL_LAYER_UNSPECIFIED: ControlLayer
CONTROL_LAYER_SEMANTICS: ControlLayer
CONTROL_LAYER_ATTACK_SURFACE: ControlLayer
CONTROL_LAYER_RESOURCE: ControlLayer
CONTROL_STATUS_UNSPECIFIED: ControlStatus
CONTROL_STATUS_ENFORCED: ControlStatus
CONTROL_STATUS_DEGRADED: ControlStatus
CONTROL_STATUS_NOT_ASKED: ControlStatus

class RunResult(_message.Message):
    __slots__ = ("id", "run_id", "ending", "verdict", "stdout", "stderr", "dropped_bytes", "stdout_summary", "stderr_summary", "usage", "denials", "manifest", "files", "files_missing", "audit", "sandbox_id", "node", "error", "earlier_attempts")
    ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    DROPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    STDOUT_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    STDERR_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    DENIALS_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    FILES_MISSING_FIELD_NUMBER: _ClassVar[int]
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EARLIER_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    run_id: str
    ending: Ending
    verdict: Verdict
    stdout: bytes
    stderr: bytes
    dropped_bytes: DroppedBytes
    stdout_summary: StreamSummary
    stderr_summary: StreamSummary
    usage: Usage
    denials: _containers.RepeatedCompositeFieldContainer[Denial]
    manifest: _containers.RepeatedCompositeFieldContainer[ManifestRow]
    files: _containers.RepeatedCompositeFieldContainer[CollectedFile]
    files_missing: _containers.RepeatedCompositeFieldContainer[MissingFile]
    audit: AuditReceipt
    sandbox_id: str
    node: str
    error: RunFault
    earlier_attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    def __init__(self, id: _Optional[str] = ..., run_id: _Optional[str] = ..., ending: _Optional[_Union[Ending, _Mapping]] = ..., verdict: _Optional[_Union[Verdict, _Mapping]] = ..., stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., dropped_bytes: _Optional[_Union[DroppedBytes, _Mapping]] = ..., stdout_summary: _Optional[_Union[StreamSummary, _Mapping]] = ..., stderr_summary: _Optional[_Union[StreamSummary, _Mapping]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., denials: _Optional[_Iterable[_Union[Denial, _Mapping]]] = ..., manifest: _Optional[_Iterable[_Union[ManifestRow, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[CollectedFile, _Mapping]]] = ..., files_missing: _Optional[_Iterable[_Union[MissingFile, _Mapping]]] = ..., audit: _Optional[_Union[AuditReceipt, _Mapping]] = ..., sandbox_id: _Optional[str] = ..., node: _Optional[str] = ..., error: _Optional[_Union[RunFault, _Mapping]] = ..., earlier_attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("why", "sandbox_id", "outcome", "reason", "audit")
    WHY_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    why: RetryReason
    sandbox_id: str
    outcome: Outcome
    reason: str
    audit: AuditReceipt
    def __init__(self, why: _Optional[_Union[RetryReason, str]] = ..., sandbox_id: _Optional[str] = ..., outcome: _Optional[_Union[Outcome, str]] = ..., reason: _Optional[str] = ..., audit: _Optional[_Union[AuditReceipt, _Mapping]] = ...) -> None: ...

class RunFault(_message.Message):
    __slots__ = ("code", "reason", "field", "message", "retry_after_ms")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    code: str
    reason: str
    field: str
    message: str
    retry_after_ms: int
    def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., field: _Optional[str] = ..., message: _Optional[str] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class Ending(_message.Message):
    __slots__ = ("kind", "code", "signal", "core_dumped", "sent_by", "limit_ms", "used_ms", "throttled_ms", "limit_bytes", "peak_bytes", "source", "cap_bytes", "dropped_bytes", "limit", "first_refusal", "syscall", "rule", "by", "path", "step", "reason")
    KIND_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    CORE_DUMPED_FIELD_NUMBER: _ClassVar[int]
    SENT_BY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    USED_MS_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_MS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CAP_BYTES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    FIRST_REFUSAL_FIELD_NUMBER: _ClassVar[int]
    SYSCALL_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    kind: EndingKind
    code: int
    signal: int
    core_dumped: bool
    sent_by: str
    limit_ms: int
    used_ms: int
    throttled_ms: int
    limit_bytes: int
    peak_bytes: int
    source: MemorySource
    cap_bytes: int
    dropped_bytes: int
    limit: int
    first_refusal: str
    syscall: str
    rule: str
    by: str
    path: str
    step: str
    reason: str
    def __init__(self, kind: _Optional[_Union[EndingKind, str]] = ..., code: _Optional[int] = ..., signal: _Optional[int] = ..., core_dumped: bool = ..., sent_by: _Optional[str] = ..., limit_ms: _Optional[int] = ..., used_ms: _Optional[int] = ..., throttled_ms: _Optional[int] = ..., limit_bytes: _Optional[int] = ..., peak_bytes: _Optional[int] = ..., source: _Optional[_Union[MemorySource, str]] = ..., cap_bytes: _Optional[int] = ..., dropped_bytes: _Optional[int] = ..., limit: _Optional[int] = ..., first_refusal: _Optional[str] = ..., syscall: _Optional[str] = ..., rule: _Optional[str] = ..., by: _Optional[str] = ..., path: _Optional[str] = ..., step: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DroppedBytes(_message.Message):
    __slots__ = ("stdout", "stderr")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    stdout: int
    stderr: int
    def __init__(self, stdout: _Optional[int] = ..., stderr: _Optional[int] = ...) -> None: ...

class StreamSummary(_message.Message):
    __slots__ = ("total_bytes", "head_bytes", "sha256")
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    HEAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    total_bytes: int
    head_bytes: int
    sha256: str
    def __init__(self, total_bytes: _Optional[int] = ..., head_bytes: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("outcome", "reward", "scorable", "reason", "tests", "diagnostics", "tamper", "evidence", "metrics")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    SCORABLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TESTS_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    TAMPER_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    reward: float
    scorable: bool
    reason: str
    tests: _containers.RepeatedCompositeFieldContainer[TestResult]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    tamper: _containers.RepeatedCompositeFieldContainer[TamperNote]
    evidence: Evidence
    metrics: _containers.ScalarMap[str, float]
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., reward: _Optional[float] = ..., scorable: bool = ..., reason: _Optional[str] = ..., tests: _Optional[_Iterable[_Union[TestResult, _Mapping]]] = ..., diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ..., tamper: _Optional[_Iterable[_Union[TamperNote, _Mapping]]] = ..., evidence: _Optional[_Union[Evidence, _Mapping]] = ..., metrics: _Optional[_Mapping[str, float]] = ...) -> None: ...

class TestResult(_message.Message):
    __slots__ = ("id", "status", "duration_ms", "message", "file", "line")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    id: str
    status: TestStatus
    duration_ms: int
    message: str
    file: str
    line: int
    def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[TestStatus, str]] = ..., duration_ms: _Optional[int] = ..., message: _Optional[str] = ..., file: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("tool", "severity", "code", "message", "file", "line", "column")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    tool: str
    severity: Severity
    code: str
    message: str
    file: str
    line: int
    column: int
    def __init__(self, tool: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., code: _Optional[str] = ..., message: _Optional[str] = ..., file: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ...) -> None: ...

class TamperNote(_message.Message):
    __slots__ = ("path", "what")
    PATH_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    path: str
    what: str
    def __init__(self, path: _Optional[str] = ..., what: _Optional[str] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("image_sha256", "policy_sha256", "inputs_sha256", "tests_sha256", "verifier_sha256", "isolation", "image_unpinned", "contention", "flake")
    IMAGE_SHA256_FIELD_NUMBER: _ClassVar[int]
    POLICY_SHA256_FIELD_NUMBER: _ClassVar[int]
    INPUTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    TESTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    VERIFIER_SHA256_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    IMAGE_UNPINNED_FIELD_NUMBER: _ClassVar[int]
    CONTENTION_FIELD_NUMBER: _ClassVar[int]
    FLAKE_FIELD_NUMBER: _ClassVar[int]
    image_sha256: str
    policy_sha256: str
    inputs_sha256: str
    tests_sha256: str
    verifier_sha256: str
    isolation: _request_pb2.Isolation
    image_unpinned: bool
    contention: Contention
    flake: Flake
    def __init__(self, image_sha256: _Optional[str] = ..., policy_sha256: _Optional[str] = ..., inputs_sha256: _Optional[str] = ..., tests_sha256: _Optional[str] = ..., verifier_sha256: _Optional[str] = ..., isolation: _Optional[_Union[_request_pb2.Isolation, str]] = ..., image_unpinned: bool = ..., contention: _Optional[_Union[Contention, _Mapping]] = ..., flake: _Optional[_Union[Flake, _Mapping]] = ...) -> None: ...

class Flake(_message.Message):
    __slots__ = ("runs", "passed", "test_ids")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    TEST_IDS_FIELD_NUMBER: _ClassVar[int]
    runs: int
    passed: int
    test_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, runs: _Optional[int] = ..., passed: _Optional[int] = ..., test_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Contention(_message.Message):
    __slots__ = ("host_busy", "cpu_ms", "cpu_share_ms", "cpu_waited_ms", "source", "rerun_alone")
    HOST_BUSY_FIELD_NUMBER: _ClassVar[int]
    CPU_MS_FIELD_NUMBER: _ClassVar[int]
    CPU_SHARE_MS_FIELD_NUMBER: _ClassVar[int]
    CPU_WAITED_MS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    RERUN_ALONE_FIELD_NUMBER: _ClassVar[int]
    host_busy: bool
    cpu_ms: int
    cpu_share_ms: int
    cpu_waited_ms: int
    source: PressureSource
    rerun_alone: bool
    def __init__(self, host_busy: bool = ..., cpu_ms: _Optional[int] = ..., cpu_share_ms: _Optional[int] = ..., cpu_waited_ms: _Optional[int] = ..., source: _Optional[_Union[PressureSource, str]] = ..., rerun_alone: bool = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("wall_ms", "cpu_user_ms", "cpu_system_ms", "cpu_throttled_ms", "memory_peak_bytes", "oom_kills", "pids_peak", "disk_bytes", "inodes", "io_bytes", "net_bytes_in", "net_bytes_out", "gpu_ms", "queue_ms", "start_us", "pressure", "cpu_waited_ms")
    WALL_MS_FIELD_NUMBER: _ClassVar[int]
    CPU_USER_MS_FIELD_NUMBER: _ClassVar[int]
    CPU_SYSTEM_MS_FIELD_NUMBER: _ClassVar[int]
    CPU_THROTTLED_MS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    OOM_KILLS_FIELD_NUMBER: _ClassVar[int]
    PIDS_PEAK_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    INODES_FIELD_NUMBER: _ClassVar[int]
    IO_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_BYTES_IN_FIELD_NUMBER: _ClassVar[int]
    NET_BYTES_OUT_FIELD_NUMBER: _ClassVar[int]
    GPU_MS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_MS_FIELD_NUMBER: _ClassVar[int]
    START_US_FIELD_NUMBER: _ClassVar[int]
    PRESSURE_FIELD_NUMBER: _ClassVar[int]
    CPU_WAITED_MS_FIELD_NUMBER: _ClassVar[int]
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
    pressure: Pressure
    cpu_waited_ms: int
    def __init__(self, wall_ms: _Optional[int] = ..., cpu_user_ms: _Optional[int] = ..., cpu_system_ms: _Optional[int] = ..., cpu_throttled_ms: _Optional[int] = ..., memory_peak_bytes: _Optional[int] = ..., oom_kills: _Optional[int] = ..., pids_peak: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., inodes: _Optional[int] = ..., io_bytes: _Optional[int] = ..., net_bytes_in: _Optional[int] = ..., net_bytes_out: _Optional[int] = ..., gpu_ms: _Optional[int] = ..., queue_ms: _Optional[int] = ..., start_us: _Optional[int] = ..., pressure: _Optional[_Union[Pressure, _Mapping]] = ..., cpu_waited_ms: _Optional[int] = ...) -> None: ...

class Pressure(_message.Message):
    __slots__ = ("cpu_some_us", "cpu_full_us", "memory_some_us", "memory_full_us", "io_some_us", "io_full_us", "source")
    CPU_SOME_US_FIELD_NUMBER: _ClassVar[int]
    CPU_FULL_US_FIELD_NUMBER: _ClassVar[int]
    MEMORY_SOME_US_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FULL_US_FIELD_NUMBER: _ClassVar[int]
    IO_SOME_US_FIELD_NUMBER: _ClassVar[int]
    IO_FULL_US_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    cpu_some_us: int
    cpu_full_us: int
    memory_some_us: int
    memory_full_us: int
    io_some_us: int
    io_full_us: int
    source: PressureSource
    def __init__(self, cpu_some_us: _Optional[int] = ..., cpu_full_us: _Optional[int] = ..., memory_some_us: _Optional[int] = ..., memory_full_us: _Optional[int] = ..., io_some_us: _Optional[int] = ..., io_full_us: _Optional[int] = ..., source: _Optional[_Union[PressureSource, str]] = ...) -> None: ...

class Denial(_message.Message):
    __slots__ = ("layer", "act", "target", "rule", "count", "errno", "fix", "suppressed")
    LAYER_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    ERRNO_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_FIELD_NUMBER: _ClassVar[int]
    layer: DenialLayer
    act: str
    target: str
    rule: str
    count: int
    errno: int
    fix: str
    suppressed: int
    def __init__(self, layer: _Optional[_Union[DenialLayer, str]] = ..., act: _Optional[str] = ..., target: _Optional[str] = ..., rule: _Optional[str] = ..., count: _Optional[int] = ..., errno: _Optional[int] = ..., fix: _Optional[str] = ..., suppressed: _Optional[int] = ...) -> None: ...

class ManifestRow(_message.Message):
    __slots__ = ("name", "layer", "asked", "applied", "status", "reason", "proof")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    name: str
    layer: ControlLayer
    asked: str
    applied: str
    status: ControlStatus
    reason: str
    proof: str
    def __init__(self, name: _Optional[str] = ..., layer: _Optional[_Union[ControlLayer, str]] = ..., asked: _Optional[str] = ..., applied: _Optional[str] = ..., status: _Optional[_Union[ControlStatus, str]] = ..., reason: _Optional[str] = ..., proof: _Optional[str] = ...) -> None: ...

class CollectedFile(_message.Message):
    __slots__ = ("path", "content", "mode")
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    path: str
    content: bytes
    mode: int
    def __init__(self, path: _Optional[str] = ..., content: _Optional[bytes] = ..., mode: _Optional[int] = ...) -> None: ...

class MissingFile(_message.Message):
    __slots__ = ("path", "reason")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    path: str
    reason: str
    def __init__(self, path: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class AuditReceipt(_message.Message):
    __slots__ = ("seq", "sha256")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    seq: int
    sha256: str
    def __init__(self, seq: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...
