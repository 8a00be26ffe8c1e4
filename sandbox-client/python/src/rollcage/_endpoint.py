"""Where a daemon listens: the written form (`unix:///path`, `https://host:port`), the places that are
tried when nothing is written, and the channel there. The same rules as in the `rollcage` command.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import grpc

from ._messages import MESSAGE_BYTES_MAX
from .errors import DaemonUnreachable, InvalidRequest

StrPath = Union[str, "os.PathLike[str]"]

SERVICE_SOCKET = "/run/rollcage/sandboxd.sock"
CONNECT_S_MAX = 10.0
"""A daemon that does not answer the first call within this time does not answer."""

_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # A daemon that was restarted is found again at once.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_retries", 0),
]
_UNIX_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.default_authority", "rollcage"),
    # Each channel has a connection of its own: a closed client lets an embedded daemon end.
    ("grpc.use_local_subchannel_pool", 1),
]
_TCP_OPTIONS: list[tuple[str, Any]] = [
    # A node that vanished is noticed while a call waits for it.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
]


def _environment(name: str) -> str | None:
    """The value of a variable; empty counts as unset."""
    return os.environ.get(name) or None


@dataclass(frozen=True)
class Endpoint:
    """Where a daemon listens, and what proves the two sides of a TCP connection to each other."""

    uri: str
    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    token: str | None = None

    @property
    def socket(self) -> str | None:
        """The path of the unix socket, if it is one."""
        return self.uri.removeprefix("unix://") if self.uri.startswith("unix://") else None

    @property
    def options(self) -> list[tuple[str, Any]]:
        """Options of the channel."""
        return _OPTIONS + (_UNIX_OPTIONS if self.socket else _TCP_OPTIONS)

    @property
    def target(self) -> str:
        """As grpcio names it."""
        return f"unix:{self.socket}" if self.socket else self.uri.removeprefix("https://")

    @property
    def credentials(self) -> grpc.ChannelCredentials:
        """Of a TCP connection."""
        tls = grpc.ssl_channel_credentials(self.ca, self.key, self.certificate)
        if self.token is None:
            return tls
        return grpc.composite_channel_credentials(tls, grpc.access_token_call_credentials(self.token))

    def look(self) -> None:
        """Raises `DaemonUnreachable`, with the reason, where nobody listens on the unix socket."""
        if self.socket is None:
            return
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(CONNECT_S_MAX)
                probe.connect(self.socket)
        except PermissionError as error:
            fix = "its group may use it: usermod -aG rollcage USER"
            raise DaemonUnreachable(f"the daemon at {self.uri} is not for this user; {fix}") from error
        except OSError as error:
            fix = "start sandboxd, name its socket in ROLLCAGE_SOCKET, or pass embedded=True"
            raise DaemonUnreachable(f"no daemon answers at {self.uri} ({error.strerror or error}); {fix}") from error


def find(
    uri: str | None,
    tls_ca: StrPath | None,
    tls_cert: StrPath | None,
    tls_key: StrPath | None,
    token: str | None,
) -> Endpoint:
    """The endpoint that was written, else the usual socket."""
    if uri is None:
        return Endpoint(f"unix://{_environment('ROLLCAGE_SOCKET') or _default_socket()}")
    path = uri.removeprefix("unix://")
    if path.startswith("/"):
        return Endpoint(f"unix://{path}")
    if uri.startswith(("http://", "tcp://")):
        raise _wrong(uri, "has no TLS; write https://host:port and give tls_ca, or use a unix socket")
    authority = uri.removeprefix("https://").rstrip("/")
    host, _, port = authority.rpartition(":")
    if not uri.startswith("https://") or not host or not port.isdigit() or not 0 < int(port) < 65536 or "/" in host:
        raise _wrong(uri, f"is no endpoint; write unix://{SERVICE_SOCKET} or https://host:port")
    token = token if token is not None else _environment("ROLLCAGE_TOKEN")
    if tls_ca is None:
        raise _wrong(uri, "needs tls_ca, the certificate of the authority that signed the daemon's")
    if (tls_cert is None) != (tls_key is None):
        raise _wrong(uri, "needs tls_cert and tls_key together")
    if tls_cert is None and token is None:
        raise _wrong(uri, "needs tls_cert and tls_key, or a token")
    return Endpoint(
        f"https://{authority}",
        ca=_read(tls_ca),
        certificate=None if tls_cert is None else _read(tls_cert),
        key=None if tls_key is None else _read(tls_key),
        token=None if token is None else token.strip(),
    )


def _read(path: StrPath) -> bytes:
    return Path(path).read_bytes()


def _wrong(uri: str, problem: str) -> InvalidRequest:
    return InvalidRequest(f"uri: {uri!r} {problem}", reason="ENDPOINT", field="uri")


def _default_socket() -> str:
    """The service's for root, else the user's own if it exists, else the service's."""
    folder = _environment("XDG_RUNTIME_DIR")
    if os.geteuid() != 0 and folder is not None:
        own = Path(folder) / "rollcage/sandboxd.sock"
        if own.exists():
            return str(own)
    return SERVICE_SOCKET
