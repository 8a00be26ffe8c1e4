"""The daemon is killed while a batch goes on, and started again: one answer for each request, a result
or a typed error, and no number that the programs did not earn. tests/it/python_sdk.rs kills it when
the file in ROLLCAGE_TEST_KILL is there, and takes the file away when the next one serves.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rollcage
from rollcage import NotRun, RunResult, SystemTrouble

pytestmark = pytest.mark.skipif("ROLLCAGE_TEST_KILL" not in os.environ, reason="nobody kills the daemon")
COUNT = 40


def request(number: int) -> rollcage.Request:
    return {
        "id": str(number),
        "policy": "python",
        "files": {"s.py": f"import time\ntime.sleep(0.2)\ndef f(): return {number % 2}\n"},
        "verify": {"kind": "asserts", "file": "s.py", "code": "assert f() == 1"},
    }


def requests(after: int) -> Iterator[rollcage.Request]:
    for number in range(COUNT):
        if number == after:
            ask_for_a_kill()
        yield request(number)


def ask_for_a_kill() -> None:
    Path(os.environ["ROLLCAGE_TEST_KILL"]).touch()


def wait_for_the_next_daemon() -> None:
    until = time.monotonic() + 60
    while Path(os.environ["ROLLCAGE_TEST_KILL"]).exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(os.environ["ROLLCAGE_TEST_KILL"]).exists()


def check(results: list[RunResult | NotRun], all_have_results: bool) -> None:
    assert sorted(int(result.id) for result in results) == list(range(COUNT))
    for result in results:
        if isinstance(result, NotRun):
            assert isinstance(result.error, SystemTrouble) and result.reward is None
        elif result.reward is None:
            assert result.trouble is not None
        else:
            assert result.reward == int(result.id) % 2, result
    if all_have_results:
        assert [result for result in results if result.reward is None] == []


def test_a_batch_outlives_the_daemon(uri: str) -> None:
    with rollcage.connect(uri, patience_s=60) as client:
        results = list(client.run_batch(requests(after=20), in_flight=8))
    wait_for_the_next_daemon()
    check(results, all_have_results=True)


async def test_a_batch_outlives_the_daemon_async(uri: str) -> None:
    async with rollcage.connect_async(uri, patience_s=60) as client:
        results = [result async for result in client.run_batch(requests(after=20), in_flight=8)]
    wait_for_the_next_daemon()
    check(results, all_have_results=True)


def test_without_patience_there_are_typed_errors(uri: str) -> None:
    with rollcage.connect(uri, patience_s=0) as client:
        results = list(client.run_batch(requests(after=20), in_flight=8))
    wait_for_the_next_daemon()
    check(results, all_have_results=False)
    assert any(isinstance(result, NotRun) for result in results)
    assert any(isinstance(result, RunResult) for result in results)


async def test_a_single_call_without_patience_raises(uri: str) -> None:
    async with rollcage.connect_async(uri, patience_s=0) as client:
        task = asyncio.create_task(client.run(**rollcage.python("import time; time.sleep(30)")))
        await asyncio.sleep(0.5)
        ask_for_a_kill()
        with pytest.raises(rollcage.DaemonUnreachable):
            await task
    wait_for_the_next_daemon()


def test_a_detached_run_is_not_lost_silently(uri: str) -> None:
    with rollcage.connect(uri, patience_s=60) as client:
        done = client.submit(**request(1))
        assert client.fetch(done) is not None
        under_way = client.submit(**rollcage.python("import time; time.sleep(30)"))
        ask_for_a_kill()
        wait_for_the_next_daemon()
        kept = client.fetch(done)
        assert kept is not None and kept.reward == 1.0
        try:
            lost = client.fetch(under_way, wait_s=5)
        except rollcage.RollcageError:
            return
        assert lost is None or (lost.reward is None and lost.trouble is not None)
