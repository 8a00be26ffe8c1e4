"""One real GRPO step of TRL on a CPU, with a random model of one layer made here."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from rollcage.adapters import trl

TRUTH = json.dumps({"kind": "asserts", "code": "assert f() == 1"})
# What the "model" wrote, whatever it did write: wrong, right, wrong, and one whose tests are broken.
PROGRAMS = ["def f(): return 0", "def f(): return 1", "def f(): return 2", "def f(): return 1"]
TRUTHS = [TRUTH, TRUTH, TRUTH, json.dumps({"kind": "asserts", "code": ")("})]


def tokenizer() -> PreTrainedTokenizerFast:
    bytes_ = Tokenizer(models.BPE())
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|eos|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learner = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    bytes_.train_from_iterator(["def f(): return 1"] * 3, learner)
    return PreTrainedTokenizerFast(tokenizer_object=bytes_, pad_token="<|pad|>", eos_token="<|eos|>")


class Step(GRPOTrainer):  # type: ignore[misc]
    """A trainer that keeps what it made of the rewards."""

    advantages: list[float]

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        output = super()._generate_and_score_completions(inputs)
        self.advantages = output["advantages"].flatten().tolist()
        return output


def step(reward: Callable[..., Any], folder: Path) -> Step:
    words = tokenizer()
    ids = {"pad_token_id": words.pad_token_id, "eos_token_id": words.eos_token_id, "bos_token_id": words.eos_token_id}
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(1)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(words), num_key_value_heads=2, **shape, **ids))
    settings = {"per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 8, "max_steps": 1}
    quiet = {"report_to": [], "logging_steps": 1, "save_strategy": "no", "disable_tqdm": True}
    trainer = Step(
        model=model,
        reward_funcs=[reward],
        processing_class=words,
        train_dataset=Dataset.from_dict({"prompt": ["def f():"] * 4, "verify": [TRUTH] * 4}),
        args=GRPOConfig(output_dir=str(folder), use_cpu=True, bf16=False, **settings, **quiet),
    )
    trainer.train()
    return trainer


def watched(reward: Callable[..., Any], before: Callable[[], None] = lambda: None) -> Any:
    """The reward function with programs in place of what the random model wrote; rewards are kept."""

    def rollcage_reward(completions: Any, **columns: Any) -> Any:
        before()
        rewards = reward(completions=PROGRAMS, **{**columns, "verify": TRUTHS})
        rollcage_reward.seen.append(rewards)  # type: ignore[attr-defined]
        return rewards

    rollcage_reward.seen = []  # type: ignore[attr-defined]
    return rollcage_reward


def watched_async(reward: Callable[..., Any]) -> Any:
    async def rollcage_reward(completions: Any, **columns: Any) -> Any:
        rewards = await reward(completions=PROGRAMS, **{**columns, "verify": TRUTHS})
        rollcage_reward.seen.append(rewards)  # type: ignore[attr-defined]
        return rewards

    rollcage_reward.seen = []  # type: ignore[attr-defined]
    return rollcage_reward


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_step(uri: str, tmp_path: Path, asynchronous: bool) -> None:
    reward = watched_async(trl.async_reward(uri=uri)) if asynchronous else watched(trl.reward(uri=uri))
    trainer = step(reward, tmp_path)
    log = trainer.state.log_history[0]
    print("rewards", reward.seen, "advantages", trainer.advantages, {key: log[key] for key in ("reward", "grad_norm")})
    assert reward.seen == [[0.0, 1.0, 0.0, None]]
    assert math.isfinite(log["grad_norm"]) and log["reward"] == pytest.approx(1 / 3)
    assert log["rollcage/unscorable_share"] == 0.25
    assert trainer.advantages[3] == 0.0 and trainer.advantages[1] > 0 > trainer.advantages[0]


class Service:
    """A daemon at one place, killed and started again there."""

    def __init__(self, folder: Path) -> None:
        self.socket, self.state = folder / "s.sock", folder / "state"
        self.start()

    def start(self) -> None:
        ready, write = os.pipe()
        program = Path(os.environ["ROLLCAGE_BIN_DIR"]) / "sandboxd"
        words = [program, "serve", "--socket", self.socket, "--state-dir", self.state, "--ready-fd", write]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ROLLCAGE_")}
        self.process = subprocess.Popen([*map(str, words)], env=environment, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(ready) as pipe:
            assert pipe.readline().endswith("\n")

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(60)


@pytest.mark.skipif("ROLLCAGE_BIN_DIR" not in os.environ, reason="the programs are not named in ROLLCAGE_BIN_DIR")
@pytest.mark.parametrize("comes_back", [False, True])
def test_a_step_whose_daemon_is_killed(tmp_path: Path, comes_back: bool) -> None:
    for folder in [tmp_path, *list(tmp_path.parents)[:2]]:
        # The daemon drops to a user of its own, which has to reach its state.
        folder.chmod(0o755)
    service = Service(tmp_path)
    reward = trl.reward(uri=f"unix://{service.socket}", patience_s=60 if comes_back else 0)
    assert reward(completions=PROGRAMS, verify=TRUTHS) == [0.0, 1.0, 0.0, None]

    def kill() -> None:
        service.end(signal.SIGKILL)
        if comes_back:
            threading.Timer(2, service.start).start()

    seen = watched(reward, kill)
    trainer = step(seen, tmp_path / "run")
    print("rewards", seen.seen, "advantages", trainer.advantages)
    if comes_back:
        assert seen.seen == [[0.0, 1.0, 0.0, None]] and trainer.advantages[3] == 0.0
    else:
        # Nothing was scored, and nothing of it is a number other than "learn nothing".
        assert seen.seen == [[None] * 4] and trainer.advantages == [0.0] * 4
    assert all(parameter.isfinite().all() for parameter in trainer.model.parameters())
    if not comes_back:
        # The next start takes away what the killed one left.
        service.start()
    service.end(signal.SIGTERM)
