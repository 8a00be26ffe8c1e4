"""The calls of the contract's services, taken from their descriptors: name, messages and kind of a
call are nowhere written a second time, and no generated code depends on a version of grpcio.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor

from .v1 import node_pb2, policies_pb2, runs_pb2

_FILES = (runs_pb2, policies_pb2, node_pb2)


def _methods() -> dict[str, MethodDescriptor]:
    found: dict[str, MethodDescriptor] = {}
    for file in _FILES:
        for service in file.DESCRIPTOR.services_by_name.values():
            found.update({f"{service.name}.{method.name}": method for method in service.methods})
    return found


METHODS = _methods()
"""Every call, by `Service.Method`."""


def bind(channel: Any, name: str) -> Any:
    """The call on a channel of either API of grpcio: one request, one reply or a stream of them."""
    method = METHODS[name]
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    reply = message_factory.GetMessageClass(method.output_type)
    return kind(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=reply.FromString,
    )
