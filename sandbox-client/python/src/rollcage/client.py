"""The synchronous client. Safe to use at once from many threads; not across a fork."""

from __future__ import annotations

import atexit
import functools
import queue
import time
import uuid
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

import grpc
from typing_extensions import Unpack

from . import _calls, _endpoint, _grade, _status
from ._convert import convert
from ._endpoint import CONNECT_S_MAX, StrPath
from ._messages import message_of
from ._patience import Patience, Progress
from .daemon import Daemon
from .errors import InvalidRequest, RollcageError
from .queries import Capabilities, PolicyDocument, PolicySummary, Status
from .requests import Request
from .results import NotRun, RunResult
from .v1 import node_pb2, policies_pb2, result_pb2, runs_pb2
from .v1.request_pb2 import RunRequest

T = TypeVar("T")
FETCH_S_MAX = 600.0
"""One wait of `fetch` takes at most this long; a longer one is several."""
IN_FLIGHT = 64
"""Requests of a batch in flight if nothing is said."""


class Client:
    """A connection to a daemon: the one at `uri`, else the running one, else with `embedded` its own.

    `patience_s` is how long trouble of the daemon's (gone, restarting, full) is waited out before it is
    raised; what was under way is then run anew, which a sandboxed program cannot notice. `timeout_s` is
    how long one call may take, if it should be bounded on this side too.
    """

    def __init__(
        self,
        uri: str | None = None,
        *,
        tls_ca: StrPath | None = None,
        tls_cert: StrPath | None = None,
        tls_key: StrPath | None = None,
        token: str | None = None,
        embedded: bool = False,
        state_dir: StrPath | None = None,
        patience_s: float = 30.0,
        timeout_s: float | None = None,
    ) -> None:
        self.patience_s = patience_s
        self.timeout_s = timeout_s
        self._calls: dict[str, Any] = {}
        self._daemon = Daemon(state_dir=state_dir) if embedded else None
        try:
            written = uri if self._daemon is None else self._daemon.uri
            self._endpoint = _endpoint.find(written, tls_ca, tls_cert, tls_key, token)
            self._endpoint.look()
            self._channel = self._open()
            try:
                self._try("Node.Status", node_pb2.StatusRequest(), CONNECT_S_MAX)
            except BaseException:
                self._channel.close()
                raise
        except BaseException:
            if self._daemon is not None:
                self._daemon.close()
            raise
        # A daemon of our own waits for its connections: ours goes first.
        self._at_exit = functools.partial(_close, weakref.ref(self))
        if self._daemon is not None:
            atexit.register(self._at_exit)

    def _open(self) -> grpc.Channel:
        end = self._endpoint
        if end.socket is not None:
            return grpc.insecure_channel(end.target, options=end.options)
        return grpc.secure_channel(end.target, end.credentials, options=end.options)

    @property
    def uri(self) -> str:
        """Where the daemon listens."""
        return self._endpoint.uri

    def close(self) -> None:
        """Ends the connection, what goes on over it, and the daemon if it is our own."""
        atexit.unregister(self._at_exit)
        self._channel.close()
        if self._daemon is not None:
            self._daemon.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, name: str, message: Any, timeout_s: float | None) -> Any:
        call = self._calls.get(name)
        if call is None:
            call = self._calls[name] = _calls.bind(self._channel, name)
        try:
            return call.future(message, timeout=timeout_s)
        except ValueError as error:
            raise RollcageError("the client is closed") from error

    def _try(self, name: str, message: Any, timeout_s: float | None) -> Any:
        call = self._start(name, message, timeout_s)
        try:
            return call.result()
        except grpc.RpcError as error:
            raise _status.of_rpc(error, self.uri) from error
        except grpc.FutureCancelledError as error:
            raise RollcageError("the client is closed") from error
        except BaseException:
            call.cancel()
            raise

    def _ask(self, name: str, message: Any, timeout_s: float | None = None) -> Any:
        """A call that is tried again while our patience lasts."""
        patience = Patience(self.patience_s)
        while True:
            try:
                return self._try(name, message, self.timeout_s if timeout_s is None else timeout_s)
            except RollcageError as error:
                delay_s = patience.delay_s(error)
                if delay_s is None:
                    raise
            time.sleep(delay_s)

    def run(self, **request: Unpack[Request]) -> RunResult:
        """Runs one program and waits for its result. Interrupting it cancels the run."""
        return self.run_request(request)

    def run_request(self, request: Request | RunRequest) -> RunResult:
        """The same for a request in one piece."""
        return RunResult(self._ask("Runs.Run", message_of(request)))

    def grade(
        self, task: _grade.Task, solution: _grade.Solution | None = None, *, policy: str | None = None
    ) -> RunResult:
        """Judges a solution of a task: a task folder (docs/tasks.md) or a request with `verify`.
        Without a solution the task's own is judged."""
        return self.run_request(_grade.request_of(task, solution, policy))

    def run_batch(
        self, requests: Iterable[Request | RunRequest], *, in_flight: int = IN_FLIGHT
    ) -> Iterator[RunResult | NotRun]:
        """Runs many programs; results come as they finish, matched by `id`, one for each request.

        Requests are taken from `requests` only while fewer than `in_flight` have no result yet. A
        request without an id gets its number, from 0. Leaving the iterator cancels what still runs.
        """
        batch = _Batch(self, in_flight)
        try:
            yield from batch.results(iter(requests))
        finally:
            batch.cancel()

    def submit(self, **request: Unpack[Request]) -> str:
        """Starts a detached run, which goes on when we go away; gives its run id for `fetch`."""
        message = message_of(request)
        if not message.idempotency_key:
            # So that a second try after trouble starts no second run.
            message.idempotency_key = uuid.uuid4().hex
        reply: runs_pb2.SubmitReply = self._ask("Runs.Submit", message)
        return reply.run_id

    def fetch(self, run_id: str, *, wait_s: float | None = None) -> RunResult | None:
        """The result of a run, waiting for it `wait_s` seconds (None: until it is there); None if it
        has not finished by then."""
        until = None if wait_s is None else time.monotonic() + wait_s
        while True:
            left_s = FETCH_S_MAX if until is None else max(until - time.monotonic(), 0.0)
            wait_ms = int(min(left_s, FETCH_S_MAX) * 1000)
            reply = self._ask("Runs.Fetch", runs_pb2.FetchRequest(run_id=run_id, wait_ms=wait_ms))
            if reply.HasField("result"):
                return RunResult(reply.result)
            if until is not None and time.monotonic() >= until:
                return None

    def cancel(self, run_id: str) -> None:
        """Ends a run; its result is then `cancelled`. Cancelling a finished run changes nothing."""
        self._ask("Runs.Cancel", runs_pb2.CancelRequest(run_id=run_id))

    def policies(self) -> tuple[PolicySummary, ...]:
        """The policies that we may use."""
        reply = self._ask("Policies.List", policies_pb2.ListPoliciesRequest())
        return tuple(convert(PolicySummary, each) for each in reply.policies)

    def policy(self, name: str) -> PolicyDocument:
        """One policy's documents."""
        return convert(PolicyDocument, self._ask("Policies.Get", policies_pb2.GetPolicyRequest(name=name)))

    def capabilities(self) -> Capabilities:
        """What the daemon's host can enforce."""
        return convert(Capabilities, self._ask("Node.Capabilities", node_pb2.CapabilitiesRequest()))

    def status(self) -> Status:
        """Load and health of the node."""
        return convert(Status, self._ask("Node.Status", node_pb2.StatusRequest()))


