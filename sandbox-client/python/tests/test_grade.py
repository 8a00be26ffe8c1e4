"""Solutions of tasks: folders through the command's own reading of them, and requests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rollcage
from rollcage import Outcome

needs_command = pytest.mark.skipif(
    "ROLLCAGE_BIN_DIR" not in os.environ, reason="the built programs are not named in ROLLCAGE_BIN_DIR"
)

TASK = """\
name = "double"
policy = "python"
[verify]
kind = "asserts"
file = "double.py"
tests = [{ id = "two", code = "assert double(2) == 4" }, { id = "zero", code = "assert double(0) == 0" }]
"""
RIGHT = "def double(n): return 2 * n\n"
WRONG = "def double(n): return n\n"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "task"
    (folder / "environment").mkdir(parents=True)
    (folder / "solution").mkdir()
    (folder / "task.toml").write_text(TASK)
    (folder / "environment/double.py").write_text(WRONG)
    (folder / "solution/double.py").write_text(RIGHT)
    return folder


@needs_command
def test_a_task_folder_and_each_kind_of_solution(client: rollcage.Client, task: Path, tmp_path: Path) -> None:
    patch = tmp_path / "fix.patch"
    patch.write_text(f"--- a/double.py\n+++ b/double.py\n@@ -1 +1 @@\n-{WRONG}+{RIGHT}")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    expected = [
        (None, 1.0),
        (task / "solution", 1.0),
        (patch, 1.0),
        ({"double.py": RIGHT}, 1.0),
        ({"double.py": {"content": RIGHT.encode(), "mode": 0o755}}, 1.0),
        ({"double.py": WRONG}, 0.0),
        (nothing, 0.0),
    ]
    for solution, reward in expected:
        result = client.grade(task, solution)  # type: ignore[arg-type]
        assert result.reward == reward, (solution, result.verdict)
        assert [test.id for test in result.verdict.tests] == ["two", "zero"]


@needs_command
async def test_a_task_folder_async(uri: str, task: Path) -> None:
    async with rollcage.connect_async(uri) as client:
        assert (await client.grade(task)).reward == 1.0
        assert (await client.grade(str(task), {"double.py": WRONG})).outcome is Outcome.FAILED


@needs_command
def test_tasks_that_cannot_be_graded_are_refused(client: rollcage.Client, task: Path, tmp_path: Path) -> None:
    with pytest.raises(rollcage.InvalidRequest, match="is no task"):
        client.grade(tmp_path)
    with pytest.raises(rollcage.InvalidRequest, match="does not apply"):
        (tmp_path / "bad.patch").write_text("--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n")
        client.grade(task, tmp_path / "bad.patch")
    with pytest.raises(rollcage.InvalidRequest, match="below /workspace"):
        client.grade(task, {"../double.py": RIGHT})
    with pytest.raises(rollcage.InvalidRequest) as refused:
        client.grade(task, policy="nope")
    assert refused.value.field == "policy"


def test_a_request_is_a_task_too(client: rollcage.Client) -> None:
    task: rollcage.Request = {
        "policy": "python",
        "files": {"double.py": WRONG},
        "verify": {"kind": "asserts", "file": "double.py", "code": "assert double(2) == 4"},
    }
    assert client.grade(task, {"double.py": RIGHT}).reward == 1.0
    assert client.grade(task).reward == 0.0
    with pytest.raises(rollcage.InvalidRequest) as refused:
        client.grade({"policy": "python"}, {})
    assert refused.value.field == "verify"
    with pytest.raises(rollcage.InvalidRequest):
        client.grade(task, "a/path")
