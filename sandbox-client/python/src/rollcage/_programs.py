"""The programs of a wheel: `rollcage`, `sandboxd` and those that they start. They lie side by side in
the folder of scripts; this package only has to find that.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from .errors import NotStarted


def _folders() -> Iterator[Path]:
    named = os.environ.get("ROLLCAGE_BIN_DIR")
    if named:
        yield Path(named)
        # Named on purpose: a program that is missing there is not taken from elsewhere.
        return
    try:
        for file in importlib.metadata.files("rollcage") or ():
            if file.name == "sandboxd":
                yield Path(str(file.locate())).resolve().parent
    except importlib.metadata.PackageNotFoundError:
        pass
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sys.executable).parent
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield Path(folder)


def find(name: str) -> Path:
    """The program; raises `NotStarted` if it is nowhere."""
    for folder in _folders():
        program = folder / name
        if program.is_absolute() and program.is_file() and os.access(program, os.X_OK):
            return program
    raise NotStarted(
        f"find {name}: it came with no wheel of this package and is not on PATH; install a wheel for "
        "this platform, or name the folder of Rollcage's programs in ROLLCAGE_BIN_DIR",
        code="not_found",
    )
