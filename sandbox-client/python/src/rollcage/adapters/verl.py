"""verl: `compute_score` for `reward.custom_reward_function`, a tool for its agent loop, and advantage
estimators that leave out what must not be scored.

verl has no word for a missing reward: it turns what it does not know into 0. So `compute_score`
raises by default. With `unscorable: nan` it gives NaN, for the estimators that `register` adds: they
estimate over the scorable samples alone and mask the others out of the loss.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._judge import Judge

PREFIX = "rollcage_"
"""Before the name of the estimator that is used for the scorable samples."""
TOOL_FILE = str(Path(__file__).with_name("_verl_tool.py"))
"""For `rollout.multi_turn.function_tool_path`."""


@functools.cache
def _judge(settings: tuple[tuple[str, Any], ...]) -> Judge:
    return Judge(**dict(settings))


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    unscorable: str = "raise",
    **settings: Any,
) -> dict[str, Any]:
    """The score of one sample; `ground_truth` says how it is judged (see `Judge`).

    `settings` (`policy`, `file`, `in_flight`, and what `rollcage.connect` takes) stand in
    `reward_kwargs`. Raises `RollcageError` where there is no score, or gives NaN with
    `unscorable="nan"`.
    """
    if unscorable not in ("raise", "nan"):
        raise ValueError(f"unscorable: {unscorable!r} is not allowed here; allowed: raise, nan")
    # What verl adds by itself for reward models.
    for name in ("reward_router_address", "reward_model_tokenizer"):
        settings.pop(name, None)
    judge = _judge(tuple(sorted(settings.items())))
    (score,) = await judge.score_async([solution_str], [ground_truth])
    if score.reward is None and unscorable == "raise":
        raise score.trouble
    return {
        "score": math.nan if score.reward is None else score.reward,
        "acc": score.reward == 1.0,
        "scorable": score.reward is not None,
        "outcome": score.outcome.value if score.outcome else "not_run",
    }


def register(*names: str) -> None:
    """Adds an estimator `rollcage_NAME` to verl for each of its own ones that is named, else for all
    that need no more than rewards, mask and groups. As a plug-in of verl it is called by itself."""
    from verl.trainer.ppo import core_algos

    for name in names or ("grpo", "grpo_vectorized", "rloo", "reinforce_plus_plus_baseline", "opo", "grpo_passk"):
        there = core_algos.ADV_ESTIMATOR_REGISTRY
        if name in there and PREFIX + name not in there:
            core_algos.register_adv_est(PREFIX + name)(_without_unscorable(core_algos.get_adv_estimator_fn(name)))


def _without_unscorable(estimate: Callable[..., Any]) -> Callable[..., Any]:
    deviation = "norm_adv_by_std_in_grpo"
    knows_deviation = deviation in inspect.signature(estimate).parameters

    @functools.wraps(estimate)
    def estimate_scorable(token_level_rewards: Any, response_mask: Any, index: Any = None, **rest: Any) -> Any:
        config = rest.get("config")
        if knows_deviation and config is not None:
            # verl hands this over to its own estimator only.
            rest.setdefault(deviation, config.get(deviation, True))
        scorable = ~token_level_rewards.isnan().any(dim=-1)
        if bool(scorable.all()):
            return estimate(token_level_rewards, response_mask=response_mask, index=index, **rest)
        advantages = token_level_rewards.new_zeros(token_level_rewards.shape)
        returns = token_level_rewards.new_zeros(token_level_rewards.shape)
        if bool(scorable.any()):
            groups = None if index is None else index[scorable.cpu().numpy()]
            rows = {"token_level_rewards": token_level_rewards[scorable], "response_mask": response_mask[scorable]}
            advantages[scorable], returns[scorable] = estimate(**rows, index=groups, **rest)
        # In place, since it is the batch's own: where the trainer trains on that (`ray_trainer`), no token
        # of them counts in the loss, its denominators, the KL term or the metrics.
        response_mask[~scorable] = 0
        return advantages, returns

    return estimate_scorable
