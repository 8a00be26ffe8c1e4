"""Rewards for trainers: what was judged has its number, what was not has none. Their own packages are
stood in for by what the adapters use of them; the real ones are tried by `./x trainers`.
"""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import subprocess
import sys
import threading
import types
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rollcage
from rollcage.adapters import http, openrlhf, skyrl, slime, trl, verl
from rollcage.adapters._judge import Judge, code_of, request_of
from rollcage.adapters._tool import UNAVAILABLE, Tool

RIGHT = "Here it is:\n```python\ndef f(): return 1\n```\nDone."
WRONG = "```python\ndef f(): return 2\n```"
TRUTH = json.dumps({"kind": "asserts", "code": "assert f() == 1"})
NOWHERE = {"uri": "unix:///nowhere/s.sock", "patience_s": 0}


@pytest.mark.parametrize(
    ("completion", "code"),
    [
        ("print(1)", "print(1)"),
        (RIGHT, "def f(): return 1"),
        ("```\na\n```\n```py\nb\n```\n```bash\nc\n```", "b"),
        ("```bash\nc\n```", "c"),
        ("```python\ncut off", "cut off"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": "```python\ny\n```"}], "y"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "z"}]}], "z"),
        ([{"role": "assistant", "content": None}], ""),
        ([], ""),
    ],
)
def test_the_program_in_a_completion(completion: Any, code: str) -> None:
    assert code_of(completion, "python") == code


@pytest.mark.parametrize(
    ("truth", "verify"),
    [
        ({"kind": "asserts", "code": "c", "max_leaks": None}, {"kind": "asserts", "code": "c", "file": "s.py"}),
        ({"verify": {"kind": "stdout", "stdout": "1"}, "argv": ["x"]}, {"kind": "stdout", "stdout": "1"}),
        (["assert 1"], {"kind": "asserts", "file": "s.py", "tests": ["assert 1"]}),
        ('{"assert_case": ["assert 1"]}', {"kind": "asserts", "file": "s.py", "tests": ["assert 1"]}),
        (
            {"inputs": ["1\n"], "outputs": ["2\n"]},
            {
                "kind": "cases",
                "argv": ["python3", "s.py"],
                "cases": [{"stdin": "1\n", "stdout": "2\n"}],
                "ignore_trailing_space": True,
            },
        ),
        (
            {"inputs": [[1, 2], "3\n4"], "outputs": [3, "7"], "fn_name": "f"},
            {
                "kind": "cases",
                "file": "s.py",
                "function": "f",
                "cases": [{"args": [1, 2], "expected": 3}, {"args": [3, 4], "expected": 7}],
            },
        ),
    ],
)
def test_what_is_known_to_be_right(truth: Any, verify: Any) -> None:
    assert request_of(truth, "s.py")["verify"] == verify


@pytest.mark.parametrize("truth", ["no json", None, {}, [], 3, {"inputs": [1], "outputs": []}])
def test_what_says_nothing_is_refused(truth: Any) -> None:
    with pytest.raises(rollcage.InvalidRequest):
        request_of(truth, "s.py")


class Log:
    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.extra: dict[str, list[str]] = {}


def test_trl(uri: str) -> None:
    log = Log()
    reward = trl.reward(uri=uri)
    rewards = reward(
        prompts=["p"] * 4,
        completions=[RIGHT, WRONG, [{"role": "assistant", "content": RIGHT}], RIGHT],
        completion_ids=[[1]] * 4,
        verify=[TRUTH, TRUTH, json.loads(TRUTH), json.dumps({"kind": "asserts", "code": ")("})],
        trainer_state=None,
        log_metric=log.metrics.__setitem__,
        log_extra=log.extra.__setitem__,
    )
    # Tests that are no program are nobody's reward.
    assert rewards == [1.0, 0.0, 1.0, None]
    assert log.metrics == {"rollcage/unscorable_share": 0.25}
    assert log.extra == {"rollcage_outcome": ["passed", "failed", "passed", "verifier_error"]}
    assert reward.__name__ == "rollcage"
    with pytest.raises(KeyError, match="verify"):
        reward(prompts=[], completions=[])


async def test_trl_async(uri: str) -> None:
    reward = trl.async_reward(uri=uri, column="truth", name="tests")
    assert asyncio.iscoroutinefunction(reward) and reward.__name__ == "tests"
    assert await reward(completions=[RIGHT, WRONG], truth=[TRUTH, TRUTH]) == [1.0, 0.0]


def test_no_daemon_is_no_reward() -> None:
    assert trl.reward(**NOWHERE)(completions=[RIGHT, WRONG], verify=[TRUTH, TRUTH]) == [None, None]
    assert asyncio.run(trl.async_reward(**NOWHERE)(completions=[RIGHT], verify=[TRUTH])) == [None]
    with pytest.raises(rollcage.DaemonUnreachable):
        asyncio.run(verl.compute_score("d", RIGHT, TRUTH, **NOWHERE))
    assert Tool(tries=1, **NOWHERE).run("print(1)") == UNAVAILABLE


def test_a_judge_waits_for_a_daemon_that_starts(uri: str, tmp_path: Path) -> None:
    socket = tmp_path / "s.sock"
    threading.Timer(1, socket.symlink_to, [uri.removeprefix("unix://")]).start()
    assert Judge(uri=f"unix://{socket}", patience_s=30).score([RIGHT], [TRUTH])[0].reward == 1.0


def test_a_judge_goes_to_other_processes(uri: str) -> None:
    judge = Judge(uri=uri)
    assert judge.score([RIGHT], [TRUTH])[0].reward == 1.0
    again: Judge = pickle.loads(pickle.dumps(Judge(uri=uri, extract=str)))
    assert again.score(["def f(): return 1"], [TRUTH])[0].reward == 1.0


async def test_verl_scores(uri: str) -> None:
    score = await verl.compute_score("d", RIGHT, TRUTH, {}, uri=uri, reward_router_address="x")
    assert score == {"score": 1.0, "acc": True, "scorable": True, "outcome": "passed"}
    codecontests = {"inputs": ["2 3\n", "4 5\n"], "outputs": ["5\n", "9\n"]}
    add = "```python\nprint(sum(map(int, input().split())))\n```"
    scores = await asyncio.gather(*(verl.compute_score("codecontests", add, codecontests, uri=uri) for _ in range(8)))
    assert [each["score"] for each in scores] == [1.0] * 8
    wrong = await verl.compute_score("d", WRONG, TRUTH, uri=uri)
    assert wrong["score"] == 0.0 and wrong["scorable"]
    with pytest.raises(rollcage.InvalidRequest):
        await verl.compute_score("d", RIGHT, "", uri=uri)
    dropped = await verl.compute_score("d", RIGHT, "", uri=uri, unscorable="nan")
    assert math.isnan(dropped["score"]) and not dropped["scorable"]
    with pytest.raises(ValueError, match="raise, nan"):
        await verl.compute_score("d", RIGHT, TRUTH, unscorable="0")


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> None:
    """A module, with those above it, that has only what is given."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        module = types.ModuleType(path)
        module.__path__ = []
        if path == name:
            module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, path, module)
        if end > 1:
            monkeypatch.setattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], module, raising=False)


async def test_verl_s_tool(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tools: dict[str, Any] = {}

    def function_tool(name: str) -> Any:
        return lambda function: tools.setdefault(name, function)

    stand_in(monkeypatch, "verl.tools.function_tool", function_tool=function_tool)
    monkeypatch.setenv("ROLLCAGE_SOCKET", uri.removeprefix("unix://"))
    exec(compile(Path(verl.TOOL_FILE).read_text(), verl.TOOL_FILE, "exec"), {"__name__": "loaded"})
    run = tools["run_python"]
    assert await run(code="print(6 * 7)") == "exit code 0\nstdout:\n42"
    said = await run(code="```python\n1 / 0\n```")
    assert said.startswith("exit code 1\nstderr:\n") and said.endswith("ZeroDivisionError: division by zero")


class BaseTextEnv:
    def __init__(self) -> None:
        self.turns, self.max_turns = 0, 1


def test_skyrl(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    added: dict[str, Any] = {}
    stand_in(monkeypatch, "skyrl_gym.envs.registration", register=lambda **spec: added.update(spec))
    sys.modules["skyrl_gym.envs.base_text_env"] = types.ModuleType("base")
    monkeypatch.setitem(sys.modules, "skyrl_gym.envs.base_text_env", sys.modules["skyrl_gym.envs.base_text_env"])
    sys.modules["skyrl_gym.envs.base_text_env"].__dict__.update(BaseTextEnv=BaseTextEnv, BaseTextEnvStepOutput=dict)
    skyrl._code_env.cache_clear()
    skyrl.register("code", uri=uri)
    module, _, name = added["entry_point"].partition(":")
    make = getattr(sys.modules[module], name)
    env = make(env_config={}, extras={"reward_spec": {"ground_truth": TRUTH}, "max_turns": 3}, **added["kwargs"])
    first = env.step(WRONG)
    assert (first["reward"], first["done"]) == (0.0, False)
    assert first["observations"][0]["content"].startswith("failed: ")
    second = env.step(RIGHT)
    assert (second["reward"], second["done"], second["observations"]) == (1.0, True, [])
    broken = make(extras={"reward_spec": {"ground_truth": ""}}, **added["kwargs"])
    with pytest.raises(rollcage.InvalidRequest):
        broken.step(RIGHT)
    skyrl._code_env.cache_clear()


class Sample:
    def __init__(self, response: str, label: str) -> None:
        self.response, self.label, self.remove_sample = response, label, False
        self.reward: Any = None

    def get_reward_value(self, _args: Any) -> Any:
        return self.reward


async def test_slime(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLCAGE_SOCKET", uri.removeprefix("unix://"))
    slime._judge.cache_clear()
    samples = [Sample(RIGHT, TRUTH), Sample(WRONG, TRUTH), Sample(RIGHT, "none"), Sample(WRONG, TRUTH)]
    assert await slime.reward(None, samples[0]) == 1.0
    assert await slime.reward(None, samples[:2]) == [1.0, 0.0]
    with pytest.raises(rollcage.InvalidRequest):
        await slime.reward(None, samples[2])
    for sample, reward in zip(samples, await slime.reward_or_drop(None, samples), strict=True):
        sample.reward = reward
    assert [sample.remove_sample for sample in samples] == [False, False, True, False]
    args = types.SimpleNamespace(n_samples_per_prompt=4, grpo_std_normalization=False)
    raw, rewards = slime.post_process(args, samples)
    assert math.isnan(raw[2]) and rewards == pytest.approx([2 / 3, -1 / 3, 0.0, -1 / 3])
    slime._judge.cache_clear()


class Tensor(list[Any]):
    pass


def test_openrlhf_s_function(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLCAGE_SOCKET", uri.removeprefix("unix://"))
    openrlhf._judge.cache_clear()
    stand_in(monkeypatch, "torch", tensor=lambda values, dtype: Tensor(values), float32=None)
    rewards = openrlhf.reward_func(["p " + RIGHT, "p " + WRONG], ["p ", "p "], [TRUTH, TRUTH])
    assert rewards == {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {}}
    with pytest.raises(rollcage.InvalidRequest):
        openrlhf.reward_func(["p"], ["p"], ["none"])
    openrlhf._judge.cache_clear()


def serve(**judge: Any) -> Iterator[str]:
    with http.Server(("127.0.0.1", 0), **judge) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/get_reward"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def rewards_url(uri: str) -> Iterator[str]:
    yield from serve(uri=uri)


@pytest.fixture(scope="module")
def url_without_daemon() -> Iterator[str]:
    yield from serve(**NOWHERE)


def post(url: str, body: Any) -> tuple[int, Any, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


def test_http_answers_both_shapes(rewards_url: str) -> None:
    batch = {"query": ["p" + RIGHT, "p" + WRONG], "prompts": ["p", "p"], "labels": [TRUTH, TRUTH]}
    rewards = {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {}}
    assert post(rewards_url, batch)[:2] == (200, rewards)
    one = {"prompt": "p", "response": RIGHT, "label": TRUTH}
    assert post(rewards_url, one)[:2] == (200, 1.0)
    assert post(rewards_url, {**one, "response": WRONG})[:2] == (200, 0.0)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        ([], 400),
        ({"prompt": "p"}, 400),
        ({"response": RIGHT}, 400),
        ({"query": ["a"], "labels": []}, 400),
        ({"query": "a", "labels": TRUTH}, 400),
        ({"response": RIGHT, "label": "none"}, 422),
        ({"response": RIGHT, "label": {"verify": json.loads(TRUTH), "policy": "nope"}}, 422),
        ({"response": RIGHT, "label": {"kind": "asserts", "code": ")("}}, 422),
        ({"query": [RIGHT, RIGHT], "labels": [TRUTH, "none"]}, 422),
    ],
)
def test_http_gives_no_number_for_what_was_not_judged(rewards_url: str, body: Any, status: int) -> None:
    said, document, _ = post(rewards_url, body)
    assert said == status and set(document) == {"error"}


@pytest.mark.parametrize(
    "body", [{"query": [RIGHT], "labels": [TRUTH]}, {"prompt": "", "response": RIGHT, "label": TRUTH}]
)
def test_http_without_a_daemon_says_so(url_without_daemon: str, body: Any) -> None:
    status, document, headers = post(url_without_daemon, body)
    assert status == 503 and set(document) == {"error"} and headers["Retry-After"] == "2"


def test_the_adapters_import_no_trainer() -> None:
    code = (
        "import sys; from rollcage.adapters import http, openrlhf, skyrl, slime, trl, verl; "
        "print([name for name in ('torch', 'verl', 'trl', 'skyrl_gym', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
