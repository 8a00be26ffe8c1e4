"""TRL: reward functions for `GRPOTrainer(reward_funcs=[..])` and its kin.

What must not be scored is `None`, which TRL leaves out of its group's mean and deviation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ._judge import Judge, Score

RewardFunction = Callable[..., "list[float | None]"]
AsyncRewardFunction = Callable[..., "Awaitable[list[float | None]]"]


def reward(*, column: str = "verify", name: str = "rollcage", **judge: Any) -> RewardFunction:
    """A reward function that judges each completion as its row's `column` says.

    `policy`, `file` (where the completion's program goes), `in_flight` and `extract` say how it is run;
    the rest is for `rollcage.connect`.
    """
    scorer = Judge(**judge)

    def rollcage_reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        scores = scorer.score(completions, _truths(columns, column))
        _tell(columns, scores, name)
        return [score.reward for score in scores]

    rollcage_reward.__name__ = name
    return rollcage_reward


def async_reward(*, column: str = "verify", name: str = "rollcage", **judge: Any) -> AsyncRewardFunction:
    """The same as a coroutine function, which TRL runs beside its other ones."""
    scorer = Judge(**judge)

    async def rollcage_reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        scores = await scorer.score_async(completions, _truths(columns, column))
        _tell(columns, scores, name)
        return [score.reward for score in scores]

    rollcage_reward.__name__ = name
    return rollcage_reward


def _truths(columns: dict[str, Any], column: str) -> Sequence[Any]:
    if column not in columns:
        raise KeyError(f"the data set has no column {column!r}, which says how a completion is judged")
    truths: Sequence[Any] = columns[column]
    return truths


def _tell(columns: dict[str, Any], scores: list[Score], name: str) -> None:
    """What was not scored shows in the trainer's own log."""
    log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
    if callable(log_metric) and scores:
        unscorable = sum(score.reward is None for score in scores)
        log_metric(f"{name}/unscorable_share", unscorable / len(scores))
    if callable(log_extra):
        log_extra(f"{name}_outcome", [score.outcome.value if score.outcome else "not_run" for score in scores])
