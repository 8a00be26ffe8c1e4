"""From a gRPC status to one of our errors. Knows the few messages of `google.rpc` that the daemon
sends; they live in a pool of their own, so that nobody else's copy of them is in the way.
"""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from .errors import (
    Conflict,
    DaemonFault,
    DaemonUnreachable,
    InvalidRequest,
    NotAllowed,
    NotFound,
    QueueFull,
    Refused,
    RollcageError,
    TimedOut,
    Unsupported,
)

DOMAIN = "rollcage"
_DETAILS_KEY = "grpc-status-details-bin"

_FIELD = descriptor_pb2.FieldDescriptorProto
_STRING, _INT32, _INT64 = _FIELD.TYPE_STRING, _FIELD.TYPE_INT32, _FIELD.TYPE_INT64
_BYTES = _FIELD.TYPE_BYTES

# Message -> (field, number, type or message, whether repeated).
_MESSAGES: dict[str, list[tuple[str, int, Any, bool]]] = {
    "Any": [("type_url", 1, _STRING, False), ("value", 2, _BYTES, False)],
    "Status": [("code", 1, _INT32, False), ("message", 2, _STRING, False), ("details", 3, "Any", True)],
    "ErrorInfo": [("reason", 1, _STRING, False), ("domain", 2, _STRING, False)],
    "Duration": [("seconds", 1, _INT64, False), ("nanos", 2, _INT32, False)],
    "RetryInfo": [("retry_delay", 1, "Duration", False)],
    "FieldViolation": [("field", 1, _STRING, False), ("description", 2, _STRING, False)],
    "BadRequest": [("field_violations", 1, "FieldViolation", True)],
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="details.proto", package="rpc", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            label = _FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, label=label)
            if isinstance(kind, str):
                added.type, added.type_name = _FIELD.TYPE_MESSAGE, f".rpc.{kind}"
            else:
                added.type = kind
    pool: Any = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"rpc.{name}")) for name in _MESSAGES}


_CLASSES = _classes()


class _Details:
    """What the daemon says beside code and message."""

    def __init__(self, metadata: Any) -> None:
        self.from_daemon = False
        self.reason = ""
        self.field: str | None = None
        self.retry_after_s: float | None = None
        for key, value in metadata or ():
            if key == _DETAILS_KEY and isinstance(value, bytes):
                self._read(value)

    def _read(self, value: bytes) -> None:
        try:
            status = _CLASSES["Status"].FromString(value)
            for detail in status.details:
                name = detail.type_url.rpartition(".")[2]
                if name in ("ErrorInfo", "RetryInfo", "BadRequest"):
                    self._take(name, _CLASSES[name].FromString(detail.value))
        except Exception:  # noqa: BLE001 - details that cannot be read are as good as none
            return

    def _take(self, name: str, detail: Any) -> None:
        if name == "ErrorInfo":
            self.from_daemon = detail.domain == DOMAIN
            self.reason = detail.reason
        elif name == "RetryInfo":
            delay = detail.retry_delay
            self.retry_after_s = delay.seconds + delay.nanos / 1e9
        elif detail.field_violations:
            self.field = detail.field_violations[0].field or None


def of_rpc(error: Any, endpoint: str) -> RollcageError:
    """The error that a failed call amounts to; `error` is what either API of grpcio raises."""
    code = error.code()
    name = code.name.lower() if isinstance(code, grpc.StatusCode) else "unknown"
    message = error.details() or f"no explanation ({name})"
    details = _Details(error.trailing_metadata())
    if not details.from_daemon and name in ("unavailable", "cancelled", "unknown", "internal"):
        # Nobody of ours says so: the way to the daemon, or its end.
        return DaemonUnreachable(f"{endpoint}: {message}", code=name)
    return of_code(name, message, details.reason, details.field, details.retry_after_s)


def of_code(
    code: str, message: str, reason: str = "", field: str | None = None, retry_after_s: float | None = None
) -> RollcageError:
    """The error that a code of the daemon's amounts to."""
    if code == "resource_exhausted":
        return QueueFull(message, reason=reason, retry_after_s=1.0 if retry_after_s is None else retry_after_s)
    if code == "deadline_exceeded":
        return TimedOut(message, code=code, reason=reason)
    kind = _REFUSALS.get(code)
    if kind is not None:
        return kind(message, code=code, reason=reason, field=field)
    return DaemonFault(message, code=code, reason=reason)


_REFUSALS: dict[str, type[Refused]] = {
    "invalid_argument": InvalidRequest,
    "out_of_range": InvalidRequest,
    "not_found": NotFound,
    "permission_denied": NotAllowed,
    "unauthenticated": NotAllowed,
    "already_exists": Conflict,
    "failed_precondition": Unsupported,
    "unimplemented": Unsupported,
    "cancelled": Refused,
}
