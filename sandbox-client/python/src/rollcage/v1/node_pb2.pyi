from rollcage.v1 import request_pb2 as _request_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SelfTestState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SELF_TEST_STATE_UNSPECIFIED: _ClassVar[SelfTestState]
    SELF_TEST_STATE_RIGHT: _ClassVar[SelfTestState]
    SELF_TEST_STATE_WRONG: _ClassVar[SelfTestState]
    SELF_TEST_STATE_NOT_TESTED: _ClassVar[SelfTestState]
    SELF_TEST_STATE_NOT_ENFORCEABLE: _ClassVar[SelfTestState]
SELF_TEST_STATE_UNSPECIFIED: SelfTestState
SELF_TEST_STATE_RIGHT: SelfTestState
SELF_TEST_STATE_WRONG: SelfTestState
SELF_TEST_STATE_NOT_TESTED: SelfTestState
SELF_TEST_STATE_NOT_ENFORCEABLE: SelfTestState

class CapabilitiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CapabilitiesReply(_message.Message):
    __slots__ = ("version", "mode", "kernel", "features", "verify_kinds", "images", "host_image_sha256", "mode_reason", "self_test")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    VERIFY_KINDS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    HOST_IMAGE_SHA256_FIELD_NUMBER: _ClassVar[int]
    MODE_REASON_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_FIELD_NUMBER: _ClassVar[int]
    version: str
    mode: str
    kernel: str
    features: _containers.RepeatedCompositeFieldContainer[HostFeature]
    verify_kinds: _containers.RepeatedScalarFieldContainer[str]
    images: _containers.RepeatedScalarFieldContainer[str]
    host_image_sha256: str
    mode_reason: str
    self_test: SelfTestSummary
    def __init__(self, version: _Optional[str] = ..., mode: _Optional[str] = ..., kernel: _Optional[str] = ..., features: _Optional[_Iterable[_Union[HostFeature, _Mapping]]] = ..., verify_kinds: _Optional[_Iterable[str]] = ..., images: _Optional[_Iterable[str]] = ..., host_image_sha256: _Optional[str] = ..., mode_reason: _Optional[str] = ..., self_test: _Optional[_Union[SelfTestSummary, _Mapping]] = ...) -> None: ...

class SelfTestSummary(_message.Message):
    __slots__ = ("state", "right", "wrong", "not_asked", "at_unix_ms", "trouble")
    STATE_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    WRONG_FIELD_NUMBER: _ClassVar[int]
    NOT_ASKED_FIELD_NUMBER: _ClassVar[int]
    AT_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    state: SelfTestState
    right: int
    wrong: int
    not_asked: int
    at_unix_ms: int
    trouble: str
    def __init__(self, state: _Optional[_Union[SelfTestState, str]] = ..., right: _Optional[int] = ..., wrong: _Optional[int] = ..., not_asked: _Optional[int] = ..., at_unix_ms: _Optional[int] = ..., trouble: _Optional[str] = ...) -> None: ...

class HostFeature(_message.Message):
    __slots__ = ("name", "available", "value", "why", "fix")
    NAME_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    name: str
    available: bool
    value: str
    why: str
    fix: str
    def __init__(self, name: _Optional[str] = ..., available: bool = ..., value: _Optional[str] = ..., why: _Optional[str] = ..., fix: _Optional[str] = ...) -> None: ...

class SelfTestRequest(_message.Message):
    __slots__ = ("fresh", "policies")
    FRESH_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    fresh: bool
    policies: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, fresh: bool = ..., policies: _Optional[_Iterable[str]] = ...) -> None: ...

class SelfTestReply(_message.Message):
    __slots__ = ("mode", "tier", "kernel", "boot_id", "at_start", "policies")
    MODE_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_START_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    mode: str
    tier: _request_pb2.Tier
    kernel: str
    boot_id: str
    at_start: bool
    policies: _containers.RepeatedCompositeFieldContainer[PolicySelfTest]
    def __init__(self, mode: _Optional[str] = ..., tier: _Optional[_Union[_request_pb2.Tier, str]] = ..., kernel: _Optional[str] = ..., boot_id: _Optional[str] = ..., at_start: bool = ..., policies: _Optional[_Iterable[_Union[PolicySelfTest, _Mapping]]] = ...) -> None: ...

class PolicySelfTest(_message.Message):
    __slots__ = ("policy", "state", "trouble", "at_unix_ms", "from_cache", "plan_sha256", "rows")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    AT_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    FROM_CACHE_FIELD_NUMBER: _ClassVar[int]
    PLAN_SHA256_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    policy: str
    state: SelfTestState
    trouble: str
    at_unix_ms: int
    from_cache: bool
    plan_sha256: str
    rows: _containers.RepeatedCompositeFieldContainer[SelfTestRow]
    def __init__(self, policy: _Optional[str] = ..., state: _Optional[_Union[SelfTestState, str]] = ..., trouble: _Optional[str] = ..., at_unix_ms: _Optional[int] = ..., from_cache: bool = ..., plan_sha256: _Optional[str] = ..., rows: _Optional[_Iterable[_Union[SelfTestRow, _Mapping]]] = ...) -> None: ...

class SelfTestRow(_message.Message):
    __slots__ = ("name", "what", "found", "expected", "right", "proves")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    PROVES_FIELD_NUMBER: _ClassVar[int]
    name: str
    what: str
    found: str
    expected: str
    right: bool
    proves: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., what: _Optional[str] = ..., found: _Optional[str] = ..., expected: _Optional[str] = ..., right: bool = ..., proves: _Optional[_Iterable[str]] = ..., **kwargs) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StatusReply(_message.Message):
    __slots__ = ("node", "version", "started_unix_ms", "draining", "runs_active", "runs_queued", "sandboxes_live", "sandboxes_max", "runs_finished", "policies")
    NODE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STARTED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    RUNS_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    RUNS_QUEUED_FIELD_NUMBER: _ClassVar[int]
    SANDBOXES_LIVE_FIELD_NUMBER: _ClassVar[int]
    SANDBOXES_MAX_FIELD_NUMBER: _ClassVar[int]
    RUNS_FINISHED_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    node: str
    version: str
    started_unix_ms: int
    draining: bool
    runs_active: int
    runs_queued: int
    sandboxes_live: int
    sandboxes_max: int
    runs_finished: int
    policies: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, node: _Optional[str] = ..., version: _Optional[str] = ..., started_unix_ms: _Optional[int] = ..., draining: bool = ..., runs_active: _Optional[int] = ..., runs_queued: _Optional[int] = ..., sandboxes_live: _Optional[int] = ..., sandboxes_max: _Optional[int] = ..., runs_finished: _Optional[int] = ..., policies: _Optional[_Iterable[str]] = ...) -> None: ...
