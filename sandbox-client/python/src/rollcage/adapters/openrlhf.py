"""OpenRLHF: a file for `--reward.remote_url FILE`, in place of the server of `rollcage.adapters.http`.

A sample that must not be scored raises, on which OpenRLHF goes on without a reward for it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._judge import Judge

FILE = str(Path(__file__))
"""For `--reward.remote_url`."""


@functools.cache
def _judge() -> Judge:
    return Judge(policy=os.environ.get("ROLLCAGE_REWARD_POLICY", "python"))


def completion_of(query: str, prompt: str) -> str:
    """The completion within a query, which starts with its prompt."""
    return query[len(prompt) :] if prompt and query.startswith(prompt) else query


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_more: Any) -> dict[str, Any]:
    """Rewards of a few samples; each label says how its sample is judged (see `Judge`)."""
    completions = [completion_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    scores = _judge().score(completions, labels)
    for score in scores:
        if score.reward is None:
            raise score.trouble
    import torch

    rewards = torch.tensor([score.reward for score in scores], dtype=torch.float32)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
