"""SkyRL-gym: an environment in which the model writes a program, reads what the tests said of it, and
tries again until it passes or its turns are over. `register()` adds it as `rollcage`.

A step whose judgement failed for our reasons raises: SkyRL has no reward that is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ._judge import Judge


def register(id: str = "rollcage", **settings: Any) -> None:
    """Adds the environment. `settings` (`policy`, `file`, and what `rollcage.connect` takes) are for
    every environment of this id; its rows have `reward_spec.ground_truth` (see `Judge`) and may have
    `max_turns`."""
    from skyrl_gym.envs.registration import register as add

    add(id=id, entry_point=f"{__name__}:CodeEnv", kwargs={"settings": settings})


@functools.cache
def _judge(settings: tuple[tuple[str, Any], ...]) -> Judge:
    return Judge(**dict(settings))


@functools.cache
def _code_env() -> Any:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    class CodeEnv(BaseTextEnv):  # type: ignore[misc]
        """See the module."""

        def __init__(
            self, env_config: Any = None, extras: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
        ) -> None:
            super().__init__()
            extras = extras or {}
            self._truth = extras["reward_spec"]["ground_truth"]
            self.max_turns = extras.get("max_turns", 1)
            self._judge = _judge(tuple(sorted((settings or {}).items())))

        def step(self, action: str) -> Any:
            self.turns += 1
            (score,) = self._judge.score([action], [self._truth])
            if score.reward is None or score.result is None or score.outcome is None:
                raise score.trouble
            done = score.reward == 1.0 or self.turns >= self.max_turns
            said = f"{score.outcome.value}: {score.reason}\n{score.result.describe(2000)}"
            return BaseTextEnvStepOutput(
                observations=[] if done else [{"role": "user", "content": said}],
                reward=score.reward,
                done=done,
                metadata={"outcome": score.outcome.value, "run_id": score.result.run_id},
            )

    CodeEnv.__qualname__ = "CodeEnv"
    return CodeEnv


def __getattr__(name: str) -> Any:
    """`CodeEnv` exists once somebody asks for it, since its base is SkyRL's."""
    if name == "CodeEnv":
        return _code_env()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
