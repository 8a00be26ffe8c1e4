"""Generates the messages of the package from `proto/`: `python3 generate.py [FOLDER]`, else in place.

They are kept in the repository, so that the package works from a checkout and a change of the contract
shows in a review; `tests/test_contract.py` fails while they are not what this makes. The calls of the
services are not generated: `_calls.py` takes them from the descriptors.
"""

from __future__ import annotations

import sys
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
PROTO = HERE.parents[1] / "proto"


def generate(folder: Path) -> None:
    """Writes `rollcage/v1/*_pb2.py` and their types below the folder."""
    files = sorted(str(file) for file in (PROTO / "rollcage/v1").glob("*.proto"))
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    code = protoc.main(
        ["protoc", f"-I{PROTO}", f"-I{well_known}", f"--python_out={folder}", f"--pyi_out={folder}", *files]
    )
    if code != 0:
        raise SystemExit(code)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "src")
