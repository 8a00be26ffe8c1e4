from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StaticCheck(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATIC_CHECK_UNSPECIFIED: _ClassVar[StaticCheck]
    STATIC_CHECK_NONE: _ClassVar[StaticCheck]
    STATIC_CHECK_SYNTAX: _ClassVar[StaticCheck]
    STATIC_CHECK_IMPORTS: _ClassVar[StaticCheck]

class Tier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_UNSPECIFIED: _ClassVar[Tier]
    TIER_AUTO: _ClassVar[Tier]
    TIER_CONTAINER: _ClassVar[Tier]
    TIER_WASM: _ClassVar[Tier]

class AnswerTake(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANSWER_TAKE_UNSPECIFIED: _ClassVar[AnswerTake]
    ANSWER_TAKE_WHOLE: _ClassVar[AnswerTake]
    ANSWER_TAKE_LAST_LINE: _ClassVar[AnswerTake]
    ANSWER_TAKE_BOXED: _ClassVar[AnswerTake]

class AnswerMatch(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANSWER_MATCH_UNSPECIFIED: _ClassVar[AnswerMatch]
    ANSWER_MATCH_EXACT: _ClassVar[AnswerMatch]
    ANSWER_MATCH_NUMERIC: _ClassVar[AnswerMatch]
    ANSWER_MATCH_SYMBOLIC: _ClassVar[AnswerMatch]

class Combine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMBINE_UNSPECIFIED: _ClassVar[Combine]
    COMBINE_ALL: _ClassVar[Combine]
    COMBINE_WEIGHTED: _ClassVar[Combine]
    COMBINE_MIN: _ClassVar[Combine]

class GitScrub(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GIT_SCRUB_UNSPECIFIED: _ClassVar[GitScrub]
    GIT_SCRUB_KEEP: _ClassVar[GitScrub]
    GIT_SCRUB_SCRUB: _ClassVar[GitScrub]

class Language(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LANGUAGE_UNSPECIFIED: _ClassVar[Language]
    LANGUAGE_PYTHON: _ClassVar[Language]
    LANGUAGE_JAVASCRIPT: _ClassVar[Language]
    LANGUAGE_TYPESCRIPT: _ClassVar[Language]
    LANGUAGE_GO: _ClassVar[Language]
    LANGUAGE_JAVA: _ClassVar[Language]
    LANGUAGE_C: _ClassVar[Language]
    LANGUAGE_CPP: _ClassVar[Language]
    LANGUAGE_RUST: _ClassVar[Language]
    LANGUAGE_PHP: _ClassVar[Language]
    LANGUAGE_RUBY: _ClassVar[Language]
    LANGUAGE_PERL: _ClassVar[Language]
    LANGUAGE_LUA: _ClassVar[Language]
    LANGUAGE_SHELL: _ClassVar[Language]

class VerifyKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERIFY_KIND_UNSPECIFIED: _ClassVar[VerifyKind]
    VERIFY_KIND_EXIT_CODE: _ClassVar[VerifyKind]
    VERIFY_KIND_STDOUT: _ClassVar[VerifyKind]
    VERIFY_KIND_ASSERTS: _ClassVar[VerifyKind]
    VERIFY_KIND_ANSWER: _ClassVar[VerifyKind]
    VERIFY_KIND_CASES: _ClassVar[VerifyKind]
    VERIFY_KIND_PYTEST: _ClassVar[VerifyKind]
    VERIFY_KIND_UNITTEST: _ClassVar[VerifyKind]
    VERIFY_KIND_CARGO_TEST: _ClassVar[VerifyKind]
    VERIFY_KIND_GO_TEST: _ClassVar[VerifyKind]
    VERIFY_KIND_NODE_TEST: _ClassVar[VerifyKind]
    VERIFY_KIND_JEST: _ClassVar[VerifyKind]
    VERIFY_KIND_JUNIT_XML: _ClassVar[VerifyKind]
    VERIFY_KIND_TAP: _ClassVar[VerifyKind]
    VERIFY_KIND_CTRF: _ClassVar[VerifyKind]
    VERIFY_KIND_COMMAND: _ClassVar[VerifyKind]
    VERIFY_KIND_COMPILE: _ClassVar[VerifyKind]
    VERIFY_KIND_COVERAGE: _ClassVar[VerifyKind]
    VERIFY_KIND_LEAKS: _ClassVar[VerifyKind]
    VERIFY_KIND_LINT: _ClassVar[VerifyKind]
    VERIFY_KIND_COMBINED: _ClassVar[VerifyKind]

class Isolation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ISOLATION_UNSPECIFIED: _ClassVar[Isolation]
    ISOLATION_SEPARATE: _ClassVar[Isolation]
    ISOLATION_SHARED: _ClassVar[Isolation]

class OnTamper(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_TAMPER_UNSPECIFIED: _ClassVar[OnTamper]
    ON_TAMPER_GRADE: _ClassVar[OnTamper]
    ON_TAMPER_ZERO: _ClassVar[OnTamper]
STATIC_CHECK_UNSPECIFIED: StaticCheck
STATIC_CHECK_NONE: StaticCheck
STATIC_CHECK_SYNTAX: StaticCheck
STATIC_CHECK_IMPORTS: StaticCheck
TIER_UNSPECIFIED: Tier
TIER_AUTO: Tier
TIER_CONTAINER: Tier
TIER_WASM: Tier
ANSWER_TAKE_UNSPECIFIED: AnswerTake
ANSWER_TAKE_WHOLE: AnswerTake
ANSWER_TAKE_LAST_LINE: AnswerTake
ANSWER_TAKE_BOXED: AnswerTake
ANSWER_MATCH_UNSPECIFIED: AnswerMatch
ANSWER_MATCH_EXACT: AnswerMatch
ANSWER_MATCH_NUMERIC: AnswerMatch
ANSWER_MATCH_SYMBOLIC: AnswerMatch
COMBINE_UNSPECIFIED: Combine
COMBINE_ALL: Combine
COMBINE_WEIGHTED: Combine
COMBINE_MIN: Combine
GIT_SCRUB_UNSPECIFIED: GitScrub
GIT_SCRUB_KEEP: GitScrub
GIT_SCRUB_SCRUB: GitScrub
LANGUAGE_UNSPECIFIED: Language
LANGUAGE_PYTHON: Language
LANGUAGE_JAVASCRIPT: Language
LANGUAGE_TYPESCRIPT: Language
LANGUAGE_GO: Language
LANGUAGE_JAVA: Language
LANGUAGE_C: Language
LANGUAGE_CPP: Language
LANGUAGE_RUST: Language
LANGUAGE_PHP: Language
LANGUAGE_RUBY: Language
LANGUAGE_PERL: Language
LANGUAGE_LUA: Language
LANGUAGE_SHELL: Language
VERIFY_KIND_UNSPECIFIED: VerifyKind
VERIFY_KIND_EXIT_CODE: VerifyKind
VERIFY_KIND_STDOUT: VerifyKind
VERIFY_KIND_ASSERTS: VerifyKind
VERIFY_KIND_ANSWER: VerifyKind
VERIFY_KIND_CASES: VerifyKind
VERIFY_KIND_PYTEST: VerifyKind
VERIFY_KIND_UNITTEST: VerifyKind
VERIFY_KIND_CARGO_TEST: VerifyKind
VERIFY_KIND_GO_TEST: VerifyKind
VERIFY_KIND_NODE_TEST: VerifyKind
VERIFY_KIND_JEST: VerifyKind
VERIFY_KIND_JUNIT_XML: VerifyKind
VERIFY_KIND_TAP: VerifyKind
VERIFY_KIND_CTRF: VerifyKind
VERIFY_KIND_COMMAND: VerifyKind
VERIFY_KIND_COMPILE: VerifyKind
VERIFY_KIND_COVERAGE: VerifyKind
VERIFY_KIND_LEAKS: VerifyKind
VERIFY_KIND_LINT: VerifyKind
VERIFY_KIND_COMBINED: VerifyKind
ISOLATION_UNSPECIFIED: Isolation
ISOLATION_SEPARATE: Isolation
ISOLATION_SHARED: Isolation
ON_TAMPER_UNSPECIFIED: OnTamper
ON_TAMPER_GRADE: OnTamper
ON_TAMPER_ZERO: OnTamper

class RunRequest(_message.Message):
    __slots__ = ("id", "tier", "image", "policy", "policy_document", "files", "argv", "argv_bytes", "env", "cwd", "stdin", "limits", "collect", "verify", "group", "priority", "deadline_ms", "idempotency_key", "labels", "traceparent", "retry_infra", "static_check")
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: File
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[File, _Mapping]] = ...) -> None: ...
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    POLICY_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ARGV_BYTES_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    COLLECT_FIELD_NUMBER: _ClassVar[int]
    VERIFY_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    RETRY_INFRA_FIELD_NUMBER: _ClassVar[int]
    STATIC_CHECK_FIELD_NUMBER: _ClassVar[int]
    id: str
    tier: Tier
    image: str
    policy: str
    policy_document: str
    files: _containers.MessageMap[str, File]
    argv: _containers.RepeatedScalarFieldContainer[str]
    argv_bytes: _containers.RepeatedScalarFieldContainer[bytes]
    env: _containers.ScalarMap[str, str]
    cwd: str
    stdin: bytes
    limits: Limits
    collect: _containers.RepeatedScalarFieldContainer[str]
    verify: Verify
    group: str
    priority: int
    deadline_ms: int
    idempotency_key: str
    labels: _containers.ScalarMap[str, str]
    traceparent: str
    retry_infra: bool
    static_check: StaticCheck
    def __init__(self, id: _Optional[str] = ..., tier: _Optional[_Union[Tier, str]] = ..., image: _Optional[str] = ..., policy: _Optional[str] = ..., policy_document: _Optional[str] = ..., files: _Optional[_Mapping[str, File]] = ..., argv: _Optional[_Iterable[str]] = ..., argv_bytes: _Optional[_Iterable[bytes]] = ..., env: _Optional[_Mapping[str, str]] = ..., cwd: _Optional[str] = ..., stdin: _Optional[bytes] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., collect: _Optional[_Iterable[str]] = ..., verify: _Optional[_Union[Verify, _Mapping]] = ..., group: _Optional[str] = ..., priority: _Optional[int] = ..., deadline_ms: _Optional[int] = ..., idempotency_key: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., traceparent: _Optional[str] = ..., retry_infra: bool = ..., static_check: _Optional[_Union[StaticCheck, str]] = ...) -> None: ...

class File(_message.Message):
    __slots__ = ("content", "mode")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    mode: int
    def __init__(self, content: _Optional[bytes] = ..., mode: _Optional[int] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("wall_ms_max", "cpu_ms_max", "cpu_millicores_max", "memory_bytes_max", "pids_max", "disk_bytes_max", "files_max", "output_bytes_max", "output_bytes_total_max", "open_files_max")
    WALL_MS_MAX_FIELD_NUMBER: _ClassVar[int]
    CPU_MS_MAX_FIELD_NUMBER: _ClassVar[int]
    CPU_MILLICORES_MAX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    PIDS_MAX_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    FILES_MAX_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_TOTAL_MAX_FIELD_NUMBER: _ClassVar[int]
    OPEN_FILES_MAX_FIELD_NUMBER: _ClassVar[int]
    wall_ms_max: int
    cpu_ms_max: int
    cpu_millicores_max: int
    memory_bytes_max: int
    pids_max: int
    disk_bytes_max: int
    files_max: int
    output_bytes_max: int
    output_bytes_total_max: int
    open_files_max: int
    def __init__(self, wall_ms_max: _Optional[int] = ..., cpu_ms_max: _Optional[int] = ..., cpu_millicores_max: _Optional[int] = ..., memory_bytes_max: _Optional[int] = ..., pids_max: _Optional[int] = ..., disk_bytes_max: _Optional[int] = ..., files_max: _Optional[int] = ..., output_bytes_max: _Optional[int] = ..., output_bytes_total_max: _Optional[int] = ..., open_files_max: _Optional[int] = ...) -> None: ...

class Verify(_message.Message):
    __slots__ = ("kind", "file", "code", "exit_code", "stdout", "ignore_trailing_space", "float_tolerance", "isolation", "on_tamper", "language", "tests", "test_ids", "entry_points", "test_files", "protected", "args", "argv", "env", "cwd", "format", "report", "fail_to_pass", "pass_to_pass", "partial_credit", "repeat", "declaration", "cases", "stop_on_first_fail", "function", "case_wall_ms", "answer", "min_coverage_pct", "baseline_coverage_pct", "max_leaks", "max_errors", "max_warnings", "parts", "combine", "git", "case_cpu_ms")
    class TestFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: File
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[File, _Mapping]] = ...) -> None: ...
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    IGNORE_TRAILING_SPACE_FIELD_NUMBER: _ClassVar[int]
    FLOAT_TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    ON_TAMPER_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TESTS_FIELD_NUMBER: _ClassVar[int]
    TEST_IDS_FIELD_NUMBER: _ClassVar[int]
    ENTRY_POINTS_FIELD_NUMBER: _ClassVar[int]
    TEST_FILES_FIELD_NUMBER: _ClassVar[int]
    PROTECTED_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    FAIL_TO_PASS_FIELD_NUMBER: _ClassVar[int]
    PASS_TO_PASS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_CREDIT_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    STOP_ON_FIRST_FAIL_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    CASE_WALL_MS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    MIN_COVERAGE_PCT_FIELD_NUMBER: _ClassVar[int]
    BASELINE_COVERAGE_PCT_FIELD_NUMBER: _ClassVar[int]
    MAX_LEAKS_FIELD_NUMBER: _ClassVar[int]
    MAX_ERRORS_FIELD_NUMBER: _ClassVar[int]
    MAX_WARNINGS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    COMBINE_FIELD_NUMBER: _ClassVar[int]
    GIT_FIELD_NUMBER: _ClassVar[int]
    CASE_CPU_MS_FIELD_NUMBER: _ClassVar[int]
    kind: VerifyKind
    file: str
    code: str
    exit_code: int
    stdout: bytes
    ignore_trailing_space: bool
    float_tolerance: float
    isolation: Isolation
    on_tamper: OnTamper
    language: Language
    tests: _containers.RepeatedCompositeFieldContainer[TestCode]
    test_ids: _containers.RepeatedScalarFieldContainer[str]
    entry_points: _containers.RepeatedScalarFieldContainer[str]
    test_files: _containers.MessageMap[str, File]
    protected: _containers.RepeatedScalarFieldContainer[str]
    args: _containers.RepeatedScalarFieldContainer[str]
    argv: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    cwd: str
    format: str
    report: str
    fail_to_pass: _containers.RepeatedScalarFieldContainer[str]
    pass_to_pass: _containers.RepeatedScalarFieldContainer[str]
    partial_credit: bool
    repeat: int
    declaration: str
    cases: _containers.RepeatedCompositeFieldContainer[Case]
    stop_on_first_fail: bool
    function: str
    case_wall_ms: int
    answer: Answer
    min_coverage_pct: float
    baseline_coverage_pct: float
    max_leaks: int
    max_errors: int
    max_warnings: int
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    combine: Combine
    git: GitScrub
    case_cpu_ms: int
    def __init__(self, kind: _Optional[_Union[VerifyKind, str]] = ..., file: _Optional[str] = ..., code: _Optional[str] = ..., exit_code: _Optional[int] = ..., stdout: _Optional[bytes] = ..., ignore_trailing_space: bool = ..., float_tolerance: _Optional[float] = ..., isolation: _Optional[_Union[Isolation, str]] = ..., on_tamper: _Optional[_Union[OnTamper, str]] = ..., language: _Optional[_Union[Language, str]] = ..., tests: _Optional[_Iterable[_Union[TestCode, _Mapping]]] = ..., test_ids: _Optional[_Iterable[str]] = ..., entry_points: _Optional[_Iterable[str]] = ..., test_files: _Optional[_Mapping[str, File]] = ..., protected: _Optional[_Iterable[str]] = ..., args: _Optional[_Iterable[str]] = ..., argv: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., cwd: _Optional[str] = ..., format: _Optional[str] = ..., report: _Optional[str] = ..., fail_to_pass: _Optional[_Iterable[str]] = ..., pass_to_pass: _Optional[_Iterable[str]] = ..., partial_credit: bool = ..., repeat: _Optional[int] = ..., declaration: _Optional[str] = ..., cases: _Optional[_Iterable[_Union[Case, _Mapping]]] = ..., stop_on_first_fail: bool = ..., function: _Optional[str] = ..., case_wall_ms: _Optional[int] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., min_coverage_pct: _Optional[float] = ..., baseline_coverage_pct: _Optional[float] = ..., max_leaks: _Optional[int] = ..., max_errors: _Optional[int] = ..., max_warnings: _Optional[int] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ..., combine: _Optional[_Union[Combine, str]] = ..., git: _Optional[_Union[GitScrub, str]] = ..., case_cpu_ms: _Optional[int] = ...) -> None: ...

class Case(_message.Message):
    __slots__ = ("id", "stdin", "argv", "stdout", "exit_code", "args", "expected", "kwargs")
    ID_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    KWARGS_FIELD_NUMBER: _ClassVar[int]
    id: str
    stdin: bytes
    argv: _containers.RepeatedScalarFieldContainer[str]
    stdout: bytes
    exit_code: int
    args: PlainValue
    expected: PlainValue
    kwargs: PlainValue
    def __init__(self, id: _Optional[str] = ..., stdin: _Optional[bytes] = ..., argv: _Optional[_Iterable[str]] = ..., stdout: _Optional[bytes] = ..., exit_code: _Optional[int] = ..., args: _Optional[_Union[PlainValue, _Mapping]] = ..., expected: _Optional[_Union[PlainValue, _Mapping]] = ..., kwargs: _Optional[_Union[PlainValue, _Mapping]] = ...) -> None: ...

class PlainValue(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("expected", "compare", "take")
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    COMPARE_FIELD_NUMBER: _ClassVar[int]
    TAKE_FIELD_NUMBER: _ClassVar[int]
    expected: _containers.RepeatedScalarFieldContainer[str]
    compare: AnswerMatch
    take: AnswerTake
    def __init__(self, expected: _Optional[_Iterable[str]] = ..., compare: _Optional[_Union[AnswerMatch, str]] = ..., take: _Optional[_Union[AnswerTake, str]] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ("name", "weight", "verify")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    VERIFY_FIELD_NUMBER: _ClassVar[int]
    name: str
    weight: float
    verify: Verify
    def __init__(self, name: _Optional[str] = ..., weight: _Optional[float] = ..., verify: _Optional[_Union[Verify, _Mapping]] = ...) -> None: ...

class TestCode(_message.Message):
    __slots__ = ("id", "code")
    ID_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    id: str
    code: str
    def __init__(self, id: _Optional[str] = ..., code: _Optional[str] = ...) -> None: ...
