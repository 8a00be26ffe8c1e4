"""The environment, made and stepped by SkyRL-gym itself."""

from __future__ import annotations

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from rollcage.adapters import skyrl

RIGHT = "```python\ndef f(): return 1\n```"
TRUTH = '{"kind": "asserts", "code": "assert f() == 1"}'


def test_an_episode(uri: str) -> None:
    skyrl.register("rollcage-code", uri=uri)
    extras = {"reward_spec": {"ground_truth": TRUTH}, "max_turns": 3}
    env = skyrl_gym.make("rollcage-code", env_config={}, extras=extras)
    env.init([{"role": "user", "content": "Write f."}])
    first = env.step("I do not know.")
    assert first["reward"] == 0.0 and not first["done"] and first["observations"]
    second = env.step(RIGHT)
    assert second["reward"] == 1.0 and second["done"]
    env.close()
