"""One real GRPO step of TRL on the CPU, offline, with rewards from the endpoint.

The model is one layer with random weights; what it writes is thrown away, and completion N is
scored by a program that prints N modulo 2, so that the right rewards are known. The last
completion is never scored, as if it could not be.

With `--trouble` the group is of six, and the step stops before the third program and before the
fifth, says why and waits for a line: whoever started it ends the daemon at the first stop and
starts another at the second. What is unscored then is `None`, which TRL keeps out of mean and
deviation. As verl does, HTTP 504 is tried three times.

Prints one JSON object: the rewards, the advantages that TRL made of them, and its log.
"""

import json
import math
import os
import sys
import tempfile
import time
import warnings

os.environ.update(
    CUDA_VISIBLE_DEVICES="",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    TRL_EXPERIMENTAL_SILENCE="1",
    WANDB_DISABLED="true",
)
warnings.filterwarnings("ignore")

import requests  # noqa: E402
from datasets import Dataset  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from transformers import (  # noqa: E402
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

URL = os.environ["SANDBOX_FUSION_URL"]
TROUBLE = "--trouble" in sys.argv
GROUP = 6 if TROUBLE else 4
ATTEMPTS = 3
# What the trainer says of its progress goes elsewhere than what we tell.
TOLD, sys.stdout = sys.stdout, sys.stderr
STOPS = {2: "end the daemon", 4: "start a daemon"}


def tokenizer():
    bytes_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = bytes_level
    made.decoder = decoders.ByteLevel()
    teacher = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<pad>", "<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(["def twice(number): return number * 2"], teacher)
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<end>")


def model(words):
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(words),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            pad_token_id=words.pad_token_id,
            eos_token_id=words.eos_token_id,
            bos_token_id=words.eos_token_id,
        )
    )


def score(number):
    """The reward of a program, or None where nothing can be said of it."""
    body = {"code": f"print({number % 2})", "language": "python", "run_timeout": 20}
    for attempt in range(1, ATTEMPTS + 1):
        answer = requests.post(URL, json=body, timeout=60)
        if answer.status_code != 504:
            break
        print(f"{answer.status_code} {answer.json()['message']}", file=sys.stderr)
        time.sleep(attempt)
    else:
        return None
    answer.raise_for_status()
    answer = answer.json()
    return float(answer["run_result"]["stdout"]) if answer["status"] == "Success" else 0.0


rewards = []


def reward(completions, **_):
    group = []
    for number in range(len(completions)):
        if TROUBLE and number in STOPS:
            print(STOPS[number], file=TOLD, flush=True)
            sys.stdin.readline()
        group.append(score(number))
    group[-1] = None
    rewards.append(group)
    return group


class Trainer(GRPOTrainer):
    """TRL's trainer, which also keeps the advantages that it computes."""

    advantages = None

    def _generate_and_score_completions(self, inputs):
        made = super()._generate_and_score_completions(inputs)
        self.advantages = made["advantages"].tolist()
        return made


def main():
    words = tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model(words),
            reward_funcs=reward,
            processing_class=words,
            train_dataset=Dataset.from_dict({"prompt": ["def twice(number):"] * GROUP}),
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=GROUP,
                num_generations=GROUP,
                max_completion_length=8,
                max_steps=1,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                disable_tqdm=True,
            ),
        )
        trainer.train()
    log = trainer.state.log_history[0]
    told = {
        "rewards": rewards,
        "advantages": trainer.advantages,
        "grad_norm": log["grad_norm"],
        "reward": log["reward"],
        "is_finite": math.isfinite(log["grad_norm"]),
    }
    print(json.dumps(told), file=TOLD, flush=True)


main()
