"""The package's types hold, as its users' checkers see them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]

USE = """\
import rollcage

def reward(client: rollcage.Client) -> float:
    return client.run(policy="python", argv=["true"]).reward

def limits(client: rollcage.Client) -> None:
    client.run(policy="python", argv=["true"], limits={"wall_ms_maxx": 1})
    client.run(polcy="python")
"""


def mypy(*words: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--cache-dir", "/dev/null", "--python-version", "3.10", *words]
    return subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, check=False)


def test_the_package_s_types_hold_and_are_told_to_users(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    use.write_text(USE)
    done = mypy("src", str(use))
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line for line in errors if not line.startswith(str(use))] == [], done.stdout
    # A reward may be missing, and whoever forgets that is told; so are misspelled fields.
    assert len(errors) == 3, done.stdout
    assert 'got "float | None", expected "float"' in done.stdout
