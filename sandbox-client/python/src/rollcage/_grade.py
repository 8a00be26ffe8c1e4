"""The request that judges a solution of a task. What a task folder means is known to the `rollcage`
command alone, which is asked for the request; who judges is the daemon, as for every other request.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from . import _programs
from ._endpoint import StrPath
from .errors import InvalidRequest
from .requests import FileContent, Files, Request

Task = Union[StrPath, Request]
"""A folder of one of the formats of docs/tasks.md, or a request with `verify`."""
Solution = Union[StrPath, Files]
"""A folder, a unified diff or a bash script (`.sh`) by path; or files by their path below /workspace."""


def request_of(task: Task, solution: Solution | None, policy: str | None) -> Request:
    """The whole request; raises `InvalidRequest` where the task or the solution cannot be used."""
    if isinstance(task, (str, os.PathLike)):
        return _of_folder(Path(task), solution, policy)
    if "verify" not in task:
        raise InvalidRequest("verify: a task says how it is judged", reason="FIELD_MISSING", field="verify")
    if isinstance(solution, (str, os.PathLike)):
        raise InvalidRequest(
            "solution: a path goes with a task folder; give files as a dictionary", reason="FIELD_INVALID", field="solution"
        )
    request: Request = {**task, "files": {**task.get("files", {}), **(solution or {})}}
    if policy is not None:
        request["policy"] = policy
    return request


def _of_folder(folder: Path, solution: Solution | None, policy: str | None) -> Request:
    with tempfile.TemporaryDirectory(prefix="rollcage-") as made:
        if solution is None:
            chosen = ["--oracle"]
        elif isinstance(solution, (str, os.PathLike)):
            chosen = ["--solution", os.fspath(solution)]
        else:
            _lay_out(solution, Path(made))
            chosen = ["--solution", made]
        words: list[str] = [str(_programs.find("rollcage")), "--json", "grade", str(folder), *chosen, "--print-request"]
        if policy is not None:
            words += ["--policy", policy]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise InvalidRequest(said or f"rollcage grade ended with {done.returncode}", reason="TASK")
    request: Request = json.loads(done.stdout)
    return request


def _lay_out(files: Mapping[str, FileContent], folder: Path) -> None:
    for name, given in files.items():
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise InvalidRequest(f"solution: {name!r} is not below /workspace", reason="FIELD_INVALID", field="solution")
        path.parent.mkdir(parents=True, exist_ok=True)
        content, mode = _content(name, given)
        path.write_bytes(content)
        path.chmod(mode)


def _content(name: str, given: Any) -> tuple[bytes, int]:
    from ._json import read
    from .v1.request_pb2 import RunRequest

    file = read(RunRequest(), {"files": {name: given}}).files[name]
    return file.content, file.mode if file.HasField("mode") else 0o644
