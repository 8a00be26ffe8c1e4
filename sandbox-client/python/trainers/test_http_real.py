"""Rewards over HTTP, fetched by OpenRLHF's own code, where it is installed (without what it needs will
do), and by slime's, of which TR_GIT has a checkout: it is no package.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import logging
import os
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp")
from rollcage.adapters import http

RIGHT = "```python\ndef f(): return 1\n```"
WRONG = "```python\ndef f(): return 2\n```"
TRUTH = '{"kind": "asserts", "code": "assert f() == 1"}'


def module(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> None:
    """A stand-in for a module that the code under test imports and does not use here."""
    made = types.ModuleType(name)
    made.__path__ = []
    made.__dict__.update(attributes)
    monkeypatch.setitem(sys.modules, name, made)


def load(monkeypatch: pytest.MonkeyPatch, name: str, path: Path) -> Any:
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, loaded)
    spec.loader.exec_module(loaded)
    return loaded


def serve(**judge: Any) -> Iterator[str]:
    with http.Server(("127.0.0.1", 0), **judge) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/get_reward"
        server.shutdown()
        thread.join()


@pytest.fixture
def url(uri: str) -> Iterator[str]:
    yield from serve(uri=uri)


@pytest.fixture
def url_without_daemon() -> Iterator[str]:
    yield from serve(uri="unix:///nowhere/s.sock", patience_s=0)


def openrlhf(monkeypatch: pytest.MonkeyPatch) -> Any:
    package = importlib.util.find_spec("openrlhf")
    if package is None or package.origin is None:
        pytest.skip("openrlhf is not installed")
    path = Path(package.origin).parent / "utils/agent.py"
    for name in ("openrlhf", "openrlhf.utils"):
        module(monkeypatch, name)
    module(monkeypatch, "openrlhf.utils.logging_utils", init_logger=logging.getLogger)
    agent = load(monkeypatch, "openrlhf.utils.agent", path)
    return next(each for each in vars(agent).values() if hasattr(each, "_fetch_rewards_via_http"))


def fetch(executor: Any, url: str) -> Any:
    made = executor.__new__(executor)
    made.reward_endpoints, made._reward_endpoint_cycle = [url], itertools.cycle([url])
    return asyncio.run(made._fetch_rewards_via_http(["q" + RIGHT, "q" + WRONG], ["q", "q"], [TRUTH, TRUTH]))


def test_openrlhf(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (answer,) = fetch(openrlhf(monkeypatch), url)
    assert answer["rewards"] == [1.0, 0.0]


def test_openrlhf_without_a_daemon(url_without_daemon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="5 times"):
        fetch(openrlhf(monkeypatch), url_without_daemon)


def slime(monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = Path(os.environ.get("TR_GIT", "git")) / "slime/slime/rollout/rm_hub"
    for name in ("slime", "slime.utils", "slime.rollout"):
        module(monkeypatch, name)
    module(monkeypatch, "slime.utils.misc", load_function=None)
    module(monkeypatch, "slime.utils.types", Sample=object)
    names = {
        "deepscaler": ["get_deepscaler_rule_based_reward"],
        "f1": ["f1_score"],
        "gpqa": ["compute_gpqa_reward"],
        "math_dapo_utils": ["compute_score"],
        "math_utils": ["extract_answer", "grade_answer_verl"],
        "opencua_click": ["compute_opencua_reward"],
    }
    for below, functions in names.items():
        module(monkeypatch, f"slime.rollout.rm_hub.{below}", **dict.fromkeys(functions))
    return load(monkeypatch, "slime.rollout.rm_hub", folder / "__init__.py")


async def ask(hub: Any, url: str) -> list[Any]:
    arguments = types.SimpleNamespace(rm_url=url)
    answers: list[Any] = []
    try:
        for response in (RIGHT, WRONG):
            sample = types.SimpleNamespace(prompt="q", response=response, label=TRUTH)
            answers.append(await hub.remote_rm(arguments, sample, max_retries=1))
    finally:
        await hub._get_shared_session().close()
    return answers


def test_slime(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asyncio.run(ask(slime(monkeypatch), url)) == [1.0, 0.0]


def test_slime_without_a_daemon(url_without_daemon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Exception, match="503"):
        asyncio.run(ask(slime(monkeypatch), url_without_daemon))
