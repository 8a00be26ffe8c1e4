"""What gRPC and this package add to a run. For a quiet machine and release builds:
`python bench/overhead.py [--runs N] [--embedded]`.

A call that does next to nothing (`Node.Status`) has everything that the way adds and nothing that a
sandbox costs; making a request and showing a result are measured apart.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import time
from collections.abc import Callable

import rollcage
from rollcage._messages import message_of
from rollcage.results import RunResult

REQUEST: rollcage.Request = {"policy": "shell", "argv": ["true"]}


def measure(runs: int, call: Callable[[], object]) -> list[float]:
    """Milliseconds of each call."""
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        call()
        took.append((time.perf_counter() - began) * 1000)
    return took


async def measure_async(runs: int, uri: str) -> list[float]:
    """The same through the asynchronous client."""
    took = []
    async with rollcage.connect_async(uri) as client:
        for _ in range(runs):
            began = time.perf_counter()
            await client.status()
            took.append((time.perf_counter() - began) * 1000)
    return took


def show(name: str, took: list[float]) -> None:
    """One row."""
    p99 = statistics.quantiles(took, n=100)[98] if len(took) > 1 else took[0]
    print(f"{name:48} {statistics.median(took):9.3f} {p99:9.3f}")


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--embedded", action="store_true")
    given = parser.parse_args()
    with rollcage.connect(embedded=given.embedded) as client:
        sample = client.run_request(REQUEST).message
        print(f"{'milliseconds':48} {'median':>9} {'p99':>9}")
        show("the way, synchronous (Status)", measure(given.runs, client.status))
        show("the way, asynchronous (Status)", asyncio.run(measure_async(given.runs, client.uri)))
        show("a request from its dictionary", measure(given.runs, lambda: message_of(REQUEST)))
        show("a result shown", measure(given.runs, lambda: RunResult(sample).usage))
        show("a whole run of `true`", measure(given.runs, lambda: client.run_request(REQUEST)))
        show("fork and exec of `true` here", measure(given.runs, lambda: subprocess.run(["true"], check=True)))


if __name__ == "__main__":
    main()
