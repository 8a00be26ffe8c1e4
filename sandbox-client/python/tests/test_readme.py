"""The examples in the README are programs: each is run as it stands, and says what stands below it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
# Blocks within a program's text are written with backticks too; those of the README stand at a line's start.
EXAMPLES = [(found.group(1), found.group(2)) for found in BLOCK.finditer(README.read_text())]


def test_every_example_says_what_comes_of_it() -> None:
    assert len(EXAMPLES) >= 6
    assert all(said is not None for _, said in EXAMPLES)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example(number: int, uri: str, tmp_path: Path) -> None:
    code, said = EXAMPLES[number]
    program = tmp_path / "example.py"
    program.write_text(code)
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
