from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_SEVERITY_UNSPECIFIED: _ClassVar[AuditSeverity]
    AUDIT_SEVERITY_ERROR: _ClassVar[AuditSeverity]
    AUDIT_SEVERITY_WARNING: _ClassVar[AuditSeverity]
AUDIT_SEVERITY_UNSPECIFIED: AuditSeverity
AUDIT_SEVERITY_ERROR: AuditSeverity
AUDIT_SEVERITY_WARNING: AuditSeverity

class AuditQueryRequest(_message.Message):
    __slots__ = ("from_seq", "to_seq", "run_id", "kind", "records_max")
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    TO_SEQ_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RECORDS_MAX_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    to_seq: int
    run_id: str
    kind: str
    records_max: int
    def __init__(self, from_seq: _Optional[int] = ..., to_seq: _Optional[int] = ..., run_id: _Optional[str] = ..., kind: _Optional[str] = ..., records_max: _Optional[int] = ...) -> None: ...

class AuditTailRequest(_message.Message):
    __slots__ = ("from_seq",)
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    def __init__(self, from_seq: _Optional[int] = ...) -> None: ...

class AuditRecord(_message.Message):
    __slots__ = ("seq", "line", "sha256")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    seq: int
    line: str
    sha256: str
    def __init__(self, seq: _Optional[int] = ..., line: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class AuditVerifyRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AuditVerifyReply(_message.Message):
    __slots__ = ("ok", "records", "complete_to_seq", "last_seq", "tail_proven", "findings", "problem")
    OK_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TO_SEQ_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    TAIL_PROVEN_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    ok: bool
    records: int
    complete_to_seq: int
    last_seq: int
    tail_proven: bool
    findings: _containers.RepeatedCompositeFieldContainer[AuditFinding]
    problem: str
    def __init__(self, ok: bool = ..., records: _Optional[int] = ..., complete_to_seq: _Optional[int] = ..., last_seq: _Optional[int] = ..., tail_proven: bool = ..., findings: _Optional[_Iterable[_Union[AuditFinding, _Mapping]]] = ..., problem: _Optional[str] = ...) -> None: ...

class AuditFinding(_message.Message):
    __slots__ = ("severity", "segment", "line", "seq", "message")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    severity: AuditSeverity
    segment: str
    line: int
    seq: int
    message: str
    def __init__(self, severity: _Optional[_Union[AuditSeverity, str]] = ..., segment: _Optional[str] = ..., line: _Optional[int] = ..., seq: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class AuditCheckpointRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AuditCheckpointReply(_message.Message):
    __slots__ = ("seq", "sha256", "signed_head", "public_key_pem")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIGNED_HEAD_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_PEM_FIELD_NUMBER: _ClassVar[int]
    seq: int
    sha256: str
    signed_head: str
    public_key_pem: str
    def __init__(self, seq: _Optional[int] = ..., sha256: _Optional[str] = ..., signed_head: _Optional[str] = ..., public_key_pem: _Optional[str] = ...) -> None: ...
