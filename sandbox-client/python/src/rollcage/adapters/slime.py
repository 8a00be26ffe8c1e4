"""slime: functions for `--custom-rm-path` and `--custom-reward-post-process-path`.

`reward` raises where there is no reward. `reward_or_drop` gives NaN there and removes the sample from
the loss; slime would still count it in its group's mean, so it goes with `post_process`, which does not.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import Any

from ._judge import Judge, Score


@functools.cache
def _judge() -> Judge:
    return Judge(policy=os.environ.get("ROLLCAGE_REWARD_POLICY", "python"))


async def _score(sample: Any) -> Score:
    (score,) = await _judge().score_async([sample.response], [sample.label])
    return score


async def reward(args: Any, sample: Any, **_more: Any) -> Any:
    """The reward of one sample, or of each of a list; `label` says how it is judged (see `Judge`)."""
    if isinstance(sample, list):
        scores = await _judge().score_async([each.response for each in sample], [each.label for each in sample])
    else:
        scores = [await _score(sample)]
    for score in scores:
        if score.reward is None:
            raise score.trouble
    rewards = [score.reward for score in scores]
    return rewards if isinstance(sample, list) else rewards[0]


async def reward_or_drop(args: Any, sample: Any, **_more: Any) -> Any:
    """The same, but a sample that must not be scored is marked as removed, and its reward is NaN."""
    if isinstance(sample, list):
        return [await reward_or_drop(args, each) for each in sample]
    score = await _score(sample)
    if score.reward is None:
        sample.remove_sample = True
        return math.nan
    return score.reward


def post_process(args: Any, samples: Sequence[Any], **_more: Any) -> tuple[list[float], list[float]]:
    """Raw rewards, and rewards less the mean of the scorable ones of their group (by the deviation
    where slime is told so). A removed sample has 0, of which its empty loss mask makes nothing."""
    raw = [float(sample.get_reward_value(args)) for sample in samples]
    if not getattr(args, "rewards_normalization", True):
        return raw, [0.0 if math.isnan(value) else value for value in raw]
    size = int(args.n_samples_per_prompt)
    rewards: list[float] = []
    for start in range(0, len(raw), size):
        group = raw[start : start + size]
        scorable = [value for value in group if not math.isnan(value)]
        mean = sum(scorable) / len(scorable) if scorable else 0.0
        scale = 1.0
        if getattr(args, "grpo_std_normalization", True) and len(scorable) > 1:
            variance = sum((value - mean) ** 2 for value in scorable) / (len(scorable) - 1)
            scale = math.sqrt(variance) + 1e-6
        rewards += [0.0 if math.isnan(value) else (value - mean) / scale for value in group]
    return raw, rewards
