"""No number comes of what must not be scored, whatever a daemon says."""

from __future__ import annotations

import math

import pytest

import rollcage
from rollcage import EndingKind, Outcome, RunResult
from rollcage.v1 import result_pb2 as pb


def result(outcome: int, reward: float | None, scorable: bool, ending: int = 1) -> RunResult:
    message = pb.RunResult(id="a", ending=pb.Ending(kind=ending, code=0))
    message.verdict.outcome = outcome
    message.verdict.scorable = scorable
    if reward is not None:
        message.verdict.reward = reward
    return RunResult(message)


def test_a_reward_is_what_the_verdict_says() -> None:
    assert result(pb.OUTCOME_PASSED, 1.0, True).reward == 1.0
    assert result(pb.OUTCOME_FAILED, 0.0, True).reward == 0.0
    assert result(pb.OUTCOME_FAILED, 0.25, True).reward == 0.25


@pytest.mark.parametrize("outcome", [pb.OUTCOME_INFRA_ERROR, pb.OUTCOME_VERIFIER_ERROR, pb.OUTCOME_UNJUDGED, 0, 99])
@pytest.mark.parametrize("reward", [0.0, 1.0, None])
@pytest.mark.parametrize("scorable", [True, False])
def test_nothing_is_scored_that_was_not_judged(outcome: int, reward: float | None, scorable: bool) -> None:
    shown = result(outcome, reward, scorable)
    assert shown.reward is None and not shown.scorable
    assert shown.verdict.reward is None


@pytest.mark.parametrize(("reward", "scorable"), [(None, True), (1.0, False), (math.nan, True), (math.inf, True)])
def test_a_reward_that_is_none_is_none(reward: float | None, scorable: bool) -> None:
    shown = result(pb.OUTCOME_PASSED, reward, scorable)
    assert shown.reward is None and not shown.scorable


def test_what_a_newer_daemon_says_is_unrecognized() -> None:
    shown = result(99, 1.0, True, ending=99)
    assert shown.outcome is Outcome.UNRECOGNIZED and shown.ending.kind is EndingKind.UNRECOGNIZED
    assert shown.trouble is not None


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (pb.OUTCOME_INFRA_ERROR, pb.ENDING_KIND_EXITED),
        (pb.OUTCOME_VERIFIER_ERROR, pb.ENDING_KIND_EXITED),
        (pb.OUTCOME_UNJUDGED, pb.ENDING_KIND_SANDBOX_FAILED),
        (pb.OUTCOME_UNJUDGED, pb.ENDING_KIND_CANCELLED),
    ],
)
def test_trouble_is_never_told_as_the_program_s(outcome: int, ending: int) -> None:
    shown = result(outcome, None, False, ending)
    with pytest.raises(rollcage.SandboxTrouble):
        shown.describe()


def test_an_unjudged_result_is_no_trouble() -> None:
    assert result(pb.OUTCOME_UNJUDGED, None, False).describe() == "exit code 0"
    assert result(pb.OUTCOME_FAILED, 0.0, True).trouble is None


def test_what_has_no_result_has_no_reward() -> None:
    not_run = rollcage.NotRun("a", rollcage.QueueFull("full"))
    assert not_run.reward is None and not not_run.scorable
