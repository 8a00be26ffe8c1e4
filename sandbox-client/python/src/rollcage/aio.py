"""The asynchronous client, for one event loop."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from types import TracebackType
from typing import Any

import grpc
from typing_extensions import Unpack

from . import _calls, _endpoint, _grade, _status
from ._convert import convert
from ._endpoint import CONNECT_S_MAX, StrPath
from ._messages import message_of
from ._patience import Patience, Progress
from .client import FETCH_S_MAX, IN_FLIGHT, Ids
from .daemon import Daemon
from .errors import InvalidRequest, RollcageError
from .queries import Capabilities, PolicyDocument, PolicySummary, Status
from .requests import Request
from .results import NotRun, RunResult
from .v1 import node_pb2, policies_pb2, runs_pb2
from .v1.request_pb2 import RunRequest


class AsyncClient:
    """As `rollcage.Client`, to be entered with `async with`."""

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
        self._embedded = embedded
        self._state_dir = state_dir
        self._daemon: Daemon | None = None
        self._written = (uri, tls_ca, tls_cert, tls_key, token)
        self._endpoint: _endpoint.Endpoint | None = None
        self._channel: grpc.aio.Channel | None = None
        self._calls: dict[str, Any] = {}

    async def connect(self) -> AsyncClient:
        """Connects; `async with` does it."""
        if self._channel is not None:
            return self
        uri, tls_ca, tls_cert, tls_key, token = self._written
        if self._embedded:
            self._daemon = await asyncio.to_thread(Daemon, state_dir=self._state_dir)
            uri = self._daemon.uri
        try:
            end = self._endpoint = _endpoint.find(uri, tls_ca, tls_cert, tls_key, token)
            await asyncio.to_thread(end.look)
            if end.socket is not None:
                self._channel = grpc.aio.insecure_channel(end.target, options=end.options)
            else:
                self._channel = grpc.aio.secure_channel(end.target, end.credentials, options=end.options)
            await self._try("Node.Status", node_pb2.StatusRequest(), CONNECT_S_MAX)
        except BaseException:
            await self.close()
            raise
        return self

    @property
    def uri(self) -> str:
        """Where the daemon listens."""
        return "" if self._endpoint is None else self._endpoint.uri

    async def close(self) -> None:
        """Ends the connection, what goes on over it, and the daemon if it is our own."""
        channel, self._channel = self._channel, None
        self._calls.clear()
        if channel is not None:
            await channel.close()
        daemon, self._daemon = self._daemon, None
        if daemon is not None:
            await asyncio.to_thread(daemon.close)

    async def __aenter__(self) -> AsyncClient:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _call(self, channel: grpc.aio.Channel, name: str) -> Any:
        call = self._calls.get(name)
        if call is None:
            call = self._calls[name] = _calls.bind(channel, name)
        return call

    async def _try(self, name: str, message: Any, timeout_s: float | None) -> Any:
        if self._channel is None:
            raise RollcageError("the client is not connected; use `async with`")
        try:
            return await self._call(self._channel, name)(message, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            raise _status.of_rpc(error, self.uri) from error
        except grpc.aio.UsageError as error:
            raise RollcageError("the client is closed") from error

    async def _ask(self, name: str, message: Any, progress: Progress | None = None) -> Any:
        patience = Patience(self.patience_s, progress)
        while True:
            try:
                return await self._try(name, message, self.timeout_s)
            except RollcageError as error:
                delay_s = patience.delay_s(error)
                if delay_s is None:
                    raise
            await asyncio.sleep(delay_s)

    async def run(self, **request: Unpack[Request]) -> RunResult:
        """Runs one program and waits for its result. Cancelling the task cancels the run."""
        return await self.run_request(request)

    async def run_request(self, request: Request | RunRequest) -> RunResult:
        """The same for a request in one piece."""
        return RunResult(await self._ask("Runs.Run", message_of(request)))

    async def grade(
        self, task: _grade.Task, solution: _grade.Solution | None = None, *, policy: str | None = None
    ) -> RunResult:
        """Judges a solution of a task; see `rollcage.Client.grade`."""
        return await self.run_request(await asyncio.to_thread(_grade.request_of, task, solution, policy))

    async def run_batch(
        self,
        requests: Iterable[Request | RunRequest] | AsyncIterable[Request | RunRequest],
        *,
        in_flight: int = IN_FLIGHT,
    ) -> AsyncIterator[RunResult | NotRun]:
        """Runs many programs; results come as they finish, matched by `id`, one for each request.

        Requests are taken from `requests` only while fewer than `in_flight` have no result that was
        asked for. A request without an id gets its number, from 0. Leaving the iterator (and closing
        it, as `contextlib.aclosing` does) cancels what still runs.
        """
        if in_flight < 1:
            raise InvalidRequest("in_flight: at least 1", reason="FIELD_INVALID", field="in_flight")
        ids, progress, slots = Ids(), Progress(), asyncio.Semaphore(in_flight)
        results: asyncio.Queue[RunResult | NotRun | None] = asyncio.Queue()
        tasks: set[asyncio.Task[None]] = set()
        taken = given = 0

        async def one(message: RunRequest) -> None:
            results.put_nowait(await self._outcome(message, progress))

        async def feed() -> None:
            nonlocal taken
            async for request in _each(requests, slots):
                taken += 1
                admitted = ids.admit(request)
                if isinstance(admitted, NotRun):
                    results.put_nowait(admitted)
                else:
                    task = asyncio.create_task(one(admitted))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)

        def fed(_task: asyncio.Task[None]) -> None:
            results.put_nowait(None)

        feeder = asyncio.create_task(feed())
        feeder.add_done_callback(fed)
        try:
            while True:
                if feeder.done() and given == taken and results.empty():
                    break
                result = await results.get()
                if result is None:
                    # The source's own error, if it was one.
                    feeder.result()
                    continue
                given += 1
                slots.release()
                yield result
        finally:
            feeder.cancel()
            for task in tuple(tasks):
                task.cancel()
            await asyncio.gather(feeder, *tasks, return_exceptions=True)

    async def _outcome(self, message: RunRequest, progress: Progress) -> RunResult | NotRun:
        try:
            result = RunResult(await self._ask("Runs.Run", message, progress))
        except RollcageError as error:
            return NotRun(message.id, error)
        progress.note()
        return result

    async def submit(self, **request: Unpack[Request]) -> str:
        """Starts a detached run, which goes on when we go away; gives its run id for `fetch`."""
        message = message_of(request)
        if not message.idempotency_key:
            message.idempotency_key = uuid.uuid4().hex
        reply: runs_pb2.SubmitReply = await self._ask("Runs.Submit", message)
        return reply.run_id

    async def fetch(self, run_id: str, *, wait_s: float | None = None) -> RunResult | None:
        """The result of a run, waiting for it `wait_s` seconds (None: until it is there); None if it
        has not finished by then."""
        until = None if wait_s is None else time.monotonic() + wait_s
        while True:
            left_s = FETCH_S_MAX if until is None else max(until - time.monotonic(), 0.0)
            wait_ms = int(min(left_s, FETCH_S_MAX) * 1000)
            reply = await self._ask("Runs.Fetch", runs_pb2.FetchRequest(run_id=run_id, wait_ms=wait_ms))
            if reply.HasField("result"):
                return RunResult(reply.result)
            if until is not None and time.monotonic() >= until:
                return None

    async def cancel(self, run_id: str) -> None:
        """Ends a run; its result is then `cancelled`. Cancelling a finished run changes nothing."""
        await self._ask("Runs.Cancel", runs_pb2.CancelRequest(run_id=run_id))

    async def policies(self) -> tuple[PolicySummary, ...]:
        """The policies that we may use."""
        reply = await self._ask("Policies.List", policies_pb2.ListPoliciesRequest())
        return tuple(convert(PolicySummary, each) for each in reply.policies)

    async def policy(self, name: str) -> PolicyDocument:
        """One policy's documents."""
        return convert(PolicyDocument, await self._ask("Policies.Get", policies_pb2.GetPolicyRequest(name=name)))

    async def capabilities(self) -> Capabilities:
        """What the daemon's host can enforce."""
        return convert(Capabilities, await self._ask("Node.Capabilities", node_pb2.CapabilitiesRequest()))

    async def status(self) -> Status:
        """Load and health of the node."""
        return convert(Status, await self._ask("Node.Status", node_pb2.StatusRequest()))


async def _each(
    requests: Iterable[Request | RunRequest] | AsyncIterable[Request | RunRequest], slots: asyncio.Semaphore
) -> AsyncIterator[Request | RunRequest]:
    """The requests, each taken only when there is a slot for it."""
    await slots.acquire()
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
            await slots.acquire()
        return
    for request in requests:
        yield request
        await slots.acquire()
