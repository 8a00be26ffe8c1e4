"""From a caller's dictionary to the message that is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _json
from .errors import InvalidRequest
from .requests import Request
from .v1.request_pb2 import RunRequest

MESSAGE_BYTES_MAX = 64 << 20
"""The largest message either way, as the contract says."""


def message_of(request: Request | RunRequest | Mapping[str, Any]) -> RunRequest:
    """The message; raises `InvalidRequest` with the field's path."""
    if isinstance(request, RunRequest):
        message = RunRequest()
        message.CopyFrom(request)
    else:
        message = _json.read(RunRequest(), _with_bytes_argv(request))
    size = message.ByteSize()
    if size > MESSAGE_BYTES_MAX:
        raise InvalidRequest(
            f"files: the request takes {size} bytes; files and standard input of one run may take "
            f"{MESSAGE_BYTES_MAX >> 20} MiB together",
            reason="TOO_LARGE",
            field="files",
        )
    return message


def _with_bytes_argv(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments that are not text have a field of their own in the contract."""
    argv = request.get("argv") if isinstance(request, Mapping) else None
    if not isinstance(argv, Sequence) or isinstance(argv, str) or not any(isinstance(word, bytes) for word in argv):
        return request
    words = [word if isinstance(word, bytes) else str(word).encode() for word in argv]
    return {**{key: value for key, value in request.items() if key != "argv"}, "argv_bytes": words}
