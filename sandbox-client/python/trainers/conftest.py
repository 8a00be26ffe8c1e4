"""Tests with the trainers' own packages, each where its package is installed: gigabytes, so they are not
among the package's own tests. They need a daemon at ROLLCAGE_SOCKET, and for some ROLLCAGE_BIN_DIR.
"""

from __future__ import annotations

import os

import pytest

# Nothing is fetched, and nothing is sent anywhere.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_DISABLED="true", CUDA_VISIBLE_DEVICES="")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")


@pytest.fixture(scope="session")
def uri() -> str:
    """Where the daemon listens."""
    socket = os.environ.get("ROLLCAGE_SOCKET")
    if not socket:
        pytest.skip("no daemon is named in ROLLCAGE_SOCKET")
    return f"unix://{socket}"
