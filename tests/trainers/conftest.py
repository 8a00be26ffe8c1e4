"""Real packages of trainers against a running endpoint.

`SANDBOX_FUSION_URL` is the endpoint's `/run_code`. verl's own modules are loaded from the folder
`VERL_ROOT` (its unpacked source distribution) under their own names, without its package files,
which would import torch and ray.
"""

import importlib
import os
import sys
import types

import pytest


def _package(name, path):
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


@pytest.fixture(scope="session")
def url():
    return os.environ["SANDBOX_FUSION_URL"]


@pytest.fixture(scope="session")
def verl():
    """verl's `reward_score.sandbox_fusion`, as it is shipped."""
    root = os.environ.get("VERL_ROOT")
    if not root:
        pytest.skip("VERL_ROOT names no source distribution of verl")
    for name in ("verl", "verl.utils", "verl.utils.reward_score"):
        if name not in sys.modules:
            _package(name, os.path.join(root, *name.split(".")))
    return importlib.import_module("verl.utils.reward_score.sandbox_fusion")
