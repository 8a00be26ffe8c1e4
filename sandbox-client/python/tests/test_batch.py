"""Many programs: one answer for each request, in bounds, as they finish."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator

import pytest

import rollcage
from rollcage import NotRun, Outcome, RunResult

from conftest import judged

MANY = 256


def requests(count: int) -> Iterator[rollcage.Request]:
    """Each prints its number; the odd ones are right."""
    for number in range(count):
        yield {
            "id": f"r{number}",
            "policy": "shell",
            "argv": ["echo", str(number)],
            "verify": {"kind": "stdout", "stdout": f"{number}\n" if number % 2 else "else"},
        }


def check(results: list[RunResult | NotRun], count: int) -> None:
    assert sorted(result.id for result in results) == sorted(f"r{number}" for number in range(count))
    for result in results:
        assert isinstance(result, RunResult) and result.stdout == f"{result.id[1:]}\n".encode()
    assert {result.id: result.reward for result in results} == {f"r{n}": float(n % 2) for n in range(count)}


def test_256_at_once(client: rollcage.Client) -> None:
    check(list(client.run_batch(requests(MANY), in_flight=MANY)), MANY)


async def test_256_at_once_async(uri: str) -> None:
    async with rollcage.connect_async(uri) as client:
        check([result async for result in client.run_batch(requests(MANY), in_flight=MANY)], MANY)
        # The same as single calls.
        plain = [client.run(policy="shell", argv=["echo", str(number)]) for number in range(32)]
        said = [result.stdout for result in await asyncio.gather(*plain)]
        assert said == [f"{number}\n".encode() for number in range(32)]


def mixed() -> list[rollcage.Request]:
    bad: list[rollcage.Request] = [
        {"id": "unknown-policy", "policy": "nope", "argv": ["true"]},
        {"id": "bad-field", "policy": "python", "argv": "true"},
        judged("1", id="twice"),
        judged("1", id="twice"),
    ]
    return [judged("1"), *bad, judged("2")]


def check_mixed(results: list[RunResult | NotRun]) -> None:
    by_id: dict[str, list[RunResult | NotRun]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    assert sorted(by_id) == ["0", "5", "bad-field", "twice", "unknown-policy"]
    assert by_id["0"][0].reward == 1.0 and by_id["5"][0].reward == 0.0
    for id, field in (("unknown-policy", "policy"), ("bad-field", "argv")):
        (refused,) = by_id[id]
        assert isinstance(refused, NotRun) and isinstance(refused.error, rollcage.InvalidRequest)
        assert refused.error.field == field and refused.reward is None
    assert sorted((isinstance(each, NotRun), each.reward) for each in by_id["twice"]) == [(False, 1.0), (True, None)]


def test_what_is_refused_is_told_and_the_rest_goes_on(client: rollcage.Client) -> None:
    check_mixed(list(client.run_batch(mixed(), in_flight=2)))


async def test_what_is_refused_is_told_and_the_rest_goes_on_async(uri: str) -> None:
    async with rollcage.connect_async(uri) as client:
        check_mixed([result async for result in client.run_batch(mixed(), in_flight=2)])


class Counted:
    """Requests, and how many of them were taken."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.taken = 0

    def __iter__(self) -> Iterator[rollcage.Request]:
        for request in requests(self.count):
            self.taken += 1
            yield request


def test_requests_are_taken_only_while_there_is_room(client: rollcage.Client) -> None:
    source = Counted(12)
    for given, _result in enumerate(client.run_batch(source, in_flight=3), start=1):
        time.sleep(0.05)
        assert source.taken <= given + 3
    assert source.taken == 12


async def test_requests_are_taken_only_while_there_is_room_async(uri: str) -> None:
    source = Counted(12)
    given = 0
    async with rollcage.connect_async(uri) as client:
        async for _result in client.run_batch(source, in_flight=3):
            given += 1
            await asyncio.sleep(0.05)
            assert source.taken <= given + 3
    assert source.taken == given == 12


async def test_requests_that_are_made_meanwhile_are_run_meanwhile(uri: str) -> None:
    waiting: asyncio.Queue[rollcage.Request | None] = asyncio.Queue()

    async def source() -> AsyncIterator[rollcage.Request]:
        while (request := await waiting.get()) is not None:
            yield request

    async with rollcage.connect_async(uri) as client:
        waiting.put_nowait(judged("1", id="first"))
        ids = []
        async for result in client.run_batch(source()):
            ids.append(result.id)
            waiting.put_nowait(judged("1", id="second") if len(ids) == 1 else None)
        assert ids == ["first", "second"]


def failing() -> Iterator[rollcage.Request]:
    yield judged("1")
    raise RuntimeError("the source broke")


def test_what_the_source_raises_is_raised(client: rollcage.Client) -> None:
    with pytest.raises(RuntimeError, match="the source broke"):
        list(client.run_batch(failing()))


async def test_what_the_source_raises_is_raised_async(uri: str) -> None:
    async with rollcage.connect_async(uri) as client:
        with pytest.raises(RuntimeError, match="the source broke"):
            async for _result in client.run_batch(failing()):
                pass


def sleepers(count: int) -> list[rollcage.Request]:
    long = rollcage.python("import time; time.sleep(60)")
    return [judged("1"), *({**long, "id": f"s{number}"} for number in range(count))]


def wait_until_idle(client: rollcage.Client) -> None:
    until = time.monotonic() + 30
    while client.status().runs_active and time.monotonic() < until:
        time.sleep(0.05)
    assert client.status().runs_active == 0


def test_leaving_a_batch_cancels_it(client: rollcage.Client) -> None:
    batch = client.run_batch(sleepers(3))
    assert next(batch).reward == 1.0
    batch.close()  # type: ignore[attr-defined]
    wait_until_idle(client)


async def test_leaving_a_batch_cancels_it_async(uri: str, client: rollcage.Client) -> None:
    async with rollcage.connect_async(uri) as own, contextlib.aclosing(own.run_batch(sleepers(3))) as batch:  # type: ignore[type-var]
        async for result in batch:
            assert result.reward == 1.0
            break
    wait_until_idle(client)


def test_an_empty_batch_is_over(client: rollcage.Client) -> None:
    assert list(client.run_batch([])) == []


async def test_async_single_calls(uri: str) -> None:
    async with rollcage.connect_async(uri) as client:
        assert (await client.run(**judged("1"))).outcome is Outcome.PASSED
        run_id = await client.submit(**rollcage.python("print(1)"))
        fetched = await client.fetch(run_id)
        assert fetched is not None and fetched.stdout == b"1\n"
        run_id = await client.submit(**rollcage.python("import time; time.sleep(60)"))
        assert await client.fetch(run_id, wait_s=0) is None
        await client.cancel(run_id)
        fetched = await client.fetch(run_id, wait_s=30)
        assert fetched is not None and fetched.trouble is not None
        assert "python" in {policy.name for policy in await client.policies()}
        assert (await client.policy("python")).name == "python"
        assert (await client.capabilities()).mode and (await client.status()).node
        with pytest.raises(rollcage.InvalidRequest):
            await client.run(policy="nope", argv=["true"])
        task = asyncio.create_task(client.run(**rollcage.python("import time; time.sleep(60)")))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    with pytest.raises(rollcage.RollcageError, match="not connected"):
        await client.run(**rollcage.python("print(1)"))
