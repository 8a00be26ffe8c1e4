"""What is waited out, and for how long."""

from __future__ import annotations

import time

import pytest

import rollcage
from rollcage._patience import Patience, Progress

FULL = rollcage.QueueFull("full", retry_after_s=0.5)
GONE = rollcage.DaemonUnreachable("gone")


@pytest.mark.parametrize(
    "error",
    [
        rollcage.InvalidRequest("a: b"),
        rollcage.NotAllowed("no"),
        rollcage.TimedOut("late"),
        rollcage.DaemonFault("broken", code="internal"),
        rollcage.NotStarted("none"),
    ],
)
def test_what_another_try_does_not_mend_is_raised(error: rollcage.RollcageError) -> None:
    assert Patience(60).delay_s(error) is None


def test_the_daemon_says_when_to_come_again() -> None:
    assert Patience(60).delay_s(FULL) == 0.5
    assert Patience(0.2).delay_s(FULL) <= 0.2  # type: ignore[operator]
    assert Patience(0).delay_s(FULL) is None


def test_a_lost_daemon_is_asked_less_and_less_often() -> None:
    patience = Patience(60)
    delays = [patience.delay_s(GONE) for _ in range(10)]
    assert delays == sorted(delays) and delays[0] == 0.1 and delays[-1] == 2.0  # type: ignore[type-var]
    unavailable = rollcage.DaemonFault("stopping", code="unavailable")
    assert patience.delay_s(unavailable) == 2.0


def test_a_full_daemon_that_gets_on_with_the_batch_is_waited_for() -> None:
    progress = Progress()
    patience = Patience(0.1, progress)
    assert patience.delay_s(FULL) is not None
    time.sleep(0.15)
    progress.note()
    assert patience.delay_s(FULL) is not None
    # That it gets on with it says nothing of a daemon that is gone.
    assert patience.delay_s(GONE) is None
    time.sleep(0.15)
    assert patience.delay_s(FULL) is None
