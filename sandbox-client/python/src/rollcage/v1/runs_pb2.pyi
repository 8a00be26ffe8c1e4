from rollcage.v1 import request_pb2 as _request_pb2
from rollcage.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OutputStream(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTPUT_STREAM_UNSPECIFIED: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDOUT: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDERR: _ClassVar[OutputStream]

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_ACTIVE: _ClassVar[RunState]
    RUN_STATE_FINISHED: _ClassVar[RunState]
OUTPUT_STREAM_UNSPECIFIED: OutputStream
OUTPUT_STREAM_STDOUT: OutputStream
OUTPUT_STREAM_STDERR: OutputStream
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_ACTIVE: RunState
RUN_STATE_FINISHED: RunState

class RunEvent(_message.Message):
    __slots__ = ("queued", "started", "output", "result")
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    queued: RunQueued
    started: RunStarted
    output: RunOutput
    result: _result_pb2.RunResult
    def __init__(self, queued: _Optional[_Union[RunQueued, _Mapping]] = ..., started: _Optional[_Union[RunStarted, _Mapping]] = ..., output: _Optional[_Union[RunOutput, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.RunResult, _Mapping]] = ...) -> None: ...

class RunQueued(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ("run_id", "sandbox_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    sandbox_id: str
    def __init__(self, run_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ...) -> None: ...

class RunOutput(_message.Message):
    __slots__ = ("stream", "seq", "data")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    stream: OutputStream
    seq: int
    data: bytes
    def __init__(self, stream: _Optional[_Union[OutputStream, str]] = ..., seq: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class SubmitReply(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class FetchRequest(_message.Message):
    __slots__ = ("run_id", "wait_ms")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    wait_ms: int
    def __init__(self, run_id: _Optional[str] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class FetchReply(_message.Message):
    __slots__ = ("state", "result", "wait_ms")
    STATE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    state: RunState
    result: _result_pb2.RunResult
    wait_ms: int
    def __init__(self, state: _Optional[_Union[RunState, str]] = ..., result: _Optional[_Union[_result_pb2.RunResult, _Mapping]] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class CancelReply(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: RunState
    def __init__(self, state: _Optional[_Union[RunState, str]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "group", "state")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    group: str
    state: RunState
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., group: _Optional[str] = ..., state: _Optional[_Union[RunState, str]] = ...) -> None: ...

class ListRunsReply(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[RunRecord]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[RunRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RunRecord(_message.Message):
    __slots__ = ("run_id", "id", "principal", "state", "policy", "group", "labels", "submitted_unix_ms", "finished_unix_ms", "ending_kind", "outcome", "result")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    ENDING_KIND_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    id: str
    principal: str
    state: RunState
    policy: str
    group: str
    labels: _containers.ScalarMap[str, str]
    submitted_unix_ms: int
    finished_unix_ms: int
    ending_kind: _result_pb2.EndingKind
    outcome: _result_pb2.Outcome
    result: _result_pb2.RunResult
    def __init__(self, run_id: _Optional[str] = ..., id: _Optional[str] = ..., principal: _Optional[str] = ..., state: _Optional[_Union[RunState, str]] = ..., policy: _Optional[str] = ..., group: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., submitted_unix_ms: _Optional[int] = ..., finished_unix_ms: _Optional[int] = ..., ending_kind: _Optional[_Union[_result_pb2.EndingKind, str]] = ..., outcome: _Optional[_Union[_result_pb2.Outcome, str]] = ..., result: _Optional[_Union[_result_pb2.RunResult, _Mapping]] = ...) -> None: ...
