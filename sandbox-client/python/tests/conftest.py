"""What the tests of the package share: clients of the daemon at ROLLCAGE_SOCKET. Where none is named
the tests that need one are skipped; tests/it/python_sdk.rs starts one and counts.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Iterator
from typing import Any

import pytest

import rollcage

NEEDS_DAEMON = {"client", "uri"}


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests that are coroutines get an event loop of their own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def uri() -> str:
    """Where the daemon of the tests listens."""
    socket = os.environ.get("ROLLCAGE_SOCKET")
    if not socket:
        pytest.skip("no daemon is named in ROLLCAGE_SOCKET")
    return f"unix://{socket}"


@pytest.fixture(scope="session")
def client(uri: str) -> Iterator[rollcage.Client]:
    """A client of it."""
    with rollcage.connect(uri, patience_s=5) as connected:
        yield connected


def judged(body: str, **fields: Any) -> rollcage.Request:
    """A request that is right exactly where `f` gives 1."""
    request: rollcage.Request = {
        "policy": "python",
        "files": {"s.py": f"def f(): return {body}\n"},
        "verify": {"kind": "asserts", "file": "s.py", "code": "assert f() == 1"},
    }
    return {**request, **fields}  # type: ignore[typeddict-item]
