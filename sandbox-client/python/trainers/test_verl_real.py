"""verl's own estimators, less what must not be scored; its own loading of functions and tools."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")
core_algos = pytest.importorskip("verl.trainer.ppo.core_algos")
import numpy
import torch

from rollcage.adapters import verl

verl.register()

NAN = math.nan


def batch(rewards: list[float]) -> tuple[Any, Any]:
    """Token rewards with the reward at the last token, and the mask."""
    mask = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]] * (len(rewards) // 2))
    tokens = torch.zeros_like(mask)
    for row, reward in enumerate(rewards):
        tokens[row, int(mask[row].sum()) - 1] = reward
    return tokens, mask


@pytest.mark.parametrize("name", ["grpo", "grpo_vectorized", "rloo", "opo"])
def test_the_scorable_are_estimated_as_if_alone(name: str) -> None:
    groups = numpy.array(["a", "a", "a", "a", "b", "b", "b", "b"], dtype=object)
    rewards = [0.0, 1.0, 0.0, NAN, 1.0, NAN, 1.0, 0.0]
    scorable = [not math.isnan(reward) for reward in rewards]
    tokens, mask = batch(rewards)
    advantages, returns = core_algos.get_adv_estimator_fn("rollcage_" + name)(
        token_level_rewards=tokens.clone(), response_mask=mask, index=groups, config=None
    )
    alone_tokens, alone_mask = batch(rewards)
    alone, _ = core_algos.get_adv_estimator_fn(name)(
        token_level_rewards=alone_tokens[scorable], response_mask=alone_mask[scorable], index=groups[scorable], config=None
    )
    print(name, advantages.tolist())
    assert advantages.isfinite().all() and returns.isfinite().all()
    assert torch.allclose(advantages[scorable], alone)
    assert not advantages[[3, 5]].any()
    # Masked out of the loss, in the batch's own mask.
    assert not mask[[3, 5]].any() and torch.equal(mask[scorable], alone_mask[scorable])


def test_with_nothing_to_leave_out_it_is_verl_s_own() -> None:
    groups = numpy.array(["a"] * 4, dtype=object)
    tokens, mask = batch([0.0, 1.0, 0.0, 1.0])
    ours, _ = core_algos.get_adv_estimator_fn("rollcage_grpo")(tokens.clone(), response_mask=mask, index=groups)
    own, _ = core_algos.get_adv_estimator_fn("grpo")(tokens.clone(), response_mask=mask, index=groups)
    assert torch.equal(ours, own)


def test_with_nothing_that_is_scorable_nothing_is_learnt() -> None:
    tokens, mask = batch([NAN, NAN])
    groups = numpy.array(["a", "a"], dtype=object)
    advantages, _ = core_algos.get_adv_estimator_fn("rollcage_grpo")(tokens, response_mask=mask, index=groups)
    assert not advantages.any() and not mask.any()


def test_the_deviation_is_left_out_where_verl_is_told_so() -> None:
    groups = numpy.array(["a"] * 4, dtype=object)
    tokens, mask = batch([0.0, 1.0, 1.0, NAN])
    config = {"norm_adv_by_std_in_grpo": False}
    ours, _ = core_algos.get_adv_estimator_fn("rollcage_grpo")(tokens, response_mask=mask, index=groups, config=config)
    assert ours[0, 0].item() == pytest.approx(-2 / 3)


def test_verl_loads_the_score_function() -> None:
    loading = pytest.importorskip("verl.utils.import_utils")
    assert loading.load_extern_object("pkg://rollcage.adapters.verl", "compute_score") is verl.compute_score


async def _call(tool: Any, code: str) -> Any:
    return await tool.call({"code": code})


def test_verl_loads_the_tool(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    tools = pytest.importorskip("verl.tools.function_tool")
    monkeypatch.setenv("ROLLCAGE_SOCKET", uri.removeprefix("unix://"))
    (tool,) = tools.load_function_tools_from_path(verl.TOOL_FILE)
    assert tool.name == "run_python" and tool.is_async
    assert list(tool.tool_schema.function.parameters.properties) == ["code"]
    said = asyncio.run(_call(tool, "print(6 * 7)"))
    assert tools.normalize_function_tool_return(said)[0].text == "exit code 0\nstdout:\n42"