def _close(client: weakref.ref[Client]) -> None:
    alive = client()
    if alive is not None:
        alive.close()


class _Item:
    """One request of a batch, from when it is taken until its result is there."""

    def __init__(self, message: RunRequest, patience: Patience) -> None:
        self.message = message
        self.patience = patience
        self.call: Any = None
        self.due: float | None = None
        """When it is tried again, if it waits for that."""


class Ids:
    """Gives requests of a batch their ids and notices those that come twice."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._next = 0

    def admit(self, request: Request | RunRequest) -> RunRequest | NotRun:
        """The message, or why the request cannot be run."""
        number, self._next = self._next, self._next + 1
        try:
            message = message_of(request)
        except InvalidRequest as error:
            given = request.get("id") if isinstance(request, dict) else None
            return NotRun(given if isinstance(given, str) and given else str(number), error)
        message.id = message.id or str(number)
        if message.id in self._seen:
            problem = f"id: {message.id!r} was given before in this batch"
            return NotRun(message.id, InvalidRequest(problem, reason="ID_TWICE", field="id"))
        self._seen.add(message.id)
        if not message.HasField("retry_infra"):
            message.retry_infra = True
        return message


class _Batch:
    """Calls in flight, each of which puts itself into a queue when it is done."""

    def __init__(self, client: Client, in_flight: int) -> None:
        if in_flight < 1:
            raise InvalidRequest("in_flight: at least 1", reason="FIELD_INVALID", field="in_flight")
        self._client = client
        self._in_flight = in_flight
        self._ids = Ids()
        self._progress = Progress()
        self._done: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._items: set[_Item] = set()
        self._not_run: deque[NotRun] = deque()

    def results(self, requests: Iterator[Request | RunRequest]) -> Iterator[RunResult | NotRun]:
        more = True
        while more or self._items:
            while more and len(self._items) < self._in_flight:
                more = self._take(requests)
                if self._not_run:
                    break
            if self._not_run:
                yield self._not_run.popleft()
                continue
            if self._items:
                result = self._next()
                if result is not None:
                    yield result

    def _take(self, requests: Iterator[Request | RunRequest]) -> bool:
        try:
            request = next(requests)
        except StopIteration:
            return False
        admitted = self._ids.admit(request)
        if isinstance(admitted, NotRun):
            self._not_run.append(admitted)
        else:
            item = _Item(admitted, Patience(self._client.patience_s, self._progress))
            self._items.add(item)
            self._call(item)
        return True

    def _call(self, item: _Item) -> None:
        item.due = None
        item.call = self._client._start("Runs.Run", item.message, self._client.timeout_s)
        item.call.add_done_callback(lambda _call: self._done.put(item))

    def _next(self) -> RunResult | NotRun | None:
        """The next result; None where one is tried again."""
        due = min((item.due for item in self._items if item.due is not None), default=None)
        try:
            wait_s = None if due is None else max(due - time.monotonic(), 0.0)
            item = self._done.get(timeout=wait_s)
        except queue.Empty:
            for item in self._items:
                if item.due is not None and item.due <= time.monotonic():
                    self._call(item)
            return None
        try:
            result: result_pb2.RunResult = item.call.result()
        except grpc.RpcError as rpc_error:
            error = _status.of_rpc(rpc_error, self._client.uri)
            delay_s = item.patience.delay_s(error)
            if delay_s is not None:
                item.due = time.monotonic() + delay_s
                return None
            self._items.discard(item)
            return NotRun(item.message.id, error)
        except grpc.FutureCancelledError as error:
            raise RollcageError("the client is closed") from error
        self._items.discard(item)
        self._progress.note()
        return RunResult(result)

    def cancel(self) -> None:
        for item in self._items:
            if item.call is not None:
                item.call.cancel()
        self._items.clear()
