from rollcage.v1 import node_pb2 as _node_pb2
from rollcage.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChangeDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_DIRECTION_UNSPECIFIED: _ClassVar[ChangeDirection]
    CHANGE_DIRECTION_NARROWER: _ClassVar[ChangeDirection]
    CHANGE_DIRECTION_WIDER: _ClassVar[ChangeDirection]
    CHANGE_DIRECTION_OTHER: _ClassVar[ChangeDirection]
CHANGE_DIRECTION_UNSPECIFIED: ChangeDirection
CHANGE_DIRECTION_NARROWER: ChangeDirection
CHANGE_DIRECTION_WIDER: ChangeDirection
CHANGE_DIRECTION_OTHER: ChangeDirection

class ListPoliciesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPoliciesReply(_message.Message):
    __slots__ = ("policies",)
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    policies: _containers.RepeatedCompositeFieldContainer[PolicySummary]
    def __init__(self, policies: _Optional[_Iterable[_Union[PolicySummary, _Mapping]]] = ...) -> None: ...

class PolicySummary(_message.Message):
    __slots__ = ("name", "description", "policy_sha256", "lineage", "unenforceable", "self_test", "self_test_trouble")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    POLICY_SHA256_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    UNENFORCEABLE_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_TROUBLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    policy_sha256: str
    lineage: _containers.RepeatedScalarFieldContainer[str]
    unenforceable: _containers.RepeatedScalarFieldContainer[str]
    self_test: _node_pb2.SelfTestState
    self_test_trouble: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., policy_sha256: _Optional[str] = ..., lineage: _Optional[_Iterable[str]] = ..., unenforceable: _Optional[_Iterable[str]] = ..., self_test: _Optional[_Union[_node_pb2.SelfTestState, str]] = ..., self_test_trouble: _Optional[str] = ...) -> None: ...

class GetPolicyRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class PolicyDocument(_message.Message):
    __slots__ = ("name", "document", "canonical", "policy_sha256", "self_test", "self_test_trouble")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_FIELD_NUMBER: _ClassVar[int]
    POLICY_SHA256_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_TROUBLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    document: str
    canonical: str
    policy_sha256: str
    self_test: _node_pb2.SelfTestState
    self_test_trouble: str
    def __init__(self, name: _Optional[str] = ..., document: _Optional[str] = ..., canonical: _Optional[str] = ..., policy_sha256: _Optional[str] = ..., self_test: _Optional[_Union[_node_pb2.SelfTestState, str]] = ..., self_test_trouble: _Optional[str] = ...) -> None: ...

class PolicyRef(_message.Message):
    __slots__ = ("name", "document")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    document: str
    def __init__(self, name: _Optional[str] = ..., document: _Optional[str] = ...) -> None: ...

class LintPolicyRequest(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: PolicyRef
    def __init__(self, policy: _Optional[_Union[PolicyRef, _Mapping]] = ...) -> None: ...

class LintPolicyReply(_message.Message):
    __slots__ = ("usable", "findings", "policy_sha256")
    USABLE_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    POLICY_SHA256_FIELD_NUMBER: _ClassVar[int]
    usable: bool
    findings: _containers.RepeatedCompositeFieldContainer[PolicyFinding]
    policy_sha256: str
    def __init__(self, usable: bool = ..., findings: _Optional[_Iterable[_Union[PolicyFinding, _Mapping]]] = ..., policy_sha256: _Optional[str] = ...) -> None: ...

class PolicyFinding(_message.Message):
    __slots__ = ("severity", "field", "line", "column", "message", "fix")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    severity: _result_pb2.Severity
    field: str
    line: int
    column: int
    message: str
    fix: str
    def __init__(self, severity: _Optional[_Union[_result_pb2.Severity, str]] = ..., field: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., message: _Optional[str] = ..., fix: _Optional[str] = ...) -> None: ...

class ExplainPolicyRequest(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: PolicyRef
    def __init__(self, policy: _Optional[_Union[PolicyRef, _Mapping]] = ...) -> None: ...

class ExplainPolicyReply(_message.Message):
    __slots__ = ("text", "policy_sha256")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    POLICY_SHA256_FIELD_NUMBER: _ClassVar[int]
    text: str
    policy_sha256: str
    def __init__(self, text: _Optional[str] = ..., policy_sha256: _Optional[str] = ...) -> None: ...

class DiffPoliciesRequest(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: PolicyRef
    after: PolicyRef
    def __init__(self, before: _Optional[_Union[PolicyRef, _Mapping]] = ..., after: _Optional[_Union[PolicyRef, _Mapping]] = ...) -> None: ...

class DiffPoliciesReply(_message.Message):
    __slots__ = ("text", "changes")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    text: str
    changes: _containers.RepeatedCompositeFieldContainer[PolicyChange]
    def __init__(self, text: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[PolicyChange, _Mapping]]] = ...) -> None: ...

class PolicyChange(_message.Message):
    __slots__ = ("field", "before", "after", "direction")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    field: str
    before: str
    after: str
    direction: ChangeDirection
    def __init__(self, field: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ..., direction: _Optional[_Union[ChangeDirection, str]] = ...) -> None: ...
